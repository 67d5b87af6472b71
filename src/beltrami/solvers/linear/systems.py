"""The door to linear systems with a Laplacian: check, make ready, solve."""

from typing import Any

from beltrami.core.randomness import generator
from beltrami.core.types import Seed
from beltrami.core.validation import check_choice, check_positive
from beltrami.graph.model import Graph
from beltrami.operators.laplacian import KINDS
from beltrami.solvers.linear.prepared import PreparedSystem
from beltrami.solvers.linear.problem import LinearProblem
from beltrami.solvers.model import Solution

_SOLVERS = ("auto", "jacobi", "cholesky", "direct")


def solve(
    graph: Graph,
    right: Any,
    *,
    shift: Any = 0.0,
    fixed: Any = None,
    kind: str = "combinatorial",
    tol: float = 1e-8,
    solver: str = "auto",
    random_state: Seed = None,
) -> Solution:
    r"""Solve Laplacian systems for many right-hand sides at once.

    .. math:: (L + \mathrm{diag}(s)) X = B

    With `fixed` rows the system is restricted to the others, X = 0 there: the form of harmonic
    functions, for which B already holds W times the known values. Where a component has neither
    shift nor fixed row, L is singular on it: B must sum to zero there (it is checked), and of all
    solutions the one with mean zero is returned; for "normalized" both are weighted by the roots of
    the degrees.

    Cost: setup O(nnz log n) and 20 to 30 steps for "cholesky"; one product per step and no setup
    for "jacobi". Memory: six n x k blocks and, for "cholesky", some 100 bytes per edge.

    Parameters
    ----------
    graph : Graph
        The graph.
    right : array-like of shape (n,) or (n, k)
        B. Rows listed in `fixed` are ignored.
    shift : float or array-like of shape (n,), default=0
        s, not negative.
    fixed : array-like of int or None, default=None
        Rows held at zero.
    kind : {"combinatorial", "normalized"}, default="combinatorial"
        Which Laplacian L is.
    tol : float, default=1e-8
        Relative error in the energy norm, sqrt(e' A e / x' A x).
    solver : {"auto", "jacobi", "cholesky", "direct"}, default="auto"
        "auto" is direct for small systems, where that is accurate; else it starts with Jacobi's
        preconditioner and turns to the approximate Cholesky factorisation when the shape of the
        graph or the first steps show that Jacobi is slow.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the factorisation; None means a fixed seed.

    Returns
    -------
    Solution
        Values of shape (n, k), steps and error estimates.

    Warns
    -----
    ConvergenceWarning
        When a column did not reach the tolerance; the solution says so too.

    Examples
    --------
    >>> from beltrami import solve
    >>> from beltrami.graph.families import path
    >>> solve(path(3), [1.0, 0.0, -1.0]).values.ravel().round(9).tolist()
    [1.0, 0.0, -1.0]
    """
    check_positive(tol, name="tol")
    return prepare_system(
        graph, shift=shift, fixed=fixed, kind=kind, solver=solver, random_state=random_state
    ).solve(right, tol=tol)


def prepare_system(
    graph: Graph,
    *,
    shift: Any = 0.0,
    fixed: Any = None,
    kind: str = "combinatorial",
    solver: str = "auto",
    random_state: Seed = None,
) -> PreparedSystem:
    """Make a system ready for right-hand sides that come one after another; as in `solve`."""
    check_choice(solver, _SOLVERS, name="solver")
    check_choice(kind, KINDS[:2], name="kind")
    problem = LinearProblem.of(graph, kind=kind, shift=shift, fixed=fixed)
    seed = int(generator(0 if random_state is None else random_state).integers(2**31 - 1))
    return PreparedSystem(problem, solver=solver, seed=seed)
