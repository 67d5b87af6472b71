"""Tables that we wrote: known by their columns, and no data to learn from."""

import os
import shlex
from dataclasses import replace
from enum import IntEnum
from pathlib import Path

from beltrami.core.errors import InvalidInputError
from beltrami.tables.columns.kinds import is_text
from beltrami.tables.model import Table, decode_categories
from beltrami.tables.options import TableOptions
from beltrami.tables.writing import table_facts


class Source(IntEnum):
    """Who labelled a row, or why nobody did."""

    GIVEN = 0
    LABELLED = 1
    ABSTAINED = 2
    UNREACHED = 3


SOURCES = ("human", "propagated", "abstained", "unreached")
"""What the column ``source`` of a result calls each `Source`."""

_OURS = frozenset({"label", "source", "confidence", "guess", "second_label", "margin"})


def is_result(table: Table) -> bool:
    """Say whether a table holds the columns of a result, and no source but ours."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not _OURS.issubset(table.names):
        return False
    sources = decode_categories(table.columns.column("source"))
    if not is_text(sources.type):
        return False
    return bool(pc.all(pc.is_in(sources, value_set=pa.array(SOURCES, sources.type))).as_py())


def refuse_result(table: Table, options: TableOptions, path: Path | None = None) -> None:
    """Raise where a table is a result and our answers in it would be taken for data.

    Other columns that stand beside ours may be named, the label and the features both.

    - `path`: the file that it was read from, whose facts say what was labelled.
    """
    named = {options.label, *options.named_features}
    is_named = options.label is not None and options.is_exclusive and not named & _OURS
    if is_named or not is_result(table):
        return
    name = "FILE" if path is None else shlex.quote(str(path))
    raise InvalidInputError(
        f"{table.name} is a result of beltrami: {_count_ours(table):,} of its {table.n_rows:,} "
        "labels are our own answers, and who learns from them finds them confirmed whatever they "
        f"are worth. Name what was labelled instead{_origin(path)}. Labels of people in the result "
        f"are taken, and no other, where it stands beside: --labels {name} (labels=). What its "
        f"labels are worth tells an audit: beltrami audit {name}."
    )


def _origin(path: Path | None) -> str:
    """Return what a result was made from and its label column, as options, where it says so."""
    facts = {} if path is None else table_facts(path)
    if path is None or "data" not in facts:
        return ""
    place = Path(os.path.normpath(path.parent / facts.get("data_path", facts["data"])))
    label = facts.get("label_column", "None")
    said = "" if label == "None" else f" --label {shlex.quote(label)}"
    return f": {shlex.quote(str(place if place.exists() else facts['data']))}{said}"


def of_people(side: Table) -> Table:
    """Return a table of labels without those that are our own answers, where it is a result."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_result(side):
        return side
    labels = decode_categories(side.columns.column("label"))
    by_people = pc.equal(decode_categories(side.columns.column("source")), SOURCES[Source.GIVEN])
    kept = pc.if_else(by_people, labels, pa.scalar(None, labels.type))
    place = side.names.index("label")
    return replace(side, columns=side.columns.set_column(place, "label", kept))


def _count_ours(table: Table) -> int:
    import pyarrow.compute as pc

    sources = decode_categories(table.columns.column("source"))
    return int(pc.sum(pc.equal(sources, SOURCES[Source.LABELLED])).as_py() or 0)
