"""Reading the files of the data folder, without pickle and without trusting them.

A path enters; arrays by name or decoded lines leave, or `CorruptDataError` with the reason.
"""

import json
import lzma
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from beltrami.core.errors import BeltramiError, CorruptDataError, InvalidInputError
from beltrami.core.types import CsrMatrix, FloatMatrix, IndexVector, Points

# What NumPy, zipfile, lzma and json raise on a file that is cut off or something else.
_BROKEN = (
    OSError,
    EOFError,
    ValueError,  # also JSON, Unicode, and an array that would need pickle
    KeyError,
    IndexError,
    TypeError,
    RuntimeError,
    zipfile.BadZipFile,
    lzma.LZMAError,
    zlib.error,
)


@contextmanager
def report_corruption(path: Path) -> Iterator[None]:
    """Turn every way of failing to read `path` inside the block into `CorruptDataError`."""
    try:
        yield
    except CorruptDataError:
        raise
    except InvalidInputError as error:  # the parts were read and do not fit together
        raise CorruptDataError(path=str(path), reason=str(error)) from error
    except BeltramiError:
        raise
    except _BROKEN as error:
        reason = f"{type(error).__name__}: {error}".strip().rstrip(":.")
        raise CorruptDataError(path=str(path), reason=reason) from error


def read_archive(path: Path) -> dict[str, NDArray[Any]]:
    """Return every member of an npz file, never unpickling."""
    # The file is opened here, because NumPy leaves it open when the archive inside is broken.
    with report_corruption(path), path.open("rb") as file:
        archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise CorruptDataError(path=str(path), reason="it is not an npz archive")
        return {name: archive[name] for name in archive.files}


def read_lines(path: Path) -> tuple[Mapping[str, Any], list[Any]]:
    """Return the header and the records of a ``.jsonl.xz`` file.

    Its first line is the header, with the number of records under ``"n"``.
    """
    with report_corruption(path), lzma.open(path, "rt", encoding="utf-8") as lines:
        header = json.loads(next(lines, ""))
        records = [json.loads(line) for line in lines]
        if len(records) != header["n"]:
            raise CorruptDataError(
                path=str(path), reason=f"{len(records)} of {header['n']} records are there"
            )
    return header, records


def matrix_of(members: Mapping[str, NDArray[Any]]) -> Points:
    """Return the points that an archive stores dense, scaled to integers, or as CSR parts.

    Its members are ``X``, or ``X`` and ``x_scale``, or ``data``, ``indices``, ``indptr`` and
    ``shape``. Integers with a scale give ``X * x_scale`` in float64; without one they become
    float32, which holds every 8-bit pixel exactly. Stored floats keep their dtype.
    """
    if "X" not in members:
        return _sparse_matrix(members)
    stored = members["X"]
    if stored.ndim != 2 or stored.dtype.kind not in "fiu":
        raise ValueError(f"X has shape {stored.shape} and dtype {stored.dtype}")
    if "x_scale" in members:
        return np.asarray(stored * float(members["x_scale"]), dtype=np.float64)
    if stored.dtype.kind == "f":
        floats: FloatMatrix = stored
        return floats
    return stored.astype(np.float32)


def _sparse_matrix(members: Mapping[str, NDArray[Any]]) -> CsrMatrix:
    parts = (members["data"], members["indices"].astype(np.int32), members["indptr"])
    n, d = (int(side) for side in members["shape"])
    matrix: CsrMatrix = csr_array(parts, shape=(n, d))
    matrix.check_format(full_check=True)
    return matrix


def splits_of(members: Mapping[str, NDArray[Any]]) -> dict[str, IndexVector]:
    """Return the published splits of an archive: its members whose names begin with "labeled".

    Each holds row numbers, one split per row.
    """
    return {
        name: rows.astype(np.int64) for name, rows in members.items() if name.startswith("labeled")
    }


def strings_of(stored: NDArray[Any]) -> NDArray[np.str_]:
    """Return byte strings, in ASCII, as text."""
    return np.char.decode(stored, "ascii")
