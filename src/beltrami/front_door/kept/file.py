"""The file of a kept labeller: a parcel of the store under a key of its own, sealed.

A labeller enters and a file leaves, and back. Nothing in the file is run or unpickled; a byte that
was changed anywhere is found by the seal.
"""

import io
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import BeltramiError, InvalidInputError
from beltrami.core.files import atomic_path
from beltrami.core.store import Parcel
from beltrami.core.store.parcels import (
    SEAL_BYTES,
    UnusableParcelError,
    key_of_parcel,
    read_open_parcel,
    write_parcel,
)
from beltrami.core.store.records import put_together, take_apart
from beltrami.data.labels.vectors import is_nothing
from beltrami.front_door.kept.labeller import Acceptance, KeptLabeller
from beltrami.front_door.kept.packing import pack_answerer, unpack_answerer
from beltrami.front_door.kept.wholeness import require_whole

_KIND = "kept labeller"
VERSION = 4
"""Of the form of the file; a file of another one is refused."""

_KEY = f"{_KIND} {VERSION}"
_PROJECT = b"SQLite format 3\0"
_PLAIN = "biufUO"  # kinds of classes that JSON can hold
_NAMES = "names"

WRONG = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError,
         RecursionError, MemoryError)  # fmt: skip
"""What a file with a right seal may raise that lacks a part, or holds another in its place."""


@dataclass(frozen=True, slots=True, eq=False)
class _Names:
    """What stands in words in a file: the classes with their type, and names of columns."""

    dtype: str
    classes: tuple[Any, ...]
    columns: tuple[str, ...] | None


def write_labeller(labeller: KeptLabeller, path: Path, more: Parcel | None = None) -> Path:
    """Write a labeller, whole or not at all; `more` is what a room above adds to it."""
    parcel = pack_labeller(labeller)
    if more is not None:
        parcel.arrays.update(more.arrays)
        parcel.facts.update(more.facts)
    with atomic_path(path) as temporary:
        try:
            write_parcel(temporary, _KEY, parcel)
        except UnusableParcelError as error:
            raise InvalidInputError(
                f"{str(path)!r} could not be read again (its {error}), so nothing was written. "
                "Shorten the parameters or facts that are kept with the labeller."
            ) from error
    return path


def read_labeller(source: Path | bytes) -> tuple[KeptLabeller, Parcel]:
    """Return the labeller of a file or of its bytes, and all that the file holds."""
    if isinstance(source, bytes):
        return _read(io.BytesIO(source), len(source), f"{len(source):,} bytes")
    if not source.is_file():
        what = "a folder" if source.is_dir() else "no file on this machine"
        raise InvalidInputError(
            f"{str(source)!r} is {what}, and a kept labeller is due. One is written by "
            "learner.save(FILE), or by beltrami label --save FILE."
        )
    with source.open("rb", buffering=0) as file:
        return _read(file, os.fstat(file.fileno()).st_size, repr(str(source)))


def is_labeller(path: Path) -> bool:
    """Say whether a file is a kept labeller, of any version, by what it holds."""
    try:
        with path.open("rb", buffering=0) as file:
            key = key_of_parcel(file, os.fstat(file.fileno()).st_size)
    except (OSError, UnusableParcelError):
        return False
    return key.startswith(_KIND)


def seal_of(path: Path) -> str:
    """Return the seal of a labeller's file in hexadecimal, which stands for all of it."""
    with path.open("rb") as file:
        file.seek(-SEAL_BYTES, os.SEEK_END)
        return file.read().hex()


def pack_labeller(labeller: KeptLabeller) -> Parcel:
    """Return a labeller as arrays and facts."""
    parcel = Parcel({"prior": labeller.prior, "shares": labeller.shares}, {})
    take_apart(parcel, _NAMES, _names_of(labeller))
    parcel.facts["marker"] = _kept_marker(labeller.marker)
    parcel.facts["acceptance"] = asdict(labeller.acceptance)
    parcel.facts["n_features"] = labeller.n_features
    parcel.facts["n_jobs"] = labeller.n_jobs
    pack_answerer(parcel, labeller.answerer)
    return parcel


