"""Cells exactly as written: a file enters, columns of texts leave, "" where nothing stands."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from beltrami.tables.model import decode_categories
from beltrami.tables.reading.formats import read_as_it_stands


def read_texts(path: Path, only: Collection[str] | None = None) -> dict[str, list[str]]:
    """Read a table as texts: no word stands for a gap, and no digit is read as a number.

    In a csv or tsv file a cell is what is written there. In other files a text is itself, a
    whole number has no point, true and false are written so, and a gap is "". Columns that are not
    among `only` are left out; None keeps all.
    """
    table = read_as_it_stands(path)
    return {
        name: [
            write_verbatim(value)
            for value in decode_categories(table.columns.column(name)).to_pylist()
        ]
        for name in table.names
        if only is None or name in only
    }


def write_verbatim(value: Any) -> str:
    """Return a cell as it is written in a file."""
    if value is None or value != value:  # noqa: PLR0124 - NaN is not equal to itself
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
