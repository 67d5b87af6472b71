"""The deformed kernel: three ways that agree with a naive inverse; landmarks that tend to it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from beltrami import KnnGraph
from beltrami.core.errors import InvalidInputError, MemoryBudgetError
from beltrami.core.machine import memory
from beltrami.kernel_machines.deformation import (
    FactoredDeformation,
    FeatureDeformation,
    ModalDeformation,
    require_exact_memory,
)
from beltrami.kernel_machines.features import explicit_features
from beltrami.kernel_machines.gram import Gram
from beltrami.kernel_machines.kernels import resolve_kernel
from beltrami.kernel_machines.landmarks import NystromFeatures
from beltrami.kernel_machines.roughness import LaplacianPower

N = 60
RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(N, 2))
NEW = RNG.normal(size=(5, 2))
GRAPH = KnnGraph(5, connect="keep").build(POINTS)
ROWS = np.array([40, 3, 17, 8, 55, 21])
MULTIPLIERS = RNG.normal(size=(len(ROWS), 3))
ALL = np.arange(N)


def gram_of(points=POINTS, width=0.3):
    return Gram(resolve_kernel("rbf", width=width), points)


def roughness_of(kind="combinatorial", power=1, scale="n2"):
    return LaplacianPower(kind=kind, scale=scale).on(GRAPH, power)


def landmarks_of(gram, rows=ALL, roughness=None):
    features = NystromFeatures.of(gram, rows, tol=1e-14)
    return FeatureDeformation.of(features, roughness or roughness_of())


def factored(gram, roughness):
    return FactoredDeformation.of(gram, roughness)


def modal(gram, roughness):
    return ModalDeformation.of(gram, roughness)


def landmarks(gram, roughness):
    return landmarks_of(gram, ALL, roughness)


def deformed_reference(gram, roughness, ratio):
    """K (I + ratio S K)^-1 by a dense inverse."""
    K = gram.whole()
    return K @ np.linalg.inv(np.eye(len(K)) + ratio * roughness.apply(np.eye(len(K))) @ K)


every_way = pytest.mark.parametrize("way", [factored, modal, landmarks])
every_exact_way = pytest.mark.parametrize("way", [factored, modal])
every_laplacian = pytest.mark.parametrize("kind", ["combinatorial", "random_walk", "normalized"])
every_power = pytest.mark.parametrize("power", [1, 2, 3, 4])


# --- the same kernel by every way -------------------------------------------------------------


@every_way
@every_laplacian
@every_power
def test_blocks_are_those_of_the_naive_inverse(way, kind: str, power: int) -> None:
    gram, roughness = gram_of(), roughness_of(kind, power)
    for ratio in (1.0, 1e3):
        expected = deformed_reference(gram, roughness, ratio)[np.ix_(ROWS, ROWS)]
        block = way(gram, roughness).block(ROWS, ratio)
        assert_allclose(block, expected, atol=1e-8)
        assert_array_equal(block, block.T)


@every_way
@every_laplacian
@every_power
def test_functions_are_those_of_the_naive_inverse(way, kind: str, power: int) -> None:
    gram, roughness = gram_of(), roughness_of(kind, power)
    expansion = way(gram, roughness).expansion(ROWS, 1e3, MULTIPLIERS)
    whole = deformed_reference(gram, roughness, 1e3)
    assert_allclose(expansion.of_fit, whole[:, ROWS] @ MULTIPLIERS, atol=1e-8)
    coefficients = np.linalg.solve(gram.whole(), whole[:, ROWS] @ MULTIPLIERS)
    expected = gram.kernel.between(NEW, POINTS) @ coefficients
    assert_allclose(expansion.at(NEW), expected, atol=1e-8)


@every_way
def test_a_point_of_the_fit_has_the_same_value_as_a_new_one(way) -> None:
    expansion = way(gram_of(), roughness_of()).expansion(ROWS, 1e4, MULTIPLIERS)
    assert_allclose(expansion.at(POINTS), expansion.of_fit, atol=1e-9)


@every_way
@pytest.mark.parametrize("ratio", [0.0, 10.0, 1e5])
def test_the_size_is_the_mean_of_the_diagonal(way, ratio: float) -> None:
    gram, roughness = gram_of(), roughness_of()
    expected = np.diagonal(deformed_reference(gram, roughness, ratio)).mean()
    assert_allclose(way(gram, roughness).size(ratio), expected, rtol=1e-8)


@every_way
def test_without_roughness_the_kernel_is_as_it_was(way) -> None:
    made = way(gram_of(), roughness_of())
    expected = gram_of().whole()
    assert_allclose(made.block(ROWS, 0.0), expected[np.ix_(ROWS, ROWS)], atol=1e-9)
    of_fit = made.expansion(ROWS, 0.0, MULTIPLIERS).of_fit
    assert_allclose(of_fit, expected[:, ROWS] @ MULTIPLIERS, atol=1e-8)


@every_exact_way
def test_without_roughness_only_labelled_rows_have_coefficients(way) -> None:
    expansion = way(gram_of(), roughness_of()).expansion(ROWS, 0.0, MULTIPLIERS)
    assert_array_equal(expansion.coefficients[ROWS], MULTIPLIERS)
    assert_array_equal(np.delete(expansion.coefficients, ROWS, axis=0), 0.0)


@every_exact_way
def test_coefficients_solve_the_system_of_the_paper(way) -> None:
    """alpha = (I + ratio S K)^-1 J'c, eq. 9 with c = Y beta / (2 gamma_A)."""
    gram, roughness, K = gram_of(), roughness_of(), gram_of().whole()
    found = way(gram, roughness).expansion(ROWS, 1e3, MULTIPLIERS).coefficients
    wanted = np.zeros((N, 3))
    wanted[ROWS] = MULTIPLIERS
    assert_allclose(found + 1e3 * roughness.apply(K @ found), wanted, atol=1e-10)


