"""What each column is for: a table enters, the roles of its columns leave."""

import shlex
from dataclasses import dataclass, field, replace
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.tables.columns.kinds import (
    LIKE_AN_ID,
    ColumnKind,
    categories_kind,
    column_kind,
    has_fractions,
    is_text,
    numbers_kind,
    vectors_kind,
)
from beltrami.tables.columns.naming import (
    LABEL_NAMES,
    find_id,
    find_meant_id,
    is_label_name,
    known_name,
    names_rows,
)
from beltrami.tables.columns.numerals import NumberStyle
from beltrami.tables.model import Table, decode_categories, few_of
from beltrami.tables.options import COLUMN_LISTS, DEFAULTS, KIND_LISTS, TableOptions

MATRIX_LINE = "features: the rows of the matrix"
"""What is said of features that are the matrix of a table."""

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
    embeddings : str or None
        What the user brought to compare rows by, a file or a column; None for nothing.
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
    embeddings: str | None = None
    broken: tuple[str, ...] = ()
    styles: dict[str, tuple[NumberStyle, ...]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return the roles as lines to print."""
        lines = [f"label: {self.label or 'none'}", f"id: {self.id or 'row numbers, from 0'}"]
        if self.embeddings is not None:
            lines.append(f"rows are compared by the embeddings in {self.embeddings} alone")
        elif self.uses_matrix:
            lines.append(MATRIX_LINE)
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


def guess_roles(table: Table, options: TableOptions = DEFAULTS) -> Roles:
    """Decide which column is the label, which the id, and which become features.

    The label is the only column called label, labels, class, target, category or y; beside another
    of these, or with fractions in it, y is a number like others. The id is as in `find_id`. The
    features are the matrix of the table if it has one, else its first column of vectors, else its
    texts if it has text and at most four other usable columns, else its numeric and categorical
    columns. The options overrule each of these; embeddings that they name are used alone.
    """
    _require_known_names(table, options)
    vectors = _embeddings_column(table, options)
    ignored = dict.fromkeys(options.ignore, "you asked for it")
    taken = {*options.named_features, *options.ignore}
    if vectors is not None:
        taken.add(vectors)
    label = _label(table, options, taken, ignored)
    row_id = _row_id(table, options, {label, *taken})
    _require_apart(label, row_id, options)
    rest = [name for name in table.names if name not in {label, row_id, *ignored}]
    if vectors is not None:
        return _roles_of_vectors(table, row_id, label, vectors, rest, ignored)
    if options.is_exclusive:
        kinds = {name: _kind_asked_for(table, name, options) for name in options.named_features}
        reason = "it is not among the columns asked for"
        ignored |= {name: reason for name in rest if name not in kinds}
        return _roles(table, row_id, label, kinds, ignored)
    roles = _guess_features(table, row_id, label, rest, ignored, options)
    return roles if row_id is not None else replace(roles, ignored=_with_id_hint(table, ignored))


def _with_id_hint(table: Table, ignored: dict[str, str]) -> dict[str, str]:
    """Say of columns that are left out and could name the rows how they do."""
    return {
        name: f"every value is different; `--id {shlex.quote(name)}` names rows by it"
        if why == LIKE_AN_ID and names_rows(table.columns.column(name))
        else why
        for name, why in ignored.items()
    }


def _require_known_names(table: Table, options: TableOptions) -> None:
    for role in COLUMN_LISTS:
        for name in getattr(options, role):
            known_name(name, table, role)


def _embeddings_column(table: Table, options: TableOptions) -> str | None:
    """Return the column that the user calls embeddings, and refuse other features beside any."""
    if options.embeddings is None:
        return None
    wanted = options.named_features
    if wanted:
        raise InvalidInputError(
            f"column {wanted[0]!r} cannot stand beside the embeddings, which are used alone. Leave "
            "the embeddings out, or do not name the column: it is shown to people in any case."
        )
    if options.text_model is not None:
        raise InvalidInputError(
            "rows are compared by embeddings or by what a model makes of texts, and both are asked "
            "for. Leave out --embeddings (embeddings=) or --text-model (text_model=)."
        )
    if table.matrix_name is not None or not isinstance(options.embeddings, str):
        return None
    return known_name(options.embeddings, table, "embeddings")


def _roles_of_vectors(
    table: Table,
    row_id: str | None,
    label: str | None,
    vectors: str,
    rest: list[str],
    ignored: dict[str, str],
) -> Roles:
    """Return the roles where rows are compared by a column that the user calls embeddings."""
    for name, other in ((label, "the label"), (row_id, "the id")):
        if name == vectors:
            raise InvalidInputError(f"column {name!r} cannot be {other} and embeddings at once.")
    if vectors in ignored:
        raise InvalidInputError(f"column {vectors!r} cannot be embeddings and ignored at once.")
    kind = vectors_kind(vectors, table.columns.column(vectors))
    why = f"the vectors in {vectors!r} are used alone"
    ignored |= {name: why for name in rest if name != vectors}
    roles = _roles(table, row_id, label, {vectors: kind}, ignored)
    return replace(roles, embeddings=f"column {vectors!r}")


def _row_id(table: Table, options: TableOptions, taken: set[str | None]) -> str | None:
    if options.id is not None:
        return known_name(options.id, table, "id")
    name = find_id(table)
    return name if name is not None and name not in taken else find_meant_id(table, taken)


def _label(
    table: Table, options: TableOptions, taken: set[str], ignored: dict[str, str]
) -> str | None:
    if options.label is not None:
        return known_name(options.label, table, "label")
    names = [name for name in table.names if is_label_name(name) and name not in taken]
    names = _without_coordinate(names, table)
    if len(names) == 1:
        return names[0]
    if options.min_classes > 0:
        what = f"{len(names)} columns could be the label" if names else "no column is the label"
        raise InvalidInputError(
            f"{what}: it is looked for under the names {', '.join(LABEL_NAMES)}. Name it; "
            f"{table.name} has {few_of(table.names, 20) or 'no named columns'}."
        )
    ignored |= dict.fromkeys(names, "it may be a label")
    return None


def _without_coordinate(names: list[str], table: Table) -> list[str]:
    """Leave out "y" where it is no class: beside a better name, or where it holds fractions."""
    sure = [name for name in names if name.strip().lower() != "y"]
    return sure or [name for name in names if not has_fractions(table.columns.column(name))]


def _require_apart(label: str | None, row_id: str | None, options: TableOptions) -> None:
    """Raise where one column is asked to be two things."""
    wanted = options.named_features
    # An id may be a feature, too, but not where its kind is named.
    typed = {*options.categories, *options.numbers}
    for name, role in ((label, "label"), (row_id, "id")):
        features = wanted if role == "label" else typed
        if name is not None and (name in options.ignore or name in features):
            other = "ignored" if name in options.ignore else "a feature"
            raise InvalidInputError(f"column {name!r} cannot be the {role} and {other} at once.")
    if label is not None and label == row_id:
        raise InvalidInputError(f"column {label!r} cannot be the label and the id at once.")
    both = set(wanted).intersection(options.ignore)
    if both:
        raise InvalidInputError(f"column {min(both)!r} cannot be a feature and ignored at once.")
    for name in wanted:
        roles = [kind for kind in KIND_LISTS if name in getattr(options, kind)]
        if len(roles) > 1:
            raise InvalidInputError(f"column {name!r} cannot be {' and '.join(roles)} at once.")


def _kind(table: Table, name: str) -> ColumnKind:
    return column_kind(name, table.columns.schema.field(name), table.columns.column(name))


def _kind_asked_for(table: Table, name: str, options: TableOptions) -> ColumnKind:
    """Return what a column serves as that the user wants as a feature, or raise if it cannot."""
    column = table.columns.column(name)
    if name in options.categories:
        return categories_kind(name, column)
    if name in options.numbers:
        return numbers_kind(name, column)
    if name in options.text:
        if is_text(decode_categories(column).type):
            return ColumnKind("text")
        raise InvalidInputError(f"column {name!r} holds {column.type} and no texts.")
    kind = _kind(table, name)
    if kind.forced == "ignored":
        raise InvalidInputError(
            f"column {name!r} cannot be a feature: {kind.reason}. Mend it, or leave it out."
        )
    return replace(kind, kind=kind.forced)


def _guess_features(
    table: Table,
    row_id: str | None,
    label: str | None,
    rest: list[str],
    ignored: dict[str, str],
    options: TableOptions,
) -> Roles:
    """Choose among the columns that are neither label nor id nor ignored."""
    wanted = options.named_features
    if table.matrix is not None:
        if wanted:
            raise InvalidInputError(
                f"column {wanted[0]!r} cannot stand beside the matrix of {table.name}, which "
                "is used alone. Leave the matrix out, or do not name the column."
            )
        beside = table.matrix_name
        why = "the matrix is used alone" if beside is None else f"{beside} is used alone"
        ignored |= dict.fromkeys(rest, why)
        return Roles(row_id, label, ignored=ignored, uses_matrix=True, embeddings=beside)
    judged = {
        name: _kind_asked_for(table, name, options) if name in wanted else _kind(table, name)
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
    chosen = {*kept, *wanted}
    kept = [name for name in kinds if name in chosen]
    ignored |= {name: why for name in kinds if name not in chosen}
    roles = _roles(table, row_id, label, judged, ignored, kept)
    return replace(roles, broken=tuple(name for name, kind in judged.items() if kind.is_broken))


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
    styles = _choose_styles(table, kinds)
    styles = {name: styles[name] for name in by_kind["numeric"] if name in styles}
    return Roles(row_id, label, **by_kind, ignored=ignored, styles=styles)


def _choose_styles(
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
        name: tuple(style for style in both if style.decimal in marks) if len(both) > 1 else both
        for name, both in styles.items()
    }
