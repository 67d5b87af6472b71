"""Cutting a graph: sizes always met, the slides' numbers, and graphs whose spectrum is known."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import block_diag, csr_array

from beltrami.graph.model import Graph
from beltrami.separation.cut import (
    LeastSizes,
    cut_regions,
    most_regions,
    regions_by_eigengap,
    regions_by_slides,
)
from beltrami.solvers.eigen import eigenbasis


def clique(n):
    return np.ones((n, n)) - np.eye(n)


def cliques(*sizes, bridge=0.0):
    """Cliques, with a weak edge from each to the next."""
    weights = block_diag([clique(size) for size in sizes]).toarray()
    firsts = np.cumsum([0, *sizes[:-1]])
    for one, two in itertools.pairwise(firsts):
        weights[one, two] = weights[two, one] = bridge
    return Graph.from_matrix(csr_array(weights))


def basis_of(graph, count):
    return eigenbasis(graph, count, kind="combinatorial", random_state=np.random.default_rng(0))


def cut(graph, is_labeled, k, seed=0):
    is_labeled = np.asarray(is_labeled, dtype=bool)
    return cut_regions(basis_of(graph, k), is_labeled, k, np.random.default_rng(seed))


def every(n, step):
    return np.arange(n) % step == 0


def random_graph(n, seed=0):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.3), 1)
    weights[np.arange(n - 1), np.arange(1, n)] = 0.5
    return Graph.from_matrix(csr_array(weights + weights.T))


# --- sizes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "labeled", "unlabeled"), [(20, 2, 44), (80, 4, 20), (640, 15, 9)])
def test_the_least_sizes_are_the_slides(n, labeled, unlabeled):
    # n / log^2 n and m' / log^2 n for m' = 400 nodes without a label.
    assert LeastSizes.for_regions(n, 400, 2) == LeastSizes(labeled, unlabeled)


def test_more_regions_than_the_sizes_leave_room_for_lower_them():
    least = LeastSizes.for_regions(20, 400, 15)
    assert least == LeastSizes(20 // 15, 400 // 15)


@given(st.integers(1, 700), st.integers(0, 3000), st.data())
def test_the_sizes_can_always_be_met(n_labeled, n_unlabeled, data):
    n_regions = data.draw(st.integers(1, n_labeled))
    least = LeastSizes.for_regions(n_labeled, n_unlabeled, n_regions)
    assert 1 <= least.labeled <= n_labeled // n_regions
    assert 0 <= least.unlabeled <= n_unlabeled // n_regions


@pytest.mark.parametrize(("n", "most"), [(0, 1), (1, 1), (2, 1), (3, 1), (20, 8), (80, 19)])
def test_the_most_regions_have_their_labels_each(n, most):
    assert most_regions(n) == most


@pytest.mark.parametrize(
    ("n", "k"), [(0, 1), (1, 1), (2, 1), (3, 1), (5, 2), (20, 3), (80, 4), (640, 6)]
)
def test_the_slides_take_log_n_regions(n, k):
    assert regions_by_slides(n) == k


# --- eigengap -------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("bridge", [0.0, 0.01])
def test_the_largest_gap_counts_cliques(k, bridge):
    values = basis_of(cliques(*[12] * k, bridge=bridge), 8).values
    assert regions_by_eigengap(values, 7) == k


def test_one_clique_is_one_region():
    assert regions_by_eigengap(basis_of(cliques(20), 6).values, 5) == 1


def test_the_gap_is_between_a_number_and_the_next():
    values = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 20.0])
    assert regions_by_eigengap(values, 4) == 3
    assert regions_by_eigengap(values, 5) == 5
    assert regions_by_eigengap(values, 2) == 1
    assert regions_by_eigengap(values[:1], 3) == 1


# --- cuts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(10, 10), (12, 8, 10), (20, 7, 9, 14)])
@pytest.mark.parametrize("bridge", [0.0, 0.01])
def test_cliques_are_cut_apart(sizes, bridge):
    n = sum(sizes)
    regions = cut(cliques(*sizes, bridge=bridge), every(n, 4), len(sizes))
    truth = np.repeat(np.arange(len(sizes)), sizes)
    assert len({*zip(regions.tolist(), truth.tolist(), strict=True)}) == len(sizes)


@given(
    st.integers(6, 40),
    st.sampled_from(["some", "most", "all"]),
    st.integers(0, 5),
    st.data(),
)
def test_every_region_has_its_least_sizes(n, kind, seed, data):
    rng = np.random.default_rng(seed)
    is_labeled = rng.random(n) < {"some": 0.3, "most": 0.9, "all": 1.1}[kind]
    is_labeled[: min(3, n)] = True
    n_labeled = int(is_labeled.sum())
    k = data.draw(st.integers(1, n_labeled))
    regions = cut(random_graph(n, seed), is_labeled, k)
    least = LeastSizes.for_regions(n_labeled, n - n_labeled, k)
    assert np.bincount(regions[is_labeled], minlength=k).min() >= least.labeled >= 1
    assert np.bincount(regions[~is_labeled], minlength=k).min() >= least.unlabeled
    assert regions.max() < k
    assert regions.dtype == np.intp


def test_one_region_is_everything():
    assert_array_equal(cut(cliques(5, 5), every(10, 3), 1), np.zeros(10))


def test_as_many_regions_as_labels_have_one_each():
    is_labeled = every(30, 3)
    regions = cut(random_graph(30), is_labeled, 10)
    assert_array_equal(np.sort(regions[is_labeled]), np.arange(10))


def test_sizes_hold_where_labels_are_all_in_one_part():
    is_labeled = np.arange(40) < 8  # all in the first clique
    regions = cut(cliques(20, 20), is_labeled, 2)
    assert np.bincount(regions[is_labeled], minlength=2).min() >= 1


def test_the_same_seed_cuts_the_same():
    graph, is_labeled = random_graph(60), every(60, 4)
    assert_array_equal(cut(graph, is_labeled, 4, 7), cut(graph, is_labeled, 4, 7))
