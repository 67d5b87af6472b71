"""Labels from a side table: two tables enter, one with a further column leaves."""

from dataclasses import replace
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.tables.columns.kinds import is_text
from beltrami.tables.columns.naming import find_id, known_name
from beltrami.tables.model import Table, decode_categories, few_of
from beltrami.tables.options import TableOptions
from beltrami.tables.own_results import of_people
from beltrami.tables.reading.delimited import whole_numbers

ASKED = frozenset({"ask_rank", "reason", "settles"})
"""Columns by which the sheet of our questions is known."""


def join_labels(table: Table, side: Table, options: TableOptions) -> Table:
    """Return the table with the labels that a side table gives to its ids.

    Ids are compared as written, so 7 and "7" are the same. Where the table has labels of its own,
    those of the side table come on top: they are the newer ones. They take the type of those in the
    table where every one of them can be written so, else all become texts as they are written.

    The side table has the columns "id" and "label", or those of the same names as in the table, or
    two columns of which one holds ids of the table only; without a "label" beside the ids an
    "answer" is taken, as in the sheet of an audit. A cell that holds the marker of rows
    without a label takes no label away. Labels go to the column "label" unless another is named.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    is_usual = options.label in {None, "label"}
    target = "label" if is_usual else known_name(str(options.label), table, "label")
    id_name = find_id(table) if options.id is None else known_name(options.id, table, "id")
    numbers = pa.array(range(table.n_rows))
    ids = id_texts(numbers if id_name is None else table.columns.column(id_name))
    names = {"id", id_name or "id"}, {"label", target}
    side_ids, labels = side_labels(side, ids, *names, options)
    require_once(side_ids, side.name)
    require_once(ids, table.name)
    lost = side_ids.filter(pc.invert(pc.is_in(side_ids, value_set=ids)))
    if len(lost):
        raise InvalidInputError(
            f"{len(lost)} of {len(side_ids)} ids in {side.name} are not among the ids of "
            f"{table.name} ({'row numbers' if id_name is None else f'column {id_name!r}'}): "
            f"{few_of(lost.to_pylist())}. Correct them, or name the id column."
        )
    column = labels.take(pc.index_in(ids, value_set=side_ids))
    columns = table.columns
    replaced = table.replaced
    if target in table.names:
        place = table.names.index(target)
        older = columns.column(place)
        newer = _overlay(column, older)
        replaced += _replaced(ids, older, newer)
        joined = columns.set_column(place, target, newer)
    elif columns.num_columns:
        joined = columns.append_column(target, column)
    else:
        joined = pa.table({target: column})
    asked = table.asked
    if ASKED.issubset(side.names):
        is_answer = np.asarray(pc.is_valid(_without_gaps(column)))
        asked = is_answer if asked is None else asked | is_answer
    return replace(table, columns=joined, asked=asked, replaced=replaced)


def _replaced(ids: Any, older: Any, newer: Any) -> tuple[str, ...]:
    """Return which labels give way to others, in words."""
    import pyarrow.compute as pc

    before, after = (_texts(_without_gaps(decode_categories(one))) for one in (older, newer))
    rows = np.flatnonzero(np.asarray(pc.fill_null(pc.not_equal(before, after), False)))
    old, new, names = (one.take(rows).to_pylist() for one in (before, after, ids))
    return tuple(f"{name}: {a!r} is now {b!r}" for name, a, b in zip(names, old, new, strict=True))


def side_labels(
    side: Table, ids: Any, id_names: set[str], label_names: set[str], options: TableOptions
) -> tuple[Any, Any]:
    """Return the ids of a side table as texts, and its labels, null where there is none.

    Of a result of ours only labels of people are taken.
    """
    side_id, side_label = _side_columns(side, ids, id_names, label_names)
    if side_label == "label":
        side = of_people(side)
    labels = decode_categories(side.columns.column(side_label))
    labels = _without_marker(labels, options.unlabeled)
    if side.delimiter is not None and is_text(labels.type):
        labels = whole_numbers(labels)
    return id_texts(side.columns.column(side_id)), labels


def _without_marker(labels: Any, unlabeled: Any) -> Any:
    """Return labels with null for the marker of rows without one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if unlabeled in (None, "") or pa.types.is_null(labels.type):
        return labels
    is_marker = pc.equal(pc.utf8_trim_whitespace(_texts(labels)), str(unlabeled).strip())
    is_marker = pc.fill_null(is_marker, False)
    return pc.if_else(is_marker, pa.scalar(None, labels.type), labels)


