"""What learners rest on: a graph, and what follows from it alone.

Each part is worked out when it is first asked for and then kept: the eigenbasis that learners,
questions and maps answer in, the factorised Laplacian, and the columns of its inverse at rows that
have been labelled. Labels change, these do not.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from beltrami.core.machine.memory import require_memory
from beltrami.core.machine.threads import threads_in_force
from beltrami.core.store import Form, Parcel, recall
from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix, IndexVector
from beltrami.graph.model import Graph
from beltrami.solvers.eigen import eigenbasis
from beltrami.solvers.linear import PreparedSystem, prepare_system
from beltrami.solvers.model import Basis

_FUNCTIONS, _FEWER_FUNCTIONS = 150, 100
_PER_CLASS, _MOST_FUNCTIONS = 10, 300
_MANY_ROWS = 100_000
"""Functions of the shared basis, more for many classes and fewer above so many rows, beside one
for each piece of the graph."""

MOST_PIECES = 200
"""Pieces of the graph up to which a basis grows by them."""

_THREAD = 1e-3
"""Share of the weaker end's degree below which an edge is a thread."""

_TOL = 0.1
"""Of the shared basis: its learners need the span of the slow functions, not each of them, and
their values to a percent."""

_SINGLE_ROWS = 20_000
"""Rows above which the basis is kept in single precision."""

_MOST_COLUMNS, _MOST_ENTRIES = 1000, 2**25
"""Labels up to which a shared graph keeps their columns, and the entries that all of them have."""

_SHARED_TOL = 1e-6
"""Of columns that several learners use."""

_COLUMNS = 64
"""Columns of the inverse that are solved for together."""

INFLUENCE: Form[FloatMatrix] = Form(
    "influence", lambda table: Parcel({"table": table}, {}), lambda parcel: parcel.arrays["table"]
)
"""How the store keeps the columns that were solved for together."""


def classes_served(n_rows: int) -> int:
    """Return up to how many classes the shared basis has one size, however many there are."""
    return (_FUNCTIONS if n_rows <= _MANY_ROWS else _FEWER_FUNCTIONS) // _PER_CLASS


