"""What each column is for: a table enters, the roles of its columns leave."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.tables.columns.kinds import (
    ColumnKind,
    categories_kind,
    column_kind,
    has_fractions,
    is_text,
    numbers_kind,
)
from beltrami.tables.columns.naming import LABEL_NAMES, found_id, is_label_name, known_name
from beltrami.tables.columns.numerals import NumberStyle
from beltrami.tables.model import Table, listed, plain

_FEW_OTHERS = 4
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Roles:
    """What the columns of a table are used for.

    Attributes
    ----------
    id : str or None
        The column that names the rows; None for row numbers.
    label : str or None
        The column of classes.
    numeric, categorical, text, vectors : tuple of str
        The columns that become features, by how they do.
    ignored : dict of str to str
        The columns that are not used, each with the reason.
    uses_matrix : bool
        Whether the features are the matrix of the table.
    broken : tuple of str
        The ignored columns that hold values of several types, such as one word among numbers.
    styles : dict of str to tuple of NumberStyle
        How the numeric columns of texts write their numbers; two styles where nothing tells which.
    """

    id: str | None = None
    label: str | None = None
    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    ignored: dict[str, str] = field(default_factory=dict)
    uses_matrix: bool = False
    broken: tuple[str, ...] = ()
    styles: dict[str, tuple[NumberStyle, ...]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return the roles as lines to print."""
        lines = [f"label: {self.label or 'none'}", f"id: {self.id or 'row numbers, from 0'}"]
        if self.uses_matrix:
            lines.append("features: the rows of the matrix")
        for role in ("numeric", "categorical", "text", "vectors"):
            names = getattr(self, role)
            if names:
                more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
                lines.append(f"{role} ({len(names)}): {', '.join(names[:_SHOWN])}{more}")
        ignored = list(self.ignored.items())
        lines.extend(f"ignored: {name}, because {reason}" for name, reason in ignored[:_SHOWN])
        if len(ignored) > _SHOWN:
            lines.append(f"ignored: {len(ignored) - _SHOWN} more")
        return lines


@dataclass(frozen=True, slots=True)
class _Asked:
    """The columns that the user named, by what for."""

    features: list[str]
    text: list[str]
    categories: list[str]
    numbers: list[str]
    ignore: list[str]

    @classmethod
    def of(cls, table: Table, **named: Sequence[str] | str | None) -> "_Asked":
        """Return the names as lists, all of them known."""
        return cls(
            **{
                role: [known_name(name, table, role) for name in _names(names)]
                for role, names in named.items()
            }
        )

    @property
    def used(self) -> list[str]:
        """What becomes a feature for sure."""
        return list(dict.fromkeys([*self.features, *self.text, *self.categories, *self.numbers]))

    @property
    def alone(self) -> bool:
        """Whether no other column is wanted."""
        return bool(self.features or self.text)


def guess_roles(
    table: Table,
    *,
    label: str | None = None,
    id: str | None = None,  # noqa: A002 - the word that users know
    features: Sequence[str] | str | None = None,
    text: Sequence[str] | str | None = None,
    categories: Sequence[str] | str | None = None,
    numbers: Sequence[str] | str | None = None,
    ignore: Sequence[str] | str = (),
    require_label: bool = True,
) -> Roles:
    """Decide which column is the label, which the id, and which become features.

    The features are the matrix of the table if it has one, else its first column of vectors, else
    its texts if it has text and at most four other usable columns, else its numeric and categorical
    columns. `features` overrules that, and mixes kinds as asked.

    - `label`: the column of classes; None takes the only one called label, labels, class, target,
      category or y. Beside another of these, or with fractions in it, y is a number like others.
    - `id`: the column that names the rows; None takes one that is called so and differs in every
      row.
    - `text`: columns to read as text; without `features` they are the only features.
    - `categories`, `numbers`: columns that are features of that kind, whatever they look like,
      beside the others.
    - `require_label`: raise where no label column is found; else do without.
    """
    asked = _Asked.of(
        table,
        features=features,
        text=text,
        categories=categories,
        numbers=numbers,
        ignore=ignore,
    )
    ignored = dict.fromkeys(asked.ignore, "you asked for it")
    taken = {*asked.used, *asked.ignore}
    label = _label(table, label, taken, ignored, is_required=require_label)
    if id is None:
        found = found_id(table)
        id = found if found not in {label, *taken} else None  # noqa: A001
    else:
        known_name(id, table, "id")
    _require_apart(label, id, asked)
    rest = [name for name in table.names if name not in {label, id, *ignored}]
    if asked.alone:
        kinds = {name: _forced(table, name, asked) for name in asked.used}
        reason = "it is not among the columns asked for"
        ignored |= {name: reason for name in rest if name not in kinds}
        return _roles(table, id, label, kinds, ignored)
    return _guessed(table, id, label, rest, ignored, asked)


def _names(names: Sequence[str] | str | None) -> tuple[str, ...]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


def _label(
    table: Table, label: str | None, taken: set[str], ignored: dict[str, str], *, is_required: bool
) -> str | None:
    if label is not None:
        return known_name(label, table, "label")
    found = [name for name in table.names if is_label_name(name)]
    found = _without_coordinate([name for name in found if name not in taken], table)
    if len(found) == 1:
        return found[0]
    if is_required:
        what = f"{len(found)} columns could be the label" if found else "no column is the label"
        raise InvalidInputError(
            f"{what}: it is looked for under the names {', '.join(LABEL_NAMES)}. Name it; "
            f"{table.name} has {listed(table.names, 20) or 'no named columns'}."
        )
    ignored |= dict.fromkeys(found, "it may be a label")
    return None


