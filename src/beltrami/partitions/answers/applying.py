"""A kept labeller on tables of any size: rows enter in batches, answers leave file by file.

What is said of a row rests on the labeller and on the batch that it falls into, and batches have a
fixed number of rows, however a file holds them: who worked on what does not matter.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.memory import available_bytes
from beltrami.core.machine.threads import resolve_jobs
from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import Stage
from beltrami.labelling.kept.answers import COLUMNS, Answers, NewLabels, new_labels
from beltrami.labelling.kept.applied import Applied
from beltrami.labelling.kept.table_labeller import ROWS, TableLabeller
from beltrami.partitions.answers.answering import PartCounts, written_name
from beltrami.partitions.answers.looking import Look, LookTask, as_kinds, common_kind
from beltrami.partitions.crews.crew import ThreadCrew, is_full
from beltrami.partitions.crews.passes import Passes
from beltrami.partitions.manifest import FOLDER, Manifest
from beltrami.partitions.model import Failure, Partition, is_written_as_text
from beltrami.partitions.places import require_apart, require_own_names
from beltrami.partitions.reading.sources import find_partitions, is_large, is_table_file
from beltrami.tables import Table, TableOptions, read_table
from beltrami.tables.features.recipe import require_columns
from beltrami.tables.model import decode_categories
from beltrami.tables.reading.objects import arrow_table
from beltrami.tables.writing import open_table

_BATCHES = 16
"""Batches that are written at a time."""

_TIMES = 4
"""What a partition takes while it is answered, in what is decoded at a time."""


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
    labeller.recipe.require_use_of(options.embeddings)
    enter_stage(Stage.READ)
    if options.embeddings is None and _goes_in_batches(Path(source)):
        (partition,) = find_partitions(source, delimiter=options.delimiter)
        look = LookTask(labeller.roles.id, labeller.roles.label)(partition)
        return _task(labeller, [look], target.parent, "", facts).answer(partition, target, 0, look)
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
        return _apply_all(labeller, partitions, manifest, resolve_jobs(n_jobs), form, facts)


def _apply_all(
    labeller: TableLabeller,
    partitions: Sequence[Partition],
    manifest: Manifest,
    n_jobs: int,
    form: str,
    facts: dict[str, str],
) -> AppliedParts:
    """Answer what is not done yet."""
    out, passes = manifest.out, Passes(ThreadCrew(n_jobs))
    enter_stage(Stage.SURVEY)
    looker = LookTask(labeller.roles.id, labeller.roles.label)
    looks: list[Look | None] = passes.over(Stage.SURVEY, looker, partitions)
    seen = [one for one in looks if one is not None]
    passes.crew.hold_to(_n_at_a_time(seen))
    task = _task(labeller.with_jobs(1), seen, out, form, facts)
    enter_stage(Stage.ANSWER)
    targets = [out / written_name(one.name, form) for one in partitions]
    pairs = zip(partitions, targets, strict=True)
    done: list[Applied | None] = [_done(labeller, manifest, one.name, at) for one, at in pairs]
    ahead = [place for place, one in enumerate(done) if one is None and looks[place] is not None]
    counts = [0 if one is None else one.n_rows for one in looks]
    firsts = [sum(counts[:place]) for place in range(len(counts))]

    def note(place: int, applied: Applied) -> None:
        place = ahead[place]
        done[place] = applied
        counts = PartCounts.of(applied.counts["rows"], applied.tally)
        manifest.note(partitions[place].name, counts, targets[place])

    manifest.write()  # before there is a file, which a later call would take for a stranger's
    try:
        passes.over(
            Stage.ANSWER,
            task,
            [partitions[place] for place in ahead],
            [(firsts[place], looks[place]) for place in ahead],
            on_result=note,
            is_rest=any(done),
        )
    except InvalidInputError:
        if not any(done):  # nothing came of it: the folder is free for other partitions
            (out / FOLDER / "manifest.json").unlink(missing_ok=True)
        raise
    manifest.write()
    whole = Applied(labeller)
    for one in done:
        whole = whole if one is None else whole.with_others(one)
    written = tuple(at for at, one in zip(targets, done, strict=True) if one is not None)
    return AppliedParts(whole, written, tuple(passes.failures))


@dataclass(frozen=True, slots=True, eq=False)
class ApplyTask:
    """What answers one partition and writes it.

    Attributes
    ----------
    labeller : TableLabeller
        What answers.
    labels : NewLabels
        How labels are read and written in all partitions.
    id_type : arrow type or None
        Of the ids in all partitions; None where rows are numbered.
    out : Path
        Folder of the results.
    form : {"parquet", "csv"}
        Of the files.
    facts : dict of str to str
        What is written with the answers.
    """

    labeller: TableLabeller
    labels: NewLabels
    id_type: Any
    out: Path
    form: str
    facts: dict[str, str]

    def __call__(self, partition: Partition, extra: tuple[int, Look]) -> Applied:
        """Answer one partition; rows without ids are numbered from the first of the extra."""
        target = self.out / written_name(partition.name, self.form)
        try:
            return self.answer(partition, target, *extra)
        except InvalidInputError as error:
            if error.__cause__ is not None and is_full(error.__cause__):
                raise error.__cause__ from None  # which is no fault of the partition
            raise

    def answer(self, partition: Partition, target: Path, first: int, look: Look) -> Applied:
        """Answer a file batch by batch."""
        begun = arrow_table(partition.schema().empty_table(), partition.name)
        require_columns(begun, self.labeller.recipe.columns)
        types = self._types(partition, begun, look)
        enter_stage(Stage.ANSWER)
        applied, waiting, is_begun = Applied(self.labeller), list[Any](), False
        with open_table(target, self.facts) as write:
            for rows in _batches(partition, types, look):
                answers = self.labeller.answer(rows, self.labels, first)
                first += rows.n_rows
                applied = applied.plus(answers)
                waiting.append(answers)
                if len(waiting) == _BATCHES:
                    write(Answers.joined(waiting).table)
                    waiting.clear()
                    is_begun = True
            if waiting or not is_begun:
                none = _empty(types, partition.name)
                waiting = waiting or [self.labeller.answer(none, self.labels)]
                write(Answers.joined(waiting).table)
        return applied

    def _types(self, partition: Partition, begun: Table, look: Look) -> dict[str, Any]:
        """Return the columns that are read, and as what: those of a csv as they are written."""
        import pyarrow as pa

        named = [*self.labeller.recipe.columns, self.labeller.roles.id, self.labeller.roles.label]
        held = dict.fromkeys(name for name in named if name in begun.names)
        if is_written_as_text(partition):
            types = dict.fromkeys(held, pa.string()) | look.kinds
        else:
            types = {name: decode_categories(begun.columns.column(name)).type for name in held}
        role = self.labeller.roles.id
        return types | ({role: self.id_type} if role in look.kinds else {})


def _task(
    labeller: TableLabeller, looks: Sequence[Look], out: Path, form: str, facts: dict[str, str]
) -> ApplyTask:
    """Return what answers partitions, of whose ids and labels is known what they hold."""
    roles = labeller.roles
    found = [one.kinds[roles.label] for one in looks if roles.label in one.kinds]
    labels = new_labels(roles.label, roles.marker, labeller.classes_, found)
    return ApplyTask(labeller, labels, common_kind(looks, roles.id), out, form, facts)


def _batches(partition: Partition, types: Mapping[str, Any], look: Look) -> Iterator[Table]:
    """Yield the rows of a file in batches of one size, but for the last."""
    import pyarrow as pa

    waiting: list[Any] = []
    n_waiting = 0
    settled = {name: types[name] for name in look.kinds} if is_written_as_text(partition) else {}
    texts = dict.fromkeys(settled, pa.string())
    for piece in partition.batches({**types, **texts}, ROWS):
        batch = as_kinds(piece, settled)
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
    import pyarrow as pa

    if manifest.counts(name, written) is None:
        return None
    try:
        return Applied(labeller).plus(Answers(_read_answers(written)))
    except (pa.ArrowException, OSError, UnicodeDecodeError):  # damaged since: it is answered again
        return None


def _read_answers(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv
    import pyarrow.parquet as pq

    names = [name for name in COLUMNS if name != "id"]
    if path.suffix == ".parquet":
        return pq.read_table(path, columns=names)
    texts = dict.fromkeys(("label", "source", "guess", "second_label"), pa.string())
    numbers = dict.fromkeys(("confidence", "margin"), pa.float64())
    truths = dict.fromkeys(("reached", "unlike"), pa.bool_())
    options = arrow_csv.ConvertOptions(
        column_types=texts | numbers | truths,
        include_columns=names,
        null_values=[""],  # a class may be called NA
        strings_can_be_null=True,
    )
    parsing = arrow_csv.ParseOptions(newlines_in_values=True)
    return arrow_csv.read_csv(path, parse_options=parsing, convert_options=options)


def _n_at_a_time(looks: Sequence[Look]) -> int:
    """Return on how many partitions memory allows to work at a time."""
    block = max(one.n_bytes for one in looks)
    return max(int(available_bytes() // max(_TIMES * block, 1)), 1)


def _goes_in_batches(path: Path) -> bool:
    if not is_table_file(path) or not path.stat().st_size:
        return False
    is_text = path.suffix.lower() in (".csv", ".tsv")
    return not is_text or is_large(path)
