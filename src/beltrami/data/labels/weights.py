"""How much each label counts: sample weights enter in any unit and leave with the mean one."""

from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatVector, IndexVector


def checked_weights(sample_weight: Any, n_points: int, rows: IndexVector) -> FloatVector:
    """Return the weights of the labelled `rows`, ones where none are given.

    Only their ratios have a meaning: they are divided by their mean over the rows that count, so
    that weights in another unit, or all the same, change no answer. Entries of unlabelled rows are
    ignored.
    """
    if sample_weight is None:
        return np.ones(len(rows))
    weights = np.asarray(sample_weight, dtype=np.float64)
    weights = np.full(n_points, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (n_points,):
        raise InvalidInputError(
            f"sample_weight.shape == {weights.shape}, expected ({n_points},): one weight per row; "
            "those of unlabelled rows are ignored."
        )
    chosen = weights[rows]
    bad = int((~np.isfinite(chosen) | (chosen < 0)).sum())
    if bad:
        raise InvalidInputError(
            f"sample_weight must be finite and not negative; {bad} of {len(rows)} labelled rows "
            "break this. A weight says how much a label counts: 0 ignores it."
        )
    if not chosen.any():
        raise InvalidInputError(
            f"sample_weight is zero at all {len(rows)} labelled rows, so no label counts."
        )
    shares = chosen / chosen.max()  # first, so that no sum overflows
    return np.asarray(shares / shares[chosen > 0].mean())
