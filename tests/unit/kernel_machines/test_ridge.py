"""Kernel ridge regression: linear systems, brute force, scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.kernel_ridge import KernelRidge

from beltrami.kernel_machines.ridge import KernelRidgePath

ROWS, RANK, CLASSES = 15, 6, 3
RNG = np.random.default_rng(0)
WIDE = RNG.normal(size=(ROWS, 40))
NARROW = RNG.normal(size=(ROWS, RANK))
TARGETS = RNG.normal(size=(ROWS, CLASSES)) + 2.0
WEIGHTS = RNG.uniform(0.5, 3.0, ROWS)
ONES = np.ones(ROWS)


def whole(weights, *, intercept, root=WIDE):
    return KernelRidgePath.of(root @ root.T, weights, intercept=intercept), root @ root.T


def low_rank(weights, *, intercept, root=NARROW):
    return KernelRidgePath.of_factor(root, weights, intercept=intercept), root @ root.T


def solved_reference(K, targets, weights, strength, *, intercept):
    """The stationary point of sum w (y - Kc - b)^2 + strength c'Kc, by one bordered system."""
    count = len(K)
    system = np.zeros((count + 1, count + 1))
    system[:count, :count] = weights[:, None] * K + strength * np.eye(count)
    if intercept:
        system[:count, count], system[count, :count] = weights, 1.0
    else:
        system[count, count] = 1.0
    right = np.vstack([weights[:, None] * targets, np.zeros((1, targets.shape[1]))])
    found = np.linalg.solve(system, right)
    return found[:count], found[count]


every_way = pytest.mark.parametrize("way", [whole, low_rank])
every_intercept = pytest.mark.parametrize("intercept", [False, True])
every_weight = pytest.mark.parametrize("weights", [ONES, WEIGHTS], ids=["plain", "weighted"])
every_strength = pytest.mark.parametrize("strength", [1e-3, 1.0, 100.0])


@every_way
@every_intercept
@every_weight
@every_strength
def test_multipliers_solve_the_linear_system(way, intercept, weights, strength) -> None:
    path, K = way(weights, intercept=intercept)
    c, b = path.multipliers(TARGETS, strength)
    expected = solved_reference(K, TARGETS, weights, strength, intercept=intercept)
    assert_allclose(c, expected[0], atol=1e-8 * np.abs(expected[0]).max())
    assert_allclose(b, expected[1], atol=1e-8)


@every_way
@every_intercept
@every_weight
@every_strength
def test_leaving_one_out_is_a_fit_to_the_others(way, intercept, weights, strength) -> None:
    path, K = way(weights, intercept=intercept)
    found = path.held_out(TARGETS, strength)
    assert found.is_predicted.all()
    for row in range(ROWS):
        others = np.arange(ROWS) != row
        given = K[np.ix_(others, others)], TARGETS[others], weights[others], strength
        c, b = solved_reference(*given, intercept=intercept)
        assert_allclose(found.values[row], K[row, others] @ c + b, atol=1e-8)


@every_intercept
@pytest.mark.parametrize("strength", [1e-6, 1e-9, 1e-12])
def test_leaving_one_out_is_exact_under_a_vanishing_penalty(intercept, strength) -> None:
    path, K = whole(ONES, intercept=intercept)
    found = path.held_out(TARGETS, strength)
    for row in range(ROWS):
        others = np.arange(ROWS) != row
        given = K[np.ix_(others, others)], TARGETS[others], ONES[others], strength
        c, b = solved_reference(*given, intercept=intercept)
        assert_allclose(found.values[row], K[row, others] @ c + b, atol=1e-8)


@every_way
def test_without_weights_and_intercept_it_is_that_of_scikit_learn(way) -> None:
    path, K = way(ONES, intercept=False)
    c, b = path.multipliers(TARGETS, 0.7)
    assert_allclose(c, KernelRidge(kernel="precomputed", alpha=0.7).fit(K, TARGETS).dual_coef_)
    assert_array_equal(b, np.zeros(CLASSES))


@every_way
def test_with_an_intercept_multipliers_sum_to_zero(way) -> None:
    path, _ = way(WEIGHTS, intercept=True)
    assert_allclose(path.multipliers(TARGETS, 0.1)[0].sum(axis=0), 0, atol=1e-10)


@every_way
def test_an_intercept_takes_up_a_shift_of_the_targets(way) -> None:
    path, _ = way(WEIGHTS, intercept=True)
    (c, b), (moved, shifted) = (path.multipliers(TARGETS + by, 0.1) for by in (0.0, 5.0))
    assert_allclose(moved, c, atol=1e-10)
    assert_allclose(shifted, b + 5.0)


@every_way
@every_intercept
def test_a_weight_of_two_is_the_row_twice(way, intercept) -> None:
    twice = np.append(np.arange(ROWS), 4)
    weights = ONES.copy()
    weights[4] = 2.0
    root = WIDE if way is whole else NARROW
    once, _ = way(weights, intercept=intercept)
    repeated, _ = way(np.ones(ROWS + 1), intercept=intercept, root=root[twice])
    c, b = once.multipliers(TARGETS, 0.3)
    d, e = repeated.multipliers(TARGETS[twice], 0.3)
    assert_allclose(c[4], d[4] + d[ROWS], atol=1e-9)
    assert_allclose(np.delete(c, 4, axis=0), np.delete(d, [4, ROWS], axis=0), atol=1e-9)
    assert_allclose(b, e, atol=1e-9)


@every_intercept
def test_both_ways_are_the_same_path(intercept) -> None:
    first, _ = whole(WEIGHTS, intercept=intercept, root=NARROW)
    second, _ = low_rank(WEIGHTS, intercept=intercept)
    for strength in (1e-2, 1.0):
        pairs = zip(
            first.multipliers(TARGETS, strength), second.multipliers(TARGETS, strength), strict=True
        )
        for one, other in pairs:
            assert_allclose(one, other, atol=1e-9)
        held_out = [path.held_out(TARGETS, strength).values for path in (first, second)]
        assert_allclose(held_out[0], held_out[1], atol=1e-9)


@every_way
def test_a_row_that_only_an_intercept_explains_has_no_say(way) -> None:
    path = way(np.ones(1), intercept=True, root=np.ones((1, 1)))[0]
    found = path.held_out(np.array([[3.0]]), 0.5)
    assert_array_equal(found.is_predicted, [False])
    c, b = path.multipliers(np.array([[3.0]]), 0.5)
    assert_allclose(c, 0.0, atol=1e-12)
    assert_allclose(b, 3.0)


@every_way
def test_arrays_are_left_as_they_were(way) -> None:
    path, _ = way(WEIGHTS, intercept=True)
    before = TARGETS.copy(), WEIGHTS.copy(), NARROW.copy(), WIDE.copy()
    path.multipliers(TARGETS, 0.5)
    path.held_out(TARGETS, 0.5)
    for now, then in zip((TARGETS, WEIGHTS, NARROW, WIDE), before, strict=True):
        assert_array_equal(now, then)


@every_intercept
def test_repeated_rows_and_zero_kernels_stay_finite(intercept) -> None:
    for root in (np.zeros((ROWS, 2)), np.ones((ROWS, 2))):
        for path in (
            whole(ONES, intercept=intercept, root=root)[0],
            low_rank(ONES, intercept=intercept, root=root)[0],
        ):
            c, b = path.multipliers(TARGETS, 1e-9)
            assert np.isfinite(c).all()
            assert np.isfinite(b).all()
            assert np.isfinite(path.held_out(TARGETS, 1e-9).values).all()
