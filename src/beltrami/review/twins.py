"""Twins: rows that are equal, or nearly so, and have different labels.

Lists of neighbours and labelled rows enter; groups of rows leave. Pure functions.
"""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from beltrami.core.types import IndexVector
from beltrami.graph.model import Neighbors

_NEARLY = 0.05
"""Share of the distance to a row's last neighbour up to which another row is nearly equal to it."""


def find_twins(
    neighbors: Neighbors, labelled: IndexVector, codes: IndexVector
) -> list[IndexVector]:
    """Return groups of labelled rows that are equal or nearly so, and not all of one class.

    Equal rows belong together, however many there are; rows that are nearly equal only where both
    are labelled and each is so near by its own measure, so that no chain of them leads far away.

    - `labelled`, `codes`: (l,), rows and their classes.
    """
    n, k = neighbors.indices.shape
    starts, ends = np.repeat(np.arange(n), k), neighbors.indices.ravel()
    lengths, reach = neighbors.distances.ravel(), neighbors.distances[:, -1]
    code = np.full(n, -1, dtype=np.intp)
    code[labelled] = codes
    first = neighbors.first_equals
    has_label = code >= 0
    if first is not None:  # lists name the first of equal rows only
        has_label = np.bincount(first[labelled], minlength=n)[first] > 0
    is_near = lengths <= _NEARLY * np.minimum(reach[starts], reach[ends])
    joined = (lengths == 0) | (is_near & has_label[starts] & has_label[ends])
    starts, ends = starts[joined], ends[joined]
    if first is not None:
        starts, ends = np.concatenate([starts, np.arange(n)]), np.concatenate([ends, first])
    links = coo_array((np.ones(len(starts), dtype=np.int8), (starts, ends)), shape=(n, n))
    group = connected_components(links, directed=False)[1][labelled]
    order = np.lexsort((labelled, group))
    cuts = np.flatnonzero(np.diff(group[order])) + 1
    parts = np.split(order, cuts)
    return [labelled[part] for part in parts if len(np.unique(codes[part])) > 1]
