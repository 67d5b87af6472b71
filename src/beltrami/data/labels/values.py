"""Values of a regression: numbers with NaN, None or null for gaps enter, float64 leaves."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError, NotNumericError
from beltrami.core.types import FloatVector, IndexVector
from beltrami.data.labels.vectors import label_vector, missing_labels


def encode_values(y: Any, n_points: int) -> tuple[FloatVector, IndexVector]:
    """Read a vector of numbers with gaps; return values, NaN for gaps, and the labelled rows."""
    vector = label_vector(y, n_points)
    missing = missing_labels(vector)
    values = np.full(n_points, np.nan)
    values[~missing] = _numbers(vector[~missing])
    if np.isinf(values).any():
        raise InvalidInputError("Input y contains infinity; mark unlabelled rows by NaN.")
    rows = np.flatnonzero(~np.isnan(values))
    if rows.size == 0:
        raise InvalidInputError(
            f"y has no value at all: all {n_points} rows are NaN. Give at least one number."
        )
    return values, rows


def _numbers(present: NDArray[Any]) -> FloatVector:
    """Return numbers as float64; texts, dates and complex numbers are not read as such."""
    reason = f"dtype {present.dtype}" if present.dtype.kind not in "fiubO" else ""
    if present.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in present):
        reason = "it holds texts"
    if not reason:
        try:
            return present.astype(np.float64)
        except (TypeError, ValueError) as error:
            reason = str(error)
    raise NotNumericError(
        f"y must hold numbers, with NaN for unlabelled rows, and cannot be read ({reason}). For "
        "classes use the classifier of the same name."
    )
