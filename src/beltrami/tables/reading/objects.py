"""Objects in memory: data frames, arrow tables, arrays and dicts enter, a `Table` leaves.

pandas and polars are never imported here; an object of theirs brings its library along.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.tables.model import MIXED, Table
from beltrami.tables.reading.arrays import matrix_table


def table_from_object(source: Any) -> Table:
    """Turn an object that holds a table into a `Table`.

    The index of a pandas frame that is more than a count of the rows becomes a column and the id.
    """
    import pyarrow as pa

    home = type(source).__module__.split(".", maxsplit=1)[0]
    kind = type(source).__name__
    if isinstance(source, pa.Table | pa.RecordBatch):
        table = (
            pa.table(source)
            if isinstance(source, pa.Table)
            else pa.table([*source], source.schema.names)
        )
        return arrow_table(table, "pyarrow Table")
    if home == "pandas" and kind == "DataFrame":
        return _from_pandas(source)
    if home == "polars" and kind in ("DataFrame", "LazyFrame"):
        frame = source.collect() if kind == "LazyFrame" else source
        return arrow_table(_polars_columns(frame), "DataFrame")
    if isinstance(source, np.ndarray) and source.dtype.names is None:
        return matrix_table(source, "array")
    if isinstance(source, Mapping):
        return _from_columns(dict(source), "dict")
    raise InvalidInputError(
        f"a {kind} cannot be read as a table. Give a path, a pandas or polars DataFrame, a pyarrow "
        "Table, a numpy array with two axes, or a dict of columns."
    )


def arrow_table(table: Any, name: str) -> Table:
    """Return an arrow table with the few types that the rest of the room knows."""
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        target = _storage(field.type)
        if target != field.type:
            column = table.column(position)
            if isinstance(field.type, pa.BaseExtensionType):
                column = pa.chunked_array([chunk.storage for chunk in column.chunks], target)
            else:
                column = column.cast(target)
            table = table.set_column(position, pa.field(field.name, target), column)
    return Table(name, table)


def _storage(kind: Any) -> Any:
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return kind.storage_type
    if kind == pa.string_view():
        return pa.large_string()
    if kind == pa.float16():
        return pa.float32()
    return kind


def arrow_column(name: str, values: Any) -> tuple[Any, Any]:
    """Return a field and an array for one column of Python values.

    None, NaN and pandas.NA are gaps. Values of several types become texts, and the field says so,
    since nobody can know what was meant.
    """
    import pyarrow as pa

    try:
        array = pa.array(values, from_pandas=True)
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        return pa.field(name, array.type), array
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        items = [None if _is_gap(value) else value for value in values]
    kinds = sorted({type(value).__name__ for value in items if value is not None})
    texts = [None if value is None else _text(value) for value in items]
    return (
        pa.field(name, pa.string(), metadata={MIXED: ", ".join(kinds).encode()}),
        pa.array(texts, pa.string()),
    )


def _text(value: Any) -> str:
    return str(value).encode("utf-8", "replace").decode("utf-8")


def _is_gap(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _from_columns(columns: Mapping[Any, Any], name: str, index: str | None = None) -> Table:
    import pyarrow as pa

    fields, arrays = [], []
    for key, values in columns.items():
        field, array = arrow_column(str(key), _one_axis(key, values))
        fields.append(field)
        arrays.append(array)
    lengths = {field.name: len(array) for field, array in zip(fields, arrays, strict=True)}
    if len(set(lengths.values())) > 1:
        raise InvalidInputError(f"the columns of the {name} differ in length: {lengths}.")
    table = arrow_table(pa.table(arrays, schema=pa.schema(fields)), name)
    return Table(table.name, table.columns, index=index)


def _one_axis(key: Any, values: Any) -> Any:
    """Return one value per row; rows of a matrix become lists."""
    if isinstance(values, str | bytes) or not (
        hasattr(values, "__len__") and hasattr(values, "__getitem__")
    ):
        raise InvalidInputError(
            f"column {key!r} is a {type(values).__name__} and no sequence with one value per row."
        )
    if isinstance(values, np.ndarray) and values.ndim == 2:
        return list(values)
    if isinstance(values, np.ndarray) and not values.dtype.isnative:
        return values.astype(values.dtype.newbyteorder("="))
    if isinstance(values, np.ndarray) and values.dtype.kind in "UVSc":
        return values.tolist()
    return values if isinstance(values, Sequence | np.ndarray) else _to_sequence(values)


def _to_sequence(values: Any) -> Any:
    """Return arrays of pandas, polars and arrow as they are, and others as lists."""
    return values if hasattr(values, "dtype") or hasattr(values, "to_pylist") else list(values)


def _from_pandas(frame: Any) -> Table:
    names = [_flat_name(name) for name in frame.columns]
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise InvalidInputError(
            f"the DataFrame has column names more than once: {repeated[:5]}. Rename them."
        )
    columns: dict[str, Any] = {}
    index = None
    if type(frame.index).__name__ != "RangeIndex":
        index = _flat_name(frame.index.name) if frame.index.name is not None else "index"
        while index in names:
            index += "_"
        is_deep = frame.index.nlevels > 1
        columns[index] = [_flat_name(key) for key in frame.index] if is_deep else frame.index
    for position, name in enumerate(names):
        columns[name] = frame.iloc[:, position]
    return _from_columns(columns, "DataFrame", index)


def _flat_name(name: Any) -> str:
    return "/".join(str(part) for part in name) if isinstance(name, tuple) else str(name)


def _polars_columns(frame: Any) -> Any:
    import pyarrow as pa

    fields, arrays = [], []
    for series in frame.get_columns():
        if str(series.dtype) == "Object":  # arrow would get addresses in memory
            field, array = arrow_column(series.name, series.to_list())
        else:
            array = series.to_arrow()
            field = pa.field(series.name, array.type)
        fields.append(field)
        arrays.append(array)
    return pa.table(arrays, schema=pa.schema(fields))
