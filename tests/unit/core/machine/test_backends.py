"""One suite for every backend: primitives beside float64, and what the solvers make of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from tests.support.backends import NAMES, open_backend

import beltrami as bt
from beltrami.core.machine.backend import Backend, GroundedLaplacian, SplitMatrix
from beltrami.core.machine.device import use_backend
from beltrami.graph.families import grid, ring
from beltrami.operators.smoothness import heat_operator
from beltrami.solvers.nullspace import NullSpace

SINGLE = {"rtol": 2e-5, "atol": 2e-5}


@pytest.fixture(params=NAMES)
def backend(request: pytest.FixtureRequest) -> Backend:
    return open_backend(request.param)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def tolerance(dtype: type) -> dict[str, float]:
    return SINGLE if dtype is np.float32 else {"rtol": 1e-12, "atol": 1e-12}


def split_matrix() -> SplitMatrix:
    return SplitMatrix(np.linspace(1, 2, 12), ring(12, 2).weights)


def dense(matrix: SplitMatrix) -> np.ndarray:
    return np.diag(matrix.diagonal) - matrix.weights.toarray()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_block_comes_back_as_it_went_and_is_a_copy(backend: Backend, dtype: type) -> None:
    host = np.asfortranarray(normal(4, 3))
    host.flags.writeable = False
    block = backend.block(host, dtype)
    block[0, 0] = 5
    again = backend.block(block[:, 1:], np.float64)
    again[0, 0] = 7
    back = backend.host(block)
    assert back.dtype == dtype
    assert_allclose(back[1:], host[1:], rtol=1e-6)
    assert back[0, 0] == 5
    assert back[0, 1] == dtype(host[0, 1])
    assert backend.host(again).dtype == np.float64
    assert tuple(backend.empty((2, 3), dtype).shape) == (2, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("beta", [0.0, -3.0])
def test_product_and_step_are_those_of_the_dense_matrix(
    backend: Backend, dtype: type, beta: float
) -> None:
    matrix, x, out = split_matrix(), normal(12, 5), normal(12, 5, seed=1)
    expected = 2 * (dense(matrix) - 0.5 * np.eye(12)) @ x + beta * out
    here = backend.matrix(matrix, dtype)
    block, result = backend.block(x, dtype), backend.block(out, dtype)
    if beta == 0:
        result *= float("nan")  # what is there must not matter
    backend.chebyshev_step(here, block, result, alpha=2.0, beta=beta, center=0.5)
    assert_allclose(backend.host(result), expected, **tolerance(dtype))
    backend.product(here, block, result)
    assert_allclose(backend.host(result), dense(matrix) @ x, **tolerance(dtype))


def test_a_part_of_the_rows_may_look_at_all_columns(backend: Backend) -> None:
    matrix, x = split_matrix(), normal(12, 2)
    part = SplitMatrix(matrix.diagonal[:5], csr_array(matrix.weights[:5]))
    out = backend.empty((5, 2), np.float64)
    backend.product(backend.matrix(part, np.float64), backend.block(x, np.float64), out)
    assert_allclose(backend.host(out), (dense(matrix) @ x)[:5], rtol=1e-12)


def test_a_grounded_product_keeps_edges_that_a_diagonal_would_swallow(backend: Backend) -> None:
    """Beside an edge of one, an edge of 1e-20 moves what it joins, and so does a weak ground."""
    ends = [0, 1, 1, 2], [1, 0, 2, 1]
    weights = csr_array(([1.0, 1.0, 1e-20, 1e-20], ends), shape=(4, 4))
    matrix = GroundedLaplacian(weights, np.array([0.0, 0.0, 0.0, 1e-30]))
    x = backend.block(np.array([[1.0], [1.0], [0.0], [1.0]]), np.float64)
    out = backend.block(np.full((4, 1), 9.0), np.float64)
    backend.grounded_product(backend.grounded(matrix), x, out)
    assert_allclose(backend.host(out).ravel(), [0.0, 1e-20, -1e-20, 1e-30], rtol=1e-15)


def test_sparse_and_row_products(backend: Backend) -> None:
    matrix, x = csr_array(np.round(normal(6, 9), 0)), normal(9, 2)
    block = backend.block(x, np.float32)
    assert_allclose(backend.host(backend.sparse_product(matrix, block)), matrix @ x, **SINGLE)
    back = backend.sparse_product(matrix.T, backend.block(x[:6], np.float64))
    assert_allclose(backend.host(back), matrix.T @ x[:6], rtol=1e-12, atol=1e-12)
    factors, out = np.arange(9.0), backend.empty((9, 2), np.float64)
    backend.scale_rows(backend.block(x, np.float64), backend.vector(factors, np.float64), out)
    assert_allclose(backend.host(out), factors[:, None] * x, rtol=1e-15)


def test_sums_over_rows_are_in_float64(backend: Backend) -> None:
    """In float32 a sum of 100,000 ones beside 2^24 would stand still."""
    left = np.ones((100_001, 1), np.float32)
    left[0] = 2.0**12
    block = backend.block(left, np.float32)
    assert backend.column_dots(block, block)[0] == 2.0**24 + 100_000
    gram = backend.gram(block, block)
    assert gram.dtype == np.float64
    # Products of 16,384 rows are in float32: all the others must have been counted.
    assert abs(gram[0, 0] - 2.0**24 - 100_000) <= 16_384
    wide, other = normal(20_000, 3), normal(20_000, 2, seed=1)
    double = backend.gram(backend.block(wide, np.float64), backend.block(other, np.float64))
    assert_allclose(double, wide.T @ other, rtol=1e-11)


def test_rotate_and_turn_multiply_from_the_right(backend: Backend) -> None:
    x, turn = normal(9_000, 3), normal(3, 3, seed=1)
    block = backend.block(x, np.float32)
    assert_allclose(backend.host(backend.rotate(block, turn[:, :2])), x @ turn[:, :2], **SINGLE)
    exact = backend.block(x, np.float64)
    backend.turn(exact, turn)
    assert_allclose(backend.host(exact), x @ turn, rtol=1e-12, atol=1e-12)


def test_a_step_of_conjugate_gradients_is_column_by_column(backend: Backend) -> None:
    x, residual, direction, image = (
        backend.block(np.full((3, 2), value), np.float64) for value in (0.0, 1.0, 2.0, 3.0)
    )
    backend.advance(x, residual, direction, image, np.array([1.0, 10.0]))
    assert_array_equal(backend.host(x), [[2, 20]] * 3)
    assert_array_equal(backend.host(residual), [[-2, -29]] * 3)
    backend.redirect(direction, residual, np.array([1.0, 0.5]))
    assert_array_equal(backend.host(direction), [[0, -28]] * 3)


@pytest.mark.parametrize("k", [1, 7, 49, 50])
def test_smallest_is_a_stable_sort_cut_short(backend: Backend, k: int) -> None:
    values = np.random.default_rng(k).integers(0, 9, size=(20, 50)).astype(np.float32)
    order = np.argsort(values, axis=1, kind="stable")[:, :k]
    found, columns = backend.smallest(backend.block(values, np.float32), k)
    assert_array_equal(backend.host(columns), order)
    assert_array_equal(backend.host(found), np.take_along_axis(values, order, 1))


def test_group_minima_are_those_of_all_gaps(backend: Backend) -> None:
    base, queries = normal(320, 5), normal(7, 5, seed=1)
    halves = (base**2).sum(1) / 2
    found = backend.group_minima(
        backend.block(queries, np.float32),
        backend.block(base, np.float32),
        backend.vector(halves, np.float32),
        32,
    )
    gaps = halves - queries @ base.T
    assert_allclose(backend.host(found), gaps.reshape(7, 10, 32).min(2), **SINGLE)


@pytest.mark.parametrize("n_components", [0, 1, 3])
def test_null_vectors_are_projected_out(backend: Backend, n_components: int) -> None:
    membership = np.arange(30, dtype=np.int32) % max(n_components, 1) - (n_components == 0)
    null = NullSpace.of(membership.astype(np.int32), np.linspace(1, 2, 30))
    x = normal(30, 4)
    block = backend.block(x, np.float64)
    null.project_out(block, backend)
    vectors = null.vectors(n_components)
    assert_allclose(backend.host(block), x - vectors @ (vectors.T @ x), rtol=1e-12, atol=1e-12)


def clouds(n: int = 1500, d: int = 12) -> np.ndarray:
    """Points with duplicates, and a second cloud far away."""
    points = normal(n, d)
    points[100:140] = points[:40]
    points[n // 2 :] += 50
    return points


@pytest.mark.parametrize("metric", ["euclidean", "angle"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbours_are_those_of_the_processor_to_the_last_bit(
    backend: Backend, metric: str, dtype: type
) -> None:
    points = clouds().astype(dtype)
    recipe = bt.KnnGraph(7, metric=metric, search="exact", connect="keep")
    trusted = recipe.build(points)
    with use_backend(backend):
        graph = recipe.build(points)
    assert_array_equal(graph.neighbors.indices, trusted.neighbors.indices)
    assert_array_equal(graph.neighbors.distances, trusted.neighbors.distances)
    assert_array_equal(graph.weights.data, trusted.weights.data)


@pytest.mark.parametrize("k", [1, 5, 130])
def test_neighbours_on_a_lattice_go_by_row_among_equals(backend: Backend, k: int) -> None:
    """Whole numbers: nearly every distance is a tie, and most lists need the search in float64."""
    points = np.random.default_rng(0).integers(0, 3, size=(400, 9)).astype(float)
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(2))
    np.fill_diagonal(distances, np.inf)
    expected = np.argsort(distances, axis=1, kind="stable")[:, :k]
    with use_backend(backend):
        graph = bt.KnnGraph(k, search="exact", connect="keep", weights="binary").build(points)
    found = np.take_along_axis(distances, graph.neighbors.indices, axis=1)
    assert_array_equal(found, np.take_along_axis(distances, expected, axis=1))
    apart = distances.min(axis=1) > 0  # a heap of equal rows may lack the row itself
    assert apart.any()
    assert_array_equal(graph.neighbors.indices[apart], expected[apart])


def test_new_points_find_the_same_rows(backend: Backend) -> None:
    points, new = clouds(), normal(50, 12, seed=5)
    recipe = bt.KnnGraph(6, connect="keep")
    graph = recipe.build(points)
    trusted = recipe.attach(graph, points, new)
    with use_backend(backend):
        found = recipe.attach(graph, points, new)
    assert_array_equal(found.weights.indices, trusted.weights.indices)
    assert_array_equal(found.weights.data, trusted.weights.data)


@pytest.mark.parametrize("kind", ["combinatorial", "normalized", "random_walk"])
@pytest.mark.parametrize("solver", ["chebyshev", "multilevel"])
def test_eigenvalues_agree_and_pass_the_same_certificate(
    backend: Backend, kind: str, solver: str
) -> None:
    graph = bt.KnnGraph(8, connect="keep").build(clouds())
    tol = 1e-3 if solver == "chebyshev" else 0.05
    trusted = bt.eigenbasis(graph, 20, kind=kind, solver="dense")
    with use_backend(backend):
        basis = bt.eigenbasis(graph, 20, kind=kind, solver=solver, tol=tol)
    assert basis.converged
    assert basis.n_zero == trusted.n_zero == 2
    assert basis.vectors.dtype == np.float64
    # The error of a value is of second order in its residual.
    assert_allclose(basis.values, trusted.values, rtol=1e-5 if tol < 0.01 else tol, atol=1e-12)


def test_a_tight_tolerance_is_met_in_float64(backend: Backend) -> None:
    n = 1200
    exact = np.sort(2 - 2 * np.cos(2 * np.pi * np.arange(n) / n))[:9]
    with use_backend(backend):
        basis = bt.eigenbasis(ring(n), 9, tol=1e-8, solver="chebyshev")
    assert basis.converged
    assert_allclose(basis.values, exact, rtol=1e-8, atol=1e-14)


def test_linear_systems_agree_beyond_their_tolerance(backend: Backend) -> None:
    graph, right = grid(40, 40), normal(1600, 3)
    trusted = bt.solve(graph, right, shift=0.05, solver="direct")
    with use_backend(backend):
        found = bt.solve(graph, right, shift=0.05, solver="jacobi", tol=1e-10)
    assert found.converged
    assert_allclose(found.values, trusted.values, rtol=1e-7, atol=1e-8)


def test_the_factorisation_takes_over_where_the_diagonal_is_slow(backend: Backend) -> None:
    right = normal(6_000, 1)
    right -= right.mean()
    with use_backend(backend):
        found = bt.solve(ring(6_000), right, tol=1e-8)
    assert found.solver == "cholesky"
    assert found.converged


def test_heat_flows_as_the_spectrum_says(backend: Backend) -> None:
    graph = ring(30)
    frequency = 2 - 2 * np.cos(2 * np.pi * 3 / 30)
    wave = np.cos(2 * np.pi * 3 * np.arange(30) / 30)
    with use_backend(backend):
        flowed = heat_operator(graph, -2.0) @ wave
    assert_allclose(flowed, np.exp(-2 * frequency) * wave, atol=1e-13)


def test_a_front_door_gives_the_same_labels(backend: Backend) -> None:
    moons = bt.two_moons(300, random_state=0)
    points = np.hstack([moons.points, 0.05 * normal(300, 10)])
    labels = np.where(np.arange(300) % 30 == 0, moons.targets, -1)
    trusted = bt.PoissonClassifier().fit(points, labels).transduction_
    with use_backend(backend):
        found = bt.PoissonClassifier().fit(points, labels).transduction_
    assert np.mean(found == trusted) >= 0.999


def test_torch_keeps_all_digits_whatever_the_user_allows_it() -> None:
    backend = open_backend("torch on the processor")
    import torch

    block = backend.block(normal(50, 4), np.float32)
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        assert_allclose(backend.gram(block, block), normal(50, 4).T @ normal(50, 4), **SINGLE)
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)
