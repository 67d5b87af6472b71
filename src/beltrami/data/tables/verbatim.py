"""Cells exactly as written: a file enters, columns of texts leave, "" where nothing stands."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.core.memory import require_memory
from beltrami.data.tables.model import plain
from beltrami.data.tables.reading import read_table
from beltrami.data.tables.streams import first_bytes, open_bytes, require_utf8, unpacked_bytes

_ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_DELIMITERS = ",;\t|"
_HEAD_BYTES = 2**16
_BYTES_PER_BYTE = 8.0  # Python texts of a few letters


def read_texts(path: Path) -> dict[str, list[str]]:
    """Read a table as texts: no word stands for a gap, and no digit is read as a number.

    In a csv or tsv file a cell is what is written there. In other files a text is itself, a
    whole number has no point, true and false are written so, and a gap is "".

    Parameters
    ----------
    path : Path
        A file of a kind that `read_table` knows.

    Returns
    -------
    dict of str to list of str
        The columns.

    Raises
    ------
    InvalidInputError
        When the file is not there, broken, or no table.
    """
    if path.is_file() and path.name.lower().endswith(_ENDINGS):
        return _read_delimited(path)
    columns = read_table(path).columns
    return {
        name: [_write_out(value) for value in plain(columns.column(name)).to_pylist()]
        for name in columns.column_names
    }


def _read_delimited(path: Path) -> dict[str, list[str]]:
    head = first_bytes(path, _HEAD_BYTES).decode("utf-8-sig", "replace")
    line = head.lstrip("\r\n").splitlines()[0]
    delimiter = max(_DELIMITERS, key=line.count)
    require_memory(
        _BYTES_PER_BYTE * unpacked_bytes(path), what=f"reading {path.name}", instead="Use parquet."
    )
    require_utf8(path)
    rows = _rows(path, delimiter)
    names = [name.strip() for name in next(rows)]
    if len(set(names)) < len(names):
        raise InvalidInputError(f"{path.name} has a column name more than once: {names[:20]}.")
    columns: list[list[str]] = [[] for _ in names]
    for row in rows:
        for column, cell in zip(columns, row, strict=True):
            column.append(cell)
    return dict(zip(names, columns, strict=True))


def _rows(path: Path, delimiter: str) -> Iterator[list[str]]:
    """Yield the first line and the rows, all of one length, or raise with the line."""
    with open_bytes(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        n_fields, line = 0, 1
        try:
            for row in reader:
                if row and len(row) != (n_fields or len(row)):
                    raise InvalidInputError(
                        f"{path.name} is broken at line {line}: it has {len(row)} field(s) where "
                        f"the first line has {n_fields}. Mend it, or take a fresh copy."
                    )
                n_fields = n_fields or len(row)
                line = reader.line_num + 1
                if row:
                    yield row
        except (csv.Error, EOFError, OSError) as error:
            raise InvalidInputError(
                f"{path.name} is broken in the row that begins at line {line} ({error}). Mend it, "
                "or take a fresh copy."
            ) from error


def _write_out(value: Any) -> str:
    if value is None or value != value:  # noqa: PLR0124 - NaN is not equal to itself
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
