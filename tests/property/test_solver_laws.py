"""Laws of the solvers: names of nodes do not matter, and units come out as they went in."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from beltrami import Graph
from beltrami.operators.laplacian import laplacian
from beltrami.solvers.eigen import eigenbasis
from beltrami.solvers.linear import solve

few = settings(max_examples=15, deadline=None)
solvers = st.sampled_from(["direct", "jacobi", "cholesky"])
kinds = st.sampled_from(["combinatorial", "normalized"])


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Graphs of 3 to 40 nodes, any number of components, weights over up to three decades."""
    n = draw(st.integers(3, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    share, decades = draw(st.sampled_from([0.05, 0.2, 0.6])), draw(st.sampled_from([0, 1, 3]))
    upper = np.triu(rng.random((n, n)) < share, 1) * 10.0 ** rng.uniform(-decades, 0, (n, n))
    return Graph.from_matrix(upper + upper.T)


def relabelled(graph: Graph, order: np.ndarray) -> Graph:
    return Graph.from_matrix(graph.weights.toarray()[np.ix_(order, order)])


@few
@given(graph=graphs(), kind=st.sampled_from(["combinatorial", "normalized", "random_walk"]))
def test_eigenvalues_are_those_of_the_dense_matrix(graph: Graph, kind: str) -> None:
    symmetric = "normalized" if kind == "random_walk" else kind
    expected = np.linalg.eigvalsh(laplacian(graph, symmetric).toarray())
    basis = eigenbasis(graph, graph.n_nodes, kind=kind)
    assert_allclose(basis.values, expected, atol=1e-10 * max(1, expected.max()))
    assert basis.converged


@few
@given(graph=graphs(), seed=st.integers(0, 99))
def test_eigenvalues_do_not_depend_on_the_names_of_nodes(graph: Graph, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(graph.n_nodes)
    for solver in ("dense", "lanczos"):
        count = 1 + graph.n_nodes // 2
        plain = eigenbasis(graph, count, solver=solver, tol=1e-9)
        other = eigenbasis(relabelled(graph, order), count, solver=solver, tol=1e-9)
        assert_allclose(other.values, plain.values, atol=1e-9)
        assert other.n_connected == plain.n_connected


@few
@given(graph=graphs(), seed=st.integers(0, 99), solver=solvers, kind=kinds)
def test_solutions_follow_the_names_of_nodes(
    graph: Graph, seed: int, solver: str, kind: str
) -> None:
    rng = np.random.default_rng(seed)
    order, b = rng.permutation(graph.n_nodes), rng.standard_normal((graph.n_nodes, 2))
    shift = rng.uniform(0.01, 1, graph.n_nodes)
    plain = solve(graph, b, shift=shift, solver=solver, kind=kind, tol=1e-10).values
    there = relabelled(graph, order)
    other = solve(there, b[order], shift=shift[order], solver=solver, kind=kind, tol=1e-10).values
    assert_allclose(other, plain[order], atol=1e-6)
    residual = laplacian(graph, kind) @ plain + shift[:, None] * plain - b
    assert_allclose(residual, 0, atol=1e-6)


@few
@given(graph=graphs(), solver=solvers, exponent=st.integers(-60, 60), seed=st.integers(0, 99))
def test_solution_scales_inversely_with_the_matrix(
    graph: Graph, solver: str, exponent: int, seed: int
) -> None:
    """Powers of two commute with rounding, so the bits agree."""
    b = np.random.default_rng(seed).standard_normal((graph.n_nodes, 1))
    factor = 2.0**exponent
    plain = solve(graph, b, shift=0.5, solver=solver)
    scaled = solve(Graph.from_matrix(factor * graph.weights), b, shift=0.5 * factor, solver=solver)
    assert np.array_equal(scaled.values * factor, plain.values)
    assert scaled.iterations == plain.iterations


@few
@given(graph=graphs(), exponent=st.integers(-60, 60))
def test_eigenvalues_scale_with_the_weights(graph: Graph, exponent: int) -> None:
    factor = 2.0**exponent
    plain = eigenbasis(graph, graph.n_nodes)
    scaled = eigenbasis(Graph.from_matrix(factor * graph.weights), graph.n_nodes)
    assert np.array_equal(scaled.values, factor * plain.values)
    assert np.array_equal(scaled.vectors, plain.vectors)


@few
@given(graph=graphs(), seed=st.integers(0, 99), solver=solvers, kind=kinds)
def test_singular_systems_are_solved_in_their_range(
    graph: Graph, seed: int, solver: str, kind: str
) -> None:
    matrix = laplacian(graph, kind)
    b = matrix @ np.random.default_rng(seed).standard_normal((graph.n_nodes, 2))
    found = solve(graph, b, solver=solver, kind=kind, tol=1e-10)
    assert found.converged
    assert_allclose(matrix @ found.values, b, atol=1e-6)
    _, membership = graph.components()
    shape = np.ones(graph.n_nodes)
    if kind == "normalized":
        shape = np.where(graph.degrees > 0, np.sqrt(graph.degrees), 1.0)
    for component in np.unique(membership):
        inside = membership == component
        assert_allclose(shape[inside] @ found.values[inside], 0, atol=1e-8)
