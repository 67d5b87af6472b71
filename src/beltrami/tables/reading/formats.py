"""One door for a user's data: a path or an object enters, a `Table` leaves.

To add a format: a file beside this one that reads it, and its ending in the table at the end.
"""

import difflib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from beltrami.core.errors import BeltramiError, CorruptDataError, InvalidInputError
from beltrami.core.machine.memory import require_memory
from beltrami.core.spelling import is_utf8
from beltrami.core.store.parcels import is_parcel
from beltrami.tables.model import Table, few_of
from beltrami.tables.options import DEFAULTS, TableOptions
from beltrami.tables.reading.arrays import matrix_table, read_npy, read_npz
from beltrami.tables.reading.delimited import read_as_written, read_delimited
from beltrami.tables.reading.embeddings import embeddings_file, vectors_of_rows
from beltrami.tables.reading.images import read_images
from beltrami.tables.reading.joining import join_labels
from beltrami.tables.reading.json_lines import read_json_lines
from beltrami.tables.reading.objects import arrow_table, table_from_object


def read_table(source: Any, options: TableOptions = DEFAULTS) -> Table:
    """Read a user's file or object, and the embeddings beside it; nothing in it is changed.

    The source is a file (.parquet, .arrow, .feather, .csv, .tsv, .jsonl, .ndjson, the last four
    also with .gz, .npy, .npz), a folder of images, a pandas or polars data frame, an arrow table, a
    matrix, or a dict of columns. Embeddings beside the data become the matrix of the table; where
    they are a column of it, `guess_roles` chooses that. In a csv file the columns of labels and of
    ids are read as they are written.

    Examples
    --------
    >>> from beltrami.tables import read_table
    >>> read_table({"id": ["a", "b"], "size": [1.5, 2.5]})
    Table('dict', 2 rows, 2 columns)
    """
    if options.decimal not in (None, ".", ","):
        raise InvalidInputError(f"decimal={options.decimal!r} must be '.' or ',', or be left out.")
    if isinstance(source, Table):
        table = source
    elif isinstance(source, str | os.PathLike):
        table = _read_path(Path(source), options)
    else:
        table = replace(table_from_object(source), decimal=options.decimal)
    _require_rows(table)
    return table if options.embeddings is None else _with_embeddings(table, options)


def join_side_labels(table: Table, options: TableOptions) -> Table:
    """Return the table with the labels that stand in tables beside it, each on top of the last."""
    for source in options.side_labels:
        if isinstance(source, str | os.PathLike):
            side = read_as_it_stands(Path(source), delimiter=options.delimiter)
            _require_rows(side)
        else:
            side = read_table(source)
        table = join_labels(table, side, options)
    return table


def _require_rows(table: Table) -> None:
    if table.n_rows == 0:
        raise InvalidInputError(f"{table.name} has no rows.")


def read_as_it_stands(path: Path, *, delimiter: str | None = None) -> Table:
    """Read a file as `read_table` does, but keep the cells of csv and tsv files as texts."""
    return _read_path(path, TableOptions(delimiter=delimiter), as_written=True)


def _read_path(path: Path, options: TableOptions, *, as_written: bool = False) -> Table:
    if not is_utf8(str(path)):
        raise InvalidInputError(f"the name {str(path)!r} is not in UTF-8. Rename it.")
    try:
        if path.is_dir():
            return read_images(path)
        if not path.exists():
            raise InvalidInputError(_missing(path))
        return _read_file(path, options, as_written=as_written)
    except BeltramiError:
        raise
    except OSError as error:
        raise InvalidInputError(
            f"{str(path)!r} cannot be read ({error.strerror or error})."
        ) from error


