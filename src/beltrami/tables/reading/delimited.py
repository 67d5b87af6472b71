"""Csv and tsv files: text enters, typed columns leave, or the line that is broken.

Such a file has no types. Labels and ids are therefore kept as they are written, and a column that
holds a word is one of texts; what the word means is judged elsewhere, alike for all formats.
"""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from beltrami.core.errors import CorruptDataError, InvalidInputError
from beltrami.core.machine.memory import require_memory
from beltrami.tables.columns.naming import is_id_name, is_label_name
from beltrami.tables.columns.numerals import number_styles
from beltrami.tables.model import Table, few_of
from beltrami.tables.options import DEFAULTS, TableOptions
from beltrami.tables.reading.streams import (
    byte_blocks,
    first_bytes,
    open_bytes,
    require_utf8,
    unpacked_bytes,
)

_DELIMITERS = ",\t;|"
_HEAD_BYTES = 2**20
_BLOCK_BYTES = 2**24
_WHOLE_FLOATS = 2.0**53
_CODE = r"^(0\d+|\d{17,})$"
_WHOLE = r"^(0|-?[1-9]\d{0,15})$"


def read_delimited(path: Path, options: TableOptions = DEFAULTS) -> Table:
    """Read a csv or tsv file, packed with gzip or not.

    The first line names the columns, and an empty cell is a gap. The columns of labels and of ids
    hold whole numbers where every cell is written as Python writes one, else texts as they stand.
    A column of numbers written with leading zeros, or with more digits than a float can hold, is a
    column of codes and stays text, and so does one whose points may part thousands. Unless the user
    says otherwise, the delimiter is the most frequent of comma, tab, semicolon and bar in the first
    line, and the columns of labels and of ids are those that are called so.
    """
    parser, has_zeros = _open(path, options.delimiter)
    raw = parser.read()
    table, index = _name_columns(raw)
    _require_header(table, path.name)
    Table(path.name, table)  # every column has a name of its own
    again = _Again(table, parser.delimiter == ";" or options.decimal == ",", has_zeros)
    chosen = {
        position: judge
        for position, name in enumerate(table.column_names)
        if (judge := again.judge(position, name == index or _names_label_or_id(name, options)))
        is not None
    }
    typed = _read_again(parser, table, raw.column_names, chosen)
    return Table(path.name, typed, index=index, delimiter=parser.delimiter, decimal=options.decimal)


def read_as_written(path: Path, delimiter: str | None = None) -> Table:
    """Read a csv or tsv file with every column as the texts that stand there, or null."""
    import pyarrow as pa

    parser, _ = _open(path, delimiter)
    names = parser.read().column_names
    Table(path.name, pa.table([[] for _ in names], names=names))  # each has a name of its own
    texts, index = _name_columns(parser.read(column_types=dict.fromkeys(names, pa.string())))
    return Table(path.name, texts, index=index, delimiter=parser.delimiter)


def _open(path: Path, delimiter: str | None) -> tuple["_Parser", bool]:
    """Return how to read a file that can be read, and whether some field begins like 012."""
    head = first_bytes(path, _HEAD_BYTES)
    parser = _Parser(path, _known_delimiter(delimiter) or _guess_delimiter(path, head))
    _require_room(parser, head)
    return parser, _scan(parser)


