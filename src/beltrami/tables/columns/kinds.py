"""What a column holds: values enter, a kind and a reason leave.

To add a kind: its name and how it is recognised here, whether it is a feature in `roles`, and its
numbers in a part of ``features/parts.py``, which ``features/recipe.py`` puts beside the others.
"""

from dataclasses import dataclass
from typing import Any, Literal

from beltrami.core.errors import InvalidInputError
from beltrami.tables.columns.numerals import (
    NumberStyle,
    first_odd_cell,
    number_styles,
    parse_numbers,
    without_null_words,
)
from beltrami.tables.model import MIXED, decode_categories, is_list

KindName = Literal["numeric", "categorical", "text", "vectors", "ignored"]

_MAX_CATEGORIES = 50
_MIN_WORDS = 2.5
_FEW_LEVELS, _A_LEVEL, _NO_SLIP = 12, 0.05, 3
"""Different values up to which a column of numbers with words among them may be of categories, the
share of its cells that the words must have for that, and how often each must stand there."""
_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
_LEADING_ZERO = r"^0\d"
_LIKE_NUMBER = r"^[+-]?\s*[$€£¥]?\s*\d[\d\s.,'\x{a0}\x{2009}\x{202f}]*[%$€£¥]?$"
_DATE = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}.*)?$"

LIKE_AN_ID = "every value is different, as in an id or address"
"""Why texts that are all different are left out."""


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
    styles : tuple of NumberStyle
        How texts write numbers, if all of them do; two where that is open.
    """

    kind: KindName
    reason: str = ""
    forced: KindName = "ignored"
    is_broken: bool = False
    styles: tuple[NumberStyle, ...] = ()


def is_text(kind: Any) -> bool:
    """Say whether an arrow type holds texts."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_binary(kind: Any) -> bool:
    """Say whether an arrow type holds bytes, of which nothing says what they mean."""
    import pyarrow as pa

    types = pa.types
    return bool(
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
        or types.is_fixed_size_binary(kind)
    )


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

    values = decode_categories(column)
    if is_text(values.type):
        styles = number_styles(without_null_words(_distinct(values)))
        values = parse_numbers(values, styles[0]) if len(styles) == 1 else values
    if not pa.types.is_floating(values.type):
        return False
    is_odd = pc.and_not(pc.not_equal(pc.floor(values), values), pc.is_nan(values))
    return bool(pc.any(is_odd).as_py())


def column_kind(name: str, field: Any, column: Any) -> ColumnKind:
    """Say what a column can serve as.

    Numbers and truth values are numeric. Texts with at most 50 different values, each twice on
    average, are categories; texts of several words are text; texts that are all different are ids
    or addresses. Numbers written as texts are numeric where all cells write them in one way; there,
    and only there, words such as NA are gaps. A few numbers with a word for another level, as in
    2, 3, 4 and 5more, are categories. An integer column called "..._id" that differs in
    each row is an id.
    """
    import pyarrow as pa

    values = decode_categories(column)
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


def categories_kind(name: str, column: Any) -> ColumnKind:
    """Return the kind of a column that the user calls categories, or raise if it has no values."""
    import pyarrow as pa

    values = decode_categories(column)
    if len(values) == values.null_count:
        raise InvalidInputError(f"column {name!r} cannot be of categories: it is empty.")
    if not (is_text(values.type) or is_number(values.type) or pa.types.is_temporal(values.type)):
        raise InvalidInputError(f"column {name!r} cannot be of categories: it holds {values.type}.")
    return ColumnKind("categorical", forced="categorical")


def numbers_kind(name: str, column: Any) -> ColumnKind:
    """Return the kind of a column that the user calls numbers, or raise at its first other cell."""
    values = decode_categories(column)
    words = without_null_words(_distinct(values)) if is_text(values.type) else values.drop_null()
    if not len(words):
        raise InvalidInputError(f"column {name!r} cannot be of numbers: it is empty.")
    if is_number(values.type):
        return ColumnKind("numeric", forced="numeric")
    if not is_text(values.type):
        raise InvalidInputError(f"column {name!r} cannot be of numbers: it holds {values.type}.")
    styles = number_styles(words, codes=True)
    if not styles:
        row = first_odd_cell(values)
        raise InvalidInputError(
            f"column {name!r} cannot be of numbers: row {row} holds {values[row].as_py()[:40]!r}, "
            "which is none, or not written as the others are. Correct it, or leave the cell empty."
        )
    return ColumnKind("numeric", forced="numeric", styles=styles)


