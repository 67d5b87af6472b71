"""Assignment under bounds on sizes: the linear program's cost, from any start, or a reason."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from beltrami.core.errors import InvalidInputError, MemoryBudgetError
from beltrami.core.machine import memory
from beltrami.separation.assignment import SizeBounds, assign, assign_reference, size_bounds
from beltrami.separation.assignment._loops import cheapest_labels, repair


class Problem(NamedTuple):
    costs: np.ndarray
    lower: np.ndarray
    upper: np.ndarray | None
    groups: np.ndarray | None


KINDS = (
    "lower", "both", "groups", "negative", "ties", "duplicates", "exact", "one cluster", "k = n",
)  # fmt: skip


def sizes_of(labels: np.ndarray, groups: np.ndarray | None, shape: tuple[int, int]) -> np.ndarray:
    counts = np.zeros(shape, dtype=int)
    np.add.at(counts, (0 if groups is None else groups, labels), 1)
    return counts


def problem(kind: str, seed: int) -> Problem:
    """A random problem whose bounds some random assignment meets."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    n, k = int(rng.integers(3, 36)), int(rng.integers(2, 7))
    k = {"one cluster": 1, "k = n": n}.get(kind, k)
    n_groups = 3 if kind in ("groups", "duplicates") else 1
    groups = rng.integers(0, n_groups, n) if n_groups > 1 else None
    # Some clusters are cheap for all points, so that the bounds bind.
    costs = rng.random((n, k)) + rng.random(k) * 2
    if kind == "negative":
        costs = rng.normal(size=(n, k)) * 100 - 500
    if kind == "ties":
        costs = rng.integers(0, 3, (n, k)).astype(float)
    if kind == "duplicates":
        costs = costs[rng.integers(0, max(n // 4, 1), n)]
    meets = sizes_of(rng.integers(0, k, n), groups, (n_groups, k))
    if kind == "k = n":
        return Problem(costs, np.ones(k, int), np.ones(k, int), None)
    if kind == "exact":
        return Problem(costs, meets, meets, groups)
    slack = rng.integers(0, 3, (2, n_groups, k))
    upper = None if kind == "lower" else meets + slack[1]
    return Problem(costs, np.maximum(meets - slack[0], 0), upper, groups)


def total(costs: np.ndarray, labels: np.ndarray) -> float:
    return float(costs[np.arange(len(labels)), labels].sum())


def assert_within_bounds(asked: Problem, labels: np.ndarray) -> None:
    lower = np.atleast_2d(asked.lower)
    counts = sizes_of(labels, asked.groups, lower.shape)
    assert (counts >= lower).all()
    assert asked.upper is None or (counts <= np.atleast_2d(asked.upper)).all()


def dual_value(asked: Problem, prices: np.ndarray) -> float:
    """What the prices prove: no assignment within the bounds costs less."""
    n = len(asked.costs)
    groups = np.zeros(n, dtype=int) if asked.groups is None else asked.groups
    upper = np.full_like(prices, n) if asked.upper is None else np.atleast_2d(asked.upper)
    bound = np.where(prices > 0, prices * np.atleast_2d(asked.lower), prices * upper)
    return float((asked.costs - prices[groups]).min(axis=1).sum() + bound.sum())


@pytest.mark.parametrize("kind", KINDS)
def test_cost_is_that_of_the_linear_program(kind):
    for seed in range(25):
        asked = problem(kind, seed)
        found = assign(asked.costs, asked.lower, asked.upper, groups=asked.groups)
        best = assign_reference(asked.costs, asked.lower, asked.upper, groups=asked.groups)
        assert_within_bounds(asked, found.labels)
        assert_within_bounds(asked, best)
        assert_allclose(total(asked.costs, found.labels), total(asked.costs, best), rtol=1e-12)
        assert_allclose(found.cost, total(asked.costs, found.labels), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_prices_prove_that_the_cost_is_least(kind):
    for seed in range(25, 75):
        asked = problem(kind, seed)
        found = assign(asked.costs, asked.lower, asked.upper, groups=asked.groups)
        assert_allclose(dual_value(asked, found.prices), found.cost, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [0.1, 3.0, 1e18])
def test_any_start_ends_at_the_same_cost(kind, scale):
    rng = np.random.default_rng(7)
    for seed in range(75, 90):
        asked = problem(kind, seed)
        cold = assign(asked.costs, asked.lower, asked.upper, groups=asked.groups)
        start = scale * rng.normal(size=cold.prices.shape) * rng.integers(0, 2, cold.prices.shape)
        warm = assign(asked.costs, asked.lower, asked.upper, groups=asked.groups, start=start)
        assert_within_bounds(asked, warm.labels)
        assert_allclose(warm.cost, cold.cost, rtol=1e-11, atol=1e-11)


def large(seed: int = 0, n: int = 4000, k: int = 12) -> Problem:
    rng = np.random.default_rng(seed)
    costs = rng.random((n, k)) ** 2
    costs[:, 0] -= 0.6
    return Problem(costs, np.full(k, n // k - 20), None, None)


def test_start_from_prices_of_a_similar_problem_saves_most_moves():
    asked = large()
    cold = assign(asked.costs, asked.lower)
    assert cold.n_moves > 2000
    again = assign(asked.costs, asked.lower, start=cold.prices)
    assert again.cost == pytest.approx(cold.cost, rel=1e-12)
    assert again.n_moves < 50
    near = asked.costs + 1e-3 * np.random.default_rng(1).normal(size=asked.costs.shape)
    warm, fresh = assign(near, asked.lower, start=cold.prices), assign(near, asked.lower)
    assert warm.cost == pytest.approx(fresh.cost, rel=1e-12)
    assert warm.n_moves < fresh.n_moves / 10


@pytest.mark.parametrize("entries", [0, 1000, 10**6])
def test_room_of_the_pools_changes_nothing(entries):
    asked = large()
    n, k = asked.costs.shape
    labels, prices = np.empty(n, np.int32), np.zeros(k)
    cheapest_labels(asked.costs, prices, labels)
    assert_array_equal(labels, asked.costs.argmin(axis=1))
    repair(asked.costs, labels, asked.lower, np.full(k, n), prices, entries)
    assert_within_bounds(asked, labels)
    assert_allclose(dual_value(asked, prices[None]), total(asked.costs, labels), rtol=1e-11)


def test_points_that_come_and_go_are_not_forgotten():
    """Random prices move many points there and back, through pools of the least room."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        asked = large(int(rng.integers(1000)), n=int(rng.integers(50, 300)), k=6)
        asked = asked._replace(lower=np.zeros(6, int))
        meets = rng.multinomial(len(asked.costs), rng.dirichlet(np.full(6, 0.5)))
        asked = asked._replace(lower=np.maximum(meets - 1, 0), upper=meets + 1)
        start = rng.normal(size=6)
        labels, prices = np.empty(len(asked.costs), np.int32), start.copy()
        cheapest_labels(asked.costs, prices, labels)
        repair(asked.costs, labels, asked.lower, asked.upper, prices, 0)
        assert_within_bounds(asked, labels)
        assert_allclose(dual_value(asked, prices[None]), total(asked.costs, labels), atol=1e-10)


@given(st.data())
def test_bounds_hold_and_prices_have_their_signs(data):
    n, k = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 6))
    values = st.floats(-1e6, 1e6, allow_nan=False)
    costs = np.array(data.draw(st.lists(values, min_size=n * k, max_size=n * k))).reshape(n, k)
    labels = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    meets = np.bincount(labels, minlength=k)
    lower = np.maximum(meets - data.draw(st.integers(0, 2)), 0)
    upper = meets + data.draw(st.integers(0, 2))
    found = assign(costs, lower, upper)
    sizes = np.bincount(found.labels, minlength=k)
    assert (lower <= sizes).all()
    assert (sizes <= upper).all()
    assert found.cost <= total(costs, labels) + 1e-6
    assert (sizes[found.prices[0] > 0] == lower[found.prices[0] > 0]).all()
    assert (sizes[found.prices[0] < 0] == upper[found.prices[0] < 0]).all()


def test_groups_are_independent():
    asked = problem("groups", 4)
    together = assign(asked.costs, asked.lower, asked.upper, groups=asked.groups)
    for group in range(3):
        rows = asked.groups == group
        alone = assign(asked.costs[rows], asked.lower[group], asked.upper[group])
        assert_array_equal(together.labels[rows], alone.labels)
        assert_array_equal(together.prices[group], alone.prices[0])


def test_without_binding_bounds_every_point_takes_the_cheapest():
    asked = large()
    found = assign(asked.costs, 0)
    assert_array_equal(found.labels, asked.costs.argmin(axis=1))
    assert found.n_moves == 0


def test_equal_costs_end():
    found = assign(np.zeros((1000, 7)), np.full(7, 140), np.full(7, 145))
    assert np.bincount(found.labels).min() >= 140


def test_groups_without_points_and_no_points_at_all():
    lower = np.array([[1, 1], [0, 0], [0, 2]])
    costs = np.array([[0.0, 3], [0, 1], [0, 1], [0, 2]])
    found = assign(costs, lower, groups=[0, 0, 2, 2])
    assert_array_equal(found.labels, [0, 1, 1, 1])
    assert assign(np.empty((0, 3)), 0).labels.shape == (0,)


def test_float32_and_integer_costs_are_taken():
    costs = np.array([[0, 5], [0, 1], [0, 3]])
    for dtype in (np.float32, np.int64):
        assert_array_equal(assign(costs.astype(dtype), [1, 1]).labels, [0, 1, 0])


def test_impossible_bounds_are_refused_with_their_numbers():
    costs = np.zeros((10, 3))
    with pytest.raises(
        InvalidInputError, match=r"group 0 has 10 point\(s\).*sum to 12.*to 30.*Lower"
    ):
        assign(costs, 4)
    with pytest.raises(InvalidInputError, match=r"has 10 point\(s\).*sum to 0.*to 9\. Raise"):
        assign(costs, 0, 3)
    with pytest.raises(InvalidInputError, match="group 1 has 4"):
        assign(costs, [[0, 0, 0], [2, 2, 2]], groups=[0] * 6 + [1] * 4)
    with pytest.raises(InvalidInputError, match="cluster 2 must have at least 3 and at most 2"):
        assign(costs, [0, 0, 3], [9, 9, 2])


@pytest.mark.parametrize(
    ("bound", "words"),
    [(-1, "whole numbers"), (0.5, "whole numbers"), ("a", "whole numbers"), ([1, 2], "shape")],
)
def test_bounds_that_are_no_counts_are_refused(bound, words):
    with pytest.raises(InvalidInputError, match=words):
        assign(np.zeros((4, 3)), bound)


def test_costs_and_starts_that_are_no_numbers_are_refused():
    costs = np.zeros((5, 2))
    costs[3, 1] = np.nan
    with pytest.raises(InvalidInputError, match=r"1 value\(s\).*first for point 3"):
        assign(costs, 0)
    costs[3, 1] = np.inf
    with pytest.raises(InvalidInputError, match="NaN or infinite"):
        assign(costs, 0)
    for huge in (1e308, 4e307):
        with pytest.raises(InvalidInputError, match="scale them down"):
            assign(np.array([[huge, -huge]]), 0)
    with pytest.raises(InvalidInputError, match="one row per point"):
        assign(np.zeros(5), 0)
    for start in (np.zeros((2, 2)), np.full((1, 2), np.nan)):
        with pytest.raises(InvalidInputError, match="prices of an earlier"):
            assign(np.zeros((5, 2)), 0, start=start)


@pytest.mark.parametrize("groups", [[0, 1], ["a"] * 5, [0.0] * 5, [[0]] * 5])
def test_groups_that_are_no_numbers_from_zero_are_refused(groups):
    with pytest.raises(InvalidInputError, match="one integer per point"):
        assign(np.zeros((5, 2)), 0, groups=groups)
    with pytest.raises(InvalidInputError, match="1 point"):
        assign(np.zeros((5, 2)), 0, groups=[0, 0, 0, 0, -1])


def test_memory_is_asked_for_first(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 4000)
    with pytest.raises(MemoryBudgetError, match="5000 points to 4 clusters"):
        assign(np.zeros((5000, 4)), 0)


def test_bounds_of_named_groups():
    groups = np.array(["b", "a", "b", "b", "a"])
    bounds = size_bounds({"a": 1, "b": [0, 2]}, {"b": 2}, groups, n_points=5, n_clusters=2)
    assert_array_equal(bounds.groups, [0, 1, 0, 0, 1])
    assert_array_equal(bounds.lower, [[0, 2], [1, 1]])
    assert_array_equal(bounds.upper, [[2, 2], [5, 5]])
    mixed = size_bounds(0, None, [True, "x", None, ("y", 1), True], n_points=5, n_clusters=2)
    assert_array_equal(mixed.groups, [0, 1, 2, 3, 0])


@pytest.mark.parametrize(
    ("size", "groups", "words"),
    [
        (1, [1, 2, 3], "X has 4 rows, groups has 3"),
        (1, [[1], [2], [3], [4]], "keys of a dict"),
        (1, [1.0, np.nan, 1.0, 1.0], "NaN"),
        ({"c": 1}, ["a", "b", "a", "b"], r"keys \['c'\].*groups are \['a', 'b'\]"),
        ({"c": 1}, None, "needs groups="),
        ({None: 1}, None, "needs groups="),
        ([1, 1, 1], None, r"min_size has shape \(3,\); 2 clusters need"),
        (-1, None, "min_size=-1 must hold whole numbers"),
        (3, ["a", "b", "a", "b"], r"group 'a' has 2 point\(s\)"),
    ],
)
def test_bounds_that_do_not_fit_the_groups_are_refused(size, groups, words):
    with pytest.raises(InvalidInputError, match=words):
        size_bounds(size, None, groups, n_points=4, n_clusters=2)


def test_a_sample_has_every_group_in_its_share_and_bounds_it_can_meet():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], [800, 190, 10])
    lower = np.array([[400, 300, 100], [50, 60, 80], [1, 2, 7]])
    bounds = SizeBounds.of(lower, lower, groups, n_points=1000, n_clusters=3)
    rows, scaled = bounds.draw_sample(1000, 100, rng)
    assert_array_equal(np.bincount(groups[rows]), [80, 19, 1])
    assert len(set(rows.tolist())) == 100
    assert (scaled.lower <= lower / 10).all()
    assert (scaled.upper >= lower / 10).all()
    assign(rng.random((100, 3)), scaled.lower, scaled.upper, groups=scaled.groups)
    other, _ = bounds.draw_sample(1000, 100, np.random.default_rng(1))
    assert set(other.tolist()) != set(rows.tolist())