class Foundation:
    """A graph with its eigenbasis, its factorised Laplacian and the columns of the inverse.

    Parameters
    ----------
    graph : Graph
        The graph.
    is_shared : bool, default=False
        Whether several learners rest on it, which then answer in its one basis instead of each in
        a basis of its own.
    n_classes : int, default=0
        Classes that are known of when the graph is built; many ask for a larger basis.

    Attributes
    ----------
    derived : dict of type to object
        What learners made of graph and basis for themselves, by its type.
    """

    def __init__(self, graph: Graph, *, is_shared: bool = False, n_classes: int = 0) -> None:
        self.graph, self.is_shared, self.n_classes = graph, is_shared, n_classes
        self.n_components, self.component = graph.components()
        self._columns: dict[float, GreenColumns] = {}
        self.derived: dict[type, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        # What learners derived is worked out again: it is as large as the basis.
        return vars(self) | {"derived": {}}

    @cached_property
    def basis(self) -> Basis:
        """The slowest functions on the graph, orthonormal in the inner product of the degrees."""
        n = self.graph.n_nodes
        least = _PER_CLASS * classes_served(n)
        count = int(np.clip(_PER_CLASS * self.n_classes, least, _MOST_FUNCTIONS))
        count = min(count + min(self.n_pieces, MOST_PIECES), n)
        dtype = "float64" if n <= _SINGLE_ROWS else "float32"
        return eigenbasis(self.graph, count, kind="random_walk", tol=_TOL, dtype=dtype)

    @cached_property
    def piece(self) -> IndexVector:
        """The piece of each node: what is still connected when all threads are cut, (n,)."""
        return strong_pieces(self.graph)

    @cached_property
    def n_pieces(self) -> int:
        """Number of pieces."""
        return int(self.piece.max()) + 1

    @cached_property
    def system(self) -> PreparedSystem:
        """The Laplacian, factorised once."""
        return prepare_system(self.graph)

    def keeps_columns(self, n_labels: int) -> bool:
        """Say whether the columns of so many labels are worth keeping: other labels will follow."""
        most = min(_MOST_COLUMNS, _MOST_ENTRIES // self.graph.n_nodes)
        return self.is_shared and n_labels <= most

    def columns(self, rows: IndexVector, *, tol: float) -> FloatMatrix:
        """Return the columns of its inverse at some rows, (n, l), of mean zero on components.

        `tol` is their relative error in the energy norm, at most.
        """
        tol = min(tol, _SHARED_TOL) if self.is_shared else tol
        kept = self._columns.setdefault(tol, GreenColumns(self.graph.n_nodes, tol))
        return kept.at(rows, self)

    @contextmanager
    def columns_anew(self) -> Iterator[None]:
        """Solve for all columns together again: those solved one by one differ in their last bits.

        Where what needs them is cut short, those that were there are put back.
        """
        before, self._columns = self._columns, {}
        try:
            yield
        except BaseException:
            self._columns = before
            raise


def strong_pieces(graph: Graph) -> IndexVector:
    """Return the piece of each node: what is still connected when all threads are cut."""
    edges, degrees = graph.weights.tocoo(), graph.degrees
    weaker = np.minimum(degrees[edges.row], degrees[edges.col])
    kept = edges.data >= _THREAD * weaker
    strong = coo_array(
        (edges.data[kept], (edges.row[kept], edges.col[kept])), shape=graph.weights.shape
    )
    return np.asarray(connected_components(strong, directed=False)[1], dtype=np.intp)


class GreenColumns:
    r"""Columns of :math:`L^{+}`, solved for once each: what a label at a row does everywhere.

    Every linear learner on the graph is a combination of these columns and of the constants of the
    components, so a new label costs one column. They are never forgotten: a label that is taken
    away and comes back finds the same one.

    Parameters
    ----------
    n : int
        Nodes of the graph.
    tol : float
        Of the solver, in the energy norm.
    """

    def __init__(self, n: int, tol: float) -> None:
        self._tol = tol
        self._table: FloatMatrix = np.empty((n, 0), order="F")
        self._place: dict[int, int] = {}

    def at(self, rows: IndexVector, foundation: Foundation) -> FloatMatrix:
        """Return the columns at some rows, (n, l); do not write into them.

        - `foundation`: always the same one, with the factorised Laplacian. It keeps these columns;
          if they kept it too, both would stay in memory after their last use.
        """
        missing = [row for row in rows.tolist() if row not in self._place]
        if missing:
            self._solve_for(np.array(missing, dtype=np.intp), foundation)
        places = np.array([self._place[row] for row in rows.tolist()], dtype=np.intp)
        if np.array_equal(places, np.arange(self._table.shape[1])):
            return self._table
        return self._table[:, places]

    def _solve_for(self, rows: IndexVector, foundation: Foundation) -> None:
        """Add columns that are not there yet, as the store has them where there is one."""
        n, known = self._table.shape
        count = known + len(rows)
        require_memory(
            8.0 * n * count,
            what=f"the influence of {count} labels on {n} points",
            instead="Use fewer labels here, a fixed gamma with smoothness='laplacian', or "
            "EigenfunctionRegressor, whose cost does not grow so.",
        )
        fresh = recall(
            INFLUENCE,
            lambda: (foundation.graph.weights, rows, self._tol, threads_in_force()),
            lambda: self._solve(rows, foundation),
        )
        if known:
            table = np.empty((n, count), order="F")
            table[:, :known], table[:, known:] = self._table, fresh
        self._table = table if known else fresh
        self._place.update({row: known + i for i, row in enumerate(rows.tolist())})

    def _solve(self, rows: IndexVector, foundation: Foundation) -> FloatMatrix:
        """Return the columns at some rows, (n, l), solved for in blocks."""
        member = foundation.component
        sizes = np.bincount(member)
        columns = np.empty((len(member), len(rows)), order="F")
        with track("solving for the influence of labels", total=len(rows)) as advance:
            for start in range(0, len(rows), _COLUMNS):
                block = rows[start : start + _COLUMNS]
                # A unit at the row, less its mean over the component.
                right = (member[:, None] == member[block]) / -sizes[member[block]]
                right[block, np.arange(len(block))] += 1.0
                solution = foundation.system.solve(right, tol=self._tol)
                columns[:, start : start + len(block)] = solution.values
                advance(len(block))
        return columns
