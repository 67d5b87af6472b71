"""One door for a user's data: a path or an object enters, a `Table` leaves."""

import difflib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from beltrami.core.errors import BeltramiError, CorruptDataError, InvalidInputError
from beltrami.core.memory import require_memory
from beltrami.core.spelling import is_utf8
from beltrami.tables.model import Table, listed
from beltrami.tables.reading.arrays import check_matrix, matrix_table, read_npy, read_npz
from beltrami.tables.reading.delimited import read_as_written, read_delimited
from beltrami.tables.reading.images import read_images
from beltrami.tables.reading.joining import join_labels
from beltrami.tables.reading.json_lines import read_json_lines
from beltrami.tables.reading.objects import arrow_table, table_from_object


def read_table(
    source: Any,
    *,
    embeddings: Any = None,
    labels: Any = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    id: str | None = None,  # noqa: A002 - the word that users know
    label: str | None = None,
    unlabeled: Any = None,
) -> Table:
    """Read a user's file or object as a table; nothing in it is changed.

    - `source`: a file (.parquet, .arrow, .feather, .csv, .tsv, .jsonl, .ndjson, the last four also
      with .gz, .npy, .npz), a folder of images, a pandas or polars data frame, an arrow table, a
      matrix, or a dict of columns.
    - `embeddings`: an npy file with as many rows, which becomes the matrix of the table.
    - `labels`: tables with the columns "id" and "label". Their labels go into the column of labels,
      each on top of what is there.
    - `delimiter`: what separates the fields of a csv file; None finds out.
    - `decimal`: sign before the decimals of numbers in texts, where the cells do not tell.
    - `id`: the column that `labels` refers to; None guesses it, and takes row numbers where there
      is none. In a csv file it is read as it is written.
    - `label`: the column of labels that `labels` adds to; None means "label", which need not be
      there. In a csv file it is read as it is written.
    - `unlabeled`: what marks a row without a label in `labels`, besides gaps; it takes no label
      away.

    Examples
    --------
    >>> from beltrami.tables import read_table
    >>> read_table({"id": ["a", "b"], "size": [1.5, 2.5]})
    Table('dict', 2 rows, 2 columns)
    """
    _check_decimal(decimal)
    if isinstance(source, Table):
        table = source
    elif isinstance(source, str | os.PathLike):
        options = {"delimiter": delimiter, "decimal": decimal, "id": id, "label": label}
        table = _from_path(Path(source), options)
    else:
        table = replace(table_from_object(source), decimal=decimal)
    if table.n_rows == 0:
        raise InvalidInputError(f"{table.name} has no rows.")
    if embeddings is not None:
        table = replace(table, matrix=_side_matrix(embeddings, table))
    for side in side_tables(labels):
        given = _side_table(side, delimiter)
        table = join_labels(table, given, id=id, label=label, unlabeled=unlabeled)
    return table


def _side_table(side: Any, delimiter: str | None) -> Table:
    """Return labels beside the data; those in a csv file as they are written."""
    if not isinstance(side, str | os.PathLike):
        return read_table(side)
    table = read_as_it_stands(Path(side), delimiter=delimiter)
    if table.n_rows == 0:
        raise InvalidInputError(f"{table.name} has no rows.")
    return table


def _check_decimal(decimal: str | None) -> None:
    if decimal not in (None, ".", ","):
        raise InvalidInputError(f"decimal={decimal!r} must be '.' or ',', or be left out.")


def side_tables(labels: Any) -> list[Any]:
    """Return tables of labels as a list, whether there is none, one or several."""
    if labels is None:
        return []
    return list(labels) if isinstance(labels, list | tuple) else [labels]


def read_as_it_stands(path: Path, *, delimiter: str | None = None) -> Table:
    """Read a file as `read_table` does, but keep the cells of csv and tsv files as texts."""
    return _from_path(path, {"delimiter": delimiter}, as_written=True)


def _from_path(path: Path, options: dict[str, str | None], *, as_written: bool = False) -> Table:
    if not is_utf8(str(path)):
        raise InvalidInputError(f"the name {str(path)!r} is not in UTF-8. Rename it.")
    try:
        if path.is_dir():
            return read_images(path)
        if not path.exists():
            raise InvalidInputError(_missing(path))
        return _from_file(path, options, as_written=as_written)
    except BeltramiError:
        raise
    except OSError as error:
        raise InvalidInputError(
            f"{str(path)!r} cannot be read ({error.strerror or error})."
        ) from error


def _from_file(path: Path, options: dict[str, str | None], *, as_written: bool) -> Table:
    kind = path.suffix.lower()
    if kind == ".gz":
        kind = Path(path.stem).suffix.lower() + kind
    if kind not in _READERS and kind not in _TEXT_KINDS:
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
            return read_as_written(path, options["delimiter"])
        return read_delimited(path, **options)
    return replace(_READERS[kind](path), decimal=options.get("decimal"))


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
        return f"there is no file {str(path)!r}. Did you mean {listed(near)}?"
    return f"there is no file {str(path)!r}; the folder holds {listed(names) or 'nothing'}."


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
    return _checked(table, path)


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
    return _checked(table, path)


def _checked(table: Any, path: Path) -> Table:
    import pyarrow as pa

    if table.num_columns == 0:
        raise InvalidInputError(f"{path.name} has no columns.")
    try:
        return arrow_table(table, path.name)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise CorruptDataError(path=str(path), reason=str(error)) from error


def _side_matrix(embeddings: Any, table: Table) -> Any:
    if isinstance(embeddings, np.ndarray):
        matrix = check_matrix(embeddings, "embeddings")
    else:
        path = Path(embeddings)
        if path.suffix.lower() != ".npy" or path.is_dir():
            raise InvalidInputError(
                f"embeddings={path.name!r} must be an .npy file with one row per row of "
                f"{table.name}."
            )
        matrix = check_matrix(np.asanyarray(_from_path(path, {}).matrix), path.name)
    if len(matrix) != table.n_rows:
        raise InvalidInputError(
            f"the embeddings have {len(matrix)} rows and {table.name} has {table.n_rows}. Row i of "
            "one must belong to row i of the other."
        )
    return matrix


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
