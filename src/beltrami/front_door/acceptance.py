"""Which answers may be used: those on no island, and sure enough for a chosen risk."""

import numbers
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector, FloatVector, IndexVector
from beltrami.graph.model import Graph


def island_numbers(piece: IndexVector, labelled: IndexVector) -> IndexVector:
    """Return the island of each row, largest first, -1 for a row in a piece with a label.

    Islands are the pieces of the data that no edge but an added bridge joins to a label; `piece`
    is that of each row.
    """
    has_label = np.zeros(int(piece.max(initial=-1)) + 1, dtype=bool)
    has_label[piece[labelled]] = True
    sizes = np.bincount(piece)
    bare = np.flatnonzero(~has_label)
    bare = bare[np.argsort(-sizes[bare], kind="stable")]
    number = np.full(len(sizes), -1, dtype=np.intp)
    number[bare] = np.arange(len(bare))
    return number[piece]


def pieces_of(graph: Graph, n_neighbors: int | None = None) -> IndexVector:
    """Return the component of each row in the graph without its bridges.

    - `n_neighbors`: nearest points that each row is joined to; None means all that are listed.
    """
    if graph.certificate.n_bridges == 0 or graph.neighbors is None:
        return np.asarray(graph.components()[1], dtype=np.intp)
    lists = graph.neighbors.indices[:, :n_neighbors]
    starts = np.repeat(np.arange(len(lists)), lists.shape[1])
    ends = lists.ravel()
    links = coo_array((np.ones(len(ends), dtype=np.int8), (starts, ends)), shape=(len(lists),) * 2)
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.intp)


def check_risk(risk: Any) -> float | None:
    """Return the risk, or say what is wrong with it."""
    if risk is None:
        return None
    is_number = isinstance(risk, numbers.Real) and not isinstance(risk, bool)
    if is_number and 0 <= float(risk) <= 1:
        return float(risk)
    raise InvalidInputError(
        f"risk={risk!r} must be a number from 0 to 1, such as 0.05 for one wrong label in twenty, "
        "or None to accept every label."
    )


def accepted_rows(
    confidence: FloatVector, eligible: BoolVector, given: IndexVector, risk: float | None
) -> BoolVector:
    """Return which labels are accepted, (n,): the surest, as many as the risk allows.

    The expected share of wrong ones among the accepted is one minus their mean confidence, which
    is as good as the calibration. Labels that were given, at the rows `given`, are accepted and not
    counted. Rows equally sure are accepted together or not at all.

    - `risk`: largest expected share of wrong ones; None accepts all that are eligible.
    """
    limit = check_risk(risk)
    accepted = eligible.copy()
    if limit is not None:
        accepted[given] = False
        rows = np.flatnonzero(accepted)
        order = rows[np.argsort(-confidence[rows], kind="stable")]
        sure = confidence[order]
        expected = np.cumsum(1 - sure) / np.arange(1, len(order) + 1)
        allowed = np.flatnonzero(expected <= limit + 1e-12)
        accepted[:] = False
        if len(allowed):
            # Rows as sure as the last one belong together.
            least = sure[allowed[-1]]
            count = np.searchsorted(-sure, -least, side="right")
            if expected[count - 1] > limit + 1e-12:
                count = np.searchsorted(-sure, -least, side="left")
            accepted[order[:count]] = True
    accepted[given] = True
    return accepted
