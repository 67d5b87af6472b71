"""Numbers that pages state, and the cells of committed tables that they come from.

``docs/claims.toml`` enters: a page, a text with named places, and for each place a cell of a table
in ``benchmarks/results`` or ``docs/reproductions``. The text as those tables have it leaves.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CLAIMS = ROOT / "docs" / "claims.toml"

NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
_ASIDE = re.compile(r"^(`{3,})[^`].*?^\1\s*$", flags=re.DOTALL | re.MULTILINE)
_CITED = re.compile(r"\]\([^)]*(?:benchmarks/results|reproductions)/[\w.-]+\.md\)")
_CODE = re.compile(r"`[^`]*`|\$[^$]*\$")
_END = re.compile(r"[.!?:](?=\s(?!\d))|\|")
_LOOSE = re.compile(r"(?<![\w-])[-+]?\d")
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


def loose_numbers(page: str, claims: Iterable[Claim]) -> list[str]:
    """Return the sentences of a page that cite a table of results and have numbers of no claim.

    Code, formulas and the texts of links say what was measured, and do not count.
    """
    text = plain(_ASIDE.sub(" ", (ROOT / page).read_text("utf-8")))
    held = [
        match.span() for claim in claims for match in re.finditer(re.escape(claim.text()), text)
    ]
    found = []
    for begin, end in _sentences(text):
        sentence = text[begin:end]
        if not _CITED.search(sentence):
            continue
        free = [
            " " if any(first <= place < last for first, last in held) else text[place]
            for place in range(begin, end)
        ]
        if _LOOSE.search(_CODE.sub(" ", _LINK.sub(" ", "".join(free)))):
            found.append(sentence.strip())
    return found


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    ends = [match.end() for match in _END.finditer(text)]
    yield from zip([0, *ends], [*ends, len(text)], strict=True)


def plain(text: str) -> str:
    """Return a text with white space as single spaces, so that lines may break anywhere."""
    return " ".join(text.split())


def number_at(cell: Mapping[str, Any]) -> str:
    """Return the number of a place, written as the claim wants it.

    - ``row``: the first cells of the line; a list of lists adds several lines up.
    - ``column``: the head of the column, and ``number`` which number of the cell, from one.
    - ``head``: the first cell of the header, where two tables share a heading; ``table`` which of
      several that have the same heads, from one.
    - ``of``: ``"least"`` or ``"most"`` of the column, instead of a row.
    - ``line``: how a line begins, instead of a cell of a table; ``number`` counts behind that.
    - ``less``: another row, whose number is taken off; ``times`` a factor; ``as`` a format.
    - ``count``: how many lines the table has, instead of a number in it.
    """
    if "line" in cell:
        return _written(_number_of_line(cell), cell)
    table = _table(cell)
    if cell.get("count"):
        return str(len(table.lines))
    if "of" in cell:
        place, best = table.header.index(cell["column"]), {"least": min, "most": max}[cell["of"]]
        numbers = [_number_in(line[place], cell) for line in table.lines]
        return _written(best(numbers, key=_value), cell)
    rows = cell["row"]
    several = isinstance(rows, list) and isinstance(rows[0], list)
    texts = [_cell_text(table, row, cell) for row in (rows if several else [rows])]
    if "as" not in cell and not several:
        return texts[0]
    value = sum(_value(text) for text in texts)
    if "less" in cell:
        value -= _value(_cell_text(table, cell["less"], cell))
    return format(value * cell.get("times", 1), cell.get("as", ".0f"))


def _written(text: str, cell: Mapping[str, Any]) -> str:
    return format(_value(text) * cell.get("times", 1), cell["as"]) if "as" in cell else text


def _number_of_line(cell: Mapping[str, Any]) -> str:
    begin, fit, under = cell["line"], [], ""
    for line in (ROOT / cell["results"]).read_text("utf-8").splitlines():
        under = line.lstrip("#").strip() if line.startswith("#") else under
        if line.startswith(begin) and cell.get("under", under) == under:
            fit.append(line.removeprefix(begin))
    if len(fit) != 1:
        raise LookupError(f"{len(fit)} lines of {cell['results']} begin with {cell['line']!r}")
    return _number_in(fit[0], cell)


def _table(cell: Mapping[str, Any]) -> Table:
    tables = tables_of(ROOT / cell["results"])
    fit = [
        table
        for table in tables
        if cell.get("under", table.under) == table.under
        and cell.get("head", table.header[0]) == table.header[0]
        and cell["column"] in table.header
    ]
    if "row" in cell:
        fit = [one for one in fit if _lines(one, _first_row(cell["row"]))]
    if "table" in cell:
        fit = fit[cell["table"] - 1 : cell["table"]]
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
    return _number_in(lines[0][table.header.index(cell["column"])], cell)


def _number_in(text: str, cell: Mapping[str, Any]) -> str:
    return str(NUMBER.findall(text)[cell.get("number", 1) - 1])


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
