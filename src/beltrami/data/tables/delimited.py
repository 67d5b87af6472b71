"""Csv and tsv files: text enters, typed columns leave, or the line that is broken. Layer 1."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np

from beltrami.core.errors import CorruptDataError, InvalidInputError
from beltrami.core.memory import require_memory
from beltrami.data.tables.model import Table, listed
from beltrami.data.tables.streams import (
    byte_blocks,
    first_bytes,
    open_bytes,
    require_utf8,
    unpacked_bytes,
)

NULL_WORDS = (
    "", "NA", "N/A", "n/a", "na", "#N/A", "NaN", "nan", "NULL", "Null", "null", "None", "none", "?",
)  # fmt: skip
_DELIMITERS = ",\t;|"
_HEAD_BYTES = 2**20
_BLOCK_BYTES = 2**24
_WHOLE_FLOATS = 2.0**53
_CODE = r"^(0\d+|\d{17,})$"
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def read_delimited(path: Path, *, delimiter: str | None = None) -> Table:
    """Read a csv or tsv file, packed with gzip or not.

    The first line names the columns. A column of numbers written with leading zeros, or with more
    digits than a float can hold, is a column of codes and stays text. Words such as NA, null, None
    and ? are gaps. A decimal comma is understood where the delimiter is a semicolon.

    Parameters
    ----------
    path : Path
        The file, in UTF-8.
    delimiter : str or None, default=None
        What separates the fields; None takes the most frequent of comma, tab, semicolon and bar in
        the first line.

    Returns
    -------
    Table
        The columns, typed.

    Raises
    ------
    InvalidInputError
        When a row is broken, the text is not UTF-8, or there is no row.
    CorruptDataError
        When the package is broken.
    MemoryBudgetError
        When the columns would not fit into memory.
    """
    head = first_bytes(path, _HEAD_BYTES)
    parser = _Parser(path, _checked_delimiter(delimiter) or _found_delimiter(path, head))
    _require_room(parser, head)
    has_zeros = _scan(parser)
    raw = parser.read()
    table, index = _named(raw)
    _require_header(table, path.name)
    checked = Table(path.name, table, index=index)
    if parser.delimiter == ";" and _has_decimal_commas(table):
        table = parser.read(decimal_point=",").rename_columns(list(checked.names))
    typed = _with_codes(parser, table, raw.column_names, has_zeros=has_zeros)
    return Table(path.name, typed, index=index)


class _Parser:
    """How to read one file, again if need be."""

    def __init__(self, path: Path, delimiter: str) -> None:
        self.path, self.delimiter = path, delimiter

    def read(self, **convert: Any) -> Any:
        import pyarrow as pa

        try:
            table = self._read(_BLOCK_BYTES, convert)
            names = table.column_names
        except (UnicodeDecodeError, pa.ArrowInvalid) as error:
            require_utf8(self.path)
            self.require_even_rows()
            try:  # a row larger than a block
                table = self._read(min(unpacked_bytes(self.path) + 1, 2**31 - 1), convert)
                names = table.column_names
            except (UnicodeDecodeError, pa.ArrowException, OSError):
                raise CorruptDataError(path=str(self.path), reason=str(error)) from error
        except (pa.ArrowException, OSError) as error:
            raise CorruptDataError(path=str(self.path), reason=str(error)) from error
        if any(pa.types.is_binary(column.type) for column in table.columns):
            require_utf8(self.path)
        if table.num_rows == 0:
            raise InvalidInputError(
                f"{self.path.name} has a first line with {len(names)} column name(s) and no row "
                "below it."
            )
        return table

    def _read(self, block_size: int, convert: dict[str, Any]) -> Any:
        return self.parse(str(self.path), block_size, convert)

    def parse(self, source: Any, block_size: int, convert: dict[str, Any]) -> Any:
        import pyarrow.csv as arrow_csv

        return arrow_csv.read_csv(
            source,
            read_options=arrow_csv.ReadOptions(block_size=block_size),
            parse_options=arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                null_values=list(NULL_WORDS), strings_can_be_null=True, **convert
            ),
        )

    def require_even_rows(self, *, strict: bool = False) -> None:
        """Raise with the line of the first row that has more or fewer fields than the header."""
        with open_bytes(self.path) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
            rows = csv.reader(text, delimiter=self.delimiter, strict=strict)
            n_fields, line = 0, 1
            try:
                for row in rows:
                    n_fields = n_fields or len(row)
                    if row and len(row) != n_fields:
                        start = self.delimiter.join(row)[:60]
                        raise InvalidInputError(
                            f"{self.path.name} is broken at line {line}: it has {len(row)} "
                            f"field(s) where the first line has {n_fields}. The line begins "
                            f"{start!r}. Mend it, or put fields that hold a {self.delimiter!r} "
                            "into quotes."
                        )
                    line = rows.line_num + 1
            except csv.Error as error:
                if strict and "limit" not in str(error):
                    raise InvalidInputError(
                        f"{self.path.name} is broken in the row that begins at line {line}: "
                        f"{error}. A quote is opened and never closed there."
                    ) from error


def _checked_delimiter(delimiter: str | None) -> str | None:
    if delimiter is None:
        return None
    known = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(known) == 1 and known.isascii() and known not in '"\r\n':
        return known
    raise InvalidInputError(
        f"delimiter={delimiter!r} must be a single character, such as ',' or ';' or 'tab'."
    )


def _found_delimiter(path: Path, head: bytes) -> str:
    """Return the most frequent candidate in the first line, outside quotes."""
    first = head.decode("utf-8-sig", "replace").lstrip("\r\n")
    line = re.split(r"[\r\n]", re.sub(r'"[^"]*"', "", first), maxsplit=1)[0]
    best = max(_DELIMITERS, key=line.count)
    if line.count(best):
        return best
    return "\t" if ".tsv" in path.name.lower() else ","


def _require_room(parser: _Parser, head: bytes) -> None:
    """Estimate from the first megabyte what the columns will take, and ask for it."""
    import pyarrow as pa

    size = unpacked_bytes(parser.path)
    ratio = 2.0
    whole = head[: head.rfind(b"\n") + 1]
    if size > len(head) and whole:
        try:
            ratio = parser.parse(pa.BufferReader(whole), _BLOCK_BYTES, {}).nbytes / len(whole)
        except (pa.ArrowException, UnicodeDecodeError):
            ratio = 2.0  # the parse of the whole file will say what is wrong
    require_memory(
        ratio * size + 4 * _BLOCK_BYTES * (size > _BLOCK_BYTES),
        what=f"reading {parser.path.name} ({size / 2**30:.2f} GiB of text)",
        instead="Take a sample of the rows, drop columns, or store numbers as float32 parquet.",
    )


def _scan(parser: _Parser) -> bool:
    """Look at the raw bytes: raise on an open quote, say if a field begins like 012."""
    starts = np.zeros(256, dtype=bool)
    starts[[ord(parser.delimiter), ord('"'), ord("\n"), ord("\r")]] = True
    n_quotes, has_zeros, tail = 0, False, b"\n"
    for block in byte_blocks(parser.path):
        n_quotes += block.count(b'"')
        if not has_zeros:
            codes = np.frombuffer(tail + block, dtype=np.uint8)
            zeros = np.flatnonzero(codes[1:-1] == ord("0"))
            after = codes[zeros + 2]
            has_zeros = bool((starts[codes[zeros]] & (after >= 48) & (after <= 57)).any())
        tail = block[-2:]
    if n_quotes % 2:
        parser.require_even_rows(strict=True)
    return has_zeros


def _named(table: Any) -> tuple[Any, str | None]:
    """Name the unnamed columns; an unnamed first one is the index that pandas writes."""
    found = [column.strip() for column in table.column_names]
    names = [column or f"unnamed_{i}" for i, column in enumerate(found, start=1)]
    return table.rename_columns(names), names[0] if not found[0] and len(names) > 1 else None


def _require_header(table: Any, name: str) -> None:
    names = table.column_names
    values = [_number(column) for column in names]
    numbers = [value for value in values if value is not None]
    if len(numbers) == len(names) and any(value % 1 for value in numbers):
        raise InvalidInputError(
            f"the first line of {name} holds numbers ({listed(names, 3)}) where the names of the "
            "columns are due. Put a line with names above it."
        )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _has_decimal_commas(table: Any) -> bool:
    import pyarrow as pa

    for column in table.columns:
        if pa.types.is_string(column.type):
            sample = column.slice(0, 1000).drop_null().to_pylist()
            if sample and all(_DECIMAL_COMMA.fullmatch(value) for value in sample):
                return True
    return False


def _with_codes(parser: _Parser, table: Any, raw: list[str], *, has_zeros: bool) -> Any:
    """Read again, as text, the columns of codes whose digits a number would lose."""
    import pyarrow as pa
    import pyarrow.compute as pc

    suspects = [
        position
        for position, column in enumerate(table.columns)
        if raw.count(raw[position]) == 1
        and (
            (has_zeros and pa.types.is_integer(column.type))
            or (pa.types.is_floating(column.type) and _has_huge_wholes(column))
        )
    ]
    if not suspects:
        return table
    chosen = [raw[position] for position in suspects]
    texts = parser.read(include_columns=chosen, column_types={name: pa.string() for name in chosen})
    for position, column in zip(suspects, texts.columns, strict=True):
        present = column.drop_null()
        is_code = pc.any(pc.match_substring_regex(present, _CODE)).as_py()
        if is_code and pc.all(pc.match_substring_regex(present, r"^\d+$")).as_py():
            table = table.set_column(position, table.column_names[position], column)
    return table


def _has_huge_wholes(column: Any) -> bool:
    import pyarrow.compute as pc

    top = pc.max(pc.abs(column)).as_py()
    return top is not None and top >= _WHOLE_FLOATS