def _read(file: BinaryIO, size: int, name: str) -> tuple[KeptLabeller, Parcel]:
    start = file.read(len(_PROJECT))
    file.seek(0)
    if start == _PROJECT:
        raise InvalidInputError(
            f"{name} is a project of the studio and no kept labeller. Open it by `beltrami studio`;"
            " a labeller is written by learner.save(FILE), or by beltrami label --save FILE."
        )
    try:
        _require_version(key_of_parcel(file, size), name)
        file.seek(0)
        parcel = read_open_parcel(file, size, _KEY)
        return _unpack(parcel), parcel
    except UnusableParcelError as error:
        raise InvalidInputError(
            f"{name} cannot be used as a kept labeller: {error}. Copy it again, or save it anew."
        ) from error
    except WRONG as error:
        if isinstance(error, BeltramiError):
            raise
        raise InvalidInputError(
            f"{name} lacks a part that a kept labeller has ({error!r}). Save it anew."
        ) from error


def _require_version(key: str, name: str) -> None:
    if key == _KEY:
        return
    if not key.startswith(_KIND):
        raise InvalidInputError(
            f"{name} was written by beltrami but holds no labeller. One is written by "
            "learner.save(FILE), or by beltrami label --save FILE."
        )
    raise InvalidInputError(
        f"{name} is a labeller of form {key.removeprefix(_KIND).strip()}, and this beltrami reads "
        f"form {VERSION}. Use the beltrami that wrote it, or save it anew."
    )


def _unpack(parcel: Parcel) -> KeptLabeller:
    facts, arrays = parcel.facts, parcel.arrays
    names = put_together(parcel, _NAMES, _Names)
    if not _is_plain(facts["marker"]):
        raise TypeError("a marker that is no plain value")
    labeller = KeptLabeller(
        _classes_of(names),
        unpack_answerer(parcel),
        arrays["prior"],
        facts["marker"],
        Acceptance(**facts["acceptance"]),
        arrays["shares"],
        facts["n_features"],
        names.columns,
        facts["n_jobs"],
    )
    require_whole(labeller)
    return labeller


def _names_of(labeller: KeptLabeller) -> _Names:
    """Return what is said of a labeller in words; texts are as wide as the longest class."""
    classes = labeller.classes_
    values = tuple(map(_plain, classes.tolist()))
    odd = [one for one in values if not _is_plain(one)]
    if odd or classes.dtype.kind not in _PLAIN:
        raise InvalidInputError(
            f"classes of type {classes.dtype}, such as {[*odd, *values][0]!r}, cannot be kept in a "
            "file. Turn the labels into texts or integers."
        )
    is_text = classes.dtype.kind == "U"
    dtype = np.array(values).dtype if is_text else classes.dtype
    names = labeller.feature_names
    return _Names(dtype.str, values, None if names is None else tuple(names))


def _kept_marker(marker: Any) -> Any:
    """Return what marks a row without a label as JSON can hold it."""
    plain = _plain(marker)
    if _is_plain(plain):
        return plain
    if is_nothing(marker):
        return None
    raise InvalidInputError(
        f"unlabelled rows are marked by {marker!r}, a {type(marker).__name__}, which cannot be "
        "kept in a file. Mark them by a text, a number or None."
    )


def _classes_of(names: _Names) -> NDArray[Any]:
    """Return the classes; ValueError for a type that they do not need."""
    dtype, values = np.dtype(names.dtype), names.classes
    if dtype.kind not in _PLAIN or not all(map(_is_plain, values)):
        raise ValueError(f"classes of {names.dtype}")
    if dtype.kind == "U" and dtype != np.array(values).dtype:
        raise ValueError(f"classes of {names.dtype} are not as long as that")
    classes: NDArray[Any] = np.empty(len(values), dtype=dtype)
    classes[:] = values
    return classes


def _plain(value: Any) -> Any:
    """Return a number of numpy's as one of Python's."""
    return value.item() if isinstance(value, np.generic) else value


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)
