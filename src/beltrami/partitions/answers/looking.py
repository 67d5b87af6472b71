"""A look at a partition before it is answered: how many rows, how large, what ids and labels are.

Types of answers are the same in all files of one call, so they are settled before the first is
written. A csv file has no types: ids and labels in it are whole numbers where every cell is one, as
where such a file is read whole.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from beltrami.labelling.kept.table_labeller import ROWS
from beltrami.partitions.model import Partition, is_written_as_text
from beltrami.partitions.reading.files import FilePartition
from beltrami.tables.model import decode_categories
from beltrami.tables.reading.delimited import whole_numbers
from beltrami.tables.reading.objects import arrow_table


@dataclass(frozen=True, slots=True)
class Look:
    """What is known of a partition before it is answered.

    Attributes
    ----------
    n_rows : int
        Rows; 0 where they have ids and are not numbered.
    n_bytes : int
        What is decoded at a time.
    kinds : dict of str to arrow type
        Of the columns of ids and labels that it has.
    """

    n_rows: int
    n_bytes: int
    kinds: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LookTask:
    """What looks at a partition; one that cannot be read is named, and the rest is answered.

    Attributes
    ----------
    id, label : str or None
        Columns of the ids and of the labels.
    """

    id: str | None
    label: str | None

    def __call__(self, partition: Partition, _: None = None) -> Look:
        """Look at one partition."""
        schema = partition.schema()
        is_numbered = self.id not in schema.names
        n_rows = partition.count() if is_numbered and isinstance(partition, FilePartition) else 0
        begun = arrow_table(schema.empty_table(), partition.name)
        held = [one for one in (self.id, self.label) if one is not None and one in begun.names]
        if is_written_as_text(partition):
            kinds = _written_kinds(partition, held)
        else:
            kinds = {one: decode_categories(begun.columns.column(one)).type for one in held}
        return Look(n_rows, partition.block_bytes(), kinds)


def common_kind(looks: Iterable[Look], column: str | None) -> Any:
    """Return the type that holds a column of all partitions; None where none has the column."""
    import pyarrow as pa

    found = [look.kinds[column] for look in looks if column is not None and column in look.kinds]
    kinds = {one for one in found if not pa.types.is_null(one)} or set(found)
    if len(kinds) < 2:
        return next(iter(kinds), None)
    return pa.int64() if all(map(pa.types.is_integer, kinds)) else pa.string()


def as_kinds(rows: Any, kinds: Mapping[str, Any]) -> Any:
    """Return rows of texts with their columns of ids and labels of these types, null for blanks."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, kind in kinds.items():
        texts = rows.column(name)
        blank = texts if kind == pa.string() else pc.utf8_trim_whitespace(texts)
        texts = pc.if_else(pc.equal(blank, ""), pa.scalar(None, pa.string()), texts)
        rows = rows.set_column(rows.column_names.index(name), name, texts.cast(kind))
    return rows


def _written_kinds(partition: Partition, names: Sequence[str]) -> dict[str, Any]:
    """Return as what columns of a csv file are read; it is read on while they may be of numbers."""
    import pyarrow as pa

    kinds: dict[str, Any] = dict.fromkeys(names, pa.string())
    left = list(names)
    blocks = partition.batches(dict.fromkeys(names, pa.string()), ROWS) if names else iter(())
    for block in blocks:
        for name in tuple(left):
            found = whole_numbers(as_kinds(block.select([name]), {name: pa.string()}).column(name))
            if pa.types.is_integer(found.type):
                kinds[name] = pa.int64()
            elif not _is_blank(found):
                kinds[name] = pa.string()
                left.remove(name)
        if not left:
            break
    return kinds


def _is_blank(texts: Any) -> bool:
    """Say whether no cell holds anything."""
    import pyarrow.compute as pc

    return not pc.any(pc.not_equal(pc.utf8_trim_whitespace(texts), "")).as_py()