class _Parser:
    """How to read one file, again if need be."""

    def __init__(self, path: Path, delimiter: str) -> None:
        self.path, self.delimiter = path, delimiter

    def read(self, **convert: Any) -> Any:
        import pyarrow as pa

        try:
            table = self.parse(str(self.path), _BLOCK_BYTES, convert)
            names = table.column_names
        except (UnicodeDecodeError, pa.ArrowInvalid) as error:
            require_utf8(self.path)
            self.require_even_rows()
            try:  # a row larger than a block
                table = self.parse(
                    str(self.path), min(unpacked_bytes(self.path) + 1, 2**31 - 1), convert
                )
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

    def parse(self, source: Any, block_size: int, convert: dict[str, Any]) -> Any:
        import pyarrow.csv as arrow_csv

        return arrow_csv.read_csv(
            source,
            read_options=arrow_csv.ReadOptions(block_size=block_size),
            parse_options=arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                null_values=[""], strings_can_be_null=True, **convert
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


def _known_delimiter(delimiter: str | None) -> str | None:
    if delimiter is None:
        return None
    known = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(known) == 1 and known.isascii() and known not in '"\r\n':
        return known
    raise InvalidInputError(
        f"delimiter={delimiter!r} must be a single character, such as ',' or ';' or 'tab'."
    )


def _guess_delimiter(path: Path, head: bytes) -> str:
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


def _name_columns(table: Any) -> tuple[Any, str | None]:
    """Name the unnamed columns; an unnamed first one is the index that pandas writes."""
    stripped = [column.strip() for column in table.column_names]
    names = [column or f"unnamed_{i}" for i, column in enumerate(stripped, start=1)]
    return table.rename_columns(names), names[0] if not stripped[0] and len(names) > 1 else None


def _require_header(table: Any, name: str) -> None:
    names = table.column_names
    values = [_number(column) for column in names]
    numbers = [value for value in values if value is not None]
    if len(numbers) == len(names) and any(value % 1 for value in numbers):
        raise InvalidInputError(
            f"the first line of {name} holds numbers ({few_of(names, 3)}) where the names of the "
            "columns are due. Put a line with names above it."
        )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _names_label_or_id(name: str, options: TableOptions) -> bool:
    """Say whether a column may be that of the labels or of the ids."""
    is_label = is_label_name(name) if options.label is None else name == options.label
    return is_label or (is_id_name(name) if options.id is None else name == options.id)


@dataclass(frozen=True, slots=True)
class _Again:
    """Which columns to read again as texts, and what to make of those.

    `is_foreign` says that a point may part thousands, `has_zeros` that some field begins like 012.
    """

    table: Any
    is_foreign: bool
    has_zeros: bool

    def judge(self, position: int, is_named: bool) -> Callable[[Any], Any] | None:
        """Return what turns the texts of a column into its values, None to keep it as it is."""
        import pyarrow as pa

        kind = self.table.column(position).type
        if is_named:
            return whole_numbers
        is_float = pa.types.is_floating(kind)
        if is_float and self.is_foreign:
            return _keep_ambiguous
        if (self.has_zeros and pa.types.is_integer(kind)) or (
            is_float and _has_huge_wholes(self.table.column(position))
        ):
            return _keep_codes
        return None


def _read_again(
    parser: _Parser, table: Any, raw: list[str], chosen: dict[int, Callable[[Any], Any]]
) -> Any:
    import pyarrow as pa

    typed = [i for i in chosen if not pa.types.is_string(table.column(i).type)]
    names = [raw[i] for i in typed]
    columns = {i: table.column(i) for i in chosen}
    if typed:
        texts = parser.read(include_columns=names, column_types=dict.fromkeys(names, pa.string()))
        columns |= dict(zip(typed, texts.columns, strict=True))
    for position, judge in chosen.items():
        values = judge(columns[position])
        if values is not None:
            table = table.set_column(position, table.column_names[position], values)
    return table


def whole_numbers(texts: Any) -> Any:
    """Return texts as whole numbers where all of them are written as Python writes one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_blank = pc.equal(pc.utf8_trim_whitespace(texts), "")
    present = pc.if_else(is_blank, pa.scalar(None, texts.type), texts)
    if present.null_count == len(present):
        return texts
    if not pc.all(pc.match_substring_regex(present, _WHOLE)).as_py():
        return texts
    numbers = present.cast(pa.int64())
    return numbers if pc.max(pc.abs(numbers)).as_py() <= _WHOLE_FLOATS else texts


def _keep_codes(texts: Any) -> Any:
    """Return the texts if they are codes, whose digits a number would lose, else None."""
    import pyarrow.compute as pc

    present = texts.drop_null()
    is_code = pc.any(pc.match_substring_regex(present, _CODE)).as_py()
    return (
        texts if is_code and pc.all(pc.match_substring_regex(present, r"^\d+$")).as_py() else None
    )


def _keep_ambiguous(texts: Any) -> Any:
    """Return the texts if their points may part decimals or thousands, else as `_keep_codes`."""
    import pyarrow.compute as pc

    is_open = len(number_styles(pc.unique(texts).drop_null())) > 1
    return texts if is_open else _keep_codes(texts)


def _has_huge_wholes(column: Any) -> bool:
    import pyarrow.compute as pc

    top = pc.max(pc.abs(column)).as_py()
    return top is not None and top >= _WHOLE_FLOATS
