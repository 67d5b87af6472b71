"""What a row is, for a person: a table that was read enters; texts, cells and pictures leave."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector, IndexVector
from beltrami.labelling.intake import Intake
from beltrami.labelling.showing.column_profiles import (
    MOST_CATEGORIES,
    Profile,
    ShownColumn,
    category_counts,
    write_out,
)
from beltrami.labelling.showing.picture_shelf import PictureShelf
from beltrami.report.page.packing import shorten
from beltrami.tables import Roles, Table
from beltrami.tables.columns.kinds import is_text
from beltrami.tables.model import decode_categories, few_of, is_list

LINE_LENGTH = 72
"""Characters of a preview in a list on the terminal."""

_MOST_CELLS = 200
_CELL_LENGTH = 1000
_PREVIEW_CELLS = 12
_VECTOR_LENGTH = 4
_TOP_CODE = 65_535


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a row.

    Attributes
    ----------
    name : str
        Its column.
    value : str
        What it holds; "" for nothing.
    unusual : str or None
        In which way it stands out among all rows; None where it does not.
    """

    name: str
    value: str
    unusual: str | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """What a person sees of a row.

    Attributes
    ----------
    text : str or None
        The whole text of its columns of texts; None for a table without any.
    cells : tuple of Cell
        Its other columns but for id and label, in the order of the file.
    has_picture : bool
        Whether there is a picture of it.
    """

    text: str | None
    cells: tuple[Cell, ...]
    has_picture: bool


