"""Records taken apart: flat dataclasses of arrays and plain values become named parts, and back."""

from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from beltrami.core.store.parcels import Parcel

_Record = TypeVar("_Record")

_SPARSE = ("data", "indices", "indptr")
_SHAPE, _WIDE = "#shape", "#wide"
_WORTH = 2**12
"""Numbers from which an array of doubles that singles can hold is written as singles."""


def take_apart(parcel: Parcel, name: str, record: Any) -> None:
    """Add the fields of a record to a parcel, under its name; sparse ones are three arrays."""
    for one in fields(record):
        value: Any = getattr(record, one.name)
        key = f"{name}.{one.name}"
        if issparse(value):
            sparse: Any = value
            for part in _SPARSE:
                parcel.arrays[f"{key}.{part}"] = getattr(value, part)
            parcel.facts[key + _SHAPE] = list(sparse.shape)
        elif isinstance(value, np.ndarray):
            _put(parcel, key, value)
        else:
            parcel.facts[key] = value.item() if isinstance(value, np.generic) else value


def put_together(parcel: Parcel, name: str, kind: type[_Record]) -> _Record:
    """Return the record of a kind that was added under a name; KeyError where a part is not there.

    Lists of JSON come back as tuples.
    """
    parts: dict[str, Any] = {}
    for one in fields(kind):  # type: ignore[arg-type]
        key = f"{name}.{one.name}"
        if key + _SHAPE in parcel.facts:
            values = tuple(parcel.arrays[f"{key}.{part}"] for part in _SPARSE)
            parts[one.name] = csr_array(values, shape=tuple(parcel.facts[key + _SHAPE]))
        elif key in parcel.arrays:
            array = parcel.arrays[key]
            parts[one.name] = array.astype(np.float64) if key + _WIDE in parcel.facts else array
        else:
            value = parcel.facts[key]
            parts[one.name] = tuple(value) if isinstance(value, list) else value
    return kind(**parts)


def _put(parcel: Parcel, key: str, array: NDArray[Any]) -> None:
    """Add an array, in single precision where that loses no bit."""
    if array.dtype == np.float64 and array.size >= _WORTH:
        with np.errstate(over="ignore"):
            single = array.astype(np.float32)
        if np.array_equal(single, array):
            parcel.arrays[key], parcel.facts[key + _WIDE] = single, True
            return
    parcel.arrays[key] = array
