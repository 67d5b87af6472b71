"""Points that stand for many and lie apart: no label says anything of the rows they stand for.

Representatives are chosen so that somebody stands for rare rows, too. A few of them far from all
others are joined to these by the graph, whose lists are as long for everybody, and labels flow
there as anywhere. Rows of a table are too many for that: such a group is a piece of its own.
"""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from beltrami.core.types import BoolVector, FloatVector, IndexVector
from beltrami.graph.anchors import stretch_of
from beltrami.graph.model import Neighbors

_USUAL_SHARE = 0.99
"""Share of all rows that is taken as usual."""

_TIMES = 1.5
"""Times what is usual from which a point is far: the scales within which one covers a row."""


def stand_apart(
    lists: Neighbors, spans: FloatVector, masses: FloatVector, labelled: IndexVector
) -> BoolVector:
    """Return which points lie far from all but a few others, none of them with a label, (n,).

    A point is far where the distance to its last neighbour is long beside that of these neighbours,
    and of 99 in 100 rows. Those that are no farther from each other than is usual around them are
    one group; it is apart where all in it are far, and none has a label.

    - `lists`: of their neighbours, with distances.
    - `spans`: (n,), distance from each to its last neighbour.
    - `masses`: (n,), rows that each stands for.
    - `labelled`: places of those with a label.
    """
    usual = np.median(spans[lists.indices], axis=1)
    stretch = stretch_of(spans, usual)
    is_far = stretch > _TIMES * max(_share_quantile(stretch, masses), 1.0)
    rows = np.flatnonzero(is_far)
    is_close = lists.distances[rows] <= usual[rows, None]
    starts, ends = np.repeat(rows, is_close.sum(axis=1)), lists.indices[rows][is_close]
    links = coo_array((np.ones(len(starts), np.int8), (starts, ends)), shape=(len(spans),) * 2)
    group = connected_components(links, directed=False)[1]
    is_joined = ~is_far
    is_joined[labelled] = True
    has_joined = np.bincount(group, weights=is_joined) > 0
    return np.asarray(~has_joined[group])


def _share_quantile(values: FloatVector, masses: FloatVector) -> float:
    """Return the finite value that a share of all mass does not exceed."""
    kept = np.flatnonzero(np.isfinite(values) & (masses > 0))
    if not kept.size:
        return 0.0
    order = kept[np.argsort(values[kept], kind="stable")]
    reached = np.cumsum(masses[order], dtype=np.float64)
    return float(values[order[np.searchsorted(reached, _USUAL_SHARE * reached[-1])]])
