"""Columns of numbers and of lists as a recipe reads them, whatever type they came in."""

from dataclasses import replace
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.tables.columns.kinds import is_number, numbers_kind
from beltrami.tables.columns.numerals import (
    NumberStyle,
    first_misfit,
    null_word_counts,
    parse_numbers,
)
from beltrami.tables.features.faults import Faults
from beltrami.tables.model import Table, decode_categories, is_list


def known_style(
    table: Table, name: str, styles: tuple[NumberStyle, ...], faults: Faults
) -> NumberStyle:
    """Return how a column writes its numbers, and note it; raise where that is open."""
    values = decode_categories(table.columns.column(name))
    if is_number(values.type):
        return NumberStyle()
    styles = styles or numbers_kind(name, values).styles
    if len(styles) > 1:
        one, other = (style.reading.rpartition(" ")[2] for style in styles)
        raise InvalidInputError(
            f"column {name!r} of {table.name} holds {styles[0].example!r}, which may be {one} or "
            f"{other}: nothing tells whether the sign parts decimals or thousands. Say which sign "
            f"comes before decimals with --decimal . or --decimal , (decimal='.' or decimal=','), "
            f"or leave the column out: --ignore {name!r} (ignore=[{name!r}])."
        )
    if not styles[0].is_plain:
        faults.say(f"column {name!r} is read as numbers: {styles[0].reading}")
    for word, count in null_word_counts(values).items():
        faults.say(f"column {name!r}: {count} cell(s) hold {word!r} and count as missing")
    return styles[0]


def read_numbers(table: Table, name: str, style: NumberStyle, faults: Faults) -> Any:
    """Return a column as arrow numbers; texts are read as a style writes them, and no other."""
    import pyarrow as pa

    values = decode_categories(table.columns.column(name))
    if is_number(values.type):
        return values.cast(pa.float64()) if pa.types.is_decimal(values.type) else values
    if pa.types.is_null(values.type):
        return values.cast(pa.float64())
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        raise InvalidInputError(
            f"column {name!r} of {table.name} holds {values.type}, and numbers are due. Write it "
            "as it was when the labeller learned."
        )
    if faults.is_new:
        values = _truths_as_numbers(values)
        _require_style(values, name, style, faults)
    return parse_numbers(values, style)


def require_lists(table: Table, name: str, dtype: np.dtype[Any]) -> Table:
    """Return a table whose column holds lists of numbers; one without any cell holds none."""
    import pyarrow as pa

    column = table.columns.column(name)
    if is_list(column.type) and is_number(column.type.value_type):
        return table
    kind = pa.list_(pa.from_numpy_dtype(dtype))
    if column.null_count < len(column):
        raise InvalidInputError(
            f"column {name!r} of {table.name} holds {column.type}, and a list of numbers in each "
            "row is due. Write it as it was when the labeller learned."
        )
    position = table.names.index(name)
    columns = table.columns.set_column(position, name, pa.nulls(len(column), kind))
    return replace(table, columns=columns)


def _truths_as_numbers(values: Any) -> Any:
    """Return texts with 1 and 0 for truth values, which a file without types may hold."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lower = pc.utf8_lower(pc.utf8_trim_whitespace(values))
    for word, number in (("true", "1"), ("false", "0")):
        values = pc.if_else(pc.equal(lower, word), pa.scalar(number, values.type), values)
    return values


def _require_style(values: Any, name: str, style: NumberStyle, faults: Faults) -> None:
    row = first_misfit(values, style)
    if row is None:
        return
    usual = f"as in {style.example!r}" if style.example else "such as 1234.5"
    raise InvalidInputError(
        f"column {name!r} of {faults.name} holds {values[row].as_py()[:40]!r} in row "
        f"{faults.row(row)}, and the labeller learned numbers that are written another way, "
        f"{usual}. Write them so, or as numbers, in parquet; or leave the cell empty."
    )