def _overlay(newer: Any, older: Any) -> Any:
    """Return the newer labels, and the older ones where there are none."""
    import pyarrow.compute as pc

    newer, older = _without_gaps(decode_categories(newer)), _without_gaps(decode_categories(older))
    if older.null_count == len(older):
        return newer
    if newer.null_count == len(newer):
        return older
    if newer.type != older.type:
        newer = _read_as(newer, older.type)
    if newer.type != older.type:
        newer, older = _texts(newer), _texts(older)
    return pc.coalesce(newer, older)


def _without_gaps(column: Any) -> Any:
    """Return a column whose blank texts and NaNs are null, and whole floats integers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if is_text(column.type):
        is_blank = pc.equal(pc.utf8_trim_whitespace(column), "")
        return pc.if_else(is_blank, pa.scalar(None, column.type), column)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        is_whole = pc.all(pc.equal(column, pc.floor(column))).as_py()
        return column.cast(pa.int64()) if is_whole and _fits_in_floats(column) else column
    return (
        column.cast(pa.int64())
        if pa.types.is_integer(column.type) and _fits_in_floats(column)
        else column
    )


def _fits_in_floats(column: Any) -> bool:
    import pyarrow.compute as pc

    bounds = pc.min_max(column).as_py()
    return bounds["min"] is not None and -(2**53) <= bounds["min"] <= bounds["max"] <= 2**53


def _read_as(newer: Any, kind: Any) -> Any:
    """Return texts as the whole numbers or truth values that they spell, if all of them do."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_text(newer.type):
        return newer
    if pa.types.is_integer(kind):
        return whole_numbers(newer)
    if pa.types.is_boolean(kind):
        lower = pc.utf8_lower(newer)
        if pc.all(pc.is_in(lower.drop_null(), pa.array(["true", "false"], newer.type))).as_py():
            return pc.equal(lower, "true")
    return newer.cast(kind) if is_text(kind) else newer


def _side_columns(
    side: Table, ids: Any, id_names: set[str], label_names: set[str]
) -> tuple[str, str]:
    """Return which columns of a side table hold ids and labels."""
    id_name, label_name = column_called(side, id_names), column_called(side, label_names)
    if len(side.names) == 2 and id_name is None and label_name is None:
        keys = [name for name in side.names if _holds_ids(side.columns.column(name), ids)]
        id_name = keys[0] if len(keys) == 1 else None
    if len(side.names) == 2 and (id_name or label_name):
        first, second = side.names
        id_name = id_name or (first if label_name == second else second)
        label_name = first if id_name == second else second
    if id_name is not None and label_name is None:
        label_name = column_called(side, {"answer"})  # the sheet of an audit, filled in
    if id_name is not None and label_name is not None:
        return id_name, label_name
    raise InvalidInputError(
        f"the labels in {side.name} need a column of ids and one of labels, and it is open which "
        f"they are: it has {few_of(side.names)}. Call them 'id' and 'label' in its first line; the "
        "ids are those of the data, or row numbers from 0 where it has none."
    )


def column_called(side: Table, names: set[str]) -> str | None:
    """Return the first column that has one of these names, whatever the case; None for none."""
    known = {name.strip().lower() for name in names}
    return next((column for column in side.names if column.strip().lower() in known), None)


def _holds_ids(column: Any, ids: Any) -> bool:
    import pyarrow.compute as pc

    values = id_texts(column)
    is_whole = values.null_count == 0 and pc.count_distinct(values).as_py() == len(values)
    return bool(is_whole and pc.all(pc.is_in(values, value_set=ids)).as_py())


def id_texts(column: Any) -> Any:
    """Return ids as texts; whole floats, which a gap makes of integers, without their point."""
    import pyarrow.compute as pc

    texts = _texts(decode_categories(column))
    is_whole = pc.all(pc.match_substring_regex(texts, r"^\d+\.0$")).as_py()
    return pc.replace_substring(texts, ".0", "") if is_whole else texts


def _texts(values: Any) -> Any:
    """Return ids or labels as they are written, whole floats without their point."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if pa.types.is_floating(values.type) and pc.all(pc.equal(values, pc.floor(values))).as_py():
            values = values.cast(pa.int64())
        texts = values.cast(pa.large_string())
        if pa.types.is_boolean(values.type):
            texts = pc.utf8_capitalize(texts)  # as Python writes them
    except pa.ArrowException as error:
        raise InvalidInputError(f"values of type {values.type} cannot be compared.") from error
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts


def require_once(ids: Any, name: str) -> None:
    """Raise where an id is missing or stands twice."""
    import pyarrow.compute as pc

    if ids.null_count:
        raise InvalidInputError(f"{ids.null_count} of {len(ids)} ids in {name} are missing.")
    counts = pc.value_counts(ids)
    twice = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    if len(twice):
        raise InvalidInputError(
            f"{len(twice)} id(s) occur more than once in {name}: {few_of(twice.to_pylist())}. "
            "Every row needs an id of its own."
        )