@dataclass(frozen=True, eq=False)
class RowContents:
    """The content of every row of a table, looked up when it is asked for.

    What is usual in a column is worked out once, when the first of its cells is shown.

    Attributes
    ----------
    table : Table
        As it was read.
    roles : Roles
        What its columns are for.
    """

    table: Table
    roles: Roles
    _profiles: dict[str, Profile] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, intake: Intake) -> "RowContents":
        """Return the contents of a table that was read."""
        return cls(intake.table, intake.roles)

    @property
    def kind(self) -> Literal["text", "pictures", "table", "vectors"]:
        """What a person mainly looks at in a row."""
        if self.has_pictures:
            return "pictures"
        if self.roles.text:
            return "text"
        if self.roles.numeric or self.roles.categorical:
            return "table"
        if self._texts:
            return "text"
        return "table" if any(one.kind != "vectors" for one in self._columns) else "vectors"

    @property
    def has_pictures(self) -> bool:
        """Whether the rows are images of a folder."""
        return self._shelf is not None

    @cached_property
    def _shelf(self) -> PictureShelf | None:
        return None if self.table.pictures is None else PictureShelf(self.table.pictures)

    @cached_property
    def _shown(self) -> tuple[ShownColumn, ...]:
        """All columns but id and label."""
        hidden = {self.roles.id, self.roles.label}
        if self.table.pictures is not None:
            hidden.add("id")
        names = [name for name in self.table.names if name not in hidden]
        return tuple(ShownColumn.of(self.table, self.roles, name) for name in names)

    @cached_property
    def _texts(self) -> tuple[ShownColumn, ...]:
        """The columns of texts: those that are compared, else all of them."""
        used = tuple(one for one in self._shown if one.name in self.roles.text)
        return used or tuple(one for one in self._shown if one.kind == "text")

    @cached_property
    def _columns(self) -> tuple[ShownColumn, ...]:
        """The columns beside the texts."""
        texts = {one.name for one in self._texts}
        return tuple(one for one in self._shown if one.name not in texts)

    def content(self, row: int) -> Content:
        """Return what a person sees of a row."""
        self._require_row(row)
        shown = self._columns[:_MOST_CELLS]
        cells = [self._cell(column, row) for column in shown]
        if self.has_pictures:  # a picture in no folder of its own has nothing to say there
            cells = [cell for cell in cells if cell.value.strip()]
        if len(self._columns) > len(shown):
            cells.append(Cell("…", f"{len(self._columns) - len(shown):,} more columns"))
        if self.kind == "vectors" and self.table.matrix is not None:
            cells.append(Cell("vector", write_vector(self.table.matrix[row])))
        has_picture = self._shelf is not None and self._shelf.holds(self._path(row))
        return Content(self._text(row), tuple(cells), has_picture)

    def _require_row(self, row: int) -> None:
        if not 0 <= row < self.table.n_rows:
            raise InvalidInputError(
                f"there is no row {row}: {self.table.name} has {self.table.n_rows:,}, counted from "
                "0."
            )

    def _text(self, row: int) -> str | None:
        if not self._texts:
            return None
        parts = (write_out(one.values[row].as_py()) for one in self._texts)
        return "\n".join(part for part in parts if part.strip())

    def _cell(self, column: ShownColumn, row: int) -> Cell:
        value = column.values[row].as_py()
        text = _write_cell(value)
        profile = self._profile(column)
        if column.kind == "numeric":
            number = float(column.numbers(row, 1)[0])
            is_gap = bool(np.isnan(number))
            odd = profile.remark_on_gap() if is_gap else profile.remark_on_number(number)
        elif not text.strip():
            odd = profile.remark_on_gap()
        else:
            odd = profile.remark_on_category(text) if column.kind == "categorical" else None
        return Cell(column.name, text, odd)

    def _profile(self, column: ShownColumn) -> Profile:
        # Two threads may both work it out, and find the same.
        if column.name not in self._profiles:
            self._profiles[column.name] = column.profile()
        return self._profiles[column.name]

    def picture(self, row: int, side: int) -> bytes:
        """Return the picture of a row as PNG, its longer side at most `side` pixels."""
        self._require_row(row)
        if self._shelf is None:
            raise InvalidInputError(f"the rows of {self.table.name} are no pictures.")
        return self._shelf.picture(self._path(row), side)

    def _path(self, row: int) -> str:
        return str(self.table.columns.column("id")[row].as_py())

    def preview(self, row: int, length: int = 120) -> str:
        """Return a row in one line of at most `length` characters, for lists; "" for nothing."""
        return self.previews([row], length)[0]

    def previews(self, rows: Iterable[int], length: int = 120) -> list[str]:
        """Return rows in a line each: the text, or the first cells that hold something."""
        chosen = list(rows)
        for row in chosen:
            self._require_row(row)
        telling = [column for column in self._columns if not column.is_constant]
        columns = self._texts or telling[:_PREVIEW_CELLS]
        cells = [[write_short(one) for one in _take(column, chosen)] for column in columns]
        names = None if self._texts else [column.name for column in columns]
        if not columns and self.kind == "vectors" and self.table.matrix is not None:
            return [shorten(write_vector(self.table.matrix[row]), length) for row in chosen]
        if not columns:
            return [""] * len(chosen)
        return [shorten(_line(names, values), length) for values in zip(*cells, strict=True)]

    @cached_property
    def colourable(self) -> tuple[tuple[str, Literal["numeric", "categorical"]], ...]:
        """The columns that can colour a map: numbers, and categories of at most 1000 values."""
        named = ((one.name, _colour_kind(one)) for one in self._shown)
        return tuple((name, kind) for name, kind in named if kind is not None)

    def codes(self, name: str) -> tuple[dict[str, Any], NDArray[np.uint16]]:
        """Return a column as codes, one for each row, with what they mean.

        0 is a gap. Of numbers 1 to 65,535 lead from the lowest to the highest. Of categories they
        are positions in the list of values, most frequent first, plus one.
        """
        known = dict(self.colourable)
        if name not in known:
            raise InvalidInputError(
                f"the column {name!r} cannot colour a map. These can: {few_of(known, 20)}."
            )
        column = next(one for one in self._shown if one.name == name)
        if known[name] == "numeric":
            header, codes = _number_codes(column)
        else:
            header, codes = _category_codes(column)
        return {"name": name, "kind": known[name]} | header, codes

    def search(self, text: str, limit: int | None = None) -> IndexVector:
        """Return the rows that hold a text in id, texts or categories, in order.

        Upper and lower case are the same.
        """
        wanted = text.strip()
        if not wanted:
            return np.zeros(0, dtype=np.intp)
        found = _holds(self._ids, wanted)
        for column in self._shown:
            if column.kind in ("text", "categorical", "plain"):
                found |= _holds(column.values, wanted)
        return np.flatnonzero(found)[:limit]

    @cached_property
    def _ids(self) -> Any:
        import pyarrow as pa

        if self.roles.id is not None:
            return self.table.columns.column(self.roles.id)
        return pa.chunked_array([pa.array(np.arange(self.table.n_rows)).cast(pa.string())])


