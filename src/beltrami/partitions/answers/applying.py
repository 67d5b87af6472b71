"""A kept labeller on tables of any size: rows enter in batches, answers leave file by file.

What is said of a row rests on the labeller and on the batch that it falls into, and batches have a
fixed number of rows, however a file holds them: who worked on what does not matter.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beltrami.core.machine.memory import available_bytes
from beltrami.core.machine.threads import resolve_jobs
from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import Stage
from beltrami.labelling.kept.answers import COLUMNS, Answers
from beltrami.labelling.kept.applied import Applied
from beltrami.labelling.kept.table_labeller import ROWS, TableLabeller
from beltrami.partitions.answers.answering import PartCounts, written_name
from beltrami.partitions.crews.crew import ThreadCrew
from beltrami.partitions.crews.passes import Passes
from beltrami.partitions.manifest import Manifest
from beltrami.partitions.model import Failure, Partition
from beltrami.partitions.places import require_apart, require_own_names
from beltrami.partitions.reading.files import FilePartition
from beltrami.partitions.reading.sources import find_partitions, is_table_file
from beltrami.tables import Table, TableOptions, read_table
from beltrami.tables.features.recipe import require_columns
from beltrami.tables.model import decode_categories
from beltrami.tables.reading.objects import arrow_table
from beltrami.tables.writing import open_table

_BATCHES = 16
"""Batches that are written at a time."""

_TIMES = 4
"""What a partition takes while it is answered, in what is decoded at a time."""

_SHARE_OF_FREE = 1 / 3
"""Of free memory that a csv file may have in bytes before it is read in parts."""


@dataclass(frozen=True, slots=True, eq=False)
class AppliedParts:
    """What became of partitions.

    Attributes
    ----------
    applied : Applied
        Of all rows that are answered.
    written : tuple of Path
        The files.
    failures : tuple of Failure
        Partitions that could not be worked on, and why; they have no file.
    """

    applied: Applied
    written: tuple[Path, ...]
    failures: tuple[Failure, ...] = ()


def apply_to_table(
    labeller: TableLabeller,
    source: str,
    target: Path,
    options: TableOptions,
    facts: dict[str, str],
) -> Applied:
    """Answer the rows of one file or of a folder of images, and write them, whole or not at all.

    Parquet and arrow files are read in batches, and so are csv files that memory does not hold.

    - `facts`: what the answers rest on beside the data; they are written with them.
    """
    enter_stage(Stage.READ)
    if options.embeddings is None and _goes_in_batches(Path(source)):
        (partition,) = find_partitions(source, delimiter=options.delimiter)
        return _answer_file(labeller, partition, target, 0, facts)
    table = read_table(source, options)
    enter_stage(Stage.ANSWER)
    answers = labeller.answer(table)
    with open_table(target, facts) as write:
        write(answers.table)
    return Applied(labeller).plus(answers)


def apply_to_parts(
    labeller: TableLabeller,
    source: str,
    out: Path,
    *,
    facts: dict[str, str],
    form: str = "parquet",
    delimiter: str | None = None,
    n_jobs: int | None = None,
) -> AppliedParts:
    """Answer a folder or a pattern of tables, a file for each, or what is left of it.

    - `facts`: what the answers rest on beside the data; they are written with them.
    """
    partitions = find_partitions(source, delimiter=delimiter)
    require_apart(source, out)
    require_own_names(partitions, form)
    inputs = {one.name: one.fingerprint() for one in partitions}
    options = facts | {"id": str(labeller.roles.id), "form": form}
    manifest = Manifest(out, inputs, options, {})
    with manifest.held():
        task = ApplyTask(labeller.with_jobs(1), out, form, facts)
        return _apply_all(task, partitions, manifest, resolve_jobs(n_jobs))


def _apply_all(
    task: "ApplyTask", partitions: Sequence[Partition], manifest: Manifest, n_jobs: int
) -> AppliedParts:
    """Answer what is not done yet."""
    labeller, out, passes = task.labeller, task.out, Passes(ThreadCrew(n_jobs))
    enter_stage(Stage.SURVEY)
    looks = passes.over(Stage.SURVEY, LookTask(labeller.roles.id), partitions)
    passes.crew.hold_to(_n_at_a_time(looks))
    enter_stage(Stage.ANSWER)
    targets = [out / written_name(one.name, task.form) for one in partitions]
    pairs = zip(partitions, targets, strict=True)
    done: list[Applied | None] = [_done(labeller, manifest, one.name, at) for one, at in pairs]
    ahead = [place for place, one in enumerate(done) if one is None and looks[place] is not None]
    counts = [0 if one is None else one.n_rows for one in looks]
    firsts = [sum(counts[:place]) for place in range(len(counts))]

    def note(place: int, applied: Applied) -> None:
        place = ahead[place]
        done[place] = applied
        tally = applied.tally
        counts = PartCounts(applied.counts["rows"], tally.sources, tally.labels, tally.confidence)
        manifest.note(partitions[place].name, counts, targets[place])

    passes.over(
        Stage.ANSWER,
        task,
        [partitions[place] for place in ahead],
        [firsts[place] for place in ahead],
        on_result=note,
    )
    manifest.write()
    whole = Applied(labeller)
    for one in done:
        whole = whole if one is None else whole.with_others(one)
    written = tuple(at for at, one in zip(targets, done, strict=True) if one is not None)
    return AppliedParts(whole, written, tuple(passes.failures))


@dataclass(frozen=True, slots=True)
class Look:
    """What is known of a partition before it is answered.

    Attributes
    ----------
    n_rows : int
        Rows; 0 where they have ids and are not numbered.
    n_bytes : int
        What is decoded at a time.
    """

    n_rows: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class LookTask:
    """What looks at a partition; one that cannot be read is named, and the rest is answered.

    Attributes
    ----------
    id : str or None
        Column of the ids.
    """

    id: str | None

    def __call__(self, partition: Partition, _: None = None) -> Look:
        """Look at one partition."""
        is_numbered = self.id not in partition.schema().names
        n_rows = partition.count() if is_numbered and isinstance(partition, FilePartition) else 0
        return Look(n_rows, partition.block_bytes())


@dataclass(frozen=True, slots=True, eq=False)
class ApplyTask:
    """What answers one partition and writes it.

    Attributes
    ----------
    labeller : TableLabeller
        What answers.
    out : Path
        Folder of the results.
    form : {"parquet", "csv"}
        Of the files.
    facts : dict of str to str
        What is written with the answers.
    """

    labeller: TableLabeller
    out: Path
    form: str
    facts: dict[str, str]

    def __call__(self, partition: Partition, first: int) -> Applied:
        """Answer one partition; rows without ids are numbered from `first`."""
        target = self.out / written_name(partition.name, self.form)
        return _answer_file(self.labeller, partition, target, first, self.facts)


def _answer_file(
    labeller: TableLabeller,
    partition: Partition,
    target: Path,
    first: int,
    facts: dict[str, str],
) -> Applied:
    """Answer a file batch by batch."""
    is_begun = False
    schema = partition.schema()
    begun = arrow_table(schema.empty_table(), partition.name)
    require_columns(begun, labeller.recipe.columns)
    types = _types(labeller, partition, begun)
    labels = labeller.labels_of(_empty(types, partition.name))
    enter_stage(Stage.ANSWER)
    applied, waiting = Applied(labeller), list[Any]()
    with open_table(target, facts) as write:
        for rows in _batches(partition, types):
            answers = labeller.answer(rows, labels, first)
            first += rows.n_rows
            applied = applied.plus(answers)
            waiting.append(answers)
            if len(waiting) == _BATCHES:
                write(Answers.joined(waiting).table)
                waiting.clear()
                is_begun = True
        if waiting or not is_begun:
            waiting = waiting or [labeller.answer(_empty(types, partition.name), labels)]
            write(Answers.joined(waiting).table)
    return applied


def _types(labeller: TableLabeller, partition: Partition, begun: Table) -> dict[str, Any]:
    """Return the columns that are read, and as what: those of a csv as they are written."""
    import pyarrow as pa

    roles = labeller.roles
    named = [*labeller.recipe.columns, roles.id, roles.label]
    held = dict.fromkeys(name for name in named if name in begun.names)
    if getattr(partition, "is_text", False):
        return dict.fromkeys(held, pa.string())
    return {name: decode_categories(begun.columns.column(name)).type for name in held}


def _batches(partition: Partition, types: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the rows of a file in batches of one size, but for the last."""
    import pyarrow as pa

    waiting: list[Any] = []
    n_waiting = 0
    for batch in partition.batches(types, ROWS):
        waiting.append(batch)
        n_waiting += batch.num_rows
        while n_waiting >= ROWS:
            whole = pa.concat_tables(waiting)
            yield arrow_table(whole.slice(0, ROWS), partition.name)
            waiting, n_waiting = [whole.slice(ROWS)], n_waiting - ROWS
    if n_waiting:
        yield arrow_table(pa.concat_tables(waiting), partition.name)


