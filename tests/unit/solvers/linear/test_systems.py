"""`solve` against dense algebra: every solver, every way to tie a graph down, every error."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, diags_array

from beltrami import Graph, KnnGraph
from beltrami.core.errors import ConvergenceWarning, InvalidInputError, SolverError
from beltrami.core.machine.backend import GroundedLaplacian, NumpyBackend
from beltrami.data import swiss_roll
from beltrami.graph.families import complete, disjoint_union, grid, path, ring
from beltrami.operators.laplacian import laplacian
from beltrami.solvers.linear import prepared, solve

SOLVERS = ["direct", "jacobi", "cholesky", "auto"]
every_solver = pytest.mark.parametrize("solver", SOLVERS)


def random_graph(n: int, *, share: float = 0.2, decades: float = 1.0, seed: int = 0) -> Graph:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < share, 1) * 10.0 ** rng.uniform(-decades, 0, (n, n))
    chain = np.diag(np.full(n - 1, 0.1), 1)
    return Graph.from_matrix(upper + upper.T + chain + chain.T)


def block(n: int, k: int = 2, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, k))


def elimination_reference(weights: np.ndarray, ground: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Gaussian elimination that subtracts nothing from the matrix: accurate at any condition."""
    n = len(weights)
    weights, ground, b = weights.copy(), ground.copy(), b.copy()
    pivots, columns = np.zeros(n), []
    for v in range(n):
        near = weights[v, v + 1 :].copy()
        pivots[v] = near.sum() + ground[v]
        columns.append(near / pivots[v])
        weights[v + 1 :, v + 1 :] += np.outer(columns[v], near)
        ground[v + 1 :] += columns[v] * ground[v]
        b[v + 1 :] += columns[v][:, None] * b[v]
    x = np.zeros_like(b)
    for v in range(n - 1, -1, -1):
        x[v] = b[v] / pivots[v] + columns[v] @ x[v + 1 :]
    return x


