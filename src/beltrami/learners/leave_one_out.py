"""Judging by labels left out in turn: whether that can judge, by which loss, and how honestly."""

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.learners.model import Labeled


def can_leave_one_out(labeled: Labeled) -> bool:
    """Say whether leave-one-out can judge anything.

    A class with a single label cannot be recognised without it, so labels count only where their
    class has another; there must be as many of them as classes.
    """
    n_classes = labeled.targets.shape[1]
    if n_classes == 1:
        return len(labeled.rows) > 1
    counts = (labeled.targets == labeled.targets.max()).sum(axis=0)
    return bool(counts[counts > 1].sum() >= n_classes)


def held_out_loss(predictions: FloatMatrix, labeled: Labeled) -> float:
    """Return the loss of held-out predictions, (l, k).

    For classes the weighted share of errors, with squared residuals to break ties, worth less than
    one error; for a value the weighted mean of squared residuals. For the squares, predictions are
    first clipped to the range of the targets: a fit with nearly as many eigenvectors as labels is
    wild at a few of them, and their squares would drown the rest.
    """
    truth, weights = labeled.targets, labeled.weights / labeled.weights.sum()
    low, high = float(truth.min()), float(truth.max())
    squares = weights @ ((np.clip(predictions, low, high) - truth) ** 2).sum(axis=1)
    if truth.shape[1] == 1:
        return float(squares)
    wrong = weights @ (predictions.argmax(axis=1) != truth.argmax(axis=1))
    most = max(high - low, 1e-300) ** 2 * truth.shape[1]
    return float(wrong + 0.5 * weights.min() * squares / most)


def honest_residuals(residuals: FloatMatrix, labeled: Labeled) -> FloatVector:
    """Return held-out residuals, each of the candidate that is best by the other labels.

    `residuals` holds a row for each of c candidates, (c, l). Those of the candidate that is best on
    all labels are too small: each helped to choose it. (The others' residuals still come from fits
    that hold label i; to leave out two at a time would be the whole truth.)
    """
    targets = labeled.targets[:, 0]
    clipped = targets - np.clip(targets - residuals, targets.min(), targets.max())
    losses = labeled.weights * clipped**2
    others = losses.sum(axis=1, keepdims=True) - losses
    best = others.argmin(axis=0)
    honest: FloatVector = residuals[best, np.arange(len(targets))]
    return honest


def mean_of_others(labeled: Labeled) -> FloatMatrix:
    """Return for each label the weighted mean of the others' targets, (l, k).

    A single label has no others and gets its own.
    """
    weights, targets = labeled.weights[:, None], labeled.targets
    if len(targets) == 1:
        return targets.copy()
    rest = np.maximum(weights.sum() - weights, np.finfo(np.float64).tiny)
    others: FloatMatrix = (weights.T @ targets - weights * targets) / rest
    return others