def vectors_kind(name: str, column: Any) -> ColumnKind:
    """Return the kind of a column that the user calls embeddings, or raise if it has no vectors."""
    kind = column.type
    if column.null_count < len(column) and is_list(kind) and is_number(kind.value_type):
        return ColumnKind("vectors", forced="vectors")
    holds = "nothing" if column.null_count == len(column) else f"{kind}"
    raise InvalidInputError(
        f"column {name!r} cannot be the embeddings: it holds {holds}, and each row must hold a "
        "list of numbers. A csv file has no lists: save the table as parquet or jsonl; or save "
        "one vector per row by numpy.save('vectors.npy', array), and name that file."
    )


def _distinct(values: Any) -> Any:
    """Return the different texts that are not blank."""
    import pyarrow.compute as pc

    distinct = pc.unique(values).drop_null()
    return distinct.filter(pc.not_equal(pc.utf8_trim_whitespace(distinct), ""))


def _text_kind(field: Any, values: Any) -> ColumnKind:
    import pyarrow.compute as pc

    if field.metadata and MIXED in field.metadata:
        kinds = field.metadata[MIXED].decode()
        reason = f"it mixes values of several types ({kinds})"
        return ColumnKind("ignored", reason, is_broken=True)
    words = _distinct(values)
    if not len(words):
        return ColumnKind("ignored", "it is empty")
    numeric = _numbers_kind(without_null_words(words), values)
    if numeric is not None:
        return numeric
    if len(words) == 1:
        return ColumnKind("ignored", "it has one value only", "categorical")
    n, n_distinct = len(values) - values.null_count, len(words)
    if pc.all(pc.match_substring_regex(without_null_words(words), _DATE)).as_py():
        return ColumnKind("ignored", "it is a date or time", "categorical")
    if n_distinct <= min(_MAX_CATEGORIES, n / 2):
        return ColumnKind("categorical", forced="categorical")
    if _mean_words(words) >= _MIN_WORDS:
        return ColumnKind("text", forced="text")
    if pc.all(pc.match_substring_regex(words, _LIKE_NUMBER)).as_py():
        shown = ", ".join(repr(word.as_py()[:20]) for word in words[:3])
        reason = f"its numbers are not all written in one way, such as {shown}"
        return ColumnKind("ignored", reason, "categorical")
    if n_distinct == n:
        return ColumnKind("ignored", LIKE_AN_ID, "text")
    reason = f"{n_distinct} different values are too many for categories and too short for texts"
    return ColumnKind("ignored", reason, "categorical" if n_distinct <= 1000 else "text")


def _mean_words(texts: Any) -> float:
    """Return how many words the texts have on average."""
    import pyarrow.compute as pc

    spaces = pc.count_substring_regex(pc.utf8_trim_whitespace(texts), r"\s+")
    return 1.0 + float(pc.mean(spaces).as_py() or 0.0)


def _numbers_kind(words: Any, values: Any) -> ColumnKind | None:
    """Judge a column of texts of which all or most are numbers; None where they are not."""
    import pyarrow.compute as pc

    styles = number_styles(words)
    if styles:
        if len(words) == 1:
            return ColumnKind("ignored", "it has one value only", "numeric", styles=styles)
        return ColumnKind("numeric", forced="numeric", styles=styles)
    matches = pc.match_substring_regex(words, _NUMBER)
    n_numbers = pc.sum(matches).as_py() or 0
    has_codes = pc.any(pc.match_substring_regex(words, _LEADING_ZERO)).as_py()
    if has_codes or 2 * n_numbers <= len(words) or n_numbers == len(words):
        return None
    strange = words.filter(pc.invert(matches))
    n_strange = pc.sum(pc.is_in(values, value_set=strange)).as_py()
    least = max(_A_LEVEL * (len(values) - values.null_count), _NO_SLIP * len(strange))
    if len(words) <= _FEW_LEVELS and n_strange >= least:
        return None  # such as 2, 3, 4 and 5more: a level of its own, and no slip
    odd = strange[0]
    row = pc.index(values, odd).as_py()
    reason = (
        f"most cells are numbers and {len(words) - n_numbers} different one(s) are not, such as "
        f"{odd.as_py()[:40]!r} in row {row}"
    )
    return ColumnKind("ignored", reason, is_broken=True)
