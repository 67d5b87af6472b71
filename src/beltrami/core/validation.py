"""Checks at the border: what comes in is either usable or refused with a reason."""

import numbers
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from beltrami.core.errors import InvalidInputError, NotNumericError
from beltrami.core.types import CsrMatrix, FloatMatrix, Points


def check_points(points: Any, *, name: str = "X") -> Points:
    """Return the data as a C-ordered float array or a float CSR array, or say why not.

    float32 stays float32; every other number becomes float64. NaN and infinity are refused,
    because one of them in a row poisons every distance to it.
    """
    checked = _sparse_points(points, name) if issparse(points) else _dense_points(points, name)
    n, d = checked.shape
    if n < 1:
        raise InvalidInputError(
            f"{name} has 0 sample(s) (shape=(0, {d})) while a minimum of 1 is required. Give more "
            "rows."
        )
    if d < 1:
        raise InvalidInputError(
            f"{name} has 0 feature(s) (shape=({n}, {d})) while a minimum of 1 is required."
        )
    return checked


def _dense_points(points: Any, name: str) -> FloatMatrix:
    try:
        array = np.asarray(points)
        # Objects are read one by one; texts and dates are not read as numbers behind one's back.
        array = array.astype(np.float64) if array.dtype.kind == "O" else array
    except (TypeError, ValueError) as error:
        raise _not_numeric(name, str(error)) from error
    if array.dtype.kind == "c":
        raise InvalidInputError(f"Complex data not supported: {name} has dtype {array.dtype}.")
    if array.dtype.kind not in "fiub":
        raise _not_numeric(name, f"dtype {array.dtype}")
    if array.ndim != 2:
        raise InvalidInputError(
            f"{name} must be 2-dimensional, one row per point, and has shape {array.shape}. "
            "Reshape your data with X.reshape(-1, 1) for one feature or X.reshape(1, -1) for one "
            "point."
        )
    dtype = np.float32 if array.dtype == np.float32 else np.float64
    array = np.ascontiguousarray(array, dtype=dtype)
    _require_finite(array, name)
    return array


def _not_numeric(name: str, reason: str) -> NotNumericError:
    return NotNumericError(
        f"{name} must hold numbers in rows of one length and cannot be read as such ({reason}). "
        "Encode texts and categories first, for example with scikit-learn's TfidfVectorizer "
        "or OneHotEncoder."
    )


def _sparse_points(points: Any, name: str) -> CsrMatrix:
    if points.dtype.kind == "c":
        raise InvalidInputError(f"Complex data not supported: {name} has dtype {points.dtype}.")
    if points.ndim != 2:
        raise InvalidInputError(
            f"{name} must be 2-dimensional, one row per point, and has shape {points.shape}."
        )
    dtype = np.float32 if points.dtype == np.float32 else np.float64
    matrix: CsrMatrix = csr_array(points, dtype=dtype)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    _require_finite(matrix.data, name, indptr=matrix.indptr)
    return matrix


def _require_finite(array: FloatMatrix, name: str, *, indptr: NDArray[Any] | None = None) -> None:
    # One pass without a temporary mask: the sum is finite unless an entry is not (or it
    # overflows, which the second look settles).
    with np.errstate(all="ignore"):
        if array.size == 0 or np.isfinite(array.sum()):
            return
    finite = np.isfinite(array)
    if finite.all():
        return
    n_nan, n_bad = int(np.isnan(array).sum()), int((~finite).sum())
    if indptr is None:
        first = int(np.flatnonzero(~finite.all(axis=1))[0])
    else:
        first = int(np.searchsorted(indptr, np.flatnonzero(~finite)[0], side="right")) - 1
    raise InvalidInputError(
        f"{name} contains NaN or infinity: {n_nan} NaN and {n_bad - n_nan} infinite value(s), "
        f"first at row {first}. Distances to such a row are undefined; drop the rows or fill the "
        "values, for example with sklearn.impute.SimpleImputer."
    )


def check_choice(value: object, choices: Collection[str], *, name: str) -> str:
    """Return `value` if it is one of `choices`, else raise an error that lists them."""
    if isinstance(value, str) and value in choices:
        return value
    listed = ", ".join(repr(choice) for choice in choices)
    raise InvalidInputError(f"{name}={value!r} is not known; choose one of {listed}.")


def check_count(value: object, *, name: str, minimum: int = 1) -> int:
    """Return `value` as an int of at least `minimum`, else raise."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        if int(value) >= minimum:
            return int(value)
        raise InvalidInputError(f"{name}={value} must be at least {minimum}.")
    raise InvalidInputError(f"{name}={value!r} must be an integer of at least {minimum}.")


def check_positive(value: object, *, name: str) -> float:
    """Return `value` as a finite float above zero, else raise."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if is_number and np.isfinite(float(value)) and float(value) > 0:  # type: ignore[arg-type]
        return float(value)  # type: ignore[arg-type]
    raise InvalidInputError(f"{name}={value!r} must be a finite number above zero.")


def check_nonnegative(value: object, *, name: str) -> float:
    """Return `value` as a finite float of at least zero, else raise."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if is_number and np.isfinite(float(value)) and float(value) >= 0:  # type: ignore[arg-type]
        return float(value)  # type: ignore[arg-type]
    raise InvalidInputError(f"{name}={value!r} must be a finite number of at least zero.")


def is_auto(value: object, *, name: str) -> bool:
    """Say whether a parameter is left to us; texts other than "auto" are refused."""
    if isinstance(value, str) and value != "auto":
        raise InvalidInputError(f"{name}={value!r} is not known; give a number or 'auto'.")
    return isinstance(value, str)
