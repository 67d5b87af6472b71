"""The map's data as text: which rows are drawn, quantised, in few bytes.

A `Page` enters; a `PackedMap` leaves, whose JSON the page's script decodes.
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import BoolVector, FloatMatrix, IndexVector
from beltrami.report.page.colours import N_STYLES, class_styles
from beltrami.report.page.model import LISTED, Page

_MAX_DRAWN = 60_000
"""Rows on the map; of more than these a random sample is drawn."""

_MAX_BYTES = 4_600_000
"""What the map's data and the rows of lists may take, so that the whole page stays below 5 MB."""

_PREVIEW_LENGTHS = (120, 80, 60, 40, 20)
"""Characters of a preview; shorter ones are taken where the longer do not fit."""

_CELL_MARKUP = 120
"""What the elements around a cell take, and those around a row."""


@dataclass(frozen=True, slots=True)
class PackedMap:
    """What the script needs to draw the map.

    Attributes
    ----------
    json : str
        Data, safe inside a ``script`` element.
    n_drawn : int
        Rows on the map.
    n_lost : int
        Rows without a finite place.
    has_all_given : bool
        Whether every row with a given label and a place is drawn.
    places : dict
        Number on the map of the rows that tables name, by id.
    """

    json: str
    n_drawn: int
    n_lost: int
    has_all_given: bool
    places: dict[str, int]


def _named_ids(page: Page) -> set[str]:
    """Return the ids that the page's tables name."""
    asked = {str(one.id) for one in page.questions[: LISTED["questions"]]}
    suspect = {str(one.id) for one in page.issues[: LISTED["issues"]]}
    islands = page.islands[: LISTED["islands"]]
    examples = (name for one in islands for name in one.examples[: LISTED["examples"]])
    return asked | suspect | set(map(str, examples))


def _list_bytes(page: Page) -> int:
    """Return what texts, cells and pictures of the rows that tables name take."""
    named = _named_ids(page)
    pictures = sum(len(page.pictures[name]) for name in named.intersection(page.pictures))
    views = [page.views[name] for name in named.intersection(page.views)]
    markup = sum(_CELL_MARKUP * (1 + len(one.cells)) for one in views)
    return pictures + markup + sum(_n_bytes(escape(repr(one))) for one in views)


def pack_map(page: Page, *, max_drawn: int = _MAX_DRAWN, max_bytes: int = _MAX_BYTES) -> PackedMap:
    """Return the data of the map, sampled and shortened until they fit.

    Rows with a given label and rows that a table names are drawn first; the rest is a random
    sample, always the same for the same page. Long ids and previews cost first the previews'
    length, then rows.
    """
    if page.positions is None:
        raise InvalidInputError("the page has no positions, so there is no map to pack.")
    if len(page.classes) > 65_534:
        raise InvalidInputError(
            f"{len(page.classes)} classes are more than the 65,534 that the map can number. Is "
            "the label column really a column of ids?"
        )
    max_bytes -= _list_bytes(page)
    names = [str(name) for name in page.ids]
    is_placed = np.isfinite(page.positions).all(axis=1)
    in_tables = _named_ids(page)
    is_named = np.fromiter((name in in_tables for name in names), dtype=bool, count=len(names))
    is_kept = ((np.asarray(page.given) >= 0) | is_named) & is_placed
    rows = np.flatnonzero(is_placed)
    if len(rows) > max_drawn:
        rows = _thin(rows, is_kept, max_drawn)
    text, rows = _fit(page, rows, is_kept, names, max_bytes)
    return PackedMap(
        json=text,
        n_drawn=len(rows),
        n_lost=int(np.sum(~is_placed)),
        has_all_given=bool(np.isin(np.flatnonzero((page.given >= 0) & is_placed), rows).all()),
        places={names[row]: place for place, row in enumerate(rows) if is_named[row]},
    )


