"""Costly inputs are made once and kept in ``benchmarks/.cache``, keyed by their parameters.

Every measurement of memory loads them again, in a process of its own.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from beltrami.core.files import atomic_path
from benchmarks.common.command import CACHE

_PARTS = ("data", "indices", "indptr", "shape")
_KEEP_ABOVE = 5000  # rows; smaller problems are made faster than they are read


def from_cache(key: str, n: int, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what `make` makes of n rows, from the cache where it was made before."""
    place = CACHE / f"{key}.npz"
    if place.exists():
        with np.load(place) as stored:
            return _unpack(dict(stored))
    arrays = make()
    if n > _KEEP_ABOVE:
        with atomic_path(place) as temporary:
            np.savez(temporary, **_pack(arrays))
    return arrays


def _pack(arrays: Mapping[str, Any]) -> dict[str, np.ndarray]:
    flat: dict[str, np.ndarray] = {}
    for key, array in arrays.items():
        if issparse(array):
            flat |= {f"{key}.{part}": np.asarray(getattr(array, part)) for part in _PARTS}
        else:
            flat[key] = np.asarray(array)
    return flat


def _unpack(stored: Mapping[str, np.ndarray]) -> dict[str, Any]:
    arrays = {key: array for key, array in stored.items() if "." not in key}
    for key in {name.split(".")[0] for name in stored if "." in name}:
        data, indices, indptr, shape = (stored[f"{key}.{part}"] for part in _PARTS)
        arrays[key] = csr_array((data, indices, indptr), shape=tuple(shape))
    return arrays