@every_way
@pytest.mark.parametrize("ratio", [1.0, 1e4, 1e8])
def test_it_is_positive_and_below_the_kernel(way, ratio: float) -> None:
    deformed = way(gram_of(), roughness_of()).block(ALL, ratio)
    assert np.linalg.eigvalsh(deformed)[0] > -1e-9
    assert np.linalg.eigvalsh(gram_of().whole() - deformed)[0] > -1e-9


@every_way
def test_more_roughness_means_a_smaller_kernel(way) -> None:
    made = way(gram_of(), roughness_of(power=2))
    sizes = [made.size(ratio) for ratio in (0.0, 1.0, 1e3, 1e6)]
    assert np.all(np.diff(sizes) < 0)


@every_way
def test_ratios_and_rows_may_come_in_any_order(way) -> None:
    made = way(gram_of(), roughness_of())
    first = made.block(ROWS, 100.0)
    made.block(ROWS[:2], 100.0)
    made.block(ROWS, 5.0)
    made.size(7.0)
    assert_allclose(made.block(ROWS, 100.0), first, atol=1e-12)


@every_way
def test_duplicated_points_have_the_same_value(way) -> None:
    points = np.vstack([POINTS[:30], POINTS[:30]])
    gram, graph = gram_of(points), KnnGraph(5, connect="keep").build(POINTS[:30])
    weights = np.kron(np.ones((2, 2)), graph.weights.toarray())
    roughness = PAPER.on(type(graph).from_matrix(weights), 1)
    made = way(gram, roughness)
    of_fit = made.expansion(ROWS, 1e3, MULTIPLIERS).of_fit
    assert_allclose(of_fit[:30], of_fit[30:], atol=1e-9)


PAPER = LaplacianPower(kind="combinatorial")


@every_way
def test_a_function_that_is_zero_is_zero_everywhere(way) -> None:
    """All labels of one class: the machine is its intercept."""
    expansion = way(gram_of(), roughness_of()).expansion(ROWS, 0.0, 0 * MULTIPLIERS)
    assert_array_equal(expansion.at(NEW), np.zeros((5, 3)))


# --- landmarks --------------------------------------------------------------------------------


@every_power
def test_landmarks_tend_to_the_exact_kernel(power: int) -> None:
    gram, roughness = gram_of(width=0.5), roughness_of(power=power)
    exact = factored(gram, roughness).expansion(ROWS, 1e3, MULTIPLIERS).of_fit
    errors = []
    for m in (10, 20, 40, N):
        rows = np.concatenate([ROWS, np.setdiff1d(ALL, ROWS)])[:m]
        found = landmarks_of(gram, rows, roughness).expansion(ROWS, 1e3, MULTIPLIERS).of_fit
        errors.append(np.linalg.norm(found - exact) / np.linalg.norm(exact))
    assert errors[-1] < 1e-5
    assert np.all(np.diff(errors) < 0)


def test_random_waves_tend_to_the_exact_kernel() -> None:
    gram, roughness = gram_of(width=1.0), roughness_of()
    exact = modal(gram, roughness).block(ROWS, 1e3)

    def error(m):
        waves = [explicit_features(gram.kernel, POINTS, n_features=m, seed=s) for s in range(5)]
        blocks = [FeatureDeformation.of(one, roughness).block(ROWS, 1e3) for one in waves]
        return np.mean([np.linalg.norm(block - exact) for block in blocks])

    assert error(400) < error(25) / 2


