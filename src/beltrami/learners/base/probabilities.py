"""Scores become probabilities: a softmax, and the temperature that held-out labels support."""

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector

_TEMPERATURES = np.geomspace(0.05, 5.0, 61)
_TYPICAL = 0.5


def softmax(scores: FloatMatrix, temperature: float) -> FloatMatrix:
    """Return exp(s / T) over its sum along rows, without overflow."""
    shifted: FloatMatrix = scores - scores.max(axis=1, keepdims=True)
    shifted /= temperature
    np.exp(shifted, out=shifted)
    shifted /= shifted.sum(axis=1, keepdims=True)
    return shifted


def fitted_temperature(
    scores: FloatMatrix,
    targets: FloatMatrix,
    weights: FloatVector,
    *,
    typical: float = _TYPICAL,
    tried: FloatVector = _TEMPERATURES,
) -> float:
    """Return the temperature at which held-out scores are most believable.

    The mean log-loss of softmax(scores / T) is minimised over the temperatures `tried`, with the
    weight of one further label spent on the `typical` T: a few labels that all come out right do
    not prove certainty. `scores` and one-hot `targets` have shape (l, k); without a row the result
    is `typical`.
    """
    if len(scores) == 0:
        return typical
    shifted = scores - scores.max(axis=1, keepdims=True)
    true = (shifted * targets).sum(axis=1)
    losses = [
        weights @ (np.log(np.exp(shifted / T).sum(axis=1)) - true / T)
        + weights.mean() * np.log(T / typical) ** 2
        for T in tried
    ]
    return float(tried[int(np.argmin(losses))])
