"""The files of the store: a header in JSON, plain arrays, a checksum over both.

======== ======= =====================================================================
bytes    name    meaning
======== ======= =====================================================================
8        magic   ``beltrami``
8        length  of the header, little-endian
length   header  ASCII: key, facts, and name, dtype, shape and order of each array, F for one
                 that is written turned
...      arrays  their bytes one after the other, each begun at a multiple of 64
32       seal    BLAKE2b of all before it
======== ======= =====================================================================

Nothing in them is run or unpickled. Every size is compared with that of the file before memory is
taken, and no array is handed out before the seal was found right.
"""

import hashlib
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.memory import available_bytes
from beltrami.core.store.keys import bytes_of

_MAGIC = b"beltrami"
SEAL_BYTES = 32
_ALIGNMENT = 64
_MOST_HEADER = 2**20
_KINDS = "biuf"  # truth values, whole and floating-point numbers


class UnusableParcelError(Exception):
    """A file of the store that cannot be used, with the reason in plain words."""


@dataclass(frozen=True, slots=True, eq=False)
class Parcel:
    """A noun taken apart.

    Attributes
    ----------
    arrays : dict of str to ndarray
        Numbers or truth values.
    facts : dict of str to object
        What JSON can hold.
    """

    arrays: dict[str, NDArray[Any]]
    facts: dict[str, Any]

    @classmethod
    def of(cls, record: Any) -> "Parcel":
        """Take a flat dataclass of arrays and plain values apart; its fields name the parts."""
        values = {one.name: getattr(record, one.name) for one in fields(record)}
        arrays = {name: one for name, one in values.items() if isinstance(one, np.ndarray)}
        facts = {
            name: one.item() if isinstance(one, np.generic) else one
            for name, one in values.items()
            if name not in arrays
        }
        return cls(arrays, facts)

    @property
    def parts(self) -> dict[str, Any]:
        """Everything by name, arrays and facts."""
        return self.arrays | self.facts

    @property
    def n_bytes(self) -> int:
        """Size of the arrays."""
        return sum(array.nbytes for array in self.arrays.values())


def write_parcel(path: Path, key: str, parcel: Parcel) -> None:
    """Write a parcel under a key; the file exists already or is made.

    `UnusableParcelError` says that its facts are too long to be read again; nothing is written.
    """
    arrays = [(name, *_laid_out(array)) for name, array in parcel.arrays.items()]
    header = {
        "key": key,
        "facts": parcel.facts,
        "arrays": [
            {"name": name, "dtype": rows.dtype.str, "shape": rows.shape, "order": order}
            for name, rows, order in arrays
        ],
    }
    text = json.dumps(header, allow_nan=True).encode("ascii")
    if len(text) > _MOST_HEADER:
        raise UnusableParcelError(
            f"{len(text):,} bytes of header are more than the {_MOST_HEADER:,} that are read"
        )
    digest = hashlib.blake2b(digest_size=SEAL_BYTES)
    with path.open("wb", buffering=0) as file:
        place = _put(file, digest, _MAGIC + len(text).to_bytes(8, "little") + text)
        for _, rows, _ in arrays:
            place += _put(file, digest, bytes(-place % _ALIGNMENT))
            place += _put(file, digest, bytes_of(rows))
        _put(file, digest, digest.digest())


def read_parcel(path: Path, key: str) -> Parcel:
    """Read what was written under a key, or raise `UnusableParcelError` or `OSError`."""
    with path.open("rb", buffering=0) as file:
        return read_open_parcel(file, os.fstat(file.fileno()).st_size, key)


