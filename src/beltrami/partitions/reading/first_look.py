"""The first look at all partitions: how they are read, and what is in them or wrong with them."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from beltrami.core.telling.stages import Stage
from beltrami.partitions.crews.passes import Passes
from beltrami.partitions.manifest import FOLDER, RUNS
from beltrami.partitions.model import PartFacts, Partition, Survey
from beltrami.partitions.plan import n_at_a_time
from beltrami.partitions.reading.beside import (
    join_beside,
    require_labels_read,
    with_numbers_noted,
)
from beltrami.partitions.reading.identity import require_own_ids
from beltrami.partitions.reading.layout import Layout, agree, head_of, some_of
from beltrami.partitions.reading.survey import SurveyTask, join_facts
from beltrami.tables import TableOptions

_ID_BYTES = 2**28
"""Of hashes of ids that are compared at a time."""


def look_at_all(
    partitions: Sequence[Partition], passes: Passes, options: TableOptions, out: Path, room: int
) -> tuple[tuple[Partition, ...], Layout, Survey]:
    """Look at all partitions; those that cannot be read are left out and named.

    - `out`: in it hashes of ids are kept meanwhile; workers of a cluster write there too.
    - `room`: bytes that may be taken.
    """
    looks = passes.over("reading the columns", columns_of, partitions)
    schema_by = {name: schema for name, (schema, _) in _found(partitions, looks).items()}
    some = some_of([one for one in partitions if one.name in schema_by])
    heads = _found(some, passes.over("reading the first rows", head_of, some))
    failed = {one.name for one in passes.failures}
    alive = [one for one in partitions if one.name not in failed]
    known = [schema_by[one.name] for one in alive]
    layout = agree(alive, known, list(heads.items()), options)
    block = max(n_bytes for _, n_bytes in _found(partitions, looks).values())
    passes.crew.hold_to(n_at_a_time(room, layout, block))
    has_column = any(layout.roles.label in one.names for one in known)
    with TemporaryDirectory(prefix=RUNS, dir=out.absolute() / FOLDER) as runs:
        folder = Path(runs)
        kept, layout, facts = _survey(alive, passes, layout, options, folder, has_column=has_column)
        survey = join_facts(kept, facts, layout, options)
        passes.pace.rows[Stage.SURVEY] = survey.total
        if layout.roles.id is not None:
            kind = layout.types[layout.roles.id]
            n_bytes = min(_ID_BYTES, room)
            require_own_ids(kept, folder, layout.roles.id, kind, n_bytes, passes)
    return kept, layout, survey


def _survey(
    partitions: Sequence[Partition],
    passes: Passes,
    layout: Layout,
    options: TableOptions,
    runs: Path,
    *,
    has_column: bool,
) -> tuple[tuple[Partition, ...], Layout, list[PartFacts]]:
    """Return the partitions that could be read, how they are with labels beside, and their facts.

    Numbers of rows count these alone: where one is lost, labels by numbers are joined anew.
    """
    is_numbered = layout.roles.id is None
    while True:
        joined = join_beside(partitions, layout, options, passes, has_column=has_column)
        facts = passes.over(Stage.SURVEY, SurveyTask(joined, options, runs), partitions)
        found = _found(partitions, facts)
        kept = tuple(one for one in partitions if one.name in found)
        if len(kept) == len(partitions) or not (is_numbered and joined.beside):
            break
        partitions = kept
    if is_numbered:
        joined = with_numbers_noted(joined, len(kept), passes.failures)
    else:
        require_labels_read(joined, passes.failures)
    return kept, joined, list(found.values())


def _found(partitions: Sequence[Partition], found: Sequence[Any]) -> dict[str, Any]:
    """Return what was found in each partition by its name, where something was."""
    pairs = zip(partitions, found, strict=True)
    return {one.name: result for one, result in pairs if result is not None}


def columns_of(partition: Partition, _: None = None) -> tuple[Any, int]:
    """Return the names and types of the columns of a partition, and what is decoded at a time."""
    return partition.schema(), partition.block_bytes()
