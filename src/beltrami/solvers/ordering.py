"""An order of the nodes in which neighbours lie close together in memory."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

from beltrami.core.types import CsrMatrix

_WALK_STEPS = 100


def cache_order(weights: CsrMatrix) -> NDArray[np.intp]:
    """Return the reverse Cuthill-McKee order of a symmetric sparse matrix.

    Products with a block of vectors gather the rows of a node's neighbours; in this order those
    rows are mostly in cache already. On the 60,000 MNIST images it halves the time of a product
    with 200 columns and costs 10 ms. ``matrix[order][:, order]`` is the reordered matrix.
    """
    order = reverse_cuthill_mckee(csr_matrix(weights), symmetric_mode=True)
    return np.asarray(order, dtype=np.intp)


def slow_order(weights: CsrMatrix) -> NDArray[np.intp]:
    """Return an order of the nodes in which blocks of thousands have most neighbours inside.

    Nodes are sorted by a function that varies slowly along the edges: their place in the reverse
    Cuthill-McKee order, after a hundred steps of a lazy random walk. On the 60,000 MNIST images,
    blocks of 16,384 rows and their neighbours hold 1.46 times as many rows as the blocks (2.15 in
    the Cuthill-McKee order, 1.29 in that of the first eigenfunction, which costs more to find).
    """
    order = cache_order(weights)
    n, degrees = len(order), np.asarray(weights.sum(axis=1)).ravel()
    inverse = np.divide(1.0, degrees, out=np.zeros(n), where=degrees > 0)
    place = np.empty(n)
    place[order] = np.linspace(-1.0, 1.0, n)
    for _ in range(_WALK_STEPS):
        moved = inverse * (weights @ place)
        place = np.where(degrees > 0, 0.5 * (place + moved), place)
        place -= place.mean()
    return np.asarray(np.argsort(place, kind="stable"), dtype=np.intp)
