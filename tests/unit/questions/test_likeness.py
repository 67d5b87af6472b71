"""The sample, the pool and the likeness between rows."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array

from beltrami import Graph
from beltrami.questions.likeness import Islands, pooled_rows, row_vectors, sampled_rows
from beltrami.solvers.eigen import eigenbasis


def cliques(*sizes):
    return Graph.from_matrix(csr_array(block_diag([np.ones((size, size)) for size in sizes])))


@pytest.fixture
def archipelago():
    """Two large cliques, and ten pairs."""
    return cliques(30, 50, *[2] * 10)


def test_islands_below_the_mean_group_are_small(archipelago):
    islands = Islands.of(archipelago, 20)  # a mean group has 5 rows
    assert islands.sizes.tolist() == [30, 50, *[2] * 10]
    assert islands.is_small.tolist() == [False, False, *[True] * 10]


@pytest.mark.parametrize(("n_pool", "n_drawn"), [(10, 80), (1_600_000, 10), (10**9, 1)])
def test_the_sample_stands_for_every_row(archipelago, n_pool, n_drawn):
    islands = Islands.of(archipelago, 20)
    rows, masses = sampled_rows(islands, np.random.default_rng(0), n_pool)
    assert len(set(rows.tolist())) == len(rows) == n_drawn + 10
    assert masses.sum() == pytest.approx(100)
    small = islands.is_small[islands.of_row[rows]]
    assert sorted(islands.of_row[rows[small]]) == list(range(2, 12))
    assert (masses[small] == 2).all()


def test_the_pool_has_the_best_connected_row_of_each_small_island(archipelago):
    degrees = archipelago.degrees
    degrees[81::2] += 1.0  # the second of each pair
    islands = Islands.of(archipelago, 20)
    pool = pooled_rows(np.arange(100), islands, degrees, np.random.default_rng(0), 15)
    assert len(set(pool.tolist())) == len(pool) >= 15
    assert set(range(81, 100, 2)) <= set(pool.tolist())


def test_a_pool_of_small_islands_only_is_still_full():
    islands = Islands.of(cliques(*[2] * 50), 20)
    pool = pooled_rows(np.arange(100), islands, np.ones(100), np.random.default_rng(0), 80)
    assert len(set(pool.tolist())) == len(pool) == 80


def test_rows_of_different_islands_are_not_alike_and_twins_are(archipelago):
    islands = Islands.of(archipelago, 20)
    basis = eigenbasis(archipelago, 6, kind="random_walk")  # fewer vectors than islands
    everything = row_vectors(np.arange(100), basis, islands, 20)
    table = everything.likeness(everything)
    same = islands.of_row[:, None] == islands.of_row
    assert (table[~same] == 0).all()
    np.testing.assert_allclose(table.diagonal(), 1.0, atol=1e-6)
    np.testing.assert_allclose(table[80:, 80:], same[80:, 80:])
    np.testing.assert_allclose(table, table.T, atol=1e-6)


def test_likeness_does_not_depend_on_the_kind_of_symmetric_problem():
    rng = np.random.default_rng(0)
    weights = rng.random((40, 40)) * (rng.random((40, 40)) < 0.3)
    graph = Graph.from_matrix(weights + weights.T)
    islands, rows = Islands.of(graph, 5), np.arange(40)
    walk, normal = (
        row_vectors(rows, eigenbasis(graph, 12, kind=kind), islands, 5)
        for kind in ("random_walk", "normalized")
    )
    np.testing.assert_allclose(walk.likeness(walk), normal.likeness(normal), atol=1e-5)
