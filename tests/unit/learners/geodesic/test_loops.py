"""Each compiled loop of the learners against its twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import dijkstra

from beltrami.learners.geodesic._loops import nearest_labels, nearest_labels_reference


def joined(n, ends, lengths):
    """Return the CSR arrays of an undirected graph; zero lengths stay in."""
    starts, stops = np.array(ends, dtype=np.int32).reshape(-1, 2).T
    place = np.arange(1, len(starts) + 1)
    half = coo_array((place, (starts, stops)), shape=(n, n))
    both = csr_array(half + half.T)
    return both.indptr, both.indices, np.asarray(lengths, dtype=np.float64)[both.data - 1]


def random_graph(rng, n, n_edges, lengths):
    pairs = np.array([(i, j) for i in range(n) for j in range(i)])
    chosen = pairs[rng.permutation(len(pairs))[:n_edges]]
    return joined(n, chosen, lengths(len(chosen)))


@st.composite
def problems(draw):
    """Small whole lengths, zeros among them: many ties, many pieces, everything exact."""
    n = draw(st.integers(1, 12))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    edges = st.lists(st.sampled_from(pairs), unique=True, max_size=len(pairs)) if pairs else None
    chosen = draw(edges) if edges is not None else []
    lengths = draw(st.lists(st.integers(0, 3), min_size=len(chosen), max_size=len(chosen)))
    sources = draw(st.lists(st.integers(0, n - 1), unique=True, min_size=1))
    return joined(n, chosen, lengths), np.array(sources), draw(st.integers(1, 6))


@given(problem=problems())
def test_nearest_labels_is_its_twin_on_ties_zeros_and_pieces(problem) -> None:
    graph, sources, k = problem
    found, distances = nearest_labels(*graph, sources, k)
    expected, lengths = nearest_labels_reference(*graph, sources, k)
    assert_array_equal(found, expected)
    assert_array_equal(distances, lengths)


@pytest.mark.parametrize("n_edges", [60, 150, 600])  # in pieces, barely whole, dense
@pytest.mark.parametrize("k", [1, 2, 5, 40])
def test_nearest_labels_is_its_twin_on_random_lengths(n_edges: int, k: int) -> None:
    rng = np.random.default_rng(n_edges + k)

    def lengths(count):
        return rng.exponential(size=count) * (rng.random(count) > 0.2)

    graph = random_graph(rng, 120, n_edges, lengths)
    sources = rng.permutation(120)[:30]
    found, distances = nearest_labels(*graph, sources, k)
    expected, reach = nearest_labels_reference(*graph, sources, k)
    # Where two sources come over the same edges of length zero they tie, and exactly so.
    assert_array_equal(found, expected)
    assert_array_equal(distances, reach)


def test_the_twin_agrees_with_scipy_where_all_lengths_are_positive() -> None:
    rng = np.random.default_rng(0)
    indptr, indices, lengths = random_graph(rng, 60, 90, lambda count: rng.uniform(1, 2, count))
    sources = rng.permutation(60)[:7]
    every = dijkstra(csr_array((lengths, indices, indptr), shape=(60, 60)), indices=sources).T
    _, distances = nearest_labels_reference(indptr, indices, lengths, sources, 7)
    np.testing.assert_allclose(distances, np.sort(every, axis=1), rtol=1e-14)
    assert np.isinf(distances).any()


def test_where_fewer_sources_reach_the_rest_is_empty() -> None:
    graph = joined(5, [(0, 1), (1, 2)], [1.0, 2.0])
    found, distances = nearest_labels(*graph, np.array([2, 0, 3]), 4)
    assert_array_equal(found[1], [1, 0, -1, -1])
    assert_array_equal(distances[1], [1, 2, np.inf, np.inf])
    assert_array_equal(found[3], [2, -1, -1, -1])
    assert_array_equal(found[4], [-1, -1, -1, -1])
    assert np.isinf(distances[4]).all()


def test_an_infinite_length_is_no_edge() -> None:
    graph = joined(3, [(0, 1), (1, 2)], [np.inf, 1.0])
    for search in (nearest_labels, nearest_labels_reference):
        found, distances = search(*graph, np.array([0]), 1)
        assert_array_equal(found.ravel(), [0, -1, -1])
        assert_array_equal(distances.ravel(), [0, np.inf, np.inf])


def test_a_longer_way_found_first_gives_way_to_the_shorter() -> None:
    # Node 2 hears of source 0 by the direct edge of 9 first, by the path of 1 + 1 later.
    graph = joined(3, [(0, 2), (0, 1), (1, 2)], [9.0, 1.0, 1.0])
    found, distances = nearest_labels(*graph, np.array([0]), 2)
    assert_array_equal(found[2], [0, -1])
    assert_array_equal(distances[2], [2.0, np.inf])
