"""The normalised cut of a partition of a graph: what leaves the classes, in shares of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from beltrami.core.types import FloatMatrix, FloatVector


def cut_matrix(weights: csr_array[Any], codes: NDArray[np.intp], n_classes: int) -> FloatMatrix:
    """Return the weight between any two classes, (k, k); row sums are the classes' volumes."""
    starts = np.repeat(codes, np.diff(weights.indptr))
    places = starts * n_classes + codes[weights.indices]
    sums = np.bincount(places, weights.data, minlength=n_classes**2)
    return np.asarray(sums.reshape(n_classes, n_classes))


def conductances(between: FloatMatrix) -> FloatVector:
    """Return the share of each class's volume that leaves it, (k,), from a `cut_matrix`.

    It is the chance that a step of the random walk leaves the class. A class without weight counts
    as one, the worst.
    """
    volumes = between.sum(axis=1)
    kept = np.divide(np.diag(between), volumes, out=np.zeros(len(between)), where=volumes > 0)
    return np.asarray(1.0 - kept)


def normalized_cut(weights: csr_array[Any], codes: NDArray[np.intp], n_classes: int) -> float:
    r"""Return :math:`\sum_a \mathrm{cut}(A_a) / \mathrm{vol}(A_a)`; an empty class counts one."""
    return float(conductances(cut_matrix(weights, codes, n_classes)).sum())
