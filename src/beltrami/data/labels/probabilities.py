"""Soft labels, probabilities of classes: a matrix with a column for each enters, its rows leave."""

from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError, NotNumericError
from beltrami.core.types import FloatMatrix, IndexVector

_SUM_TOLERANCE = 1e-6  # what rounding in float32 takes from a sum of probabilities


def are_soft_labels(y: Any) -> bool:
    """Say whether labels are a matrix of probabilities rather than one label per row."""
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, list | tuple) and len(y):
        shape = np.shape(y[0])
        return len(shape) == 1 and shape[0] > 1
    return shape is not None and len(shape) == 2 and shape[1] > 1


def encode_soft_labels(y: Any, n_points: int) -> tuple[IndexVector, FloatMatrix]:
    """Read class probabilities; return the rows of which something is known, and theirs.

    NaN or zero throughout a row of y says that nothing is known of the point.
    """
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise NotNumericError(
            f"soft labels must be a matrix of probabilities and cannot be read ({error}). For one "
            "label per row give a vector."
        ) from error
    if len(values) != n_points:
        raise InvalidInputError(
            f"X and y have inconsistent numbers of samples: {n_points} rows and {len(values)} "
            "rows of soft labels. Rows of which nothing is known need their row of NaN, too."
        )
    nothing = np.isnan(values).all(axis=1) | (values == 0).all(axis=1)
    rows = np.flatnonzero(~nothing)
    known = values[rows]
    if not np.isfinite(known).all():
        first = rows[~np.isfinite(known).all(axis=1)][0]
        raise InvalidInputError(
            f"row {first} of the soft labels mixes numbers with NaN or infinity; give all its "
            "probabilities, or NaN throughout where nothing is known."
        )
    sums = known.sum(axis=1)
    wrong = (known < 0).any(axis=1) | (np.abs(sums - 1) > _SUM_TOLERANCE)
    if wrong.any():
        raise InvalidInputError(
            f"{int(wrong.sum())} row(s) of soft labels are no probabilities, the first is row "
            f"{rows[wrong][0]} with sum {sums[wrong][0]:.6g} and smallest entry "
            f"{known[wrong][0].min():.6g}. Each row must be non-negative and sum to one; divide it "
            "by its sum."
        )
    return rows, known / sums[:, None]
