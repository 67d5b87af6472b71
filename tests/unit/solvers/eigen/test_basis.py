"""`eigenbasis`: certificates, determinism, units, switches and errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from beltrami import Graph
from beltrami.core.errors import (
    ConvergenceWarning,
    InvalidInputError,
    MemoryBudgetError,
    SolverError,
)
from beltrami.core.machine import memory
from beltrami.core.machine.backend import NumpyBackend
from beltrami.core.machine.threads import thread_limit
from beltrami.graph.families import complete, disjoint_union, grid, path, ring
from beltrami.operators.laplacian import laplacian
from beltrami.solvers.eigen import basis as module
from beltrami.solvers.eigen import chebyshev, eigenbasis, lanczos
from beltrami.solvers.eigen.chebyshev import _DOUBLE, _SINGLE, chebyshev_eigenpairs
from beltrami.solvers.eigen.problem import EigenProblem

SOLVERS = ["dense", "chebyshev", "lanczos"]
KINDS = ["combinatorial", "normalized", "random_walk"]


def weighted_grid(rows: int = 30, columns: int = 40, seed: int = 0) -> Graph:
    """Without symmetries, so that every eigenvalue is simple."""
    weights = grid(rows, columns).weights
    weights.data = np.random.default_rng(seed).uniform(0.5, 1.5, weights.nnz)
    return Graph.from_matrix(weights.maximum(weights.T))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_reported_residuals_are_those_of_the_symmetric_problem(solver: str, kind: str) -> None:
    graph = weighted_grid()
    basis = eigenbasis(graph, 9, kind=kind, solver=solver, tol=1e-4)
    symmetric = "combinatorial" if kind == "combinatorial" else "normalized"
    vectors = basis.vectors
    if kind == "random_walk":
        vectors = vectors * np.sqrt(graph.degrees)[:, None]
    gap = laplacian(graph, symmetric) @ vectors - basis.values * vectors
    assert_allclose(basis.residuals, np.linalg.norm(gap, axis=0), atol=1e-12)
    assert basis.converged
    assert basis.residuals.max() <= 1e-4 * basis.values.max()
    gram = vectors.T @ vectors
    assert_allclose(gram, np.eye(9), atol=1e-12)
    assert basis.orthogonality <= 1e-12
    assert (np.diff(basis.values) >= 0).all()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_largest_entry_of_each_vector_is_positive(solver: str, kind: str) -> None:
    graph = weighted_grid(12, 15)
    hub = graph.weights.tolil()
    hub[0, 5:60] = hub[5:60, 0] = 3.0
    vectors = eigenbasis(Graph.from_matrix(hub.tocsr()), 8, kind=kind, solver=solver).vectors
    largest = np.abs(vectors).argmax(axis=0)
    assert (vectors[largest, np.arange(8)] > 0).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_same_seed_gives_same_bits_and_threads_change_rounding_only(solver: str) -> None:
    graph = weighted_grid()
    options = {"solver": solver, "tol": 1e-8, "random_state": 3}
    first, again = (eigenbasis(graph, 8, **options) for _ in range(2))
    assert np.array_equal(first.vectors, again.vectors)
    assert np.array_equal(first.values, again.values)
    with thread_limit(2):
        threaded = eigenbasis(graph, 8, **options)
    assert_allclose(threaded.values, first.values, atol=1e-12)
    assert_allclose(threaded.vectors, first.vectors, atol=1e-6)
    other = eigenbasis(graph, 8, solver=solver, tol=1e-8, random_state=4)
    assert_allclose(other.values, first.values, atol=1e-10)
    assert_allclose(other.vectors, first.vectors, atol=1e-6)
    if solver != "dense":
        assert not np.array_equal(other.vectors, first.vectors)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("factor", [1e-6, 1e6, 1e-60, 1e100])
def test_units_of_the_weights_change_nothing_but_the_scale(solver: str, factor: float) -> None:
    graph = weighted_grid(20, 25)
    plain = eigenbasis(graph, 8, solver=solver, tol=1e-6)
    scaled = eigenbasis(Graph.from_matrix(factor * graph.weights), 8, solver=solver, tol=1e-6)
    assert scaled.converged
    assert scaled.n_zero == 1
    assert_allclose(scaled.values / factor, plain.values, rtol=1e-6, atol=1e-12)
    assert_allclose(scaled.vectors, plain.vectors, atol=1e-3)
    assert_allclose(scaled.residuals.max() / factor, plain.residuals.max(), rtol=10, atol=1e-13)


def test_exact_solver_is_exact_for_small_weights() -> None:
    """Null vectors are lifted by the size of the matrix, not by one."""
    small = eigenbasis(Graph.from_matrix(1e-9 * grid(8, 9).weights), 72).values
    assert_allclose(1e9 * small, eigenbasis(grid(8, 9), 72).values, atol=1e-12)


def test_unreachable_tolerance_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chebyshev, "_MAX_ROUNDS", 1)
    with pytest.warns(ConvergenceWarning, match=r"9 of 10 eigenvectors have a residual above"):
        basis = eigenbasis(grid(40, 40), 10, tol=1e-8)
    assert not basis.converged
    assert basis.iterations == 1
    assert basis.vectors.shape == (1600, 10)
    assert basis.residuals.max() > 1e-8 * basis.values.max()
    assert "NOT converged" in repr(basis)


def test_tight_tolerance_switches_to_double_precision_and_a_loose_one_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[type] = []
    original = chebyshev._Iteration.result
    monkeypatch.setattr(
        chebyshev._Iteration,
        "result",
        lambda self: (seen.append(self.precision.dtype), original(self))[1],
    )
    graph = grid(50, 60)
    tight = eigenbasis(graph, 12, solver="chebyshev", tol=1e-9)
    loose = eigenbasis(weighted_grid(50, 60), 200, kind="normalized", solver="chebyshev", tol=1e-2)
    assert tight.converged
    assert tight.residuals.max() <= 1e-9 * tight.values.max()
    assert loose.converged
    assert seen == [_DOUBLE.dtype, _SINGLE.dtype]


def test_dropped_directions_are_replaced_until_all_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A filter too strong for the precision collapses the block; it must grow back."""
    original = chebyshev._ritz_rotation
    calls = []

    def lossy(gram, form, precision):
        rotation, values = original(gram, form, precision)
        calls.append(len(values))
        kept = 6 if len(calls) == 1 else len(values)
        return rotation[:, :kept], values[:kept]

    monkeypatch.setattr(chebyshev, "_ritz_rotation", lossy)
    graph = grid(35, 36)
    basis = eigenbasis(graph, 20, solver="chebyshev", tol=1e-6)
    assert basis.converged
    assert calls[1] > 20
    expected = eigenbasis(graph, 20, solver="dense").values
    assert_allclose(basis.values, expected, atol=1e-8)


