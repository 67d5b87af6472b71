"""Labels from a side table: two tables enter, one with a further column leaves. Layer 1."""

from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.data.tables.model import Table, listed, plain
from beltrami.data.tables.naming import found_id, known_name


def join_labels(table: Table, side: Table, *, id: str | None = None) -> Table:  # noqa: A002
    """Return the table with the labels that a side table gives to its ids.

    Ids are compared as written, so 7 and "7" are the same.

    Parameters
    ----------
    table : Table
        The data.
    side : Table
        Has the columns "id" and "label".
    id : str or None, default=None
        The column of `table` that holds the ids; None guesses, and takes row numbers where there is
        none.

    Returns
    -------
    Table
        With the column "label", a gap where the side table names no label.

    Raises
    ------
    InvalidInputError
        When a column is missing, an id is given twice, or an id is not in the table.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if "label" in table.names:
        raise InvalidInputError(
            f"{table.name} has a column 'label' already, and {side.name} brings another. Rename or "
            "drop one of them."
        )
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
    joined = (
        columns.append_column("label", column)
        if columns.num_columns
        else pa.table({"label": column})
    )
    return Table(table.name, joined, table.matrix, table.index)


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
    import pyarrow as pa
    import pyarrow.compute as pc

    values = plain(column)
    try:
        if pa.types.is_floating(values.type) and pc.all(pc.equal(values, pc.floor(values))).as_py():
            values = values.cast(pa.int64())
        texts = values.cast(pa.large_string())
    except pa.ArrowException as error:
        raise InvalidInputError(f"ids of type {values.type} cannot be compared.") from error
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
