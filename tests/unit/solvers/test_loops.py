"""The compiled factorisation: its expectation, its exactness on trees, its guards."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from beltrami import Graph
from beltrami.core.machine._loops import grounded_product, grounded_product_reference
from beltrami.core.machine.backend import GroundedLaplacian
from beltrami.graph.families import complete, disjoint_union, grid, path, ring
from beltrami.operators.laplacian import laplacian
from beltrami.solvers.linear._loops import apply_factor, apply_factor_reference
from beltrami.solvers.linear.preconditioners import ApproximateCholesky


def random_graph(n: int, *, share: float = 0.3, seed: int = 0) -> Graph:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < share, 1) * rng.uniform(0.1, 2.0, (n, n))
    return Graph.from_matrix(upper + upper.T)


def star(n: int) -> Graph:
    weights = np.zeros((n, n))
    weights[0, 1:] = weights[1:, 0] = 1.0
    return Graph.from_matrix(weights)


def factored(graph: Graph, ground: object, *, seed: int = 0, copies: int = 2):
    edges = np.broadcast_to(np.asarray(ground, dtype=np.float64), (graph.n_nodes,)).copy()
    return ApproximateCholesky.of(GroundedLaplacian(graph.weights, edges), seed=seed, copies=copies)


def dense_product(factor: ApproximateCholesky) -> np.ndarray:
    """L D L' in the order of the nodes."""
    n = len(factor.order)
    lower = np.eye(n)
    for position in range(n):
        column = slice(factor.starts[position], factor.starts[position + 1])
        lower[factor.rows[column], position] = -factor.values[column]
    product = np.empty((n, n))
    product[np.ix_(factor.order, factor.order)] = lower * factor.pivots @ lower.T
    return product


def parts(factor: ApproximateCholesky) -> tuple[np.ndarray, ...]:
    return factor.order, factor.starts, factor.rows, factor.values, factor.pivots


@pytest.mark.parametrize("copies", [1, 2])
def test_factor_is_unbiased(copies: int) -> None:
    """The mean of L D L' over seeds is the matrix, within six standard errors."""
    graph = random_graph(9, share=0.7, seed=3)
    ground = np.array([0.5, 0, 0, 0.2, 0, 0, 0, 0, 1e-3])
    expected = laplacian(graph).toarray() + np.diag(ground)
    draws = np.array(
        [dense_product(factored(graph, ground, seed=seed, copies=copies)) for seed in range(400)]
    )
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert (error > 0).any(), "without variance nothing was sampled"
    assert (np.abs(draws.mean(axis=0) - expected) <= 6 * error + 1e-12).all()


def test_two_copies_vary_less_than_one() -> None:
    graph = random_graph(12, share=0.8, seed=5)
    spread = [
        np.array([dense_product(factored(graph, 0.1, seed=s, copies=c)) for s in range(60)])
        .var(axis=0)
        .sum()
        for c in (1, 2)
    ]
    assert spread[1] < 0.8 * spread[0]


@pytest.mark.parametrize("graph", [path(40), star(30)], ids=["path", "star"])
def test_factor_of_a_tree_is_exact(graph: Graph) -> None:
    ground = np.zeros(graph.n_nodes)
    ground[7] = 0.25
    expected = laplacian(graph).toarray() + np.diag(ground)
    assert_allclose(dense_product(factored(graph, ground)), expected, atol=1e-13)


@pytest.mark.parametrize("graph", [grid(5, 6), complete(200)], ids=["grid", "complete"])
def test_factor_without_ground_is_that_of_a_laplacian(graph: Graph) -> None:
    """Sampling moves weight between nodes, never to ground: the rows of L D L' sum to zero.

    The stars of 199 nodes are larger than the 64 entries that are set aside at first.
    """
    product = dense_product(factored(graph, 0.0))
    assert_allclose(product.sum(axis=0), 0, atol=1e-10)


@pytest.mark.parametrize("columns", [1, 5, 8, 11, 17])
def test_applying_the_factor_matches_the_dense_twin(columns: int) -> None:
    graph = disjoint_union(random_graph(40), ring(12), complete(5))
    ground = np.r_[np.full(40, 0.1), np.zeros(17)]
    factor = factored(graph, ground)
    b = np.random.default_rng(1).standard_normal((57, columns))
    out = np.full_like(b, np.nan)
    apply_factor(*parts(factor), b, out)
    assert_allclose(out, apply_factor_reference(*parts(factor), b), atol=1e-9)