def path_reference(weights: np.ndarray, ground: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same for a path with these edge weights, in O(n)."""
    n = len(ground)
    ground, b, pivots, share = ground.copy(), b.copy(), np.zeros(n), np.zeros(n)
    for v in range(n):
        edge = weights[v] if v < n - 1 else 0.0
        pivots[v] = edge + ground[v]
        share[v] = edge / pivots[v]
        if v < n - 1:
            ground[v + 1] += share[v] * ground[v]
            b[v + 1] += share[v] * b[v]
    x = b / pivots[:, None]
    for v in range(n - 2, -1, -1):
        x[v] += share[v] * x[v + 1]
    return x


def energy_error(graph: Graph, ground: np.ndarray, values: np.ndarray, exact: np.ndarray) -> float:
    matrix = GroundedLaplacian(graph.weights, ground)

    def energy(x: np.ndarray) -> np.ndarray:
        image = np.empty_like(x)
        NumpyBackend().grounded_product(matrix, x, image)
        return (x * image).sum(axis=0)

    gap = np.ascontiguousarray(values - exact)
    return float(np.sqrt((energy(gap) / energy(exact)).max()))


@every_solver
@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
@pytest.mark.parametrize("shift", [0.3, "one per node"])
def test_shifted_systems_match_a_dense_solve(solver: str, kind: str, shift: object) -> None:
    graph = random_graph(50)
    shifts = np.linspace(0, 1, 50) if shift == "one per node" else np.full(50, shift)
    b = block(50, 3)
    expected = np.linalg.solve(laplacian(graph, kind).toarray() + np.diag(shifts), b)
    given = shifts if shift == "one per node" else shift
    found = solve(graph, b, shift=given, kind=kind, solver=solver)
    assert found.converged
    assert found.errors.max() <= 1e-8
    assert_allclose(found.values, expected, atol=1e-6)


@every_solver
@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_singular_systems_match_the_pseudo_inverse(solver: str, kind: str) -> None:
    graph = disjoint_union(random_graph(30), ring(9), random_graph(25, seed=4))
    matrix = laplacian(graph, kind).toarray()
    b = matrix @ block(64)
    found = solve(graph, b, kind=kind, solver=solver)
    assert_allclose(found.values, np.linalg.pinv(matrix, rcond=1e-10) @ b, atol=1e-6)
    count, membership = graph.components()
    shape = np.ones(64) if kind == "combinatorial" else np.sqrt(graph.degrees)
    for component in range(count):
        inside = membership == component
        assert_allclose(shape[inside] @ found.values[inside], 0, atol=1e-10)


@every_solver
@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_fixed_rows_are_zero_and_the_others_solve_the_rest(solver: str, kind: str) -> None:
    graph, fixed = random_graph(40), [3, 17, 3, 39]
    free = np.setdiff1d(np.arange(40), fixed)
    b = block(40)
    matrix = laplacian(graph, kind).toarray()[np.ix_(free, free)]
    found = solve(graph, b, fixed=fixed, kind=kind, solver=solver)
    assert (found.values[fixed] == 0).all()
    assert_allclose(found.values[free], np.linalg.solve(matrix, b[free]), atol=1e-6)


@every_solver
def test_some_components_held_and_some_floating(solver: str) -> None:
    """Held by a shift, held by a fixed row, floating, isolated and floating: each its own way."""
    lone = Graph.from_matrix(csr_array((1, 1)))
    graph = disjoint_union(ring(8), path(6), grid(3, 3), lone)
    shift = np.r_[0.5, np.zeros(23)]
    b = block(24, 2)
    b[14:23] -= b[14:23].mean(axis=0)
    b[23] = 0
    found = solve(graph, b, shift=shift, fixed=[10], solver=solver).values
    matrix = laplacian(graph).toarray() + np.diag(shift)
    ringed, chain = np.arange(8), np.setdiff1d(np.arange(8, 14), [10])
    for rows in (ringed, chain):
        expected = np.linalg.solve(matrix[np.ix_(rows, rows)], b[rows])
        assert_allclose(found[rows], expected, atol=1e-6)
    expected = np.linalg.pinv(matrix[14:23, 14:23]) @ b[14:23]
    assert_allclose(found[14:23], expected, atol=1e-6)
    assert (found[23] == 0).all()
    assert (found[10] == 0).all()


@every_solver
def test_harmonic_function_on_a_path_is_linear_and_obeys_the_maximum_principle(
    solver: str,
) -> None:
    graph = path(101)
    known = np.zeros(101)
    known[100] = 1.0
    found = solve(graph, graph.weights @ known, fixed=[0, 100], solver=solver).values.ravel()
    assert_allclose((found + known), np.linspace(0, 1, 101), atol=1e-7)

    patch, edge = grid(12, 15), np.r_[np.arange(15), np.arange(165, 180)]
    values = np.zeros(180)
    values[edge] = np.random.default_rng(0).uniform(2, 3, len(edge))
    inner = solve(patch, patch.weights @ values, fixed=edge, solver=solver).values.ravel()
    inside = np.setdiff1d(np.arange(180), edge)
    assert values[edge].min() < inner[inside].min()
    assert inner[inside].max() < values[edge].max()


@every_solver
def test_one_column_alone_and_among_others_is_the_same(solver: str) -> None:
    """Columns are grouped by eight in the factor; none may see its neighbours."""
    graph, b = random_graph(60), block(60, 19)
    together = solve(graph, b, shift=0.1, solver=solver, tol=1e-10)
    assert together.values.shape == (60, 19)
    assert together.errors.shape == (19,)
    for column in (0, 7, 8, 18):
        alone = solve(graph, b[:, column], shift=0.1, solver=solver, tol=1e-10)
        assert alone.values.shape == (60, 1)
        assert_allclose(alone.values[:, 0], together.values[:, column], atol=1e-8)


@every_solver
def test_zero_right_hand_side_has_the_zero_solution(solver: str) -> None:
    b = block(30, 3)
    b[:, 1] = 0
    found = solve(random_graph(30), b, shift=1.0, solver=solver)
    assert (found.values[:, 1] == 0).all()
    assert found.errors[1] == 0
    assert solve(random_graph(30), np.zeros(30), solver=solver).converged


@every_solver
@pytest.mark.parametrize("scale", [1e-200, 1e6, 1e150])
def test_solution_scales_with_the_right_hand_side(solver: str, scale: float) -> None:
    graph, b = random_graph(40), block(40)
    plain = solve(graph, b, shift=0.1, solver=solver).values
    scaled = solve(graph, scale * b, shift=0.1, solver=solver)
    assert scaled.converged
    assert_allclose(scaled.values / scale, plain, atol=1e-6)


@pytest.mark.parametrize("solver", ["jacobi", "cholesky"])
@pytest.mark.parametrize("shift", [1e-4, 1e-8, 1e-12])
def test_reported_error_is_honest_on_a_long_path(solver: str, shift: float) -> None:
    """With condition up to 4e12 the true energy error is within ten times the tolerance."""
    graph, b, ground = path(5000), block(5000, 1), np.full(5000, shift)
    found = solve(graph, b, shift=shift, solver=solver)
    exact = path_reference(np.ones(4999), ground, b)
    assert found.converged
    assert energy_error(graph, ground, found.values, exact) <= 1e-7


@pytest.mark.parametrize("solver", ["direct", "cholesky", "auto"])
@pytest.mark.parametrize("shift", [1e-6, 1e-9])
def test_reported_error_is_honest_where_weights_span_twelve_decades(
    solver: str, shift: float
) -> None:
    graph, b, ground = random_graph(300, share=0.03, decades=12.0), block(300), np.full(300, shift)
    found = solve(graph, b, shift=shift, solver=solver)
    exact = elimination_reference(graph.weights.toarray(), ground, b)
    assert found.converged
    assert energy_error(graph, ground, found.values, exact) <= 1e-7


def test_jacobi_says_so_when_it_does_not_converge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "_MAX_ITER", 50)
    with pytest.warns(ConvergenceWarning, match="2 of 2 systems did not reach"):
        found = solve(path(2000), block(2000), shift=1e-6, solver="jacobi")
    assert not found.converged
    assert found.iterations == 50
    assert "NOT converged" in repr(found)


@pytest.mark.parametrize(
    ("solver", "bridge"),
    [(solver, bridge) for solver in SOLVERS for bridge in (1e-3, 1e-7)]
    + [(solver, 1e-10) for solver in ("jacobi", "cholesky", "auto")],
)
def test_weak_bridge_between_strong_clusters_is_not_lost_in_rounding(
    solver: str, bridge: float
) -> None:
    """Next to degrees of 300 a bridge of 1e-10 vanishes from the diagonal, yet decides all."""
    weights = disjoint_union(complete(300), complete(300)).weights.tolil()
    weights[0, 300] = weights[300, 0] = bridge
    graph = Graph.from_matrix(weights.tocsr())
    b, free = block(600, 1), np.arange(1, 600)
    b[350] += 1
    found = solve(graph, b, fixed=[0], solver=solver, tol=1e-6)
    dense = graph.weights.toarray()
    exact = elimination_reference(dense[1:, 1:], dense[1:, 0], b[1:])
    inner = Graph.from_matrix(dense[1:, 1:])
    error = energy_error(inner, dense[1:, 0], found.values[free], exact)
    assert found.converged
    assert error <= 1e-6


def test_solution_too_large_for_its_digits_is_reported() -> None:
    """A bridge of 1e-30 makes entries of 1e30, whose rounding alone outweighs the tolerance."""
    weights = disjoint_union(complete(20), complete(20)).weights.tolil()
    weights[0, 20] = weights[20, 0] = 1e-30
    b = np.zeros(40)
    b[30] = 1.0
    for solver in ("jacobi", "cholesky"):
        with pytest.warns(ConvergenceWarning):
            found = solve(Graph.from_matrix(weights.tocsr()), b, fixed=[1], solver=solver)
        assert not found.converged
    with pytest.raises(SolverError, match="solver='cholesky'"):
        solve(Graph.from_matrix(weights.tocsr()), b, fixed=[1], solver="direct")


def test_cholesky_takes_few_steps_on_any_graph() -> None:
    roll = swiss_roll(5000, random_state=0).points
    graphs = {
        "path": path(5000),
        "grid": grid(60, 70),
        "swiss roll": KnnGraph(8, weights="binary").build(roll),
        "heat": KnnGraph(8, weights="heat").build(roll),
        "twelve decades": random_graph(800, share=0.01, decades=12.0),
    }
    for name, graph in graphs.items():
        found = solve(graph, block(graph.n_nodes), shift=1e-6, solver="cholesky")
        assert found.converged, name
        assert found.iterations <= 40, name


def test_auto_stays_with_jacobi_on_an_expander_and_leaves_it_on_a_path() -> None:
    expander = random_graph(1200, share=0.03)
    assert solve(expander, block(1200), shift=0.1).solver == "jacobi"
    assert solve(path(5000), block(5000), shift=1e-6).solver == "cholesky"
    assert solve(path(100), block(100), shift=1e-6).solver == "direct"


def test_same_seed_gives_same_bits() -> None:
    graph, b = grid(30, 30), block(900)
    first, again, other = (
        solve(graph, b, shift=1e-3, solver="cholesky", random_state=s).values for s in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert_allclose(first, other, rtol=1e-5, atol=1e-5)


def test_exact_preconditioner_is_recognised_as_converged() -> None:
    """Jacobi is exact on a complete graph: the residual is zero after a step, not unknown."""
    graph = complete(64)
    b = np.zeros(64)
    b[:2] = 1.0, -1.0
    found = solve(graph, b, solver="jacobi")
    assert found.converged
    assert found.iterations <= 8
    assert_allclose(found.values.ravel(), b / 64, atol=1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"right": np.r_[np.nan, np.zeros(5)]}, "NaN"),
        ({"right": np.ones(5)}, r"shape \(5,\)"),
        ({"right": np.ones((6, 0))}, r"shape \(6, 0\)"),
        ({"right": np.ones((6, 1, 1))}, "shape"),
        ({"shift": -1.0}, "not negative"),
        ({"shift": np.inf}, "finite"),
        ({"shift": np.ones(5)}, r"shape \(5,\)"),
        ({"fixed": [6]}, r"0 \.\. 5"),
        ({"fixed": [-1]}, r"0 \.\. 5"),
        ({"fixed": range(6)}, "every row is fixed"),
        ({"fixed": np.array([True] + 5 * [False])}, "flatnonzero"),
        ({"fixed": [1.5]}, "row numbers"),
        ({"kind": "random_walk"}, "'combinatorial', 'normalized'"),
        ({"solver": "amg"}, "'cholesky'"),
        ({"tol": 0.0}, "tol"),
        ({"shift": 0.0}, "does not sum to zero"),
    ],
)
def test_unusable_input_is_refused_with_a_reason(arguments: dict, message: str) -> None:
    call = {"right": np.ones(6), "shift": 1.0} | arguments
    right = call.pop("right")
    with pytest.raises(InvalidInputError, match=message):
        solve(path(6), right, **call)


def test_inconsistent_column_is_found_beside_a_huge_one_and_on_a_small_component() -> None:
    graph = disjoint_union(path(4), path(4))
    good = np.r_[1.0, -1, 0, 0, 0, 0, 0, 0]
    bad = np.r_[1.0, -1, 0, 0, 1e-3, 0, 0, 0]
    with pytest.raises(InvalidInputError, match=r"on 1 component"):
        solve(graph, np.column_stack([1e12 * good, bad]))
    noise = np.r_[1.0, -1, 0, 0, 1e-16, 0, 0, 0]
    assert solve(graph, noise).converged


def test_fixed_row_that_touches_nothing_does_not_hold_a_component() -> None:
    """Whether a row touches a fixed one is read off the edges, not off a difference of sums."""
    weights = 0.1 * disjoint_union(complete(7), path(3)).weights
    graph = Graph.from_matrix(weights)
    b = np.r_[np.arange(7.0) - 3, 0, 0, 0]
    found = solve(graph, b, fixed=[8]).values.ravel()
    assert_allclose(found[:7], (np.arange(7) - 3) / 0.7, atol=1e-12)
    with pytest.raises(InvalidInputError, match="does not sum to zero"):
        solve(graph, np.ones(10), fixed=[8])


def test_auto_turns_to_iteration_where_the_factorisation_fails() -> None:
    weights = disjoint_union(complete(90), complete(90)).weights.tolil()
    weights[0, 90] = weights[90, 0] = 1e-11
    graph = Graph.from_matrix(weights.tocsr())
    b = block(180, 1) + 1
    with pytest.warns(ConvergenceWarning):
        assert solve(graph, b, fixed=[0], solver="direct", tol=1e-7).solver == "direct"
    found = solve(graph, b, fixed=[0], tol=1e-7)
    assert found.solver in {"jacobi", "cholesky"}
    assert found.converged


def test_direct_solution_of_an_ill_conditioned_path_is_refined() -> None:
    edges = 10.0 ** np.random.default_rng(0).uniform(-10, 0, 399)
    graph = Graph.from_matrix(diags_array([edges, edges], offsets=[1, -1]).tocsr())
    b, ground = block(400), np.full(400, 1e-9)
    found = solve(graph, b, shift=1e-9, solver="direct")
    assert found.converged
    assert energy_error(graph, ground, found.values, path_reference(edges, ground, b)) <= 1e-8
