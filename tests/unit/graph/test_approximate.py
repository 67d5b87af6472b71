"""Approximate search: good, measured, repeatable, and caught when it is not good."""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from beltrami import KnnGraph
from beltrami.core.errors import MemoryBudgetError, RecallWarning
from beltrami.core.machine import memory
from beltrami.graph.search import approximate, euclidean, open_space
from beltrami.graph.search.cells import CELL_SIZE, Cells, Division

POINTS = np.random.default_rng(0).normal(size=(8000, 20))


def _sheet(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Return a curved sheet of three dimensions in many columns, with a little noise."""
    rng = np.random.default_rng(seed)
    waves = rng.uniform(-1, 1, (n, 3)) @ rng.normal(size=(3, d))
    return np.sin(waves) + rng.normal(0, 0.01, (n, d))


def _share(found: np.ndarray, truth: np.ndarray) -> float:
    rows = [len(set(a) & set(b)) for a, b in zip(found.tolist(), truth.tolist(), strict=True)]
    return sum(rows) / truth.size


def _lists(points: np.ndarray, k: int, search: str, seed: int = 0) -> euclidean.Neighbors:
    rng = np.random.default_rng(seed)
    return open_space(points, "euclidean").neighbors(k, search=search, rng=rng)


def _cells(points: np.ndarray, k: int) -> Cells:
    return Cells.of(points, Division.of(points, np.random.default_rng(0)), k)


def test_recall_is_high_and_measured_rightly() -> None:
    exact = KnnGraph(10, search="exact", weights="binary").build(POINTS)
    graph = KnnGraph(10, search="approximate", weights="binary", random_state=0).build(POINTS)
    assert exact.certificate.search == "exact"
    assert (exact.certificate.recall, exact.certificate.n_sampled) == (1.0, 0)
    made = graph.certificate
    assert made.search == "approximate"
    assert made.n_sampled == 1000
    assert graph.neighbors is not None
    assert exact.neighbors is not None
    true_share = _share(graph.neighbors.indices, exact.neighbors.indices)
    assert true_share >= 0.99
    assert abs(made.recall - true_share) < 0.005
    assert "approximate, recall 0.99" in repr(graph) or "recall 1.0" in repr(graph)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("points", "k"),
    [
        (_sheet(3000, 9), 10),
        (_sheet(2500, 300), 30),
        (_sheet(4000, 24), CELL_SIZE + 1),
        (_sheet(1000, 12), 300),
        (np.hstack([_sheet(3000, 10), np.full((3000, 5), 7.0)]), 30),
        (1e4 + _sheet(3000, 16), 10),
        (_sheet(3000, 16) * 1e-8, 10),
        (np.repeat(50 * np.eye(12), 250, axis=0) + _sheet(3000, 12), 15),
        (np.random.default_rng(1).standard_cauchy((3000, 10)), 10),
        (POINTS[:3000], 10),
        (POINTS[:5], 4),
        (POINTS[:2], 1),
    ],
    ids=[
        "9 dimensions", "300", "more than a cell", "few cells", "constant columns", "far off",
        "tiny", "clusters", "outliers", "noise", "five", "two",
    ],
)  # fmt: skip
def test_lists_are_those_of_brute_force_but_for_one_in_a_hundred(
    points: np.ndarray, k: int, dtype: type[np.floating]
) -> None:
    points = points.astype(dtype)
    found, truth = _lists(points, k, "approximate"), _lists(points, k, "exact")
    assert found.indices.shape == truth.indices.shape
    assert not (found.indices == np.arange(len(points))[:, None]).any()
    assert np.mean(found.distances <= truth.distances[:, -1:]) >= 0.99
    # What is listed is at its true distance, in order.
    lengths = np.linalg.norm(
        (points[found.indices] - points[:, None]).astype(np.float64), axis=2
    )  # fmt: skip
    np.testing.assert_allclose(found.distances, lengths, rtol=1e-5, atol=1e-12)
    assert (np.diff(found.distances, axis=1) >= 0).all()


@pytest.mark.parametrize("n_copies", [3, 40, 2500])
def test_heaps_of_identical_points_are_found_and_not_compared_with_each_other(
    n_copies: int,
) -> None:
    heap = np.repeat(_sheet(5000 // n_copies, 12), n_copies, axis=0)
    points = np.random.default_rng(0).permutation(np.vstack([heap, _sheet(1000, 12, seed=1)]))
    found, truth = _lists(points, 20, "approximate"), _lists(points, 20, "exact")
    assert np.mean(found.distances <= truth.distances[:, -1:]) >= 0.99
    cells = _cells(points.astype(np.float32), 21)
    assert np.diff(cells.starts).max() <= 4 * CELL_SIZE
    if n_copies > 4 * CELL_SIZE:
        assert len(cells.members) <= 1000 + 2 * 21


def test_points_that_are_all_alike_have_neighbours() -> None:
    found = _lists(np.ones((3000, 10)), 5, "approximate")
    assert (found.distances == 0).all()
    assert not (found.indices == np.arange(3000)[:, None]).any()


def test_every_point_is_in_one_cell_whose_centre_is_near() -> None:
    points = _sheet(3000, 12).astype(np.float32)
    cells = _cells(points, 11)
    assert_array_equal(np.sort(cells.members), np.arange(3000))
    assert_array_equal(
        cells.owner[cells.members], np.repeat(np.arange(cells.n_cells), np.diff(cells.starts))
    )
    centers = cells.centers[cells.owner[cells.members]]
    np.testing.assert_allclose(cells.offsets, points[cells.members] - centers, atol=1e-6)
    squares = ((points[:, None] - cells.centers) ** 2).sum(axis=2)
    rank = (squares < squares[np.arange(3000), cells.owner][:, None]).sum(axis=1)
    assert np.mean(rank == 0) > 0.8


def test_the_same_seed_gives_the_same_graph_whatever_the_threads() -> None:
    points = _sheet(3000, 12)
    one, two, other = (
        KnnGraph(8, search="approximate", random_state=3, n_jobs=n_jobs).build(points)
        for n_jobs in (1, 2, None)
    )
    assert (one.weights != two.weights).nnz == 0
    assert (one.weights != other.weights).nnz == 0
    assert one.certificate == two.certificate == other.certificate


def test_auto_turns_approximate_from_some_size_on_where_that_is_faster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(euclidean, "EXACT_ROWS", 6000)
    points = _sheet(6000, 10)
    assert _lists(points, 4, "auto").n_sampled
    assert not _lists(points[:5999], 4, "auto").n_sampled
    assert not _lists(points, 4, "exact").n_sampled
    assert not _lists(points[:, :8], 4, "auto").n_sampled
    # Noise has no cells: everything would have to be searched.
    noise = np.random.default_rng(0).normal(size=(6000, 40))
    assert_array_equal(_lists(noise, 4, "auto").indices, _lists(noise, 4, "exact").indices)
    assert not _lists(noise, 4, "auto").n_sampled


def test_directions_can_be_searched_approximately() -> None:
    graph = KnnGraph(5, metric="cosine", search="approximate", random_state=0).build(POINTS[:2000])
    assert graph.certificate.recall >= 0.99


def _shuffled(
    self: Cells, rows: np.ndarray, k: int, **plan: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Answer with random rows, however many cells are searched."""
    assert plan["n_searched"] <= self.n_cells
    yield rows, np.random.default_rng(0).integers(0, len(self.points), size=(len(rows), k))


def test_a_bad_index_is_caught_by_the_measured_recall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cells, "candidates", _shuffled)
    with pytest.warns(RecallWarning, match=r"found 0\.0.*search='exact'"):
        lists = _lists(POINTS[:500], 5, "approximate")
    assert lists.recall < 0.2