def test_coordinates_are_exact_for_the_linear_kernel() -> None:
    gram = Gram(resolve_kernel("linear"), POINTS)
    features = explicit_features(gram.kernel, POINTS, n_features=0, seed=0)
    made = FeatureDeformation.of(features, roughness_of())
    expected = deformed_reference(gram, roughness_of(), 1e3)[np.ix_(ROWS, ROWS)]
    assert_allclose(made.block(ROWS, 1e3), expected, atol=1e-10)


def test_the_factor_of_more_rows_than_features_gives_the_block() -> None:
    made = landmarks_of(gram_of(), ALL[:2])
    factor = made.factor(ROWS, 50.0)
    assert factor.shape == (6, 2)
    assert_allclose(factor @ factor.T, made.block(ROWS, 50.0), atol=1e-12)
    assert made.factor(ROWS[:4], 50.0) is None


@every_exact_way
def test_an_exact_way_has_no_factor_to_offer(way) -> None:
    assert way(gram_of(), roughness_of()).factor(ROWS, 1.0) is None


@pytest.mark.parametrize("power", [1, 2, 4])
def test_features_kept_for_another_power_serve_as_well(power: int) -> None:
    features = NystromFeatures.of(gram_of(), ALL[::2], tol=1e-14)
    first = FeatureDeformation.of(features, roughness_of())
    fresh = FeatureDeformation.of(features, roughness_of(power=power))
    shared = FeatureDeformation.of(features, roughness_of(power=power), kept=first.form.kept)
    assert shared.form.kept is first.form.kept
    assert_allclose(shared.block(ROWS, 1e3), fresh.block(ROWS, 1e3), rtol=1e-10, atol=1e-12)
    assert_allclose(shared.size(1e3), fresh.size(1e3))


def test_the_leading_features_are_a_fit_to_fewer_landmarks() -> None:
    made = landmarks_of(gram_of(), ALL[:30])
    fewer = landmarks_of(gram_of(), made.features.landmarks[:15])
    assert_allclose(made.leading(15).block(ROWS, 1e3), fewer.block(ROWS, 1e3), atol=1e-9)


@pytest.mark.parametrize("power", [1, 2, 4])
def test_single_precision_points_are_near_double_ones(power: int) -> None:
    single, roughness = gram_of(POINTS.astype(np.float32)), roughness_of(power=power)
    for way in (factored, modal):
        found = way(single, roughness).expansion(ROWS, 1e3, MULTIPLIERS)
        expected = way(gram_of(), roughness).expansion(ROWS, 1e3, MULTIPLIERS)
        assert_allclose(found.of_fit, expected.of_fit, atol=1e-5)
        assert_allclose(found.at(NEW.astype(np.float32)), expected.at(NEW), atol=1e-5)
    features = [NystromFeatures.of(gram, ALL[:30], tol=1e-6) for gram in (single, gram_of())]
    made = [FeatureDeformation.of(one, roughness) for one in features]
    blocks = [one.block(ROWS, 1e3) for one in made]
    assert_allclose(blocks[0], blocks[1], atol=1e-3)


# --- what is refused --------------------------------------------------------------------------


def test_a_kernel_that_is_not_positive_is_refused_by_the_modes() -> None:
    gram = Gram(resolve_kernel("precomputed"), -rbf_kernel(POINTS))
    with pytest.raises(InvalidInputError, match="zero, or negative, between every point"):
        modal(gram, roughness_of())


@pytest.mark.parametrize(("way", "copies"), [(factored, 3), (modal, 6)])
def test_a_machine_that_does_not_fit_is_refused_before_it_is_built(
    way, copies: int, monkeypatch
) -> None:
    needed = 8 * copies * N * N
    monkeypatch.setattr(memory, "available_bytes", lambda: 4 * needed)
    way(gram_of(), roughness_of())
    monkeypatch.setattr(memory, "available_bytes", lambda: 4 * needed - 4)
    with pytest.raises(MemoryBudgetError, match=rf"{N} points \({copies} dense.*'nystrom'"):
        way(gram_of(), roughness_of())


def test_features_that_do_not_fit_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    with pytest.raises(MemoryBudgetError, match=r"the form of 10 features.*Lower n_landmarks"):
        landmarks_of(gram_of(), ALL[:10])


def test_the_error_names_the_size_and_the_way_out() -> None:
    with pytest.raises(MemoryBudgetError, match=r"10000000 points.*GiB.*approximation='nystrom'"):
        require_exact_memory(10**7, copies=3)
