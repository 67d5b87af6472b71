"""Columns as all partitions agree to read them: a batch enters, one of the agreed types leaves."""

from collections.abc import Mapping
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.tables.model import decode_categories


def with_types(table: Any, types: Mapping[str, Any], name: str) -> Any:
    """Return all columns of a batch, those that are agreed on cast as in `as_types`."""
    held = {column: kind for column, kind in types.items() if column in table.column_names}
    for column, values in zip(held, as_types(table, held, name).columns, strict=True):
        table = table.set_column(table.column_names.index(column), column, values)
    return table


def as_types(table: Any, types: Mapping[str, Any], name: str) -> Any:
    """Return some columns of a batch, cast without loss; null where the partition has no such.

    Numbers that become floating point are rounded as usual.
    """
    import pyarrow as pa

    present = set(table.column_names)
    columns = {}
    for column, kind in types.items():
        if column not in present:
            columns[column] = pa.nulls(table.num_rows, kind)
            continue
        values = decode_categories(table.column(column))
        if values.type != kind:
            try:
                values = values.cast(kind, safe=not pa.types.is_floating(kind))
            except pa.ArrowException as error:
                raise InvalidInputError(
                    f"column {column!r} of {name} holds {values.type}, and the partitions are read "
                    f"as {kind}, which not every cell can be ({error}). Mend the column there."
                ) from error
        columns[column] = values
    if not columns:
        return table.select([])
    return pa.table(columns)