def _read_file(path: Path, options: TableOptions, *, as_written: bool) -> Table:
    kind = path.suffix.lower()
    if kind == ".gz":
        kind = Path(path.stem).suffix.lower() + kind
    if kind not in _READERS and kind not in _TEXT_KINDS:
        if is_parcel(path):
            raise InvalidInputError(
                f"{path.name} was written by beltrami and holds no rows. A labeller answers rows: "
                f"beltrami apply {path.name} SOURCE."
            )
        if kind == ".beltrami":
            raise InvalidInputError(
                f"{path.name} is no table but a project of the studio. Open it, beltrami studio "
                f"{path.name}, or write its rows as a table first, beltrami export {path.name}; "
                "`beltrami label` and `beltrami report` take the project itself."
            )
        raise InvalidInputError(
            f"the kind of file {path.name!r} is not known; its name must end in one of "
            f"{', '.join((*_READERS, *_TEXT_KINDS))}, or be a folder of images."
        )
    if not path.is_file():
        raise InvalidInputError(
            f"{str(path)!r} is no regular file but a pipe, a device or a socket. Write its content "
            "to a file first."
        )
    if path.stat().st_size == 0:
        raise InvalidInputError(f"{path.name} is empty: it has 0 bytes.")
    if kind in _TEXT_KINDS:
        if as_written:
            return read_as_written(path, options.delimiter)
        return read_delimited(path, options)
    return replace(_READERS[kind](path), decimal=options.decimal)


def _missing(path: Path) -> str:
    if path.is_symlink():
        return f"{str(path)!r} is a symbolic link that leads nowhere, or in a circle."
    parent = path.parent
    try:
        names = sorted(entry.name for entry in parent.iterdir())
    except OSError:
        return f"there is no file {str(path)!r}, and no folder {str(parent)!r} that can be read."
    near = difflib.get_close_matches(path.name, names, n=3, cutoff=0.5)
    if near:
        return f"there is no file {str(path)!r}. Did you mean {few_of(near)}?"
    return f"there is no file {str(path)!r}; the folder holds {few_of(names) or 'nothing'}."


def _read_parquet(path: Path) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, memory_map=True) as file:
            facts = file.metadata
            groups = (facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
            width = sum(_fixed_bytes(field.type) for field in file.schema_arrow)
            require_memory(
                max(sum(groups), width * facts.num_rows),
                what=f"reading {path.name} ({facts.num_rows} rows)",
                instead="Take a sample of the rows, drop columns, or store numbers as float32.",
            )
            table = file.read()
            table.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise CorruptDataError(path=str(path), reason=str(error)) from error
    return _to_table(table, path)


def _fixed_bytes(kind: Any) -> float:
    try:
        return float(kind.bit_width) / 8
    except ValueError:
        return 8.0


def _read_arrow(path: Path) -> Table:
    import pyarrow as pa

    try:
        source = pa.memory_map(str(path))
        try:
            table = pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:  # the format for streams has the same ending
            source.seek(0)
            table = pa.ipc.open_stream(source).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise CorruptDataError(path=str(path), reason=str(error)) from error
    return _to_table(table, path)


def _to_table(table: Any, path: Path) -> Table:
    import pyarrow as pa

    if table.num_columns == 0:
        raise InvalidInputError(f"{path.name} has no columns.")
    try:
        return arrow_table(table, path.name)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise CorruptDataError(path=str(path), reason=str(error)) from error


def _with_embeddings(table: Table, options: TableOptions) -> Table:
    said = options.embeddings
    if isinstance(said, np.ndarray):
        side = matrix_table(said, "embeddings")
    elif isinstance(said, str | os.PathLike):
        path = embeddings_file(said, table)
        if path is None:
            return table
        side = _read_path(path, DEFAULTS)
    else:
        side = table_from_object(said)
    matrix = vectors_of_rows(side, table, options)
    return replace(table, matrix=matrix, matrix_name=side.name)


_READERS: dict[str, Callable[[Path], Table]] = {
    ".parquet": _read_parquet,
    ".arrow": _read_arrow,
    ".feather": _read_arrow,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".jsonl.gz": read_json_lines,
    ".ndjson.gz": read_json_lines,
    ".npy": lambda path: matrix_table(read_npy(path), path.name),
    ".npz": read_npz,
}
_TEXT_KINDS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