def _empty(types: Mapping[str, Any], name: str) -> Table:
    import pyarrow as pa

    return Table(name, pa.schema(list(types.items())).empty_table())


def _done(labeller: TableLabeller, manifest: Manifest, name: str, written: Path) -> Applied | None:
    """Return what became of a partition that was answered before, from its file; None for others.

    Which of its cells held nothing is no longer known.
    """
    if manifest.counts(name, written) is None:
        return None
    return Applied(labeller).plus(Answers(_read_answers(written)))


def _read_answers(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv
    import pyarrow.parquet as pq

    names = [name for name in COLUMNS if name != "id"]
    if path.suffix == ".parquet":
        return pq.read_table(path, columns=names)
    texts = dict.fromkeys(("label", "source", "guess", "second_label"), pa.string())
    numbers = dict.fromkeys(("confidence", "margin"), pa.float64())
    options = arrow_csv.ConvertOptions(
        column_types=texts | numbers, include_columns=names, strings_can_be_null=True
    )
    return arrow_csv.read_csv(path, convert_options=options)


def _n_at_a_time(looks: Sequence[Look | None]) -> int:
    """Return on how many partitions memory allows to work at a time."""
    block = max(one.n_bytes for one in looks if one is not None)
    return max(int(available_bytes() // max(_TIMES * block, 1)), 1)


def _goes_in_batches(path: Path) -> bool:
    if not is_table_file(path) or not path.stat().st_size:
        return False
    is_text = path.suffix.lower() in (".csv", ".tsv")
    return not is_text or path.stat().st_size > _SHARE_OF_FREE * available_bytes()