def test_grounded_product_matches_its_dense_twin() -> None:
    weights = random_graph(30).weights
    rng = np.random.default_rng(0)
    ground, x = rng.random(30), rng.standard_normal((30, 7))
    out = np.full_like(x, np.nan)
    csr = (weights.indptr, weights.indices, weights.data)
    grounded_product(*csr, ground, x, out)
    assert_allclose(out, grounded_product_reference(*csr, ground, x), atol=1e-12)


def test_grounded_product_keeps_a_shift_that_the_diagonal_would_swallow() -> None:
    weights, ones = (1e6 * complete(20).weights).tocsr(), np.ones((20, 1))
    out = np.empty_like(ones)
    grounded_product(weights.indptr, weights.indices, weights.data, np.full(20, 1e-12), ones, out)
    assert_allclose(out, 1e-12, rtol=1e-12)


def test_same_seed_gives_same_bits_and_another_seed_does_not() -> None:
    graph = grid(20, 20)
    first, again, other = (factored(graph, 0.01, seed=s) for s in (4, 4, 5))
    assert all(np.array_equal(a, b) for a, b in zip(parts(first), parts(again), strict=True))
    assert not np.array_equal(first.pivots, other.pivots)


@pytest.mark.parametrize("lowest", [-100, -200, -300])
@pytest.mark.parametrize("copies", [1, 2])
def test_weights_of_any_size_leave_positive_finite_pivots(lowest: int, copies: int) -> None:
    """Sampled edges must not underflow: a lost one would cut the graph and zero a pivot."""
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((60, 60)) < 0.3, 1) * 10.0 ** rng.uniform(lowest, 0, (60, 60))
    factor = factored(Graph.from_matrix(upper + upper.T), 0.0, copies=copies)
    assert np.isfinite(factor.values).all()
    assert np.isfinite(factor.pivots).all()
    assert (factor.pivots == 0).sum() == 1, "only the last node of the one component has none"
    all_tiny = factored(Graph.from_matrix((upper + upper.T > 0) * 10.0**lowest), 0.0)
    assert (all_tiny.pivots == 0).sum() == 1


def test_hub_of_a_large_star_is_factored_exactly_and_without_fill() -> None:
    weights = csr_array(
        (np.ones(4999), (np.zeros(4999, dtype=int), np.arange(1, 5000))), shape=(5000, 5000)
    )
    graph = Graph.from_matrix(weights + weights.T)
    ground = np.zeros(5000)
    ground[17] = 0.5
    factor = factored(graph, ground)
    assert len(factor.rows) == 4999
    assert (factor.pivots > 0).all()
    b = np.random.default_rng(0).standard_normal((5000, 1))
    x = np.empty_like(b)
    factor.apply(b, x)
    assert_allclose(laplacian(graph) @ x + ground[:, None] * x, b, atol=1e-7)


def test_isolated_nodes_and_zero_weights_are_left_alone() -> None:
    weights = csr_array(path(4).weights)
    weights.data[weights.indices == 3] = 0.0  # a stored zero, not an edge
    weights = csr_array(weights.minimum(weights.T))
    factor = ApproximateCholesky.of(GroundedLaplacian(weights, np.array([0.0, 0, 0, 2.0])), seed=0)
    product = dense_product(factor)
    assert_allclose(product[3], [0, 0, 0, 2.0])
    assert (factor.pivots == 0).sum() == 1
    alone = ApproximateCholesky.of(
        GroundedLaplacian(csr_array((3, 3)), np.array([1.0, 0.0, 4.0])), seed=0
    )
    out = np.empty((3, 1))
    alone.apply(np.array([[1.0], [0.0], [1.0]]), out)
    assert_allclose(out.ravel(), [1.0, 0.0, 0.25])


def test_factor_stays_sparse_on_a_grid() -> None:
    graph = grid(60, 60)
    factor = factored(graph, 1e-6)
    assert len(factor.rows) <= 3 * graph.n_edges