def read_open_parcel(file: BinaryIO, size: int, key: str) -> Parcel:
    """Read from an open file of a size, or from bytes, what `read_parcel` does from a path."""
    digest = hashlib.blake2b(digest_size=SEAL_BYTES)
    start, length = _read_start(file, size, digest)
    header = _read_header(_take(file, digest, length), key)
    place = len(start) + length
    _require_size(header, place, size)
    arrays = {}
    for one in header["arrays"]:
        place += len(_take(file, digest, -place % _ALIGNMENT))
        rows = np.empty(one["shape"], dtype=one["dtype"])
        _fill(file, digest, bytes_of(rows))
        place += rows.nbytes
        arrays[one["name"]] = rows.T if one["order"] == "F" else rows
    expected = digest.digest()
    if _take(file, digest, SEAL_BYTES) != expected:
        raise UnusableParcelError("its checksum is wrong")
    return Parcel(arrays, header["facts"])


def is_parcel(path: Path) -> bool:
    """Say whether a file begins as those that we write do."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def key_of_parcel(file: BinaryIO, size: int) -> str:
    """Return the key that a file says it was written under; nothing of it is checked."""
    digest = hashlib.blake2b(digest_size=SEAL_BYTES)
    length = _read_start(file, size, digest)[1]
    try:
        return str(json.loads(_take(file, digest, length).decode("ascii"))["key"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnusableParcelError("its header is damaged") from error


def _read_start(file: BinaryIO, size: int, digest: Any) -> tuple[bytes, int]:
    """Return the first bytes, and the length of the header that follows."""
    start = _take(file, digest, len(_MAGIC) + 8)
    length = int.from_bytes(start[len(_MAGIC) :], "little")
    if not start.startswith(_MAGIC) or length > min(_MOST_HEADER, size):
        raise UnusableParcelError("it does not begin as one")
    return start, length


def _laid_out(array: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Return rows that lie in one piece, and whether they are the columns of the array."""
    if array.dtype.kind not in _KINDS:
        raise TypeError(f"an array of {array.dtype} cannot be stored")
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        return array.T, "F"
    return np.asarray(array, order="C"), "C"


def _put(file: BinaryIO, digest: Any, content: bytes | memoryview) -> int:
    digest.update(content)
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]  # a write may take only a part
    return len(content)


def _take(file: BinaryIO, digest: Any, count: int) -> bytes:
    content = bytearray(count)
    _fill(file, digest, memoryview(content))
    return bytes(content)


def _fill(file: BinaryIO, digest: Any, content: memoryview) -> None:
    place = 0
    while place < len(content):
        count = file.readinto(content[place:])  # type: ignore[attr-defined]
        if not count:
            raise UnusableParcelError("it is cut short")
        place += count
    digest.update(content)


def _read_header(text: bytes, key: str) -> dict[str, Any]:
    """Return the header as far as it can be trusted before the seal is known."""
    try:
        header = json.loads(text.decode("ascii"))
        for one in header["arrays"]:
            sizes, dtype = one["shape"], np.dtype(one["dtype"])
            is_plain = dtype.kind in _KINDS and one["order"] in ("C", "F")
            is_plain &= dtype.str == one["dtype"] and isinstance(one["name"], str)
            if not is_plain or not all(type(size) is int and size >= 0 for size in sizes):
                raise UnusableParcelError("its header is damaged")
        is_ours = header["key"] == key and isinstance(header["facts"], dict)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnusableParcelError("its header is damaged") from error
    if not is_ours:
        raise UnusableParcelError("it belongs to other data")
    return dict(header)


def _require_size(header: dict[str, Any], place: int, size: int) -> None:
    """Raise where the arrays are not what the file has room for, or memory has not."""
    end = place
    for n_bytes in _sizes(header):
        end += -end % _ALIGNMENT + n_bytes
    if end + SEAL_BYTES != size:
        raise UnusableParcelError("it is cut short or has more than it should")
    if size > available_bytes():
        raise UnusableParcelError(f"its {size / 2**30:.1f} GiB do not fit in the memory")


def _sizes(header: dict[str, Any]) -> Iterator[int]:
    for one in header["arrays"]:
        yield math.prod(one["shape"]) * np.dtype(one["dtype"]).itemsize
