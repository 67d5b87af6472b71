"""Numbers that pages state, and the cells of committed tables that they come from.

``docs/claims.toml`` enters: a page, a text with named places, and for each place a cell of a table
in ``benchmarks/results`` or ``docs/reproductions``. The text as those tables have it leaves.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CLAIMS = ROOT / "docs" / "claims.toml"

NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
_OF_CLAIM = {"page", "says", "results", "under"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page: the heading above it, its header, its lines."""

    under: str
    header: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """A text of a page, and where each of its named numbers comes from."""

    page: str
    says: str
    places: Mapping[str, Mapping[str, Any]]

    def text(self) -> str:
        """Return the text with the numbers that the tables have."""
        return self.says.format(**{name: number_at(cell) for name, cell in self.places.items()})


def read_claims() -> list[Claim]:
    """Return all claims; what a claim says of its tables holds for each place that says nothing."""
    claims = []
    for entry in tomllib.loads(CLAIMS.read_text("utf-8"))["claim"]:
        shared = {key: entry[key] for key in ("results", "under") if key in entry}
        places = {name: shared | cell for name, cell in entry.items() if name not in _OF_CLAIM}
        claims.append(Claim(entry["page"], plain(entry["says"]), places))
    return claims


def unclaimed() -> dict[str, list[str]]:
    """Return, by page, the tables that it cites and of which no claim says what it takes."""
    return dict(tomllib.loads(CLAIMS.read_text("utf-8"))["unclaimed"])


def plain(text: str) -> str:
    """Return a text with white space as single spaces, so that lines may break anywhere."""
    return " ".join(text.split())


def number_at(cell: Mapping[str, Any]) -> str:
    """Return the number of a place, written as the claim wants it.

    - ``row``: the first cells of the line; a list of lists adds several lines up.
    - ``column``: the head of the column, and ``number`` which number of the cell, from one.
    - ``head``: the first cell of the header, where two tables share a heading.
    - ``less``: another row, whose number is taken off; ``times`` a factor; ``as`` a format.
    - ``count``: how many lines the table has, instead of a number in it.
    """
    table = _table(cell)
    if cell.get("count"):
        return str(len(table.lines))
    rows = cell["row"]
    several = isinstance(rows, list) and isinstance(rows[0], list)
    texts = [_cell_text(table, row, cell) for row in (rows if several else [rows])]
    if "as" not in cell and not several:
        return texts[0]
    value = sum(_value(text) for text in texts)
    if "less" in cell:
        value -= _value(_cell_text(table, cell["less"], cell))
    return format(value * cell.get("times", 1), cell.get("as", ".0f"))


def _table(cell: Mapping[str, Any]) -> Table:
    tables = tables_of(ROOT / cell["results"])
    fit = [
        table
        for table in tables
        if cell.get("under", table.under) == table.under
        and cell.get("head", table.header[0]) == table.header[0]
        and cell["column"] in table.header
    ]
    fit = [one for one in fit if cell.get("count") or _lines(one, _first_row(cell["row"]))]
    if len(fit) != 1:
        raise LookupError(f"{len(fit)} tables of {cell['results']} have what is asked for: {cell}")
    return fit[0]


def _first_row(row: Any) -> Any:
    return row[0] if isinstance(row, list) and isinstance(row[0], list) else row


def _lines(table: Table, row: Any) -> list[tuple[str, ...]]:
    wanted = (row,) if isinstance(row, str) else tuple(row)
    return [line for line in table.lines if line[: len(wanted)] == wanted]


def _cell_text(table: Table, row: Any, cell: Mapping[str, Any]) -> str:
    lines = _lines(table, row)
    if len(lines) != 1:
        raise LookupError(f"{len(lines)} lines of {cell['results']} begin with {row!r}")
    numbers = NUMBER.findall(lines[0][table.header.index(cell["column"])])
    return numbers[cell.get("number", 1) - 1]


def _value(text: str) -> float:
    return float(text.replace(",", ""))


@cache
def tables_of(path: Path) -> tuple[Table, ...]:
    """Return the tables of a Markdown page."""
    return tuple(_tables(path.read_text("utf-8").splitlines()))


def _tables(lines: list[str]) -> Iterator[Table]:
    under, block = "", list[tuple[str, ...]]()
    for line in [*lines, ""]:
        if line.startswith("|"):
            block.append(tuple(_words(part) for part in line.strip().strip("|").split("|")))
            continue
        if block:
            yield Table(under, block[0], tuple(block[2:]))
            block = []
        if line.startswith("#"):
            under = line.lstrip("#").strip()


def _words(cell: str) -> str:
    return _LINK.sub(r"\1", cell).replace("**", "").strip()
