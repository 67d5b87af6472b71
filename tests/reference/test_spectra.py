"""Eigenvalues known in closed form: rings, paths, grids, complete graphs, unions, the sphere."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from beltrami import Graph, KnnGraph
from beltrami.data import sphere
from beltrami.graph.families import complete, disjoint_union, grid, path, ring
from beltrami.operators.laplacian import laplacian
from beltrami.solvers.eigen import eigenbasis

ITERATIVE = pytest.mark.parametrize("solver", ["chebyshev", "lanczos"])


def ring_values(n: int, sides: int = 1) -> np.ndarray:
    angles = 2 * np.pi * np.arange(n) / n
    return np.sort(sum(2 - 2 * np.cos(r * angles) for r in range(1, sides + 1)))


def path_values(n: int) -> np.ndarray:
    return 2 - 2 * np.cos(np.pi * np.arange(n) / n)


def grid_values(rows: int, columns: int) -> np.ndarray:
    return np.sort(np.add.outer(path_values(rows), path_values(columns)).ravel())


def complete_values(n: int) -> np.ndarray:
    return np.r_[0.0, np.full(n - 1, float(n))]


SMALL = {
    "triangle": (ring(3), ring_values(3)),
    "ring": (ring(101), ring_values(101)),
    "even ring": (ring(64), ring_values(64)),
    "ring with three sides": (ring(90, 3), ring_values(90, 3)),
    "edge": (path(2), path_values(2)),
    "path": (path(77), path_values(77)),
    "grid": (grid(9, 13), grid_values(9, 13)),
    "square": (grid(10, 10), grid_values(10, 10)),
    "complete": (complete(40), complete_values(40)),
    "union": (
        disjoint_union(ring(20), path(31), complete(9), ring(20)),
        np.sort(np.r_[ring_values(20), path_values(31), complete_values(9), ring_values(20)]),
    ),
}
LARGE = {
    "ring": (ring(1201), ring_values(1201)),
    "ring with four sides": (ring(2000, 4), ring_values(2000, 4)),
    "path": (path(1100), path_values(1100)),
    "grid": (grid(40, 55), grid_values(40, 55)),
    "square": (grid(45, 45), grid_values(45, 45)),
    "union": (
        disjoint_union(grid(30, 40), ring(500), grid(30, 40)),
        np.sort(np.r_[grid_values(30, 40), ring_values(500), grid_values(30, 40)]),
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_every_eigenvalue_of_a_small_family_matches_its_closed_form(name: str) -> None:
    graph, expected = SMALL[name]
    basis = eigenbasis(graph, graph.n_nodes, solver="dense")
    assert_allclose(basis.values, expected, atol=1e-10)
    assert_allclose(basis.vectors.T @ basis.vectors, np.eye(graph.n_nodes), atol=1e-10)
    assert basis.n_zero == basis.n_connected == (expected < 1e-12).sum()


@ITERATIVE
@pytest.mark.parametrize("name", LARGE)
def test_lowest_eigenvalues_of_a_large_family_match_their_closed_form(
    name: str, solver: str
) -> None:
    """Pairs of a ring and the symmetric values of a square are all found, each with its copy."""
    graph, expected = LARGE[name]
    basis = eigenbasis(graph, 24, solver=solver, tol=1e-10)
    assert basis.solver == solver
    assert basis.converged
    assert_allclose(basis.values, expected[:24], atol=1e-10)
    assert_allclose(basis.vectors.T @ basis.vectors, np.eye(24), atol=1e-10)


@pytest.mark.parametrize("name", ["triangle", "ring", "grid", "complete", "union"])
@pytest.mark.parametrize("tol", [1e-3, 1e-12])
def test_block_method_falls_back_where_its_block_is_the_whole_space(name: str, tol: float) -> None:
    graph, expected = SMALL[name]
    basis = eigenbasis(graph, graph.n_nodes, solver="chebyshev", tol=tol)
    assert basis.solver == "dense"
    assert_allclose(basis.values, expected, atol=1e-10)


@pytest.mark.parametrize("solver", ["dense", "chebyshev", "lanczos"])
@pytest.mark.parametrize("kind", ["normalized", "random_walk"])
def test_normalised_spectrum_of_a_regular_graph_is_the_plain_one_over_the_degree(
    kind: str, solver: str
) -> None:
    for sides in (1, 3):
        basis = eigenbasis(ring(400, sides), 12, kind=kind, solver=solver, tol=1e-10)
        assert_allclose(basis.values, ring_values(400, sides)[:12] / (2 * sides), atol=1e-10)


@pytest.mark.parametrize("solver", ["dense", "chebyshev", "lanczos"])
def test_random_walk_vectors_solve_the_generalised_problem(solver: str) -> None:
    rng = np.random.default_rng(0)
    weights = grid(16, 25).weights
    weights.data = 0.5 + rng.random(weights.nnz)
    graph = Graph.from_matrix(weights.maximum(weights.T))
    basis = eigenbasis(graph, 10, kind="random_walk", solver=solver, tol=1e-10)
    image, degrees = laplacian(graph) @ basis.vectors, graph.degrees[:, None]
    assert_allclose(image, basis.values * (degrees * basis.vectors), atol=1e-9)
    assert_allclose(basis.vectors.T @ (degrees * basis.vectors), np.eye(10), atol=1e-10)
    assert np.ptp(basis.vectors[:, 0]) < 1e-12, "the first one is constant"


def thirty_components() -> Graph:
    """Rings, paths and grids of unequal sizes, and seven isolated nodes."""
    pieces = [ring(40 + 7 * j) for j in range(10)]
    pieces += [path(30 + 5 * j) for j in range(8)]
    pieces += [grid(5 + j, 9) for j in range(5)]
    pieces += [Graph.from_matrix(csr_array((1, 1)))] * 7
    return disjoint_union(*pieces)


@pytest.mark.parametrize("kind", ["combinatorial", "normalized", "random_walk"])
@pytest.mark.parametrize("solver", ["auto", "dense", "chebyshev", "lanczos"])
def test_thirty_components_have_thirty_zeros(solver: str, kind: str) -> None:
    graph = thirty_components()
    basis = eigenbasis(graph, 36, solver=solver, kind=kind)
    assert basis.solver == ("chebyshev" if solver == "auto" else solver)
    assert (basis.values[:30] == 0).all()
    assert (basis.values[30:] > 1e-5).all()
    assert basis.n_zero == basis.n_connected == 30
    fewer = eigenbasis(graph, 11, solver=solver, kind=kind)
    assert (fewer.values == 0).all()
    assert (fewer.n_zero, fewer.n_connected) == (11, 30)


def test_sphere_has_multiplicities_one_three_five() -> None:
    """l (l + 1) has multiplicity 2 l + 1, so the ratios are 0, 1 x 3, 3 x 5, 6.

    Neighbour counts cancel the density's fluctuations to first order in the random-walk form, so
    that binary weights on 20 neighbours keep each group within a tenth over seeds 0 to 2; the heat
    kernel on 40 spreads the second group twice as far.
    """
    points = sphere(4000, random_state=0).points
    graph = KnnGraph(20, weights="binary").build(points)
    values = eigenbasis(graph, 10, kind="random_walk", tol=1e-6).values
    first, second = values[1:4], values[4:9]
    assert values[0] == 0
    assert np.ptp(first) < 0.1 * first.mean()
    assert np.ptp(second) < 0.15 * second.mean()
    assert second.min() > 2.5 * first.max()
    assert values[9] > 1.6 * second.max()
    assert_allclose(second.mean() / first.mean(), 3.0, rtol=0.05)
