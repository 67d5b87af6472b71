"""Numbers as people write them: a column of texts enters, the one style of all its cells leaves.

A style is taken only where every cell fits it; where two styles fit and give other numbers, both
are returned, and somebody else has to choose.
"""

from dataclasses import dataclass, replace
from typing import Any

NULL_WORDS = (
    "", "NA", "N/A", "n/a", "na", "#N/A", "NaN", "nan", "NULL", "Null", "null", "None", "none", "?",
)  # fmt: skip
"""Words that stand for nothing in a column that holds numbers otherwise."""

_UNITS = "%$€£¥"
_SPACES = "[\\s\u00a0\u2009\u202f]"
_SEPARATORS = {",": ",", ".": r"\.", " ": _SPACES, "'": "['\u2019]"}
_CODE = r"^(0\d+|\d{17,})$"
_FEW = 100
_PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """How all cells of a column write their numbers.

    Attributes
    ----------
    decimal : {".", ","}
        Sign before the decimals.
    thousands : {"", ",", ".", " ", "'"}
        Sign between groups of three digits; "" for none.
    unit : {"", "%", "$", "€", "£", "¥"}
        Sign before or after each number; "" for none.
    example : str
        A cell that shows the signs; "" where no cell has any.
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""
    example: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether every program reads the numbers alike."""
        return self.decimal == "." and not self.thousands and not self.unit

    @property
    def shows_decimals(self) -> bool:
        """Whether the cells tell what the decimal sign is."""
        return "." in self.example or "," in self.example

    @property
    def reading(self) -> str:
        """How the example is read, for a message."""
        import pyarrow as pa

        value = parse_numbers(pa.array([self.example]), self)[0].as_py()
        return f"{self.example!r} is {value:.15g}"


def number_styles(cells: Any, *, codes: bool = False) -> tuple[NumberStyle, ...]:
    """Return the styles in which every cell is a number.

    There is none where some cell is a word or written in another way than the others, and there are
    two where nothing tells decimals from thousands, as in "1.000". Digits with a zero before them,
    or more of them than a float holds, are numbers only where `codes` says so.
    """
    import pyarrow.compute as pc

    words = pc.utf8_trim_whitespace(cells)
    if not len(words):
        return ()
    if not codes and pc.any(pc.match_substring_regex(words, _CODE)).as_py():
        return ()
    unit = _unit(words)
    if unit is None:
        return ()
    bodies = _without_unit(words, unit)
    styles = [style for mark in ".," if (style := _style(bodies, mark, unit)) is not None]
    styles = [replace(style, example=_example(words, style)) for style in styles]
    if len(styles) == 2:
        one, other = (_rewrite(bodies, style) for style in styles)
        styles = styles[: 1 if pc.all(pc.equal(one, other)).as_py() else 2]
    return tuple(styles)


def parse_numbers(column: Any, style: NumberStyle) -> Any:
    """Return the numbers of a column of texts that are all in one style."""
    import pyarrow as pa

    return _rewrite(_without_unit(_trim_or_null(column), style.unit), style).cast(pa.float64())


def without_null_words(cells: Any) -> Any:
    """Return the cells that are neither empty nor a word for nothing."""
    import pyarrow.compute as pc

    return cells.filter(pc.is_valid(_trim_or_null(cells)))


def null_word_counts(column: Any) -> dict[str, int]:
    """Return how often each word that stands for nothing occurs, but for blank cells."""
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    counts = pc.value_counts(trimmed.filter(pc.is_in(trimmed, _words(trimmed.type))))
    pairs = ((pair["values"].as_py(), pair["counts"].as_py()) for pair in counts)
    return {word: count for word, count in pairs if word}


