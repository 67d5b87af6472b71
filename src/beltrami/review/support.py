"""Which labelled rows a prediction rests on: where random walks from the row end.

A graph, the labelled rows and a row enter; shares of the walks, and a path, leave.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.core.validation import check_count
from beltrami.graph.model import Graph
from beltrami.solvers.linear import solve

_TOL = 1e-8
_LEAST = 1e-12
"""Shares below this are rounding."""

_SHOWN_TOL = 1e-3
"""Accuracy of shares that are only listed."""

_BLOCK_CELLS = 2**22
"""Numbers in a block of solves at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Support:
    """The labelled rows that a prediction rests on.

    Shares, `others` and `lost` sum to one.

    Attributes
    ----------
    row : int
        The row that was asked about.
    rows : ndarray of shape (s,)
        Labelled rows, strongest first; never the row itself.
    shares : ndarray of shape (s,)
        Share of the walks from the row that end at each.
    others : float
        Share that end at further labelled rows.
    lost : float
        Share that stop before they meet a label; 1 where no label reaches the row.
    path : ndarray of shape (p,)
        The likeliest way from the row to its strongest supporter, both included.
    reason : str
        Why there is no support; empty where there is.
    """

    row: int
    rows: IndexVector
    shares: FloatVector
    others: float
    lost: float
    path: IndexVector
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Supporters:
    """The labelled rows that walks from a row end at, strongest first, and their shares."""

    row: int
    rows: IndexVector
    shares: FloatVector


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Why a row has the class it has, in the user's own labels.

    Attributes
    ----------
    row : int
        The row.
    label : object
        Its class.
    confidence : float
        How sure that is.
    supporters : ndarray of shape (s,)
        Labelled rows that speak for it, strongest first.
    labels : ndarray of shape (s,)
        Their labels.
    shares : ndarray of shape (s,)
        Share of random walks from the row that end at each.
    support : Support
        The walks, and the likeliest path to the strongest supporter.
    """

    row: int
    label: Any
    confidence: float
    supporters: IndexVector
    labels: NDArray[Any]
    shares: FloatVector
    support: Support

    def __str__(self) -> str:
        first = f"row {self.row} is {self.label!s} ({self.confidence:.0%} sure)"
        if self.support.reason:
            return f"{first}: {self.support.reason}"
        parts = [
            f"row {row} ({label!s}, {share:.0%})"
            for row, label, share in zip(self.supporters, self.labels, self.shares, strict=True)
        ]
        return f"{first}: walks from it end at {', '.join(parts)}"

    __repr__ = __str__


def support_of(
    graph: Graph, labelled: Any, row: int, *, top: int = 5, stop: float | str = "auto"
) -> Support:
    r"""Return where random walks from a row end: the labelled rows that speak for it.

    A walk goes to a neighbour in proportion to the weight of the edge, ends at the first labelled
    row it meets, and before each step stops for good with the chance `stop`, so that far labels
    count less. Without stops the shares are the weights with which the labels enter the harmonic
    function at the row. They are found for all labels at once by one solve,

    .. math:: (L + S)_{UU}\, u = e_i, \qquad s_j = d_j \frac{\text{stop}}{1 - \text{stop}}, \qquad
              \text{share}_m = \sum_{j \in U} w_{mj} u_j,

    where U are the rows without a label. Asked of a labelled row, it is left out of the labels: the
    answer is what the others say of it.

    - `stop`: chance to stop before each step, from 0 to below 1. "auto" is the share of the graph's
      edges, by weight, that labelled rows hold: about the chance that a walk gone astray meets one
      with its next step.
    """
    most = check_count(top, name="top")
    here, others = _check_rows(graph, labelled, row)
    chance = _stop(graph, others, stop)
    component = graph.components()[1]
    near = others[component[others] == component[here]]
    if not len(near):
        return _no_support(here, "no other labelled row shares the row's part of the graph")
    shift = graph.degrees * (chance / (1 - chance))
    start = np.zeros(graph.n_nodes)
    start[here] = 1.0
    visits = solve(graph, start, shift=shift, fixed=others, tol=_TOL).values[:, 0]
    shares = np.maximum(np.asarray(graph.weights[near] @ visits), 0.0)
    shares /= max(1.0, float(shares.sum()))
    order = np.argsort(-shares, kind="stable")[:most]
    order = order[shares[order] > _LEAST]
    if not len(order):
        return _no_support(here, "every walk stops before it meets a labelled row")
    total, listed = float(shares.sum()), float(shares[order].sum())
    path = _likeliest_path(graph, here, int(near[order[0]]), others)
    lost = max(0.0, 1 - total) if chance > 0 else 0.0
    rest = max(0.0, 1 - lost - listed)
    return Support(here, near[order], shares[order], rest, lost, path)


def supporters_of(
    graph: Graph, labelled: Any, rows: Any, *, top: int = 5, stop: float | str = "auto"
) -> list[Supporters]:
    r"""Return for several rows, labelled or not, what `support_of` says, without the paths.

    One block of solves serves all. A walk from a labelled row i that comes back to i begins anew,
    so that what the others say of i follows from walks that end at i, too:

    .. math:: \text{share}_m = \frac{a_m}{1 - a_i}, \qquad a_m = \frac{1 - \text{stop}}{d_i}
              \Big(w_{im} + \sum_{j \in U} w_{mj} u_j\Big), \qquad (L + S)_{UU}\, u = w_{U i}.

    - `stop`: as there; "auto" counts all labelled rows, that of the row too.
    """
    most = check_count(top, name="top")
    asked = [_check_rows(graph, labelled, row)[0] for row in np.asarray(rows).tolist()]
    known = np.unique(np.asarray(labelled, dtype=np.intp))
    chance = _stop(graph, known, stop)
    width = max(1, _BLOCK_CELLS // max(graph.n_nodes, 1))
    blocks = [asked[begin : begin + width] for begin in range(0, len(asked), width)]
    found: list[Supporters] = []
    for block in blocks if len(known) else []:
        shares = _shares_of(graph, known, np.array(block, dtype=np.intp), chance)
        for row, here in zip(block, shares.T, strict=True):
            order = np.argsort(-here, kind="stable")[:most]
            order = order[here[order] > _LEAST]
            found.append(Supporters(row, known[order], here[order]))
    nothing = np.zeros(0, dtype=np.intp)
    return found or [Supporters(row, nothing, np.zeros(0)) for row in asked]


def _shares_of(graph: Graph, known: IndexVector, rows: IndexVector, chance: float) -> FloatMatrix:
    """Return the share of walks from each row that end at each labelled one, (l, m)."""
    weights, degrees = graph.weights, graph.degrees
    component = graph.components()[1]
    columns = np.arange(len(rows))
    place = np.minimum(np.searchsorted(known, rows), len(known) - 1)
    is_known = known[place] == rows
    edges = np.asarray(weights[rows].todense()).T
    start = np.where(is_known, edges, 0.0)
    start[rows[~is_known], columns[~is_known]] = 1.0
    start[:, ~np.isin(component[rows], component[known])] = 0.0
    shift = degrees * (chance / (1 - chance))
    visits = solve(graph, start, shift=shift, fixed=known, tol=_SHOWN_TOL).values
    shares = np.maximum(np.asarray(weights[known] @ visits), 0.0)
    ours, at = columns[is_known], place[is_known]
    first = (1 - chance) / np.maximum(degrees[rows[ours]], np.finfo(np.float64).tiny)
    shares[:, ours] = first * (shares[:, ours] + edges[known][:, ours])
    back = shares[at, ours].copy()
    shares[at, ours] = 0.0
    shares[:, ours] /= np.maximum(1 - back, np.finfo(np.float64).eps)
    return np.asarray(shares / np.maximum(shares.sum(axis=0), 1.0))


def _no_support(row: int, reason: str) -> Support:
    none = np.zeros(0, dtype=np.intp)
    return Support(row, none, np.zeros(0), 0.0, 1.0, none, reason)


def _likeliest_path(graph: Graph, start: int, end: int, labelled: IndexVector) -> IndexVector:
    """Return the walk without detours that is the likeliest, through rows without a label."""
    weights = graph.weights
    chances = weights.data / np.repeat(graph.degrees, np.diff(weights.indptr))
    # An edge that is the only one has length zero, which csgraph would take for no edge.
    lengths = np.maximum(-np.log(chances), np.finfo(np.float64).tiny)
    blocked = np.zeros(graph.n_nodes, dtype=bool)
    blocked[labelled] = True
    blocked[start] = False
    lengths[np.repeat(blocked, np.diff(weights.indptr))] = np.inf
    ways = csr_array((lengths, weights.indices, weights.indptr), shape=weights.shape)
    _, predecessors = dijkstra(ways, indices=[start], return_predecessors=True)
    before = predecessors[0]
    path = [end]
    while path[-1] != start:
        path.append(int(before[path[-1]]))
    return np.array(path[::-1], dtype=np.intp)


def _check_rows(graph: Graph, labelled: Any, row: int) -> tuple[int, IndexVector]:
    here = check_count(row, name="row", minimum=0)
    rows = np.unique(np.asarray(labelled, dtype=np.intp))
    last = max(here, int(rows[-1]) if len(rows) else 0)
    if last >= graph.n_nodes or (len(rows) and rows[0] < 0):
        raise InvalidInputError(
            f"rows must lie between 0 and {graph.n_nodes - 1}; the row asked about is {here} and "
            f"the labelled ones go from {rows.min(initial=0)} to {rows.max(initial=0)}."
        )
    return here, rows[rows != here]


def _stop(graph: Graph, labelled: IndexVector, stop: float | str) -> float:
    if isinstance(stop, str) and stop == "auto":
        total = float(graph.degrees.sum())
        share = float(graph.degrees[labelled].sum()) / total if total > 0 else 0.0
        return min(share, 0.5)
    if isinstance(stop, (int, float)) and not isinstance(stop, bool) and 0 <= stop < 1:
        return float(stop)
    raise InvalidInputError(f"stop={stop!r} must be 'auto' or a number from 0 to below 1.")
