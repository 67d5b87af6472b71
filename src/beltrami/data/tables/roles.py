"""What each column is for: a table enters, the roles of its columns leave. Layer 1."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.data.tables.kinds import ColumnKind, KindName, column_kind, has_fractions, is_text
from beltrami.data.tables.model import Table, listed, plain
from beltrami.data.tables.naming import LABEL_NAMES, found_id, known_name

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

    def lines(self) -> list[str]:
        """Return the roles as lines to print.

        Returns
        -------
        list of str
            One line per role that is taken, one per ignored column.
        """
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


def guess_roles(
    table: Table,
    *,
    label: str | None = None,
    id: str | None = None,  # noqa: A002 - the word that users know
    features: Sequence[str] | str | None = None,
    text: Sequence[str] | str | None = None,
    ignore: Sequence[str] | str = (),
    require_label: bool = True,
) -> Roles:
    """Decide which column is the label, which the id, and which become features.

    The features are the matrix of the table if it has one, else its first column of vectors, else
    its texts if it has text and at most four other usable columns, else its numeric and categorical
    columns. `features` overrules that, and mixes kinds as asked.

    Parameters
    ----------
    table : Table
        The data.
    label : str or None, default=None
        The column of classes; None takes the only one called label, labels, class, target, category
        or y. Beside another of these, or with fractions in it, y is a number like others.
    id : str or None, default=None
        The column that names the rows; None takes one that is called so and differs in every row.
    features : sequence of str or None, default=None
        The columns to use, and no others.
    text : sequence of str or None, default=None
        Columns to read as text; without `features` they are the only features.
    ignore : sequence of str, default=()
        Columns to leave out.
    require_label : bool, default=True
        Raise where no label column is found; else do without.

    Returns
    -------
    Roles
        The decision, with a reason for every column that is left out.

    Raises
    ------
    InvalidInputError
        When a named column is not there or cannot be used, or the label column is not clear.
    """
    wanted = [known_name(name, table, "features") for name in _names(features)]
    texts = [known_name(name, table, "text") for name in _names(text)]
    left_out = [known_name(name, table, "ignore") for name in _names(ignore)]
    ignored = dict.fromkeys(left_out, "you asked for it")
    taken = {*wanted, *texts, *left_out}
    label = _label(table, label, taken, ignored, is_required=require_label)
    if id is None:
        found = found_id(table)
        id = found if found not in {label, *taken} else None  # noqa: A001
    else:
        known_name(id, table, "id")
    _require_apart(label, id, wanted, texts, left_out)
    rest = [name for name in table.names if name not in {label, id, *ignored}]
    if wanted or texts:
        kinds = {name: _forced(table, name, texts) for name in dict.fromkeys([*wanted, *texts])}
        reason = "it is not among the columns asked for"
        ignored |= {name: reason for name in rest if name not in kinds}
        return _roles(id, label, kinds, ignored)
    return _guessed(table, id, label, rest, ignored)


def _names(names: Sequence[str] | str | None) -> tuple[str, ...]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


def _label(
    table: Table, label: str | None, taken: set[str], ignored: dict[str, str], *, is_required: bool
) -> str | None:
    if label is not None:
        return known_name(label, table, "label")
    found = [name for name in table.names if name.strip().lower() in LABEL_NAMES]
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


def _require_apart(
    label: str | None, row_id: str | None, wanted: list[str], texts: list[str], left_out: list[str]
) -> None:
    used = {*wanted, *texts}
    for name, role in ((label, "label"), (row_id, "id")):
        if name is not None and (name in left_out or (role == "label" and name in used)):
            other = "ignored" if name in left_out else "a feature"
            raise InvalidInputError(f"column {name!r} cannot be the {role} and {other} at once.")
    if label is not None and label == row_id:
        raise InvalidInputError(f"column {label!r} cannot be the label and the id at once.")
    both = used.intersection(left_out)
    if both:
        raise InvalidInputError(f"column {min(both)!r} cannot be a feature and ignored at once.")


def _kind(table: Table, name: str) -> ColumnKind:
    return column_kind(name, table.columns.schema.field(name), table.columns.column(name))


def _forced(table: Table, name: str, texts: list[str]) -> KindName:
    if name in texts:
        if is_text(plain(table.columns.column(name)).type):
            return "text"
        held = table.columns.schema.field(name).type
        raise InvalidInputError(f"column {name!r} holds {held} and no texts.")
    kind = _kind(table, name)
    if kind.forced == "ignored":
        raise InvalidInputError(
            f"column {name!r} cannot be a feature: {kind.reason}. Mend it, or leave it out."
        )
    return kind.forced


def _guessed(
    table: Table, row_id: str | None, label: str | None, rest: list[str], ignored: dict[str, str]
) -> Roles:
    if table.matrix is not None:
        ignored |= dict.fromkeys(rest, "the matrix is used alone")
        return Roles(row_id, label, ignored=ignored, uses_matrix=True)
    judged = {name: _kind(table, name) for name in rest}
    kinds = {name: kind.kind for name, kind in judged.items() if kind.kind != "ignored"}
    ignored |= {name: kind.reason for name, kind in judged.items() if kind.kind == "ignored"}
    vectors = [name for name, kind in kinds.items() if kind == "vectors"]
    text = [name for name, kind in kinds.items() if kind == "text"]
    others = [name for name, kind in kinds.items() if kind in ("numeric", "categorical")]
    if vectors:
        kept, why = vectors[:1], f"the vectors in {vectors[0]!r} are used alone"
    elif text and len(others) <= _FEW_OTHERS:
        kept, why = text, "texts are used alone; name them together to mix them"
    else:
        kept, why = others, f"{len(others)} other columns are used without texts"
    ignored |= {name: why for name in kinds if name not in kept}
    found = _roles(row_id, label, {name: kinds[name] for name in kept}, ignored)
    return replace(found, broken=tuple(name for name, kind in judged.items() if kind.is_broken))


def _roles(
    row_id: str | None, label: str | None, kinds: dict[str, KindName], ignored: dict[str, str]
) -> Roles:
    by_kind: dict[str, Any] = {
        kind: tuple(name for name, own in kinds.items() if own == kind)
        for kind in ("numeric", "categorical", "text", "vectors")
    }
    return Roles(row_id, label, **by_kind, ignored=ignored)
