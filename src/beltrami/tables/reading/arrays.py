"""Array files: npy and npz enter, a matrix and the vectors beside it leave.

Nothing is ever unpickled, and an npy stays on disk as a memory map.
"""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import BeltramiError, CorruptDataError, InvalidInputError
from beltrami.core.machine.memory import require_memory
from beltrami.tables.model import Table, few_of

_MAGIC = b"\x93NUMPY"
_PICKLE = b"\x80"
_MATRIX_NAMES = ("x", "data", "features", "embeddings", "vectors")
_ID_NAMES = ("id", "ids")


def matrix_table(array: NDArray[Any], name: str) -> Table:
    """Return a table without columns around a matrix, or say why it is none."""
    import pyarrow as pa

    return Table(name, pa.table({}), check_matrix(array, name))


def check_matrix(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Return `array` if it is a matrix of real numbers with rows and columns, else raise."""
    if array.dtype.kind not in "fiub":
        kind = {"O": "Python objects", "c": "complex numbers"}.get(array.dtype.kind, "no numbers")
        raise InvalidInputError(
            f"{name} holds {kind} (dtype {array.dtype}) where rows of real numbers are due. "
            "Save a float32 or float64 array."
        )
    if array.ndim != 2:
        n = array.shape[0] if array.ndim else 1
        advice = f"reshape it to ({n}, 1) for one feature"
        if array.ndim > 2:
            advice = f"reshape it to ({n}, {int(np.prod(array.shape[1:]))})"
        raise InvalidInputError(
            f"{name} has shape {array.shape}, and a matrix with one row per item is due: {advice}."
        )
    if 0 in array.shape:
        raise InvalidInputError(
            f"{name} is empty: its shape is {array.shape}. At least one row and one column are due."
        )
    return array


def read_npy(path: Path) -> NDArray[Any]:
    """Return the matrix in an npy file, mapped from disk."""
    with path.open("rb") as stream:
        start = stream.read(len(_MAGIC))
    if not start.startswith((_MAGIC, _PICKLE)):
        raise CorruptDataError(path=str(path), reason="it is no npy file")
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy's parsers raise whatever a broken header makes of them
        _refuse_pickle(error, path.name)
        raise CorruptDataError(path=str(path), reason=str(error)) from error
    return check_matrix(array, path.name)


def read_npz(path: Path) -> Table:
    """Return the matrix of an npz file, with its vectors of the same length as columns.

    The matrix is the array called X, data, features, embeddings or vectors, or else the only one
    with two axes.
    """
    import pyarrow as pa

    arrays = _unpack(path)
    chosen = _matrix_name(arrays, path.name)
    matrix = check_matrix(arrays[chosen], f"array {chosen!r} of {path.name}")
    for name, array in arrays.items():
        if name.lower() in _ID_NAMES and array.shape != matrix.shape[:1]:
            raise InvalidInputError(
                f"array {name!r} of {path.name} has shape {array.shape}, and its matrix "
                f"{len(matrix)} rows: one id for each row is due."
            )
    columns = {
        name: pa.array(_decode(array))
        for name, array in arrays.items()
        if array.ndim == 1 and len(array) == len(matrix) and array.dtype.kind in "fiubUSM"
    }
    return Table(path.name, pa.table(columns), matrix)


def _unpack(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        require_memory(
            size,
            what=f"reading {path.name}",
            instead="Save the matrix as .npy instead, which is mapped and not read whole.",
        )
        with np.load(path, allow_pickle=False) as archive:
            return {name: np.asarray(archive[name]) for name in archive.files}
    except BeltramiError:
        raise
    except Exception as error:
        _refuse_pickle(error, path.name)
        raise CorruptDataError(path=str(path), reason=str(error)) from error


def _refuse_pickle(error: Exception, name: str) -> None:
    if any(word in str(error) for word in ("pickle", "Python objects")):
        raise InvalidInputError(
            f"{name} holds pickled Python objects, which can run any program when they are read, "
            "so they are not. Save plain numbers and texts: numpy.save(path, array) of a "
            "float array."
        ) from error


def _matrix_name(arrays: dict[str, NDArray[Any]], name: str) -> str:
    for usual in _MATRIX_NAMES:
        for key, array in arrays.items():
            if key.lower() == usual and array.ndim >= 2:
                return key
    flat = [key for key, array in arrays.items() if array.ndim == 2]
    if len(flat) == 1:
        return flat[0]
    shapes = [f"{key} {array.shape}" for key, array in arrays.items()]
    raise InvalidInputError(
        f"{name} has {len(flat)} arrays with two axes and none called X, data, features, "
        f"embeddings or vectors, so it is open which one to use. It holds {few_of(shapes)}."
    )


def _decode(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8", "replace")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
