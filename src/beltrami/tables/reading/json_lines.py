"""Json lines: one object a line enters, typed columns leave, or the line that is broken."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.memory import require_memory
from beltrami.tables.model import Table
from beltrami.tables.reading.objects import arrow_column
from beltrami.tables.reading.streams import byte_blocks, first_bytes, open_bytes, unpacked_bytes

_HEAD_BYTES = 2**16
_BLOCK_BYTES = 2**24
_DEEPEST = 64
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)


def read_json_lines(path: Path) -> Table:
    """Read one JSON object per line, a column for every key; a key that a line lacks is a gap."""
    import pyarrow as pa
    import pyarrow.json as arrow_json

    first_bytes(path, _HEAD_BYTES)
    require_memory(
        2.0 * unpacked_bytes(path),
        what=f"reading {path.name}",
        instead="Take a sample of the lines, or store the columns as parquet.",
    )
    _require_shallow(path)
    try:
        options = arrow_json.ReadOptions(block_size=_BLOCK_BYTES)
        with pa.input_stream(str(path), compression="detect") as stream:
            table = arrow_json.read_json(stream, read_options=options)
        table.validate(full=True)  # arrow takes bytes that are not UTF-8 on trust
        if table.num_columns and len(set(table.column_names)) == table.num_columns:
            return Table(path.name, _with_written_dates(table, path))
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        pass  # the slow way names the line, and turns columns of several types into texts
    return _read_slowly(path)


def _with_written_dates(table: Any, path: Path) -> Any:
    """Return columns that arrow took for dates as the texts that they are in the file."""
    import pyarrow as pa
    import pyarrow.json as arrow_json

    dates = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
    if not dates:
        return table
    as_texts = pa.schema([pa.field(name, pa.string()) for name in dates])
    parse = arrow_json.ParseOptions(explicit_schema=as_texts, unexpected_field_behavior="ignore")
    options = arrow_json.ReadOptions(block_size=_BLOCK_BYTES)
    with pa.input_stream(str(path), compression="detect") as stream:
        texts = arrow_json.read_json(stream, read_options=options, parse_options=parse)
    for name in dates:
        table = table.set_column(table.column_names.index(name), name, texts.column(name))
    return table


def _require_shallow(path: Path) -> None:
    """Raise with the line whose objects and lists lie too deep in each other.

    Every parser goes down a level by calling itself, and the stack of a process ends somewhere.
    """
    for number, line in _lines_with_many_brackets(path):
        marks = np.frombuffer(_STRING.sub(b"", line), dtype=np.uint8)
        steps = np.isin(marks, (ord("["), ord("{"))).astype(np.int64)
        steps -= np.isin(marks, (ord("]"), ord("}")))
        deepest = int(np.cumsum(steps).max(initial=0))
        if deepest > _DEEPEST:
            raise InvalidInputError(
                f"line {number} of {path.name} has objects and lists {deepest} deep in each "
                f"other; {_DEEPEST} levels are read. Write its values at the top of the object."
            )


def _lines_with_many_brackets(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that might be too deep, with their numbers, from 1."""
    first, begun = 1, bytearray()
    for block in byte_blocks(path):
        head, newline, rest = block.rpartition(b"\n")
        if not newline:
            begun += block
            continue
        whole = bytes(begun) + head
        letters = np.frombuffer(whole, dtype=np.uint8)
        ends = np.flatnonzero(letters == ord("\n"))
        opened = np.flatnonzero((letters == ord("[")) | (letters == ord("{")))
        counts = np.bincount(np.searchsorted(ends, opened), minlength=1)
        for line in np.flatnonzero(counts > _DEEPEST).tolist():
            start = ends[line - 1] + 1 if line else 0
            yield first + line, whole[start : ends[line] if line < len(ends) else None]
        first, begun = first + len(ends) + 1, bytearray(rest)
    if begun.count(b"[") + begun.count(b"{") > _DEEPEST:
        yield first, bytes(begun)


def _read_slowly(path: Path) -> Table:
    import pyarrow as pa

    records: list[dict[str, Any]] = []
    with open_bytes(path) as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip(b"\xef\xbb\xbf \t\r\n"):
                records.append(_record(line, number, path.name))
    names = list(dict.fromkeys(name for record in records for name in record))
    if not names:
        raise InvalidInputError(f"{path.name} holds {len(records)} objects without any key.")
    fields, arrays = [], []
    for name in names:
        field, array = arrow_column(name, [record.get(name) for record in records])
        fields.append(field)
        arrays.append(array)
    return Table(path.name, pa.table(arrays, schema=pa.schema(fields)))


def _record(line: bytes, number: int, name: str) -> dict[str, Any]:
    try:
        record = json.loads(line.decode("utf-8-sig"), object_pairs_hook=_without_repeats)
    except _RepeatedKeyError as error:
        raise InvalidInputError(
            f"line {number} of {name} has the key {error.args[0]!r} twice in one object, and only "
            "one of the values could be kept. Rename or remove one."
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{name} is not in UTF-8: line {number} holds the byte 0x{line[error.start]:02x}. Save "
            "it again as UTF-8."
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"{name} is broken at line {number}: {error}. Every line must be one JSON object."
        ) from error
    if not isinstance(record, dict):
        raise InvalidInputError(
            f"line {number} of {name} holds a {type(record).__name__} and no JSON object such as "
            '{"id": 1, "label": "cat"}.'
        )
    return record


class _RepeatedKeyError(Exception):
    """A key stands twice in one object."""


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise _RepeatedKeyError(Counter(name for name, _ in pairs).most_common(1)[0][0])
    return record