def with_preview(name: Any, preview: str) -> str:
    """Return the name of a row with what it is, for a list on the terminal."""
    return f"{name} ({preview})" if preview else str(name)


def write_vector(values: Any) -> str:
    """Return the first few numbers of a vector, and how many there are."""
    first = ", ".join(write_out(_plain(one)) for one in values[:_VECTOR_LENGTH])
    more = ", …" if len(values) > _VECTOR_LENGTH else ""
    return f"{first}{more} ({len(values):,} numbers)"


def write_short(value: Any) -> str:
    """Return a cell for a list: vectors by their first numbers."""
    if isinstance(value, list):
        is_numbers = all(one is None or isinstance(one, int | float) for one in value)
        return write_vector(value) if is_numbers else write_out(value)
    return write_out(value)


def _write_cell(value: Any) -> str:
    text = write_short(value)
    return text if len(text) <= _CELL_LENGTH else text[: _CELL_LENGTH - 1] + "…"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _take(column: ShownColumn, rows: list[int]) -> list[Any]:
    if len(rows) == 1:
        return [column.values[rows[0]].as_py()]
    taken: list[Any] = column.values.take(np.asarray(rows, dtype=np.int64)).to_pylist()
    return taken


def _line(names: list[str] | None, values: tuple[str, ...]) -> str:
    if names is None:
        return " ".join(values)
    pairs = zip(names, values, strict=True)
    return ", ".join(f"{name}: {value}" for name, value in pairs if value.strip())


def _colour_kind(column: ShownColumn) -> Literal["numeric", "categorical"] | None:
    """Say how a column can colour a map, if it can."""
    import pyarrow.compute as pc

    if column.kind == "numeric":
        return "numeric"
    if column.kind in ("text", "vectors") or is_list(column.values.type):
        return None
    if column.kind == "categorical" and len(column.values) <= MOST_CATEGORIES:
        return "categorical"
    try:
        n_distinct = pc.count_distinct(decode_categories(column.values)).as_py()
    except NotImplementedError:  # of nested values
        return None
    n_present = len(column.values) - column.values.null_count
    is_name = n_distinct == n_present and column.kind == "plain"  # as in an id or address
    return "categorical" if 1 < n_distinct <= MOST_CATEGORIES and not is_name else None


def _number_codes(column: ShownColumn) -> tuple[dict[str, Any], NDArray[np.uint16]]:
    numbers = column.numbers()
    is_present = np.isfinite(numbers)
    if not is_present.any():
        return {"low": 0.0, "high": 0.0}, np.zeros(len(numbers), dtype=np.uint16)
    low, high = float(numbers[is_present].min()), float(numbers[is_present].max())
    half = (high / 2 - low / 2) or 1.0  # halves, so that the span of the largest floats is finite
    shares = np.where(is_present, (numbers / 2 - low / 2) / half, 0.0)
    codes = 1 + np.round(shares * (_TOP_CODE - 1))
    return {"low": low, "high": high}, np.where(is_present, codes, 0).astype(np.uint16)


def _category_codes(column: ShownColumn) -> tuple[dict[str, Any], NDArray[np.uint16]]:
    import pyarrow as pa

    values = list(category_counts(column.values))
    position = {text: place for place, text in enumerate(values, start=1)}
    encoded = decode_categories(column.values).dictionary_encode()
    codes = np.zeros(len(column.values), dtype=np.uint16)
    start = 0
    for chunk in encoded.chunks:
        texts = [write_out(one) for one in chunk.dictionary.to_pylist()]
        table = [position.get(one, 0) for one in texts]
        places = chunk.indices.fill_null(len(table)).cast(pa.int64()).to_numpy()
        codes[start : start + len(chunk)] = np.array([*table, 0], dtype=np.uint16)[places]
        start += len(chunk)
    return {"values": values}, codes


def _holds(values: Any, wanted: str) -> BoolVector:
    """Say which cells hold a text, in any case."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = decode_categories(values)
    if not is_text(cells.type):
        try:
            cells = cells.cast(pa.string())
        except (pa.ArrowException, NotImplementedError):
            return np.zeros(len(values), dtype=bool)
    found = pc.match_substring(cells, wanted, ignore_case=True)
    return np.asarray(pc.fill_null(found, False).to_numpy(), dtype=bool)
