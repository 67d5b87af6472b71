"""Vectors of labels as libraries hold them: any enters, an array of them without losses leaves.

What marks a gap is kept apart from what is a label: the mask of a masked array, the nulls of pandas
and polars, None and NaN; whole numbers beside them stay whole.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector


def label_vector(y: Any, n_points: int) -> NDArray[Any]:
    """Return y as a vector of `n_points`, without turning None, NaN or -1 into texts on the way."""
    if y is None:
        raise InvalidInputError(
            "this estimator requires y to be passed, but the target y is None: one label per row, "
            "with unlabelled rows marked."
        )
    if hasattr(y, "tocsr"):
        raise InvalidInputError("y is sparse; give a dense vector with one label per row.")
    array = _array(y)
    if array.ndim == 2 and array.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=5,
        )
        array = array.ravel()
    if array.ndim != 1:
        raise InvalidInputError(
            f"y should be a 1d array, one label per row, and has shape {array.shape}."
        )
    if len(array) != n_points:
        raise InvalidInputError(
            f"X and y have inconsistent numbers of samples: {n_points} rows and {len(array)} "
            "labels. Unlabelled rows need their marker in y, too."
        )
    return array


def _array(y: Any) -> NDArray[Any]:
    """Return y as an array in which whole numbers and truth values beside gaps stay such."""
    if isinstance(y, np.ma.MaskedArray):
        values, mask = np.asarray(y.data), np.ma.getmaskarray(y)
        if mask.any():
            values = values.astype(object)
            values[mask] = None
        return values
    if not hasattr(y, "to_numpy") and not hasattr(y, "dtype"):
        return np.array(y, dtype=object)
    home = type(y).__module__.split(".", maxsplit=1)[0]
    if home == "pandas" and not isinstance(getattr(y, "dtype", np.dtype(object)), np.dtype):
        return np.asarray(y.astype(object), dtype=object)  # to_numpy would make floats
    if home == "polars" and type(y).__name__ == "Series" and y.null_count():
        return np.array(y.to_list(), dtype=object)
    return np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)


def missing_labels(values: NDArray[Any]) -> BoolVector:
    """Say which entries hold nothing."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind in "US":
        return np.asarray(values == values.dtype.type())
    if values.dtype.kind == "O":
        return np.fromiter((is_nothing(value) for value in values), dtype=bool, count=len(values))
    return np.zeros(len(values), dtype=bool)


def is_nothing(value: Any) -> bool:
    """Say whether a value stands for the lack of one in every library."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return isinstance(value, str) and not value
