"""The multilevel eigensolver beside the dense one and the Chebyshev iteration, its slow twins."""

from itertools import chain, pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, random_array

from beltrami import Graph, eigenbasis
from beltrami.core.errors import ConvergenceWarning
from beltrami.core.machine.threads import map_ranges, thread_limit
from beltrami.graph.families import disjoint_union, grid, ring
from beltrami.solvers.eigen import multilevel
from beltrami.solvers.eigen.pencil import Pencil, ladder

KINDS = ["combinatorial", "normalized", "random_walk"]


def star(n: int) -> Graph:
    """One node joined to all others."""
    weights = np.zeros((n, n))
    weights[0, 1:] = weights[1:, 0] = 1.0
    return Graph.from_matrix(weights)


def cloud(n: int, seed: int = 0) -> Graph:
    """A 10-nearest-neighbour graph of points in a cube, with weights that differ."""
    from scipy.spatial import cKDTree

    points = np.random.default_rng(seed).uniform(size=(n, 3))
    distances, near = cKDTree(points).query(points, 11)
    weights = np.exp(-((distances[:, 1:] / distances[:, 7:8]) ** 2))
    indptr = np.arange(0, 10 * n + 1, 10)
    matrix = csr_array((weights.ravel(), near[:, 1:].ravel(), indptr), shape=(n, n))
    return Graph(csr_array(matrix.maximum(matrix.T)))


def blobs_on_threads(n_blobs: int = 20, size: int = 60, thread: float = 1e-9) -> Graph:
    """Dense blobs in a chain, each hanging on the next by one edge."""
    rng = np.random.default_rng(0)
    pieces = []
    for _ in range(n_blobs):
        weights = random_array((size, size), density=0.2, rng=rng).tocsr()
        weights.data = 0.5 + weights.data
        pieces.append(Graph.from_matrix(weights.maximum(weights.T) + ring(size).weights))
    weights = disjoint_union(*pieces).weights.tolil()
    for blob in range(n_blobs - 1):
        i, j = blob * size + 3, (blob + 1) * size + 5
        weights[i, j] = weights[j, i] = thread * (1 + blob)
    return Graph.from_matrix(weights.tocsr())


def symmetric_vectors(graph: Graph, basis) -> np.ndarray:
    vectors = basis.vectors.astype(np.float64)
    return vectors * np.sqrt(graph.degrees)[:, None] if basis.kind == "random_walk" else vectors


@pytest.mark.parametrize("kind", KINDS)
def test_values_and_span_are_those_of_the_slow_twin(kind: str) -> None:
    graph = cloud(4000)
    fast = eigenbasis(graph, 40, kind=kind, tol=0.1, solver="multilevel")
    slow = eigenbasis(graph, 40, kind=kind, tol=1e-6, solver="chebyshev")
    assert (fast.solver, fast.converged) == ("multilevel", True)
    assert fast.residuals.max() <= 0.1 * fast.values[-1]
    assert_allclose(fast.values, slow.values, rtol=0.01, atol=1e-12)
    captured = symmetric_vectors(graph, fast).T @ symmetric_vectors(graph, slow)[:, :36]
    assert np.linalg.norm(captured, axis=0).min() > 0.98


@pytest.mark.parametrize("kind", KINDS)
def test_certificate_is_measured_on_what_is_returned(kind: str) -> None:
    graph = cloud(3000)
    basis = eigenbasis(graph, 20, kind=kind, tol=0.05, solver="multilevel", dtype="float32")
    assert basis.vectors.dtype == np.float32
    vectors = symmetric_vectors(graph, basis)
    degrees = graph.degrees
    mass = np.ones_like(degrees) if kind == "combinatorial" else degrees
    image = (degrees / mass)[:, None] * vectors
    image -= (graph.weights @ (vectors / np.sqrt(mass)[:, None])) / np.sqrt(mass)[:, None]
    assert_allclose(
        basis.residuals, np.linalg.norm(image - basis.values * vectors, axis=0), atol=1e-6
    )
    assert_allclose(vectors.T @ vectors, np.eye(20), atol=1e-5)
    assert basis.orthogonality < 1e-5
    assert (basis.values[0], basis.n_zero) == (0.0, 1)


def test_tight_tolerance_is_met_by_more_rounds() -> None:
    graph = cloud(3000)
    loose = eigenbasis(graph, 20, kind="normalized", tol=0.2, solver="multilevel")
    tight = eigenbasis(graph, 20, kind="normalized", tol=1e-3, solver="multilevel")
    assert tight.converged
    assert tight.iterations > loose.iterations
    exact = eigenbasis(graph, 20, kind="normalized", tol=1e-8)
    assert_allclose(tight.values, exact.values, rtol=1e-4, atol=1e-12)


def test_rounds_that_run_out_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multilevel, "_MAX_ROUNDS", 1)
    with pytest.warns(ConvergenceWarning, match="residual above"):
        assert not eigenbasis(cloud(3000), 20, tol=1e-4, solver="multilevel").converged


