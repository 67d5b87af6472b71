"""Records taken apart: flat dataclasses of arrays and plain values become named parts, and back."""

import json
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from beltrami.core.store.parcels import Parcel

_Record = TypeVar("_Record")

_SPARSE = ("data", "indices", "indptr")
_SHAPE, _WIDE, _TEXT = "#shape", "#wide", "#text"
_LONG = 2**12
"""Characters of JSON from which a value lies among the arrays: the header of a file is short."""
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
            _put_value(parcel, key, value.item() if isinstance(value, np.generic) else value)


def put_together(parcel: Parcel, name: str, kind: type[_Record]) -> _Record:
    """Return the record of a kind that was added under a name; KeyError where a part is not there.

    Lists of JSON come back as tuples, and so do those inside them.
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
        elif key + _TEXT in parcel.arrays:
            parts[one.name] = _as_tuples(json.loads(parcel.arrays[key + _TEXT].tobytes()))
        else:
            parts[one.name] = _as_tuples(parcel.facts[key])
    return kind(**parts)


def _put_value(parcel: Parcel, key: str, value: Any) -> None:
    """Add a plain value, as bytes of JSON where it is long."""
    text = json.dumps(value) if isinstance(value, tuple | list | dict | str) else ""
    if len(text) < _LONG:
        parcel.facts[key] = value
    else:
        parcel.arrays[key + _TEXT] = np.frombuffer(text.encode("ascii"), dtype=np.uint8)


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def _put(parcel: Parcel, key: str, array: NDArray[Any]) -> None:
    """Add an array, in single precision where that loses no bit."""
    if array.dtype == np.float64 and array.size >= _WORTH:
        with np.errstate(over="ignore"):
            single = array.astype(np.float32)
        if np.array_equal(single, array):
            parcel.arrays[key], parcel.facts[key + _WIDE] = single, True
            return
    parcel.arrays[key] = array
