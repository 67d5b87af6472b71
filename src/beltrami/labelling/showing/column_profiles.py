"""What is usual in a column: its values enter, words for a cell that stands out leave."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from beltrami.core.types import FloatVector
from beltrami.tables import Roles, Table
from beltrami.tables.columns.kinds import column_kind, is_text
from beltrami.tables.columns.numerals import NumberStyle, parse_numbers
from beltrami.tables.model import decode_categories

ShownKind = Literal["numeric", "categorical", "text", "vectors", "plain"]

MOST_CATEGORIES = 1000
"""Different values up to which a column can colour a map."""

_RARE = 0.02
"""Share of the rows below which a value stands out."""


@dataclass(frozen=True, slots=True, eq=False)
class ShownColumn:
    """A column that a person may want to see.

    Attributes
    ----------
    name : str
        Of the column.
    kind : {"numeric", "categorical", "text", "vectors", "plain"}
        What its cells are; "plain" for dates, addresses, ids and what else is only shown.
    values : pyarrow.ChunkedArray
        The cells.
    style : NumberStyle or None
        How texts write numbers, in a numeric column of texts.
    is_constant : bool
        Whether all rows hold the same, so that it tells nothing.
    """

    name: str
    kind: ShownKind
    values: Any
    style: NumberStyle | None = None
    is_constant: bool = False

    @classmethod
    def of(cls, table: Table, roles: Roles, name: str) -> "ShownColumn":
        """Say what a column is, by its role and else by what it holds."""
        values = table.columns.column(name)
        for kind in ("numeric", "categorical", "text", "vectors"):
            if name in getattr(roles, kind):
                styles = roles.styles.get(name, ())
                return cls(name, kind, values, styles[0] if styles else None)._sorted()
        judged = column_kind(name, table.columns.schema.field(name), values)
        if judged.kind == "ignored" or len(judged.styles) > 1:
            return cls(name, "plain", values, is_constant=_is_constant(values))
        return cls(name, judged.kind, values, next(iter(judged.styles), None))._sorted()

    def _sorted(self) -> "ShownColumn":
        """Return truth values as categories, and numbers written as texts with their style."""
        import pyarrow as pa

        if self.kind != "numeric":
            return self
        kind = decode_categories(self.values.slice(0, 0)).type
        if pa.types.is_boolean(kind):
            return ShownColumn(self.name, "categorical", self.values)
        if is_text(kind) and self.style is None:
            return ShownColumn(self.name, "numeric", self.values, NumberStyle())
        return self

    def numbers(self, start: int = 0, count: int | None = None) -> FloatVector:
        """Return the cells of a numeric column as floats, NaN where there is none."""
        import pyarrow as pa

        cells = decode_categories(self.values.slice(start, count))
        cells = parse_numbers(cells, self.style) if self.style else cells.cast(pa.float64(), False)
        return np.asarray(cells.to_numpy(), dtype=np.float64)

    def profile(self) -> "Profile":
        """Find out what is usual in the column."""
        if self.kind == "numeric":
            return _number_profile(self.numbers())
        if self.kind == "categorical":
            return _category_profile(self.values)
        return Profile(len(self.values), int(self.values.null_count))


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """What is usual in a column.

    Attributes
    ----------
    n_rows, n_missing : int
        Rows, and those without a value.
    low, high : ndarray or None
        The smallest and the largest numbers, sorted: a little more of them than stand out.
    rare : dict of str to int
        Rows of each category that stands out.
    """

    n_rows: int
    n_missing: int
    low: FloatVector | None = None
    high: FloatVector | None = None
    rare: dict[str, int] | None = None

    @property
    def n_present(self) -> int:
        """How many rows have a value."""
        return self.n_rows - self.n_missing

    def remark_on_gap(self) -> str | None:
        """Say what is unusual about a cell that holds nothing."""
        if self.n_missing == 1 and self.n_rows > 1 / _RARE:
            return "all other rows have a value here"
        if 0 < self.n_missing < _RARE * self.n_rows:
            return f"{_whole_percent(self.n_present, self.n_rows)} % of rows have a value here"
        return None

    def remark_on_number(self, value: float) -> str | None:
        """Say what is unusual about a number."""
        if self.low is None or self.high is None or not math.isfinite(value):
            return None
        n = self.n_present
        n_below = n - len(self.high) + int(np.searchsorted(self.high, value, side="left"))
        if value > self.high[0] and n_below >= (1 - _RARE) * n:
            is_top = n_below == n - 1
            return "the highest of all rows" if is_top else f"higher than {_share(n_below, n)}"
        n_above = n - int(np.searchsorted(self.low, value, side="right"))
        if value < self.low[-1] and n_above >= (1 - _RARE) * n:
            is_bottom = n_above == n - 1
            return "the lowest of all rows" if is_bottom else f"lower than {_share(n_above, n)}"
        return None

    def remark_on_category(self, value: str) -> str | None:
        """Say what is unusual about a category."""
        count = (self.rare or {}).get(value)
        if count is None:
            return None
        if count == 1:
            return "no other row has this"
        percent = _whole_percent(count, self.n_present)
        return f"{percent} % of rows have this" if percent else "fewer than 1 % of rows have this"


def _is_constant(values: Any) -> bool:
    """Say whether a column holds at most one value."""
    import pyarrow.compute as pc

    try:
        return int(pc.count_distinct(decode_categories(values)).as_py()) < 2
    except NotImplementedError:  # of nested values
        return False


def _whole_percent(part: int, whole: int) -> int:
    return 100 * part // whole


def _share(part: int, whole: int) -> str:
    return f"{_whole_percent(part, whole)} % of rows"


def _number_profile(numbers: FloatVector) -> Profile:
    """Keep both ends of a column, and no more."""
    present = numbers[np.isfinite(numbers)]
    n, n_missing = len(present), len(numbers) - len(present)
    n_kept = min(math.floor(_RARE * n) + 2, n)  # one more than can stand out
    if n_kept < 3:
        return Profile(len(numbers), n_missing)
    present.partition((n_kept - 1, n - n_kept))
    low, high = np.sort(present[:n_kept]), np.sort(present[n - n_kept :])
    return Profile(len(numbers), n_missing, low, high)


def _category_profile(values: Any) -> Profile:
    """Keep the categories that few rows hold, in a column where most rows hold a common one."""
    counts = category_counts(values)
    n_present = sum(counts.values())
    n_missing = len(values) - n_present
    rare = {value: count for value, count in counts.items() if count < _RARE * n_present}
    is_telling = 2 * sum(rare.values()) < n_present
    return Profile(len(values), n_missing, rare=rare if is_telling else {})


def category_counts(values: Any) -> dict[str, int]:
    """Return how many rows hold each value of a column, as it is shown; blank ones do not count."""
    import pyarrow.compute as pc

    totals: dict[str, int] = {}
    counted = pc.value_counts(decode_categories(values))
    for value, count in zip(*counted.flatten(), strict=True):
        text = write_out(value.as_py())
        if text.strip():
            totals[text] = totals.get(text, 0) + count.as_py()
    return dict(sorted(totals.items(), key=lambda pair: (-pair[1], pair[0])))


def write_out(value: Any) -> str:
    """Return a cell as a person reads it; "" for one that holds nothing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    return str(value)
