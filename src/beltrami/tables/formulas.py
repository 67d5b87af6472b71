"""Cells that a spreadsheet would run: a table enters, their number and an example leave.

Labels and ids are written exactly as they came, so nothing is changed here; it is said.
"""

from dataclasses import dataclass
from typing import Any

from beltrami.tables.model import decode_categories

_RUN = r"^[=+\-@\t\r][\s\S]"
_NUMBER = r"^[+-](\d[\d.,]*|[.,]\d+)([eE][+-]?\d+)?%?$"


@dataclass(frozen=True, slots=True)
class FormulaCells:
    """Cells of text that begin as formulas do.

    Attributes
    ----------
    number : int
        How many, names of columns among them.
    example : str
        The first.
    column : str
        Where it stands.
    """

    number: int
    example: str
    column: str

    def plus(self, other: "FormulaCells | None") -> "FormulaCells":
        """Return these cells and others, with the first example."""
        n_more = 0 if other is None else other.number
        return FormulaCells(self.number + n_more, self.example, self.column)

    def __str__(self) -> str:
        return f"{self.number}, such as {self.example[:60]!r} in the column {self.column!r}"


def formula_cells(table: Any, *, has_names: bool = True) -> FormulaCells | None:
    """Find the cells that a spreadsheet takes for formulas: =, +, - or @ and no number.

    - `has_names`: whether the names of the columns are cells, too.
    """
    import pyarrow as pa

    names = table.column_names if has_names else []
    examples = [(name, name) for name in _formulas(pa.array(names, pa.string()))]
    number = len(examples)
    for name in table.column_names:
        column = decode_categories(table.column(name))
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            cells = _formulas(column)
            number += len(cells)
            examples += [(cell, name) for cell in cells[:1].to_pylist()]
    if not examples:
        return None
    example, column_name = examples[0]
    return FormulaCells(number, str(example), str(column_name))


def _formulas(texts: Any) -> Any:
    import pyarrow.compute as pc

    begun = texts.filter(pc.match_substring_regex(texts, _RUN))
    return begun.filter(pc.invert(pc.match_substring_regex(begun, _NUMBER)))