@pytest.mark.parametrize("thread", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("kind", ["combinatorial", "random_walk"])
def test_small_values_of_pieces_on_threads_have_relative_accuracy(thread: float, kind: str) -> None:
    graph = blobs_on_threads(thread=thread)
    basis = eigenbasis(graph, 40, kind=kind, tol=0.1, solver="multilevel")
    # A chain of pieces: the exact small values, but for relative corrections of the thread's size.
    piece = np.repeat(np.arange(20), 60)
    mass = np.ones(1200) if kind == "combinatorial" else graph.degrees
    links = thread * np.arange(1, 20)
    links_form = np.diag(np.r_[links, 0] + np.r_[0, links]) - np.diag(links, 1) - np.diag(links, -1)
    roots = np.sqrt(np.bincount(piece, weights=mass))
    expected = np.linalg.eigvalsh(links_form / np.outer(roots, roots))
    assert_allclose(basis.values[1:20], expected[1:], rtol=0.01)
    assert basis.values[20] > 1e4 * basis.values[19]
    assert basis.converged
    functions = basis.vectors[:, :20]
    if kind == "combinatorial" or thread < 1e-6:
        spread = [np.ptp(functions[piece == k], axis=0).max() for k in range(20)]
        assert max(spread) <= 1e-5 * np.abs(functions).max()
    dense = eigenbasis(graph, 40, kind=kind, solver="dense")
    assert_allclose(basis.values[20:], dense.values[20:], rtol=0.1)


def test_threads_of_very_different_weight_are_told_apart() -> None:
    """Pieces of pieces: the graph of the pieces has pieces of its own."""
    weights = blobs_on_threads(thread=1e-8).weights.tolil()
    for i, j in ((9 * 60 + 3, 10 * 60 + 5), (10 * 60 + 5, 9 * 60 + 3)):
        weights[i, j] = 1e-17
    basis = eigenbasis(Graph.from_matrix(weights.tocsr()), 25, tol=0.1, solver="multilevel")
    # Two halves of ten blobs, 600 nodes each, joined by 1e-17.
    assert_allclose(basis.values[1], 1e-17 * 2 / 600, rtol=0.01)
    assert basis.values[2] > 1e-12


def test_more_components_than_vectors_are_all_zero_and_many_components_are_told_apart() -> None:
    islands = disjoint_union(*[grid(5, 6) for _ in range(60)])
    few = eigenbasis(islands, 11, tol=0.1, solver="multilevel")
    assert (few.values == 0).all()
    assert (few.n_zero, few.n_connected) == (11, 60)
    more = eigenbasis(islands, 80, tol=0.1, solver="multilevel")
    assert (more.values[:60] == 0).all()
    dense = eigenbasis(islands, 80, solver="dense")
    assert_allclose(more.values[60:], dense.values[60:], rtol=0.01)


def test_graph_that_hardly_coarsens_is_still_solved() -> None:
    """Stars joined in a ring: their leaves go to the hubs at once, then the hubs pair up."""
    weights = disjoint_union(*[star(40) for _ in range(100)]).weights.tolil()
    for k in range(100):
        i, j = 40 * k, 40 * ((k + 1) % 100)
        weights[i, j] = weights[j, i] = 0.5
    graph = Graph.from_matrix(weights.tocsr())
    fast = eigenbasis(graph, 30, tol=0.05, solver="multilevel")
    slow = eigenbasis(graph, 30, tol=1e-6, solver="chebyshev")
    assert_allclose(fast.values[:28], slow.values[:28], rtol=0.01, atol=1e-12)


def test_same_seed_gives_same_bits_with_any_number_of_threads() -> None:
    graph = cloud(20_000)
    options = {"kind": "random_walk", "tol": 0.2, "dtype": "float32"}
    first = eigenbasis(graph, 10, **options)
    again = eigenbasis(graph, 10, **options)
    with thread_limit(2):
        threaded = eigenbasis(graph, 10, **options)
    for other in (again, threaded):
        assert np.array_equal(first.vectors, other.vectors)
        assert np.array_equal(first.values, other.values)


@pytest.mark.parametrize("factor", [1e-60, 1e-6, 1e100])
def test_units_of_the_weights_change_nothing_but_the_scale(factor: float) -> None:
    graph = cloud(1500)
    plain = eigenbasis(graph, 8, tol=0.05, solver="multilevel")
    scaled = eigenbasis(Graph.from_matrix(factor * graph.weights), 8, tol=0.05, solver="multilevel")
    assert_allclose(scaled.values / factor, plain.values, rtol=1e-4, atol=1e-12)


def test_a_graph_of_one_level_is_not_decomposed_whole_and_its_values_are_near(monkeypatch) -> None:
    graph = cloud(1200)
    slow = eigenbasis(graph, 100, tol=0.1, solver="dense")
    monkeypatch.setattr(multilevel, "dense_eigenpairs", pytest.fail)
    found = eigenbasis(graph, 100, tol=0.1, solver="multilevel")
    assert_allclose(found.values[1:], slow.values[1:], rtol=0.01)
    assert (found.residuals <= 0.1 * found.values[-1]).all()


def test_ladder_ends_above_its_smallest_size_and_keeps_mass_and_energy() -> None:
    graph = cloud(3000)
    rungs = ladder(Pencil(graph.weights, graph.degrees), 100)
    sizes = [rung.pencil.n_nodes for rung in rungs]
    assert sizes[0] == 3000
    assert sizes[-1] >= 100
    assert all(small < 0.4 * large for large, small in pairwise(sizes))
    for fine, coarse in pairwise(rungs):
        assert fine.pencil.mass.sum() == pytest.approx(coarse.pencil.mass.sum())
        f = np.random.default_rng(0).standard_normal(coarse.pencil.n_nodes)
        energies = []
        for pencil, g in ((coarse.pencil, f), (fine.pencil, f[fine.parents])):
            energies.append(g @ (pencil.degrees * g) - g @ (pencil.weights @ g))
        assert energies[0] == pytest.approx(energies[1])


def test_ranges_come_back_in_order() -> None:
    for total in (0, 1, 10, 11):
        parts = map_ranges(lambda begin, stop: list(range(begin, stop)), total, 5)
        assert list(chain.from_iterable(parts)) == list(range(total))