def test_nearly_disconnected_graph_shows_in_the_counts() -> None:
    weights = disjoint_union(grid(25, 25), grid(25, 25)).weights.tolil()
    weights[0, 625] = weights[625, 0] = 1e-14
    for solver in SOLVERS:
        basis = eigenbasis(Graph.from_matrix(weights.tocsr()), 6, solver=solver)
        assert (basis.n_zero, basis.n_connected) == (2, 1)
        assert "2 zero eigenvalues for 1 components" in repr(basis)


def test_graph_without_edges_has_only_zeros() -> None:
    for kind in KINDS:
        basis = eigenbasis(Graph.from_matrix(csr_array((5, 5))), 5, kind=kind)
        assert (basis.values == 0).all()
        assert_allclose(basis.vectors, np.eye(5))
        assert basis.n_zero == basis.n_connected == 5


def test_all_eigenvectors_can_be_asked_for_and_not_one_more() -> None:
    assert eigenbasis(ring(12), 12).vectors.shape == (12, 12)
    with pytest.raises(InvalidInputError, match="13 eigenvectors were asked of a graph with 12"):
        eigenbasis(ring(12), 13)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_components": 0}, "at least 1"),
        ({"n_components": True}, "integer"),
        ({"n_components": 2.0}, "integer"),
        ({"kind": "signless"}, "'random_walk'"),
        ({"solver": "lobpcg"}, "'chebyshev'"),
        ({"tol": 0}, "tol"),
        ({"tol": np.nan}, "tol"),
    ],
)
def test_unusable_input_is_refused_with_a_reason(arguments: dict, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        eigenbasis(ring(8), **({"n_components": 2} | arguments))


def test_auto_is_dense_then_by_blocks_and_never_lanczos() -> None:
    for tol, block in ((1e-3, "chebyshev"), (1e-2, "multilevel"), (0.2, "multilevel")):
        for n in (2, 999, 1000, 1001, 10**4, 10**7):
            for count in {1, 2, 5, n // 6, n // 5, n // 4, n}:
                assert module._method("auto", n, count, tol) in {"dense", block}
        assert module._method("auto", 1000, 5, tol) == "dense"
        assert module._method("auto", 1001, 5, tol) == block
        assert module._method("auto", 10_000, 2001, tol) == "dense"
        assert module._method("auto", 10_000, 2000, tol) == block


def test_dense_solver_asks_for_memory_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 4000)
    with pytest.raises(MemoryBudgetError, match="dense eigenproblem of 20 nodes"):
        eigenbasis(ring(20), 3)


def test_lanczos_finds_the_copies_that_a_single_vector_cannot_see() -> None:
    """From one start, Lanczos sees one vector of each eigenspace: the complete graph shows it."""
    graph = disjoint_union(complete(40), complete(40), complete(40))
    basis = eigenbasis(graph, 60, solver="lanczos", tol=1e-6)
    assert_allclose(basis.values, np.r_[np.zeros(3), np.full(57, 40.0)], atol=1e-8)
    square = eigenbasis(grid(20, 20), 30, solver="lanczos", tol=1e-3)
    assert_allclose(square.values, eigenbasis(grid(20, 20), 30).values, rtol=1e-4, atol=1e-12)


def test_lanczos_adds_what_its_first_run_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first run that skips the lowest pair is put right by the check on the complement."""
    original = lanczos._Search.accurate

    def blind(self, count, tol):
        found = original(self, count + 1, tol)
        return type(found)(found.values[1:], found.vectors[:, 1:], 1)

    monkeypatch.setattr(lanczos._Search, "accurate", blind)
    basis = eigenbasis(weighted_grid(20, 20), 6, solver="lanczos", tol=1e-8)
    expected = eigenbasis(weighted_grid(20, 20), 6, solver="dense")
    assert_allclose(basis.values, expected.values, atol=1e-10)


def test_lanczos_that_gives_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    original = lanczos.eigsh
    monkeypatch.setattr(
        lanczos, "eigsh", lambda *args, **options: original(*args, maxiter=1, **options)
    )
    with pytest.raises(SolverError, match="solver='chebyshev'"):
        eigenbasis(path(1500), 10, solver="lanczos", tol=1e-8)


def test_method_is_given_the_problem_in_units_near_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """float32 holds weights of 1e-100 only because the bound was brought near one."""
    bounds = []

    def spy(problem: EigenProblem, *args, **options):
        bounds.append(problem.bound)
        return chebyshev_eigenpairs(problem, *args, **options)

    monkeypatch.setattr(module, "chebyshev_eigenpairs", spy)
    eigenbasis(Graph.from_matrix(1e-100 * grid(30, 40).weights), 5, solver="chebyshev")
    assert 1 <= bounds[0] < 2


def test_unsettled_ritz_values_do_not_loosen_the_tolerance() -> None:
    """The tolerance is relative to the largest wanted eigenvalue, not to a first guess of it.

    Ten values up to 0.01 are known, which allows 5e-6; the others still stand at 0.5, which would
    allow 2.5e-4.
    """
    problem = EigenProblem.of(grid(30, 40), "combinatorial")
    iteration = chebyshev._Iteration(problem, 24, NumpyBackend(), np.random.default_rng(0))
    width = iteration.active.shape[1]
    iteration.edge = 0.6
    iteration.ritz = np.r_[np.linspace(1e-3, 1e-2, 10), np.full(width - 10, 0.5)]
    residuals = np.r_[np.full(10, 1e-5), np.full(width - 10, 0.3)]
    iteration.lock(residuals, 1e-3)
    assert iteration.n_locked == 0
    residuals[:10] = 1e-6
    iteration.lock(residuals, 1e-3)
    assert iteration.n_locked == 10
