"""Compiled loops of the multilevel solver beside their twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from beltrami import Graph
from beltrami.graph.families import complete, disjoint_union, grid, ring
from beltrami.solvers.eigen import _loops


def star(n: int) -> Graph:
    """One node joined to all others."""
    weights = np.zeros((n, n))
    weights[0, 1:] = weights[1:, 0] = 1.0
    return Graph.from_matrix(weights)


CASES = {
    "grid": grid(6, 7),
    "star": star(30),
    "complete": complete(9),
    "pieces": disjoint_union(ring(11), star(5), grid(3, 4)),
}


def weighted(name: str, seed: int = 0) -> csr_array:
    weights = CASES[name].weights.copy()
    weights.data = np.random.default_rng(seed).uniform(0.1, 1.0, weights.nnz)
    return csr_array(weights.maximum(weights.T))


def parts(weights: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return weights.indptr, weights.indices, weights.data


@pytest.mark.parametrize("name", CASES)
def test_pairs_match_their_twin(name: str) -> None:
    weights, mass = weighted(name), np.random.default_rng(1).uniform(1, 2, CASES[name].n_nodes)
    groups, count = _loops.pair_up(*parts(weights), mass)
    expected, n_expected = _loops.pair_up_reference(*parts(weights), mass)
    assert count == n_expected
    assert_array_equal(groups, expected)
    assert set(groups) == set(range(count))


def test_node_without_edges_stays_alone_and_a_star_becomes_one_group() -> None:
    groups, count = _loops.pair_up(*parts(csr_array((3, 3))), np.ones(3))
    assert (groups.tolist(), count) == ([0, 1, 2], 3)
    assert _loops.pair_up(*parts(star(30).weights), np.ones(30))[1] == 1


@pytest.mark.parametrize("name", CASES)
def test_contraction_matches_its_twin_whatever_the_ranges(name: str) -> None:
    weights = weighted(name)
    groups, count = _loops.pair_up(*parts(weights), np.ones(weights.shape[0]))
    members = np.argsort(groups, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    expected = _loops.contract_reference(*parts(weights), groups, count)
    for middle in {0, count // 2, count}:
        rows = [
            _loops.contract(*parts(weights), groups, starts, members, begin, stop)
            for begin, stop in ((0, middle), (middle, count))
        ]
        lengths, columns, values = (np.concatenate([row[k] for row in rows]) for k in range(3))
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        found = csr_array((values, columns, indptr), shape=(count, count)).toarray()
        assert_allclose(found, expected, atol=1e-15)


@pytest.mark.parametrize("name", CASES)
def test_arranged_and_scaled_weights_match_their_twin(name: str) -> None:
    weights = weighted(name)
    n = weights.shape[0]
    rng = np.random.default_rng(2)
    order, roots = rng.permutation(n), rng.uniform(1, 2, n)
    place = np.argsort(order).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(np.diff(weights.indptr)[order])])
    columns, values = np.empty(weights.nnz, np.int32), np.empty(weights.nnz, np.float32)
    for begin, stop in ((0, n // 3), (n // 3, n)):
        _loops.arrange(*parts(weights), order, place, roots, starts, columns, values, begin, stop)
    found = csr_array((values, columns, starts), shape=(n, n)).toarray()
    assert_allclose(found, _loops.arrange_reference(*parts(weights), order, roots), rtol=1e-6)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_image_matches_its_twin(name: str, kind: type) -> None:
    weights = weighted(name)
    n = weights.shape[0]
    rng = np.random.default_rng(3)
    roots, block = rng.uniform(1, 2, n), rng.standard_normal((n, 5)).astype(kind)
    out = np.full((n, 5), np.nan)
    for begin, stop in ((0, n // 2), (n // 2, n)):
        _loops.image(*parts(weights), roots, block, out[begin:stop], begin, stop)
    expected = _loops.image_reference(*parts(weights), roots, block)
    assert_allclose(out, expected, atol=1e-12)
