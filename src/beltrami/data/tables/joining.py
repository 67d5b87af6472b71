"""Labels from a side table: two tables enter, one with a further column leaves. Layer 1."""

from dataclasses import replace
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.data.tables.delimited import as_written
from beltrami.data.tables.kinds import is_text
from beltrami.data.tables.model import Table, listed, plain
from beltrami.data.tables.naming import found_id, known_name


def join_labels(
    table: Table,
    side: Table,
    *,
    id: str | None = None,  # noqa: A002 - the word that users know
    label: str | None = None,
) -> Table:
    """Return the table with the labels that a side table gives to its ids.

    Ids are compared as written, so 7 and "7" are the same. Where the table has labels of its own,
    those of the side table come on top: they are the newer ones. They take the type of those in the
    table where every one of them can be written so, else all become texts as they are written.

    Parameters
    ----------
    table : Table
        The data.
    side : Table
        Has the columns "id" and "label".
    id : str or None, default=None
        The column of `table` that holds the ids; None guesses, and takes row numbers where there is
        none.
    label : str or None, default=None
        The column of `table` that holds its own labels; None means "label", which it need not have.

    Returns
    -------
    Table
        With that column, a gap where neither table names a label.

    Raises
    ------
    InvalidInputError
        When a column is missing, an id is given twice, or an id is not in the table.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    target = "label" if label in {None, "label"} else known_name(str(label), table, "label")
    own = found_id(table) if id is None else known_name(id, table, "id")
    numbers = pa.array(range(table.n_rows))
    ids = _written(numbers if own is None else table.columns.column(own))
    given = side.columns.column(_named(side, "id"))
    wanted, labels = _written(given), side.columns.column(_named(side, "label"))
    _require_once(wanted, side.name)
    _require_once(ids, table.name)
    lost = wanted.filter(pc.invert(pc.is_in(wanted, value_set=ids)))
    if len(lost):
        raise InvalidInputError(
            f"{len(lost)} of {len(wanted)} ids in {side.name} are not among the ids of "
            f"{table.name} ({'row numbers' if own is None else f'column {own!r}'}): "
            f"{listed(lost.to_pylist())}. Correct them, or name the id column."
        )
    column = labels.take(pc.index_in(ids, value_set=wanted))
    columns = table.columns
    if target in table.names:
        place = table.names.index(target)
        joined = columns.set_column(place, target, _on_top(column, columns.column(place)))
    elif columns.num_columns:
        joined = columns.append_column(target, column)
    else:
        joined = pa.table({target: column})
    return replace(table, columns=joined)


def _on_top(newer: Any, older: Any) -> Any:
    """Return the newer labels, and the older ones where there are none."""
    import pyarrow.compute as pc

    newer, older = _without_gaps(plain(newer)), _without_gaps(plain(older))
    if older.null_count == len(older):
        return newer
    if newer.null_count == len(newer):
        return older
    if newer.type != older.type:
        newer = _like(newer, older.type)
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
        return column.cast(pa.int64()) if is_whole and _fits(column) else column
    return column.cast(pa.int64()) if pa.types.is_integer(column.type) and _fits(column) else column


def _fits(column: Any) -> bool:
    import pyarrow.compute as pc

    bounds = pc.min_max(column).as_py()
    return bounds["min"] is not None and -(2**53) <= bounds["min"] <= bounds["max"] <= 2**53


def _like(newer: Any, kind: Any) -> Any:
    """Return texts as the whole numbers or truth values that they spell, if all of them do."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_text(newer.type):
        return newer
    if pa.types.is_integer(kind):
        return as_written(newer)
    if pa.types.is_boolean(kind):
        lower = pc.utf8_lower(newer)
        if pc.all(pc.is_in(lower.drop_null(), pa.array(["true", "false"], newer.type))).as_py():
            return pc.equal(lower, "true")
    return newer.cast(kind) if is_text(kind) else newer


def _named(side: Table, name: str) -> str:
    for column in side.names:
        if column.strip().lower() == name:
            return column
    raise InvalidInputError(
        f"the labels in {side.name} need the columns 'id' and 'label', and there is no {name!r}. "
        f"It has {listed(side.names)}."
    )


def _written(column: Any) -> Any:
    """Return ids as texts; whole floats, which a gap makes of integers, without their point."""
    import pyarrow.compute as pc

    texts = _texts(plain(column))
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


def _require_once(ids: Any, name: str) -> None:
    import pyarrow.compute as pc

    if ids.null_count:
        raise InvalidInputError(f"{ids.null_count} of {len(ids)} ids in {name} are missing.")
    counts = pc.value_counts(ids)
    twice = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    if len(twice):
        raise InvalidInputError(
            f"{len(twice)} id(s) occur more than once in {name}: {listed(twice.to_pylist())}. "
            "Every row needs an id of its own."
        )