def first_odd_cell(column: Any) -> int:
    """Return the row of the first cell that is not a number written as the others are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    present = _trim_or_null(column)
    if isinstance(present, pa.ChunkedArray):
        present = present.combine_chunks()
    patterns = [(mark, sign) for mark in ".," for sign in _thousands(mark)]
    fits = []
    for unit in ("", *_UNITS):
        bare = _without_unit(present, unit)
        has_unit = (
            pc.greater(pc.count_substring(present, unit), 0) if unit else pc.is_valid(present)
        )
        fits += [
            pc.and_(has_unit, pc.match_substring_regex(bare, _pattern(mark, sign)))
            for mark, sign in patterns
        ]
    best = max(fits, key=lambda fit: pc.sum(fit).as_py() or 0)
    return int(pc.index(pc.fill_null(best, True), False).as_py())


def first_misfit(column: Any, style: NumberStyle) -> int | None:
    """Return the row of the first cell that holds something but no number of a style, or None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    present = _trim_or_null(column)
    if isinstance(present, pa.ChunkedArray):
        present = present.combine_chunks()
    pattern = _pattern(style.decimal, style.thousands)
    fits = pc.match_substring_regex(_without_unit(present, style.unit), pattern)
    if style.unit:
        fits = pc.and_(fits, pc.equal(pc.count_substring(present, style.unit), 1))
    place = int(pc.index(pc.fill_null(fits, True), False).as_py())
    return None if place < 0 else place


def _words(kind: Any) -> Any:
    import pyarrow as pa

    return pa.array(NULL_WORDS, kind)


def _trim_or_null(column: Any) -> Any:
    """Return trimmed texts, null for blank ones and for words that stand for nothing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    is_gap = pc.is_in(trimmed, _words(trimmed.type))
    return pc.if_else(is_gap, pa.scalar(None, trimmed.type), trimmed)


def _unit(words: Any) -> str | None:
    """Return the sign that stands once at an end of every cell, "" for none, None for a mixture."""
    import pyarrow.compute as pc

    first = words[0].as_py()
    unit = next((sign for sign in _UNITS if sign in first), "")
    if not unit:
        return ""
    sign = f"\\{unit}" if unit == "$" else unit
    at_end = f"{sign}$" if unit == "%" else f"^[+\u2212-]?{_SPACES}*{sign}|{sign}$"
    fits = pc.and_(
        pc.equal(pc.count_substring(words, unit), 1), pc.match_substring_regex(words, at_end)
    )
    return unit if pc.all(fits).as_py() else None


def _without_unit(words: Any, unit: str) -> Any:
    """Return the numbers without their unit, with the common minus."""
    import pyarrow.compute as pc

    words = pc.replace_substring(words, "\u2212", "-")
    if not unit:
        return words
    sign = f"\\{unit}" if unit == "$" else unit
    return pc.replace_substring_regex(words, f"{_SPACES}*{sign}{_SPACES}*", "")


def _thousands(mark: str) -> tuple[str, ...]:
    return ("", "," if mark == "." else ".", " ", "'")


def _pattern(mark: str, thousands: str) -> str:
    if not thousands:
        return _PLAIN if mark == "." else r"^[+-]?(\d+(,\d+)?|,\d+)([eE][+-]?\d+)?$"
    groups = rf"[1-9]\d{{0,2}}({_SEPARATORS[thousands]}\d{{3}})+"
    return rf"^[+-]?(\d+|{groups})({_SEPARATORS[mark]}\d+)?$"


def _style(bodies: Any, mark: str, unit: str) -> NumberStyle | None:
    import pyarrow.compute as pc

    for thousands in _thousands(mark):
        pattern = _pattern(mark, thousands)
        # A few cells tell that a long column of words is none of numbers.
        if all(
            pc.all(pc.match_substring_regex(part, pattern)).as_py()
            for part in (bodies[:_FEW], bodies)
        ):
            return NumberStyle(mark, thousands, unit)
    return None


def _rewrite(bodies: Any, style: NumberStyle) -> Any:
    """Return the numbers as a program writes them."""
    import pyarrow.compute as pc

    if style.thousands:
        bodies = pc.replace_substring_regex(bodies, _SEPARATORS[style.thousands], "")
    if style.decimal == ",":
        bodies = pc.replace_substring(bodies, ",", ".")
    return pc.replace_substring_regex(bodies, r"^\+", "")


def _example(words: Any, style: NumberStyle) -> str:
    """Return the cell with most of the signs."""
    import pyarrow.compute as pc

    signs = (_SEPARATORS[sign] for sign in (style.decimal, style.thousands) if sign)
    counts = pc.count_substring_regex(words, "|".join(signs))
    most = pc.max(counts).as_py()
    if not most and not style.unit:
        return ""
    return str(words[pc.index(counts, most).as_py()].as_py())