def _without_coordinate(found: list[str], table: Table) -> list[str]:
    """Leave out "y" where it is no class: beside a better name, or where it holds fractions."""
    sure = [name for name in found if name.strip().lower() != "y"]
    return sure or [name for name in found if not has_fractions(table.columns.column(name))]


def _require_apart(label: str | None, row_id: str | None, asked: _Asked) -> None:
    kinds = {"text": asked.text, "categories": asked.categories, "numbers": asked.numbers}
    typed = {*asked.categories, *asked.numbers}
    for name, role in ((label, "label"), (row_id, "id")):
        features = asked.used if role == "label" else typed
        if name is not None and (name in asked.ignore or name in features):
            other = "ignored" if name in asked.ignore else "a feature"
            raise InvalidInputError(f"column {name!r} cannot be the {role} and {other} at once.")
    if label is not None and label == row_id:
        raise InvalidInputError(f"column {label!r} cannot be the label and the id at once.")
    both = set(asked.used).intersection(asked.ignore)
    if both:
        raise InvalidInputError(f"column {min(both)!r} cannot be a feature and ignored at once.")
    for name in asked.used:
        named = [kind for kind, names in kinds.items() if name in names]
        if len(named) > 1:
            raise InvalidInputError(f"column {name!r} cannot be {' and '.join(named)} at once.")


def _kind(table: Table, name: str) -> ColumnKind:
    return column_kind(name, table.columns.schema.field(name), table.columns.column(name))


def _forced(table: Table, name: str, asked: _Asked) -> ColumnKind:
    column = table.columns.column(name)
    if name in asked.categories:
        return categories_kind(name, column)
    if name in asked.numbers:
        return numbers_kind(name, column)
    if name in asked.text:
        if is_text(plain(column).type):
            return ColumnKind("text")
        raise InvalidInputError(f"column {name!r} holds {column.type} and no texts.")
    kind = _kind(table, name)
    if kind.forced == "ignored":
        raise InvalidInputError(
            f"column {name!r} cannot be a feature: {kind.reason}. Mend it, or leave it out."
        )
    return replace(kind, kind=kind.forced)


def _guessed(
    table: Table,
    row_id: str | None,
    label: str | None,
    rest: list[str],
    ignored: dict[str, str],
    asked: _Asked,
) -> Roles:
    if table.matrix is not None:
        if asked.used:
            raise InvalidInputError(
                f"column {asked.used[0]!r} cannot stand beside the matrix of {table.name}, which "
                "is used alone. Leave the matrix out, or do not name the column."
            )
        ignored |= dict.fromkeys(rest, "the matrix is used alone")
        return Roles(row_id, label, ignored=ignored, uses_matrix=True)
    judged = {
        name: _forced(table, name, asked) if name in asked.used else _kind(table, name)
        for name in rest
    }
    kinds = {name: kind for name, kind in judged.items() if kind.kind != "ignored"}
    ignored |= {name: kind.reason for name, kind in judged.items() if kind.kind == "ignored"}
    vectors = [name for name, kind in kinds.items() if kind.kind == "vectors"]
    text = [name for name, kind in kinds.items() if kind.kind == "text"]
    others = [name for name, kind in kinds.items() if kind.kind in ("numeric", "categorical")]
    if vectors:
        kept, why = vectors[:1], f"the vectors in {vectors[0]!r} are used alone"
    elif text and len(others) <= _FEW_OTHERS:
        kept, why = text, "texts are used alone; name them together to mix them"
    else:
        kept, why = others, f"{len(others)} other columns are used without texts"
    wanted = {*kept, *asked.used}
    kept = [name for name in kinds if name in wanted]
    ignored |= {name: why for name in kinds if name not in wanted}
    found = _roles(table, row_id, label, judged, ignored, kept)
    return replace(found, broken=tuple(name for name, kind in judged.items() if kind.is_broken))


def _roles(
    table: Table,
    row_id: str | None,
    label: str | None,
    kinds: dict[str, ColumnKind],
    ignored: dict[str, str],
    kept: list[str] | None = None,
) -> Roles:
    names = list(kinds) if kept is None else kept
    by_kind: dict[str, Any] = {
        kind: tuple(name for name in names if kinds[name].kind == kind)
        for kind in ("numeric", "categorical", "text", "vectors")
    }
    styles = _settled_styles(table, kinds)
    own = {name: styles[name] for name in by_kind["numeric"] if name in styles}
    return Roles(row_id, label, **by_kind, ignored=ignored, styles=own)


def _settled_styles(
    table: Table, kinds: dict[str, ColumnKind]
) -> dict[str, tuple[NumberStyle, ...]]:
    """Choose between decimals and thousands by what the user or the other columns say."""
    import pyarrow as pa

    styles = {name: kind.styles for name, kind in kinds.items() if kind.styles}
    shown = {one.decimal for one, *more in styles.values() if not more and one.shows_decimals}
    if table.delimiter is not None and any(map(pa.types.is_floating, table.columns.schema.types)):
        shown.add(".")
    # Between semicolons a comma may well be the decimal sign; elsewhere a point is the custom.
    usual = {"."} if table.delimiter != ";" and not shown else shown
    marks = {table.decimal} if table.decimal else usual
    if len(marks) != 1:
        return styles
    return {
        name: tuple(style for style in own if style.decimal in marks) if len(own) > 1 else own
        for name, own in styles.items()
    }
