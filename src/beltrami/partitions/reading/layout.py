"""What the columns of all partitions are for: schemas enter, one way to read them leaves."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.partitions.model import Partition, is_written_as_text
from beltrami.tables import Roles, Table, TableOptions, guess_roles
from beltrami.tables.columns.kinds import is_number, is_text
from beltrami.tables.columns.naming import is_label_name
from beltrami.tables.features.blocks import arrow_float_type
from beltrami.tables.model import decode_categories, few_of, is_list
from beltrami.tables.own_results import refuse_result

if TYPE_CHECKING:
    from beltrami.partitions.reading.beside import BesideLabels

_HEAD_ROWS = 5000
_HEADS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """How every partition is read.

    Attributes
    ----------
    roles : Roles
        What the columns are for.
    types : dict of str to arrow type
        The columns that are read, ids and labels included, and as what.
    widths : dict of str to int
        Numbers that each feature makes: the length of its vectors, or 1.
    dtype : dtype
        Of the features.
    notes : tuple of str
        What a person should know.
    beside : dict of str to BesideLabels
        Labels that do not stand in the partitions, by the names of these.
    """

    roles: Roles
    types: dict[str, Any]
    widths: dict[str, int]
    dtype: np.dtype[Any]
    notes: tuple[str, ...] = ()
    beside: Mapping[str, "BesideLabels"] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """Return what it takes to read partitions so again, as JSON can hold it."""
        import pyarrow as pa

        roles = self.roles
        names = {"id": roles.id, "label": roles.label}
        return {
            "names": {role: name for role, name in names.items() if name is not None},
            "numeric": list(roles.numeric),
            "vectors": list(roles.vectors),
            "widths": self.widths,
            "types": pa.schema([*self.types.items()]).serialize().to_pybytes().hex(),
        }

    @classmethod
    def of_record(cls, record: dict[str, Any], dtype: np.dtype[Any]) -> "Layout":
        """Return the layout of a record, for features of a type."""
        import pyarrow as pa

        numeric, vectors = (tuple(record[role]) for role in ("numeric", "vectors"))
        schema = pa.ipc.read_schema(pa.py_buffer(bytes.fromhex(record["types"])))
        types = dict(zip(schema.names, schema.types, strict=True))
        return cls(
            Roles(**record["names"], numeric=numeric, vectors=vectors),
            types,
            record["widths"],
            dtype,
        )

    @property
    def n_columns(self) -> int:
        """How many numbers a row has."""
        return sum(self.widths.values())

    @property
    def features(self) -> dict[str, Any]:
        """The columns that are features, with their types."""
        return {name: self.types[name] for name in self.widths}

    def numbers(self, table: Any) -> FloatMatrix:
        """Return the features of a batch, with NaN where there is no finite number."""
        points = np.empty((table.num_rows, self.n_columns), dtype=self.dtype)
        start = 0
        for name, width in self.widths.items():
            column = table.column(name).combine_chunks()
            if name in self.roles.vectors:
                points[:, start : start + width] = self._vectors(column, name, width)
            else:
                points[:, start] = column.to_numpy(zero_copy_only=False)
            start += width
        points[~np.isfinite(points)] = np.nan
        return points

    def points(self, table: Any, fill: FloatVector) -> FloatMatrix:
        """Return the features of a batch, with the means of all rows where a number is missing."""
        points = self.numbers(table)
        gaps = np.isnan(points)
        if gaps.any():
            points[gaps] = np.broadcast_to(fill.astype(self.dtype), points.shape)[gaps]
        return points

    def _vectors(self, column: Any, name: str, width: int) -> FloatMatrix:
        import pyarrow.compute as pc

        lengths = pc.fill_null(pc.list_value_length(column), -1).to_numpy(zero_copy_only=False)
        odd = np.flatnonzero((lengths != width) & (lengths >= 0))
        if odd.size:
            raise InvalidInputError(
                f"the lists in column {name!r} must have one length: row {odd[0]} of a batch has "
                f"{lengths[odd[0]]} numbers, and the first list {width}. Make those rows again."
            )
        rows = np.full((len(lengths), width), np.nan, dtype=self.dtype)
        flat = pc.list_flatten(column).to_numpy(zero_copy_only=False)
        rows[lengths >= 0] = flat.reshape(-1, width)
        return rows


def some_of(partitions: Sequence[Partition]) -> list[Partition]:
    """Return the partitions by whose first rows roles are guessed."""
    places = np.unique(np.linspace(0, len(partitions) - 1, _HEADS).astype(int))
    return [partitions[place] for place in places]


def head_of(partition: Partition, _: None = None) -> Any:
    """Return the first rows of a partition, with categories written out."""
    import pyarrow as pa

    head = partition.head(_HEAD_ROWS)
    return pa.table({name: decode_categories(head.column(name)) for name in head.column_names})


def agree(
    partitions: Sequence[Partition],
    schemas: Sequence[Any],
    first_rows: Sequence[tuple[str, Any]],
    options: TableOptions,
) -> Layout:
    """Return how all partitions are read, or raise with the names of those that cannot be.

    The order of columns does not matter, and neither do columns that are not used. Numbers of
    several types are read as the widest; texts and numbers in one column are refused.

    - `first_rows`: names and first rows of some partitions, by which roles are guessed.
    """
    joined = _joined(first_rows)
    refuse_result(joined, options)
    heads = _with_labels_beside(joined, options)
    roles = guess_roles(heads, options)
    _require_numbers(roles, heads)
    names = [*roles.vectors, *roles.numeric]
    _require_columns(names, partitions, schemas)
    notes: list[str] = []
    is_text_file = is_written_as_text(partitions[0])
    kinds = {name: _numeric_type(name, partitions, schemas, is_text_file, notes) for name in names}
    dtype = np.result_type(*kinds.values())
    types = {name: _arrow_type(dtype, is_vector=name in roles.vectors) for name in names}
    if roles.label is not None:
        _note_label_gaps(roles.label, partitions, schemas, notes)
    for name in (roles.id, roles.label):
        if name is not None:
            types[name] = _name_type(name, partitions, schemas, is_text_file, notes)
    if roles.id is not None:
        _require_columns([roles.id], partitions, schemas)
    notes += _unread_notes(types, partitions, schemas)
    widths = dict.fromkeys(names, 1) | {name: _width(heads, name) for name in roles.vectors}
    return Layout(roles, types, widths, dtype, (*roles.lines(), *notes))


def _joined(first_rows: Sequence[tuple[str, Any]]) -> Table:
    """Return the first rows of some partitions as one table."""
    import pyarrow as pa

    heads = [head for _, head in first_rows]
    try:
        table = pa.concat_tables(heads, promote_options="permissive")
    except pa.ArrowException as error:
        first, other, column = _first_clash(first_rows)
        raise InvalidInputError(
            f"column {column!r} has types that have nothing in common in {first} and in {other} "
            f"({error}). Write it as one type in all partitions."
        ) from error
    if table.num_rows == 0:
        raise InvalidInputError(f"the first of {len(heads)} partition(s) have no rows.")
    return Table(first_rows[0][0], table)


def _with_labels_beside(heads: Table, options: TableOptions) -> Table:
    """Return the rows with an empty column for labels that stand beside all partitions alone."""
    import pyarrow as pa

    is_there = any(map(is_label_name, heads.names)) if options.label is None else False
    name = options.label or "label"
    if not options.side_labels or is_there or name in heads.names:
        return heads
    return replace(heads, columns=heads.columns.append_column(name, pa.nulls(heads.n_rows)))


def _first_clash(first_rows: Sequence[tuple[str, Any]]) -> tuple[str, str, str]:
    """Return two partitions, and a column, whose types cannot be joined."""
    import pyarrow as pa

    (first, own), *others = first_rows
    for other, head in others:
        for name in set(head.column_names) & set(own.column_names):
            pair = [pa.schema([one.schema.field(name)]) for one in (own, head)]
            try:
                pa.unify_schemas(pair, promote_options="permissive")
            except pa.ArrowException:
                return first, other, name
    return first, first_rows[-1][0], "?"


def _require_numbers(roles: Roles, heads: Table) -> None:
    """Refuse what is not a number yet: a code for it would have to hold in every partition."""
    texts = [name for name in roles.numeric if is_text(heads.columns.schema.field(name).type)]
    others = [*roles.text, *roles.categorical, *texts]
    if others:
        raise InvalidInputError(
            f"{len(others)} column(s) hold texts or categories ({few_of(others)}), and rows in "
            "partitions are compared by numbers and vectors only. Leave them out (--ignore "
            f"{','.join(others[:3])}), write them as numbers, or name the features (--features)."
        )
    if not (roles.numeric or roles.vectors):
        raise InvalidInputError(
            "no column holds numbers or vectors by which rows could be compared. Name them: "
            "--features a,b,c."
        )


def _require_columns(
    names: list[str], partitions: Sequence[Partition], schemas: Sequence[Any]
) -> None:
    lacking = [
        f"{one.name} has no {few_of(missing)}"
        for one, schema in zip(partitions, schemas, strict=True)
        if (missing := [name for name in names if name not in schema.names])
    ]
    if lacking:
        more = f"; and {len(lacking) - 5} more" if len(lacking) > 5 else ""
        raise InvalidInputError(
            f"{len(lacking)} of {len(partitions)} partitions lack columns that rows are compared "
            f"or named by: {'; '.join(lacking[:5])}{more}. Write these columns there, leave the "
            "partitions out, or leave the columns out (--ignore)."
        )


def _numeric_type(
    name: str,
    partitions: Sequence[Partition],
    schemas: Sequence[Any],
    is_text_file: bool,
    notes: list[str],
) -> np.dtype[Any]:
    """Return the type that holds a column of all partitions, or name one that holds no numbers."""
    import pyarrow as pa

    found: dict[str, str] = {}
    dtype = np.dtype(np.float32)
    for one, schema in zip(partitions, schemas, strict=True):
        kind = schema.field(name).type
        inner = kind.value_type if is_list(kind) else kind
        if not is_number(inner) and not pa.types.is_null(inner):
            raise InvalidInputError(
                f"column {name!r} of {one.name} holds {kind}, and numbers in {partitions[0].name}. "
                "Write it as numbers in all partitions, or leave it out (--ignore)."
            )
        found.setdefault(str(kind), one.name)
        if not pa.types.is_null(inner):
            dtype = np.result_type(dtype, arrow_float_type(inner))
    if is_text_file:
        return np.dtype(np.float64)
    if len(found) > 1:
        listed = ", ".join(f"{kind} in {where}" for kind, where in found.items())
        notes.append(f"column {name!r} is {listed}; all are read as {dtype}")
    return dtype


def _arrow_type(dtype: np.dtype[Any], *, is_vector: bool) -> Any:
    import pyarrow as pa

    number = pa.from_numpy_dtype(dtype)
    return pa.list_(number) if is_vector else number


def _name_type(
    name: str,
    partitions: Sequence[Partition],
    schemas: Sequence[Any],
    is_text_file: bool,
    notes: list[str],
) -> Any:
    """Return the type of a column of labels or ids: texts, integers or floats, in all partitions.

    In csv files both are read as they are written.
    """
    import pyarrow as pa

    if is_text_file:
        return pa.string()
    found: dict[Any, str] = {}
    for one, schema in zip(partitions, schemas, strict=True):
        if name in schema.names:
            kind = schema.field(name).type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            if not pa.types.is_null(kind):
                found.setdefault(pa.string() if is_text(kind) else kind, one.name)
    kinds = list(found)
    if not kinds:
        return pa.string()
    fields = [pa.schema([(name, kind)]) for kind in kinds]
    try:
        agreed = pa.unify_schemas(fields, promote_options="permissive").field(name).type
    except pa.ArrowException as error:
        listed = " and ".join(f"{kind} in {where}" for kind, where in found.items())
        raise InvalidInputError(
            f"column {name!r} is {listed}, so it is open whether 1 and '1' are the same. Write it "
            "as texts or as integers in all partitions."
        ) from error
    if len(kinds) > 1:
        listed = ", ".join(f"{kind} in {where}" for kind, where in found.items())
        notes.append(f"column {name!r} is {listed}; all are read as {agreed}")
    return agreed


def _note_label_gaps(
    label: str, partitions: Sequence[Partition], schemas: Sequence[Any], notes: list[str]
) -> None:
    """Say which partitions have no labels; refuse where a name may be misspelled."""
    without = []
    for one, schema in zip(partitions, schemas, strict=True):
        if label in schema.names:
            continue
        alike = [name for name in schema.names if name.strip().casefold() == label.casefold()]
        if alike:
            raise InvalidInputError(
                f"{one.name} has no column {label!r} but {alike[0]!r}, so it is open whether that "
                "holds labels. Give the column one name in all partitions."
            )
        without.append(one.name)
    if without:
        notes.append(
            f"{len(without)} of {len(partitions)} partitions have no column {label!r}: their rows "
            f"count as unlabelled ({few_of(without)})"
        )


def _unread_notes(
    types: dict[str, Any], partitions: Sequence[Partition], schemas: Sequence[Any]
) -> list[str]:
    """Say what is in some partitions only, or in their folders, and is not read."""
    counts = Counter(name for schema in schemas for name in schema.names if name not in types)
    odd = sorted(name for name, n in counts.items() if n < len(schemas))
    folders = (part for one in partitions for part in one.name.split("/")[:-1])
    hive = sorted({part.split("=")[0] for part in folders if "=" in part})
    notes = [f"{few_of(odd)}: columns of some partitions only, which are not used"] * bool(odd)
    return notes + [f"{few_of(hive)}: names in folders, which are no columns here"] * bool(hive)


def _width(heads: Table, name: str) -> int:
    import pyarrow.compute as pc

    lengths = pc.list_value_length(heads.columns.column(name)).drop_null()
    width = int(lengths[0].as_py()) if len(lengths) else 0
    if width == 0:
        raise InvalidInputError(f"column {name!r} begins with no vector. Leave it out (--ignore).")
    return width
