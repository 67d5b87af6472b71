"""Scores become probabilities: a softmax, and the temperature that held-out labels support."""

import numpy as np

from beltrami.core.machine.threads import map_ranges
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector
from beltrami.learners.base._loops import lead_rows

ROWS = 50_000
"""Rows whose probabilities are worked out together."""

_LED_ROWS = 2**17
"""Rows whose first classes are looked for together: a thread takes longer to start for fewer."""

_PRECISIONS = (np.dtype(np.float32), np.dtype(np.float64))

_TEMPERATURES = np.geomspace(0.05, 5.0, 61)
_TYPICAL = 0.5


def softmax(scores: FloatMatrix, temperature: float) -> FloatMatrix:
    """Return exp(s / T) over its sum along rows, without overflow."""
    if len(scores) <= ROWS:
        return _softmax_of(scores, temperature)
    shares = np.empty_like(scores, dtype=np.result_type(scores, np.float32))

    def fill(begin: int, end: int) -> None:
        shares[begin:end] = _softmax_of(scores[begin:end], temperature)

    map_ranges(fill, len(scores), ROWS)
    return shares


def _softmax_of(scores: FloatMatrix, temperature: float) -> FloatMatrix:
    shifted: FloatMatrix = scores - scores.max(axis=1, keepdims=True)
    shifted /= temperature
    np.exp(shifted, out=shifted)
    shifted /= shifted.sum(axis=1, keepdims=True)
    return shifted


def without_absent(scores: FloatMatrix, has_label: BoolVector) -> FloatMatrix:
    """Put the score of a class without a label below all others, and keep it finite."""
    if has_label.all():
        return scores
    scores = scores.copy()
    lowest = scores[:, has_label].min(axis=1, keepdims=True)
    scores[:, ~has_label] = lowest - 1.0
    return scores


def distribute(
    shares: FloatMatrix, reached: BoolVector, has_label: BoolVector, prior: FloatVector
) -> FloatMatrix:
    """Return probabilities in place of shares: rows that nothing reaches get the prior ones."""
    if not has_label.all():
        shares[:, ~has_label] = 0.0
    totals = shares.sum(axis=1, keepdims=True)
    known = reached[:, None] & (totals > 0)
    np.divide(shares, totals, out=shares, where=known)
    if not known.all():
        shares[~known[:, 0]] = prior
    return shares


def leaders(shares: FloatMatrix) -> tuple[IndexVector, FloatVector, FloatVector]:
    """Return each row's first class, what it has, and what the second has, zero at least.

    Of equals the first leads.

    - `shares`: (n, k).
    """
    n = len(shares)
    is_fit = shares.dtype in _PRECISIONS and shares.flags.writeable
    precise = shares if is_fit else shares.astype(np.result_type(shares, np.float32))
    codes = np.empty(n, dtype=np.int64)
    largest, second = np.empty((2, n), dtype=precise.dtype)
    lead_rows(precise, codes, largest, second)
    return codes, largest, second


def first_classes(scores: FloatMatrix) -> IndexVector:
    """Return the class of largest score of each row; of equals the first."""
    codes = np.zeros(len(scores), dtype=np.intp)

    def fill(begin: int, end: int) -> None:
        codes[begin:end] = leaders(scores[begin:end])[0]

    map_ranges(fill, len(codes), _LED_ROWS)
    return codes


def fitted_temperature(
    scores: FloatMatrix,
    targets: FloatMatrix,
    weights: FloatVector,
    *,
    typical: float = _TYPICAL,
    tried: FloatVector = _TEMPERATURES,
    worth: float = 1.0,
) -> float:
    """Return the temperature at which held-out scores are most believable.

    The mean log-loss of softmax(scores / T) is minimised over the temperatures `tried`, with the
    weight of `worth` further labels spent on the `typical` T: a few labels that all come out right
    do not prove certainty. `scores` and one-hot `targets` have shape (l, k); without a row the
    result is `typical`.
    """
    if len(scores) == 0:
        return typical
    shifted = scores - scores.max(axis=1, keepdims=True)
    true = (shifted * targets).sum(axis=1)
    losses = [
        weights @ (np.log(np.exp(shifted / T).sum(axis=1)) - true / T)
        + worth * weights.mean() * np.log(T / typical) ** 2
        for T in tried
    ]
    return float(tried[int(np.argmin(losses))])
