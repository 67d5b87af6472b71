"""How many directions the data have: by the growth of distances, or the spread of covariances."""

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector


def intrinsic_dimension(distances: FloatMatrix) -> float:
    r"""Return the dimension that the distances to nearest neighbours grow with.

    On a manifold of dimension r the number of points within a distance t grows as t^r, so
    :math:`1/r` is the mean of :math:`\log (t_k / t_j)` over points and j < k, where :math:`t_j` is
    the distance of the j-th nearest other point: the estimate of [LevinaBickel04]_, with the
    average taken over the inverses. `distances`, (n, k) with k at least 3, are sorted.
    """
    last = distances[:, -1:]
    inner = np.maximum(distances[:, :-1], np.finfo(np.float64).tiny)
    usable = last[:, 0] > 0
    if not usable.any():
        return 0.0
    # The mean of k - 1 logarithms underestimates 1/r by (k - 2) / (k - 1).
    k = distances.shape[1]
    logs = np.log(last[usable] / inner[usable]).sum(axis=1) / (k - 2)
    # Twins at distance zero would make the dimension zero by themselves.
    return float(1 / max(np.median(logs), np.finfo(np.float64).tiny))


def participation(variances: FloatMatrix, n_neighbors: int) -> FloatVector:
    r"""Return how many directions covariances spread in: :math:`(tr \Sigma)^2 / tr \Sigma^2`.

    1 on a line, r for r equal variances. Sample covariances are less even than the true ones; both
    traces are freed of that bias as for a Gaussian sample of q points. A row of `variances` holds
    those of one covariance.
    """
    freedom = n_neighbors - 1
    trace, square = variances.sum(axis=1), (variances**2).sum(axis=1)
    # E tr S^2 = (1 + 1/f) tr Σ^2 + (tr Σ)^2 / f and E (tr S)^2 = (tr Σ)^2 + 2/f tr Σ^2.
    true_square = (square - trace**2 / freedom) / (1 + 1 / freedom - 2 / freedom**2)
    true_trace = trace**2 - 2 / freedom * true_square
    most = float(variances.shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        number = np.where(true_square > 0, true_trace / true_square, most)
    return np.clip(number, 1.0, most)
