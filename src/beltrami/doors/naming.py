"""Which column holds ids and which labels: columns of texts enter, two names leave."""

import difflib
from collections.abc import Iterable, Sequence

from beltrami.core.errors import InvalidInputError
from beltrami.doors.answers import Clues
from beltrami.tables.columns.naming import LABEL_NAMES, is_id_name
from beltrami.tables.model import few_of

_MOST = 0.5
"""Share of cells that must be ids of the project for a column to look like one of ids."""

_CLOSE = 0.8
"""How alike two names are where one is taken for a slip of the other."""


def find_id_column(columns: dict[str, list[str]], clues: Clues, name: str) -> str:
    """Return the column of ids: as said, else by name and content, else by content alone."""
    if clues.said_id is not None:
        return require_column(clues.said_id, columns, name, "--id-column")
    named = [column for column in (clues.id_name, "id") if column in columns]
    named += [column for column in columns if is_id_name(column)]
    alike = [column for column, cells in columns.items() if _share(cells, clues.ids) >= _MOST]
    for column in named:
        if column in alike:
            return column
    if len(alike) == 1:
        return alike[0]
    if not alike and named:
        return named[0]
    why = f"{few_of(alike)} all look like ids" if alike else "none holds ids of the project's rows"
    raise InvalidInputError(
        f"it is open which column of {name} holds the ids: it has {few_of(columns, 20)}, and "
        f"{why}, which are called {few_of(sorted(clues.ids)[:3])} and so on. Name it with "
        "--id-column."
    )


def find_label_column(columns: Sequence[str], id_column: str, clues: Clues, name: str) -> str:
    """Return the column of labels: as said, else by name, else the only other one."""
    if clues.said_label is not None:
        return require_column(clues.said_label, columns, name, "--label-column")
    others = [column for column in columns if column != id_column]
    by_name = {column.strip().casefold(): column for column in reversed(others)}
    for wanted in (clues.label_name or "label", *LABEL_NAMES):
        if wanted.strip().casefold() in by_name:
            return by_name[wanted.strip().casefold()]
    if len(others) == 1:
        return others[0]
    has = f"besides {id_column!r} it has {few_of(others, 20) or 'none'}"
    raise InvalidInputError(
        f"it is open which column of {name} holds the labels: {has}. Name it with --label-column."
    )


def find_question(questions: set[str], usual: str, clues: Clues, name: str) -> str:
    """Return which question of another tool is meant: as said, else the usual or only one."""
    if clues.said_label is not None:
        return require_column(clues.said_label, questions, name, "--label-column")
    if usual in questions:
        return usual
    if len(questions) > 1:
        raise InvalidInputError(
            f"{name} answers several questions, {few_of(sorted(questions), 20)}. Name the one that "
            "is meant with --label-column."
        )
    return next(iter(questions))


def require_column(said: str, columns: Iterable[str], name: str, option: str) -> str:
    """Return a column that a person named, or say what there is."""
    names = list(columns)
    if said in names:
        return said
    folded = {column.casefold(): column for column in names}
    near = difflib.get_close_matches(said.casefold(), list(folded), n=1, cutoff=_CLOSE)
    hint = f" Did you mean {folded[near[0]]!r}?" if near else ""
    raise InvalidInputError(
        f"there is no column {said!r} ({option}) in {name}.{hint} It has "
        f"{few_of(names, 20) or 'none'}."
    )


def _share(cells: list[str], ids: frozenset[str]) -> float:
    """Return which share of the cells that hold something are ids."""
    held = [cell for cell in cells if cell]
    return sum(cell in ids for cell in held) / max(len(held), 1)
