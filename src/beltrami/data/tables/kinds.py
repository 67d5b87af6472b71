"""What a column holds: values enter, a kind and a reason leave. Layer 1."""

from dataclasses import dataclass
from typing import Any, Literal

from beltrami.data.tables.delimited import NULL_WORDS
from beltrami.data.tables.model import MIXED, is_list, plain

KindName = Literal["numeric", "categorical", "text", "vectors", "ignored"]

MAX_CATEGORIES = 50
_MIN_WORDS = 2.5
_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
_LEADING_ZERO = r"^0\d"


@dataclass(frozen=True, slots=True)
class ColumnKind:
    """What a column can serve as.

    Attributes
    ----------
    kind : {"numeric", "categorical", "text", "vectors", "ignored"}
        What it is used as unless the user says otherwise.
    reason : str
        Why it is ignored; "" for the others.
    forced : {"numeric", "categorical", "text", "vectors", "ignored"}
        What it is used as when the user names it; "ignored" where it cannot be used at all.
    is_broken : bool
        Whether it would be of use if some cells were of the same type as the others.
    """

    kind: KindName
    reason: str = ""
    forced: KindName = "ignored"
    is_broken: bool = False


def is_text(kind: Any) -> bool:
    """Say whether an arrow type holds texts."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_number(kind: Any) -> bool:
    """Say whether an arrow type holds numbers or truth values."""
    import pyarrow as pa

    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_boolean(kind)
    )


def has_fractions(column: Any) -> bool:
    """Say whether a column holds numbers that are not whole."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = plain(column)
    if not pa.types.is_floating(values.type):
        return False
    return bool(pc.any(pc.not_equal(pc.floor(values), values)).as_py())


def column_kind(name: str, field: Any, column: Any) -> ColumnKind:
    """Say what a column can serve as.

    Numbers and truth values are numeric. Texts with at most 50 different values, each twice on
    average, are categories; texts of several words are text; texts that are all different are ids
    or addresses. Numbers written as texts are numeric unless some cell is no number.

    Parameters
    ----------
    name : str
        Its name; an integer column called "..._id" that differs in each row is an id.
    field : pyarrow.Field
        Its type.
    column : pyarrow.ChunkedArray
        Its values.

    Returns
    -------
    ColumnKind
        The kind, or the reason to ignore it.
    """
    import pyarrow as pa

    values = plain(column)
    kind = values.type
    if len(values) == values.null_count:
        return ColumnKind("ignored", "it is empty")
    if is_number(kind):
        return _number_kind(name, values)
    if is_text(kind):
        return _text_kind(field, values)
    if is_list(kind):
        if is_number(kind.value_type):
            return ColumnKind("vectors", forced="vectors")
        return ColumnKind("ignored", f"its lists hold {kind.value_type} and no numbers")
    if pa.types.is_temporal(kind):
        return ColumnKind("ignored", "it is a date or time")
    return ColumnKind("ignored", f"values of type {kind} are no features")


def _number_kind(name: str, values: Any) -> ColumnKind:
    import pyarrow as pa
    import pyarrow.compute as pc

    bounds = pc.min_max(values).as_py()
    if bounds["min"] == bounds["max"]:
        return ColumnKind("ignored", f"it has one value only, {bounds['min']}", "numeric")
    if pa.types.is_integer(values.type) and values.null_count == 0:
        n = len(values)
        counts_rows = bounds["max"] - bounds["min"] == n - 1 and bounds["min"] in (0, 1)
        is_id = name.strip().lower().endswith(("id", "index", "key")) or name.startswith("unnamed_")
        if n > 2 and (counts_rows or is_id) and pc.count_distinct(values).as_py() == n:
            why = "it counts the rows" if counts_rows else "it looks like an id"
            return ColumnKind("ignored", why, "numeric")
    return ColumnKind("numeric", forced="numeric")


def _text_kind(field: Any, values: Any) -> ColumnKind:
    import pyarrow.compute as pc

    if field.metadata and MIXED in field.metadata:
        kinds = field.metadata[MIXED].decode()
        reason = f"it mixes values of several types ({kinds})"
        return ColumnKind("ignored", reason, is_broken=True)
    distinct = pc.unique(values).drop_null()
    words = distinct.filter(
        pc.invert(pc.is_in(pc.utf8_trim_whitespace(distinct), _null_words(distinct.type)))
    )
    if len(words) <= 1:
        return ColumnKind("ignored", "it has one value only", "categorical")
    numeric = _numbers_kind(words, values)
    if numeric is not None:
        return numeric
    n, n_distinct = len(values) - values.null_count, len(words)
    if n_distinct <= min(MAX_CATEGORIES, n / 2):
        return ColumnKind("categorical", forced="categorical")
    if mean_words(words) >= _MIN_WORDS:
        return ColumnKind("text", forced="text")
    if n_distinct == n:
        return ColumnKind("ignored", "every value is different, as in an id or address", "text")
    reason = f"{n_distinct} different values are too many for categories and too short for texts"
    return ColumnKind("ignored", reason, "categorical" if n_distinct <= 1000 else "text")


def _null_words(kind: Any) -> Any:
    import pyarrow as pa

    return pa.array(NULL_WORDS, kind)


def mean_words(texts: Any) -> float:
    """Return how many words the texts have on average."""
    import pyarrow.compute as pc

    spaces = pc.count_substring_regex(pc.utf8_trim_whitespace(texts), r"\s+")
    return 1.0 + float(pc.mean(spaces).as_py() or 0.0)


def _numbers_kind(words: Any, values: Any) -> ColumnKind | None:
    """Judge a column of texts of which most are numbers; None where they are not."""
    import pyarrow.compute as pc

    matches = pc.match_substring_regex(words, _NUMBER)
    n_numbers = pc.sum(matches).as_py()
    if pc.any(pc.match_substring_regex(words, _LEADING_ZERO)).as_py() or 2 * n_numbers <= len(
        words
    ):
        return None
    if n_numbers == len(words):
        return ColumnKind("numeric", forced="numeric")
    odd = words.filter(pc.invert(matches))[0]
    row = pc.index(values, odd).as_py()
    reason = (
        f"most cells are numbers and {len(words) - n_numbers} different one(s) are not, such as "
        f"{odd.as_py()[:40]!r} in row {row}"
    )
    return ColumnKind("ignored", reason, is_broken=True)
