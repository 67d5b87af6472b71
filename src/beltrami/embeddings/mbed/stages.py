"""Stages of a path compared: how large a map is, and how well it keeps its classes apart."""

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import FloatMatrix
from beltrami.embeddings.mbed.model import Stage

_RIDGE = 1e-9


def radius_of(embedding: FloatMatrix) -> float:
    """Return the radius of a map: the geometric mean of its standard deviations along the axes."""
    deviations = embedding.std(axis=0)
    return float(np.exp(np.log(deviations).mean())) if (deviations > 0).all() else 0.0


def criterion_of(embedding: FloatMatrix, directions: FloatMatrix) -> float:
    """Return how well a map keeps its classes apart.

    A point's class is the one of whose `directions`, (K, d), it lies farthest along.
    """
    codes = np.asarray((embedding @ directions.T).argmax(axis=1))
    return separation(embedding, codes, len(directions))


def best_stage(path: tuple[Stage, ...]) -> Stage:
    """Return the stage with the largest criterion, the last one where no stage has all classes."""
    best = max(path, key=lambda stage: stage.criterion)
    return path[-1] if best.criterion == float("-inf") else best


def separation(embedding: FloatMatrix, codes: NDArray[np.intp], n_classes: int) -> float:
    r"""Return the Hotelling-Lawley trace :math:`\mathrm{tr}(\Sigma_B \Sigma_W^{-1})`.

    Between-class over within-class covariance, eq. 20 of [ZienQuinonero05]_: the larger, the wider
    the gaps between the classes against their width, whatever the scale of the map.
    """
    n, d = embedding.shape
    counts = np.bincount(codes, minlength=n_classes)
    if (counts == 0).any():
        return float("-inf")
    sums = np.zeros((n_classes, d))
    np.add.at(sums, codes, embedding)
    means = sums / counts[:, None]
    inside = embedding - means[codes]
    within = inside.T @ inside / n
    apart = means - embedding.mean(axis=0)
    between = apart.T @ (apart * (counts / n)[:, None])
    size = float(np.trace(within))
    if size <= 0:
        return float("inf") if np.trace(between) > 0 else float("-inf")
    within[np.diag_indices(d)] += _RIDGE * size
    return float(np.trace(np.linalg.solve(within, between)))
