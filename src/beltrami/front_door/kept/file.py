"""The file of a kept labeller: a parcel of the store under a key of its own, sealed.

A labeller enters and a file leaves, and back. Nothing in the file is run or unpickled; a byte that
was changed anywhere is found by the seal.
"""

import io
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.files import atomic_path
from beltrami.core.store import Parcel
from beltrami.core.store.parcels import (
    SEAL_BYTES,
    UnusableParcelError,
    key_of_parcel,
    read_open_parcel,
    write_parcel,
)
from beltrami.front_door.kept.labeller import Acceptance, KeptLabeller
from beltrami.front_door.kept.packing import pack_answerer, unpack_answerer

_KIND = "kept labeller"
VERSION = 3
"""Of the form of the file; a file of another one is refused."""

_KEY = f"{_KIND} {VERSION}"
_PROJECT = b"SQLite format 3\0"
_PLAIN = "biufUO"  # kinds of classes that JSON can hold


def write_labeller(labeller: KeptLabeller, path: Path, more: Parcel | None = None) -> Path:
    """Write a labeller, whole or not at all; `more` is what a room above adds to it."""
    parcel = pack_labeller(labeller)
    if more is not None:
        parcel.arrays.update(more.arrays)
        parcel.facts.update(more.facts)
    with atomic_path(path) as temporary:
        write_parcel(temporary, _KEY, parcel)
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
    classes = labeller.classes_
    if classes.dtype.kind not in _PLAIN or not _are_plain(classes):
        raise InvalidInputError(
            f"classes of type {classes.dtype}, such as {classes[0]!r}, cannot be kept in a file. "
            "Turn the labels into texts or integers."
        )
    parcel = Parcel({"prior": labeller.prior, "shares": labeller.shares}, {})
    marker = labeller.marker
    parcel.facts["classes"] = [classes.dtype.str, classes.tolist()]
    parcel.facts["marker"] = marker if _is_plain(marker) else None
    parcel.facts["acceptance"] = asdict(labeller.acceptance)
    parcel.facts["n_features"] = labeller.n_features
    names = labeller.feature_names
    parcel.facts["feature_names"] = None if names is None else list(names)
    parcel.facts["n_jobs"] = labeller.n_jobs
    parcel.facts["byte_order"] = sys.byteorder
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
    except (KeyError, TypeError, ValueError, IndexError) as error:
        if isinstance(error, InvalidInputError):
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
    names = facts["feature_names"]
    answerer = unpack_answerer(parcel)
    dtype, values = facts["classes"]
    classes: NDArray[Any] = np.empty(len(values), dtype=np.dtype(dtype))
    classes[:] = values
    if not len(classes) == len(arrays["prior"]) == len(answerer.has_label):
        raise ValueError("classes and their shares are not of one labeller")
    return KeptLabeller(
        classes,
        answerer,
        arrays["prior"],
        facts["marker"],
        Acceptance(**facts["acceptance"]),
        arrays["shares"],
        facts["n_features"],
        None if names is None else tuple(names),
        facts["n_jobs"],
    )


def _are_plain(classes: NDArray[Any]) -> bool:
    return all(_is_plain(one) for one in classes.tolist())


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)
