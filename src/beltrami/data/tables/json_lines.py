"""Json lines: one object a line enters, typed columns leave, or the line that is broken."""

import json
from pathlib import Path
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.core.memory import require_memory
from beltrami.data.tables.model import Table
from beltrami.data.tables.objects import arrow_column
from beltrami.data.tables.streams import byte_blocks, first_bytes, open_bytes, unpacked_bytes

_HEAD_BYTES = 2**16
_BLOCK_BYTES = 2**24


def read_json_lines(path: Path) -> Table:
    """Read a file with one JSON object per line.

    Parameters
    ----------
    path : Path
        The file, in UTF-8; packed with gzip or not.

    Returns
    -------
    Table
        A column for every key; a key that a line lacks is a gap there.

    Raises
    ------
    InvalidInputError
        When a line is no JSON object, or nothing is there.
    MemoryBudgetError
        When the columns would not fit into memory.
    """
    import pyarrow as pa
    import pyarrow.json as arrow_json

    first_bytes(path, _HEAD_BYTES)
    require_memory(
        2.0 * unpacked_bytes(path),
        what=f"reading {path.name}",
        instead="Take a sample of the lines, or store the columns as parquet.",
    )
    try:
        options = arrow_json.ReadOptions(block_size=_BLOCK_BYTES)
        with pa.input_stream(str(path), compression="detect") as stream:
            table = arrow_json.read_json(stream, read_options=options)
        table.validate(full=True)  # arrow takes bytes that are not UTF-8 on trust
        if table.num_columns and len(set(table.column_names)) == table.num_columns:
            return Table(path.name, table)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        pass  # the slow way names the line, and turns columns of several types into texts
    for _ in byte_blocks(path):
        pass
    return _read_slowly(path)


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
        record = json.loads(line.decode("utf-8-sig"))
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
