"""Approximate search: good, measured, repeatable, and caught when it is not good."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from beltrami import KnnGraph
from beltrami.core.errors import RecallWarning
from beltrami.graph.search import approximate, euclidean, open_space

POINTS = np.random.default_rng(0).normal(size=(8000, 20))


def _share(found: np.ndarray, truth: np.ndarray) -> float:
    rows = [len(set(a) & set(b)) for a, b in zip(found.tolist(), truth.tolist(), strict=True)]
    return sum(rows) / truth.size


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
    # The certificate counts the point itself as found, hence a hair more.
    assert abs(made.recall - true_share) < 0.005
    assert "approximate, recall 0.99" in repr(graph) or "recall 1.0" in repr(graph)


def test_the_same_seed_gives_the_same_graph() -> None:
    points = POINTS[:3000]
    one, two = (KnnGraph(8, search="approximate", random_state=3).build(points) for _ in range(2))
    assert (one.weights != two.weights).nnz == 0
    assert one.certificate == two.certificate


def test_auto_turns_approximate_only_where_brute_force_is_dear(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(euclidean, "EXACT_COST", 2000.0**2 * 10)
    assert KnnGraph(4).build(POINTS[:2000, :10]).certificate.search == "exact"
    assert KnnGraph(4, random_state=0).build(POINTS[:2001, :10]).certificate.search == "approximate"
    assert KnnGraph(4).build(POINTS[:, :8]).certificate.search == "exact"


def test_directions_can_be_searched_approximately() -> None:
    graph = KnnGraph(5, metric="cosine", search="approximate", random_state=0).build(POINTS[:2000])
    assert graph.certificate.recall >= 0.99


class Shuffled:
    """An index that answers with random rows, however many cells it searches."""

    def __init__(self, n: int) -> None:
        self.nlist, self.nprobe, self._rng, self._n = 4, 1, np.random.default_rng(0), n

    def search(self, queries: np.ndarray, k: int) -> tuple[None, np.ndarray]:
        return None, self._rng.integers(0, self._n, size=(len(queries), k))


def test_a_bad_index_is_caught_by_the_measured_recall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approximate, "_inverted_file", lambda points, seed: Shuffled(len(points)))
    with pytest.warns(RecallWarning, match=r"found 0\.0.*search='exact'"):
        lists = open_space(POINTS[:500], "euclidean").neighbors(
            5, search="approximate", rng=np.random.default_rng(0)
        )
    assert lists.recall < 0.2


class Forgetful:
    """A perfect index that finds too few neighbours for a few points."""

    def __init__(self, points: np.ndarray) -> None:
        self.nlist = self.nprobe = 1
        self._points = points

    def search(self, queries: np.ndarray, k: int) -> tuple[Any, np.ndarray]:
        import faiss

        squares, found = faiss.knn(queries, self._points, k)
        found[:3, 2:] = -1
        return squares, found


def test_points_with_too_few_candidates_are_searched_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(approximate, "_inverted_file", lambda points, seed: Forgetful(points))
    space = open_space(POINTS[:500], "euclidean")
    lists = space.neighbors(5, search="approximate", rng=np.random.default_rng(0))
    exact = space.neighbors(5, search="exact", rng=np.random.default_rng(0))
    assert_array_equal(lists.indices, exact.indices)
