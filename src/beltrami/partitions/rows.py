"""Rows drawn by their names: which ones does not depend on order, workers or batches."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import CorruptDataError
from beltrami.core.types import IndexVector

Keys = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def row_keys(seed: int, name: str, start: int, n_rows: int) -> Keys:
    """Return a number for each row of a stretch of a partition, evenly spread over 64 bits."""
    digest = hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest()
    base = np.uint64(int.from_bytes(digest, "little"))
    with np.errstate(over="ignore"):
        return mixed(base + _GOLDEN * np.arange(start, start + n_rows, dtype=np.uint64))


def mixed(numbers: Keys) -> Keys:
    """Return numbers whose bits all depend on all bits of those given (splitmix64)."""
    with np.errstate(over="ignore"):
        one = (numbers ^ (numbers >> np.uint64(30))) * _FIRST
        two = (one ^ (one >> np.uint64(27))) * _SECOND
        keys: Keys = two ^ (two >> np.uint64(31))
        return keys


def key_limit(wanted: int, total: int) -> np.uint64:
    """Return a number below which `wanted` of `total` keys lie almost surely, and few more."""
    enough = wanted + 6 * np.sqrt(wanted) + 16
    if enough >= total:
        return np.uint64(2**64 - 1)
    return np.uint64(int(enough / total * 2.0**64))


def require_held(places: IndexVector, n_rows: int, name: str) -> None:
    """Raise where a partition has not the rows that are asked for, which rise."""
    if len(places) and places[-1] >= n_rows:
        raise CorruptDataError(
            path=name, reason=f"row {places[-1]:,} is asked for, and there are {n_rows:,}"
        )