def quantise(positions: FloatMatrix) -> tuple[NDArray[np.uint16], tuple[float, float]]:
    """Return positions as two-byte integers, both axes by one scale, and the extent used.

    The longer axis runs from 0 to 65,535. Where all places are one, it is the middle.
    """
    places = np.asarray(positions, dtype=np.float64)
    if not len(places):
        return np.zeros((0, 2), dtype=np.uint16), (1.0, 1.0)
    # Halved first, so that the span of the largest floats is finite.
    halves = places / 2
    shifted = halves - halves.min(axis=0)
    spans = shifted.max(axis=0)
    span = spans.max()
    if span == 0:
        return np.full(places.shape, 32_768, dtype=np.uint16), (1.0, 1.0)
    codes = np.round(shifted / span * 65_535).astype(np.uint16)
    wide, high = (max(float(share), 0.001) for share in spans / span)
    return codes, (wide, high)


def safe_json(value: Any) -> str:
    """Return compact JSON that no HTML parser can leave or read as markup."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign, code in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(sign, code)
    return text


def shorten(text: Any, length: int) -> str:
    """Return one line of at most `length` characters, with an ellipsis where it was cut."""
    whole = str(text)
    line = " ".join(whole[: 4 * length].split())
    is_cut = len(line) > length or bool(whole[4 * length :].strip())
    return line[: length - 1] + "…" if is_cut else line


def _thin(rows: IndexVector, is_kept: BoolVector, count: int) -> IndexVector:
    """Return `count` of the rows: those kept first, the others at random, in order."""
    random = generator(0)
    kept, others = rows[is_kept[rows]], rows[~is_kept[rows]]
    if len(kept) > count:
        kept, others = random.choice(kept, count, replace=False), others[:0]
    chosen = random.choice(others, count - len(kept), replace=False)
    return np.sort(np.concatenate([kept, chosen]))


def _fit(
    page: Page, rows: IndexVector, is_kept: BoolVector, names: list[str], max_bytes: int
) -> tuple[str, IndexVector]:
    previews = None if page.previews is None else page.previews(rows)
    lengths = _PREVIEW_LENGTHS if previews is not None else _PREVIEW_LENGTHS[-1:]
    content = _content(page, rows, names)
    for length in lengths:
        text = safe_json(content | _shortened(previews, length))
        if (size := _n_bytes(text)) <= max_bytes:
            return text, rows
    while size > max_bytes and len(rows) > 1:
        rows = _thin(rows, is_kept, max(1, int(0.97 * len(rows) * max(max_bytes, 0) / size)))
        previews = None if page.previews is None else page.previews(rows)
        text = safe_json(_content(page, rows, names) | _shortened(previews, lengths[-1]))
        size = _n_bytes(text)
    return text, rows


def _shortened(previews: Sequence[str] | None, length: int) -> dict[str, Any]:
    cut = None if previews is None else [shorten(text, length) for text in previews]
    return {"previews": cut}


def _n_bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _content(page: Page, rows: IndexVector, names: list[str]) -> dict[str, Any]:
    places, extent = quantise(np.asarray(page.positions)[rows])
    shown = [shorten(names[row], 80) for row in rows]
    are_numbers = shown == [str(row) for row in rows]
    in_tables = _named_ids(page)
    wide = len(page.classes) > 254
    confidence = np.nan_to_num(np.asarray(page.confidence, dtype=np.float64)[rows], nan=0.0)
    return {
        "n": len(rows),
        "extent": extent,
        "wide": wide,
        "positions": _base64(places, "<u2"),
        # Zero is none, so that codes are unsigned.
        "codes": _base64(np.asarray(page.codes)[rows] + 1, "<u2" if wide else "u1"),
        "given": _base64(np.asarray(page.given)[rows] + 1, "<u2" if wide else "u1"),
        "source": _base64(np.asarray(page.source)[rows], "u1"),
        "confidence": _base64(np.round(255 * np.clip(confidence, 0.0, 1.0)), "u1"),
        "rows": _base64(rows, "<u4") if are_numbers else None,
        "ids": None if are_numbers else shown,
        # Those of rows that tables name stand there.
        "pictures": {
            place: page.pictures[names[row]]
            for place, row in enumerate(rows)
            if names[row] in page.pictures and names[row] not in in_tables
        },
        "classes": [shorten(name, 80) for name in page.classes],
        "styles": [asdict(style) for style in class_styles(min(len(page.classes), N_STYLES))],
    }


def _base64(array: NDArray[Any], kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(array).astype(kind).tobytes()).decode("ascii")
