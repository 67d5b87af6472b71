"""Compile the loops of the main job beforehand, so that no command waits for the compiler.

Nothing is kept but what the compiler itself keeps, beside the library or in NUMBA_CACHE_DIR.
"""

import time
from collections.abc import Callable

import numpy as np

from beltrami.core.machine.few_rows import FEW_ROWS
from beltrami.core.telling.progress import track
from beltrami.embeddings.layout import layout_graph
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami.solvers.eigen import eigenbasis
from beltrami.solvers.linear import solve

_POINTS, _MANY_POINTS, _COLUMNS, _VECTORS = 500, 25_000, 12, 8


def warm_up() -> float:
    """Run each compiled step of the main job once on small data, and return the seconds it took."""
    started = time.perf_counter()
    steps: dict[str, Callable[[], object]] = {
        "neighbours and map": lambda: _draw(np.float64),
        "neighbours of single precision": lambda: _draw(np.float32),
        "neighbours of many rows": _search_many,
        "linear systems": _solve_systems,
        "eigenvectors": _compute_eigenvectors,
    }
    with track("compiling", total=len(steps)) as advance:
        for step in steps.values():
            step()
            advance(1)
    return time.perf_counter() - started


def _graph(n: int, columns: int = _COLUMNS, dtype: type[np.floating] = np.float64) -> Graph:
    """Return the graph of points on a grid, so that there are ties to settle."""
    points = np.random.default_rng(0).normal(0, 2, size=(n, columns)).round()
    return KnnGraph(10, weights="tuned_shared").build(points.astype(dtype))


def _draw(dtype: type[np.floating]) -> None:
    layout_graph(_graph(_POINTS, dtype=dtype), random_state=0)


def _search_many() -> None:
    _graph(_MANY_POINTS)


def _solve_systems() -> None:
    graph = _graph(FEW_ROWS + 1)
    right = np.zeros((graph.n_nodes, 2))
    right[0] = 1.0
    solve(graph, right, shift=1e-3, solver="cholesky", tol=1e-3)


def _compute_eigenvectors() -> None:
    graph = _graph(FEW_ROWS + 1)
    eigenbasis(graph, _VECTORS, kind="random_walk", solver="chebyshev", tol=0.1)
