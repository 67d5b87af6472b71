"""What goes over the wire in binary: places, answers, changed answers, a column.

Every frame has a header of 32 bytes and arrays back to back, little endian. The page reads them as
typed arrays; a million rows are 4 MB of places and 4 MB of answers.
"""

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import FloatMatrix
from beltrami.report.page.packing import quantise
from beltrami.studio_server.answers import Answers

MAGIC = b"BLT1"
PLACES, ANSWERS, CHANGES, COLUMN = 1, 2, 3, 4
_HEADER = struct.Struct("<4sBBHIIIIII")
_BYTES_OF_ANSWER, _BYTES_OF_CHANGE = 4, 8


def pack_places(positions: FloatMatrix, version: int = 0) -> bytes:
    """Return where the rows lie, both axes by one scale, in two bytes each."""
    codes, extent = quantise(positions)
    header = _HEADER.pack(MAGIC, PLACES, 0, 0, version, len(codes), len(codes), 0, 0, 0)
    return header + struct.pack("<2f", *extent) + codes.astype("<u2").tobytes()


def pack_answers(answers: Answers) -> bytes:
    """Return the answers of all rows."""
    n = len(answers.codes)
    return b"".join([_header(ANSWERS, answers, n), *_columns(answers, slice(None))])


def pack_changes(before: Answers | None, answers: Answers) -> bytes:
    """Return the answers that differ from those before, or all where that is shorter."""
    if before is None or len(before.codes) != len(answers.codes):
        return pack_answers(answers)
    is_other = (
        (answers.codes != before.codes)
        | (answers.confidence != before.confidence)
        | (answers.source != before.source)
    )
    rows = np.flatnonzero(is_other)
    if _BYTES_OF_CHANGE * len(rows) >= _BYTES_OF_ANSWER * len(answers.codes):
        return pack_answers(answers)
    listed = rows.astype("<u4").tobytes()
    return b"".join([_header(CHANGES, answers, len(rows)), listed, *_columns(answers, rows)])


def pack_column(facts: Mapping[str, Any], codes: NDArray[np.uint16]) -> bytes:
    """Return one number for each row, to colour or to filter by, and what the numbers mean."""
    text = json.dumps(facts, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    text += b" " * (-len(text) % 4)
    header = _HEADER.pack(MAGIC, COLUMN, 0, 0, 0, len(codes), len(codes), 0, 0, 0)
    return header + struct.pack("<I", len(text)) + text + codes.astype("<u2").tobytes()


def kind_of(frame: bytes) -> int:
    """Return what a frame holds: PLACES, ANSWERS, CHANGES or COLUMN."""
    return frame[len(MAGIC)]


def _header(kind: int, answers: Answers, n_entries: int) -> bytes:
    return _HEADER.pack(
        MAGIC,
        kind,
        0,
        0,
        answers.version,
        len(answers.codes),
        n_entries,
        answers.n_given,
        answers.n_behind,
        answers.n_classes,
    )


def _columns(answers: Answers, rows: Any) -> list[bytes]:
    return [
        answers.codes[rows].astype("<u2").tobytes(),
        answers.confidence[rows].tobytes(),
        answers.source[rows].tobytes(),
    ]
