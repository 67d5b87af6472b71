"""The job on partitions: survey, representatives, the front door on these, every row answered."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.threads import resolve_jobs
from beltrami.core.telling.progress import enter_stage, job
from beltrami.core.telling.stages import FIT, Stage
from beltrami.front_door.kept.labeller import KeptLabeller
from beltrami.labelling.kept.answers import counts_by_source
from beltrami.labelling.options import LearningOptions
from beltrami.partitions.answers.answering import Answerer, AnswerTask, KeptAnswerer, written_name
from beltrami.partitions.answers.learned import LABELLER, Learned, learner_of
from beltrami.partitions.crews.opening import crew_of
from beltrami.partitions.crews.passes import Passes
from beltrami.partitions.manifest import FOLDER, Manifest
from beltrami.partitions.model import Partition, Survey
from beltrami.partitions.options import SHARE, PartitionOptions, read_size, require_seed
from beltrami.partitions.places import require_apart, require_own_names
from beltrami.partitions.plan import Plan, make_plan, require_space, room_of
from beltrami.partitions.reading.beside import label_prints, with_read_labels
from beltrami.partitions.reading.first_look import look_at_all
from beltrami.partitions.reading.layout import Layout
from beltrami.partitions.reading.sources import find_partitions, place_of
from beltrami.partitions.representing.representatives import Choice, Representatives
from beltrami.partitions.representing.settling import settle
from beltrami.partitions.result import PartitionedLabelling
from beltrami.tables import TableOptions
from beltrami.tables.columns.labels import marker_text

STAGES = (
    Stage.SURVEY,
    Stage.DRAW,
    Stage.COVER,
    Stage.SETTLE,
    Stage.WITNESS,
    *FIT,
    Stage.ANSWER,
)
"""What the job goes through."""


def label_partitions(
    source: Any,
    label: str | None = None,
    *,
    out: Path | str,
    labels: Any = None,
    client: Any = None,
    memory: int | str | None = None,
    n_representatives: int | None = None,
    coverage: float = SHARE,
    form: str = "parquet",
    id: str | None = None,  # noqa: A002 - the word of the command line
    features: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    unlabeled: Any = None,
    impute: bool = False,
    method: str = "auto",
    risk: float | None = None,
    time_budget: float | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> PartitionedLabelling:
    """Label every row of a table in partitions that may be larger than memory.

    One pass counts rows, labels and moments. Another draws a sample; with it go all labelled rows,
    and whatever rows the sample does not cover at its local scale, in rounds, until a share of all
    rows is covered or no more may learn. `ManifoldClassifier` learns from these. Every partition is
    then answered and written on its own; a job that was cut short is taken up by the same call. The
    results are the same bytes whatever the number of workers and their order.

    Parameters
    ----------
    source : path, str or dask DataFrame
        A folder or a pattern of parquet, arrow, feather, csv or tsv files, one file, or a frame.
    label : str or None, default=None
        Column of the labels; None looks for one called label, class, target and the like.
    out : path
        Folder of the results: a file for each partition, by its name. New, empty, or of this job.
    labels : path, table, list of these or None, default=None
        Tables of ids and labels, such as answers to questions; they come on top of the column.
        Where there is no column of ids, they are numbers of rows through all that can be read.
    client : distributed.Client, str or None, default=None
        Who works: a client, "local" for processes on this machine, the address of a scheduler, or
        None for the client in force, else threads of this process.
    memory : int, str or None, default=None
        What the process may hold, such as "3GiB"; None for half of what is free. Workers of a
        cluster hold a batch and the learner each, beside that.
    n_representatives : int or None, default=None
        Rows that learn, at most, all with a label among them; None for 50,000, for 10,000 more
        than have a label, or for as many as the memory holds.
    coverage : float, default=0.999
        Share of rows that are to be covered.
    form : {"parquet", "csv"}, default="parquet"
        Of the files that are written.
    id : str or None, default=None
        Column of the ids; None looks for one, else rows are numbered through all partitions.
    features : sequence of str or None, default=None
        Columns of numbers or vectors to compare rows by; None guesses.
    ignore : sequence of str, default=()
        Columns to leave out.
    unlabeled : object, default=None
        What marks a row without a label, besides empty cells.
    impute : bool, default=False
        Whether what is not finite in vectors is filled, by means.
    method : str, default="auto"
        As in `ManifoldClassifier`.
    risk : float or None, default=None
        Largest expected share of wrong ones among accepted labels; None accepts all.
    time_budget : float or None, default=None
        Seconds after which no further method is tried.
    random_state : int, default=0
        Seeds what is drawn.
    n_jobs : int or None, default=None
        Partitions at a time, and threads of the fit.

    Returns
    -------
    PartitionedLabelling
        What was written, with its certificate, and which partitions failed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> import beltrami as bt
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (folder / "in").mkdir()
    >>> moons = bt.two_moons(300, random_state=0)
    >>> kinds = [int(c) if i % 30 == 0 else None for i, c in enumerate(moons.targets)]
    >>> whole = pa.table({"a": moons.points[:, 0], "b": moons.points[:, 1], "kind": kinds})
    >>> for part in range(3):
    ...     pq.write_table(whole.slice(100 * part, 100), folder / "in" / f"{part}.parquet")
    >>> found = bt.label_partitions(folder / "in", "kind", out=folder / "out")
    >>> found.counts["rows"], sorted(path.name for path in found.written)
    (300, ['0.parquet', '1.parquet', '2.parquet'])
    """
    table = TableOptions(
        label=label,
        id=id,
        features=features or (),
        ignore=ignore,
        unlabeled=unlabeled,
        impute=impute,
        labels=labels,
    )
    learning = LearningOptions(
        method, risk, time_budget, random_state, n_questions=0, n_jobs=n_jobs
    )
    options = PartitionOptions(read_size(memory), n_representatives, coverage, form, n_jobs)
    with job(*STAGES):
        return Job(source, table, learning, options, Path(out), client).run()


class Job:
    """A job on partitions, from its options to the files."""

    def __init__(
        self,
        source: Any,
        table: TableOptions,
        learning: LearningOptions,
        options: PartitionOptions,
        out: Path,
        client: Any = None,
        tell: Any = None,
    ) -> None:
        self._source, self._table, self._learning = source, table, learning
        self._options, self._out, self._client = options, out, client
        self._tell = tell or (lambda _: None)

    def run(self) -> PartitionedLabelling:
        """Do it, or what is left of it."""
        require_supported(self._table)
        require_seed(self._learning.random_state)
        self._table = with_read_labels(self._table)
        partitions = find_partitions(self._source, delimiter=self._table.delimiter)
        require_apart(self._source, self._out)
        require_own_names(partitions, self._options.form)
        enter_stage(Stage.SURVEY)
        inputs = {one.name: one.fingerprint() for one in partitions}
        manifest = Manifest(self._out, inputs, self._facts(), self._again(partitions))
        n_jobs = resolve_jobs(self._options.n_jobs)
        with manifest.held(), crew_of(self._client, n_jobs) as crew:
            crew.require_sight(manifest.marker)
            return self._go_on(partitions, Passes(crew), manifest)

    def _facts(self) -> dict[str, str]:
        """Return all that the results depend on beside the inputs."""
        from beltrami import __version__

        table, options = self._table, self._options
        return {
            "beltrami": __version__,
            "numpy": np.__version__,
            "label": str(table.label),
            "id": str(table.id),
            "features": ",".join(table.features),
            "ignore": ",".join(table.ignore),
            "unlabeled": repr(None if table.unlabeled is None else marker_text(table.unlabeled)),
            "impute": str(table.impute),
            "learning": str(self._learning),
            "memory": str(options.memory),
            "representatives": str(options.n_representatives),
            "coverage": str(options.coverage),
            "form": options.form,
            **label_prints(table),
        }

    def _again(self, partitions: Sequence[Partition]) -> dict[str, Any]:
        """Return what it takes to read the rows again and to learn from them as here."""
        options = self._learning
        return {
            "place": place_of(self._source, partitions, self._out / FOLDER / "manifest.json"),
            "learning": {
                "method": options.method,
                "risk": options.risk,
                "time_budget": options.time_budget,
                "random_state": int(options.random_state),  # type: ignore[arg-type]
            },
        }

    def _go_on(
        self, partitions: tuple[Partition, ...], passes: Passes, manifest: Manifest
    ) -> PartitionedLabelling:
        room = room_of(self._options)
        kept, layout, survey = look_at_all(partitions, passes, self._table, self._out, room)
        manifest.leave_out(passes.failures)
        plan = make_plan(self._options, layout, kept, survey)
        passes.crew.hold_to(plan.n_jobs)
        space = require_space(self._out, self._options.form, layout, survey)
        self._tell([*layout.notes, *survey.notes, str(plan), space])
        manifest.write()
        chosen = self._represent(kept, passes, layout, survey, plan, manifest)
        layout = chosen.read_as_then(layout, kept)
        self._tell([str(chosen.coverage)])
        learned = self._learn(chosen, manifest)
        alone = replace(learned.labeller, n_jobs=1)  # partitions share the threads
        answerer = KeptAnswerer(alone, layout, chosen.yardstick.center)
        done = self._answer(kept, passes, answerer, layout, chosen, manifest)
        notes = (*layout.notes, *survey.notes)
        known = tuple(one for one in partitions if one.name in chosen.partitions)
        return self._conclude(done, passes, learned, chosen, notes, known)

    def _represent(
        self,
        partitions: Sequence[Partition],
        passes: Passes,
        layout: Layout,
        survey: Survey,
        plan: Plan,
        manifest: Manifest,
    ) -> Representatives:
        """Choose representatives, or take those that were chosen before the job was cut short."""
        path = manifest.out / FOLDER / "representatives.npz"
        kept = Representatives.read(path, manifest.key)
        if kept is not None:
            return kept
        seed = int(self._learning.random_state)  # type: ignore[arg-type]
        share, most = self._options.coverage, plan.n_representatives
        choice = Choice(layout, survey, self._table, seed, most, share)
        chosen = choice.choose(partitions, passes)
        chosen = settle(chosen, partitions, passes, layout, survey, seed + 1)
        manifest.learn_without(passes.failures)
        for old in (path.with_name(LABELLER), path.with_suffix(".parquet")):
            old.unlink(missing_ok=True)  # of other representatives
        chosen.write(path, manifest.key)
        return chosen

    def _learn(self, chosen: Representatives, manifest: Manifest) -> Learned:
        """Fit the front door to the representatives, or take what was learned before."""
        path = manifest.out / FOLDER / LABELLER
        kept = Learned.read(path, manifest.key)
        if kept is not None:
            return kept
        learner = learner_of(chosen, self._learning)
        learner.fit(chosen.points, chosen.labels)
        labeller = KeptLabeller.of(learner)
        if chosen.masses is not None:
            labeller = KeptLabeller.of_many(learner, chosen.masses)
        return Learned.write(path, manifest.key, labeller, learner.report_)

    def _answer(
        self,
        partitions: Sequence[Partition],
        passes: Passes,
        answerer: Answerer,
        layout: Layout,
        chosen: Representatives,
        manifest: Manifest,
    ) -> dict[Path, Any]:
        """Answer and write what is not done yet; return what became of each partition."""
        enter_stage(Stage.ANSWER)
        out, form = self._out, self._options.form
        targets = [out / written_name(one.name, form) for one in partitions]
        offsets = dict(zip(chosen.partitions, chosen.offsets.tolist(), strict=True))
        pairs = zip(partitions, targets, strict=True)
        done = [manifest.counts(one.name, target) for one, target in pairs]
        ahead = [place for place, one in enumerate(done) if one is None]

        def note(place: int, counts: Any) -> None:
            done[ahead[place]] = counts
            manifest.note(partitions[ahead[place]].name, counts, targets[ahead[place]])

        try:
            passes.over(
                Stage.ANSWER,
                AnswerTask(answerer, layout, self._table, out.absolute(), form),
                [partitions[place] for place in ahead],
                [offsets[partitions[place].name] for place in ahead],
                [chosen.partitions[partitions[place].name] for place in ahead],
                on_result=note,
                is_rest=len(ahead) < len(partitions),
            )
        except BaseException:
            with suppress(OSError):
                manifest.write()
            raise
        manifest.write()
        return {
            target: counts
            for target, counts in zip(targets, done, strict=True)
            if counts is not None
        }

    def _conclude(
        self,
        done: dict[Path, Any],
        passes: Passes,
        learned: Learned,
        chosen: Representatives,
        notes: tuple[str, ...],
        partitions: tuple[Partition, ...],
    ) -> PartitionedLabelling:
        sources: Counter[str] = Counter()
        labels: Counter[str] = Counter()
        sure, n_unlike = 0.0, 0
        for counts in done.values():
            sources.update(counts.sources)
            labels.update(counts.labels)
            sure += counts.confidence
            n_unlike += counts.n_unlike
        counted = counts_by_source(sources)
        expected = sure / counted["labelled"] if counted["labelled"] else float("nan")
        return PartitionedLabelling(
            self._out,
            tuple(done),
            counted,
            labels,
            n_unlike,
            expected,
            chosen.coverage,
            learned.labeller,
            learned.report,
            tuple(passes.failures),
            notes,
            passes.pace,
            partitions,
            self._client,
        )


def require_supported(table: TableOptions) -> None:
    """Refuse options of one table that partitions do not know yet."""
    refused = {
        "text": table.text,
        "categories": table.categories,
        "embeddings": table.embeddings,
        "text_model": table.text_model,
        "decimal": table.decimal,
    }
    given = [name for name, value in refused.items() if value]
    if given:
        raise InvalidInputError(
            f"{', '.join(given)} cannot be used with partitions, which are compared by numbers and "
            "vectors of their own. Write these columns into the partitions, or label one table."
        )