def test_auto_searches_exactly_where_the_cells_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cells, "candidates", _shuffled)
    monkeypatch.setattr(euclidean, "EXACT_ROWS", 6000)
    points = _sheet(6000, 10)
    lists = _lists(points, 5, "auto")
    assert (lists.recall, lists.n_sampled) == (1.0, 0)
    assert_array_equal(lists.indices, _lists(points, 5, "exact").indices)


def test_a_plan_that_misses_neighbours_is_made_harder(monkeypatch: pytest.MonkeyPatch) -> None:
    points = _sheet(3000, 10)
    monkeypatch.setattr(euclidean, "plan_search", lambda *_: approximate.Plan(2, 1))
    assert _lists(points, 10, "approximate").recall >= 0.99


def test_points_with_too_few_candidates_are_searched_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = Cells.candidates

    def forgetful(
        self: Cells, rows: np.ndarray, k: int, **plan: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for block, found in whole(self, rows, k, **plan):
            found[:3, 2:] = -1
            yield block, found

    monkeypatch.setattr(Cells, "candidates", forgetful)
    exact = _lists(POINTS[:60], 5, "exact")  # one cell
    assert_array_equal(_lists(POINTS[:60], 5, "approximate").indices, exact.indices)


def test_a_recall_is_sure_when_a_standard_error_and_more_below_it_is_enough() -> None:
    found = np.ones((1000, 10), dtype=np.bool_)
    assert approximate.is_surely_good(found)
    found[:60, 0] = False  # 0.994, of standard error 0.00075
    assert approximate.is_surely_good(found)
    found[:70, 0] = False  # 0.993, and 0.9917 once in twenty
    found[:3, :] = False
    assert found.mean() > 0.99
    assert not approximate.is_surely_good(found)


def test_rows_that_plan_a_search_are_not_those_that_judge_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    known = euclidean.EuclideanSpace._true_neighbors
    monkeypatch.setattr(
        euclidean.EuclideanSpace,
        "_true_neighbors",
        lambda own, rows, k: asked.append(rows) or known(own, rows, k),
    )
    made = _lists(_sheet(3000, 12), 5, "approximate")
    planning, judging = asked
    assert (len(planning), len(judging)) == (500, made.n_sampled)
    assert not np.intersect1d(planning, judging).size


@pytest.mark.parametrize(
    ("available", "what"),
    [(4 * 3000 * 12 - 1, "the copy of 3000 points"), (6 * 3000 * 12 - 1, "the search by cells")],
)
def test_copies_that_do_not_fit_are_refused_before_they_are_made(
    available: int, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: available)
    with pytest.raises(MemoryBudgetError, match=what):
        _lists(_sheet(3000, 12), 5, "approximate")
