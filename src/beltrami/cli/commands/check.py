"""``beltrami check``: what is wrong with a table and its labels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli import partitions as parts
from beltrami.cli.speech import Voice
from beltrami.cli.targets import table_target
from beltrami.core.telling.stages import FIT, LEARNING, Stage

if TYPE_CHECKING:
    from beltrami.tables import TableOptions


@o.with_table_options()
def check(
    source: o.Source,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Table of the labels in doubt; those that others only answer otherwise have 'no' "
            "in the column 'sure'.",
        ),
    ] = None,
    table: "TableOptions",
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    config: o.Config = None,
    as_json: o.AsJson = False,
    quiet: o.QuietButFindings = False,
    verbose: o.Verbose = False,
) -> None:
    """Look for labels that seem wrong, islands without a label, equal rows and rare classes.

    Of a folder that `beltrami label` wrote for partitions the representatives and all labels are
    looked at, and rows that no representative covers are counted.

    Example: beltrami check data.csv --label category
    """
    voice = Voice(as_json, quiet, verbose)
    target = None
    written: list[str] = []
    if parts.is_answered(source):
        _check_parts(source, out, table, (seed, jobs, config), voice)
        return
    with voice.work(*LEARNING, Stage.DOUBT):
        from beltrami.labelling.checks import check_table
        from beltrami.labelling.intake import take_in
        from beltrami.labelling.options import LearningOptions
        from beltrami.tables import write_table

        if out is not None:
            target = table_target(source, out, "issues", (*table.beside, config))
        intake = take_in(source, table)
        voice.tell(intake.lines())
        checks = check_table(intake, LearningOptions(random_state=seed, n_jobs=jobs))
        voice.detail(checks.report.lines())
        lines, facts = checks.lines(), checks.record()
        if target is not None:
            write_table(target, checks.sheet(target), {"seed": str(seed)})
            written.append(f"written: {target}")
            facts["written"] = str(target)
    voice.result(written, facts, findings=lines)


def _check_parts(
    source: str,
    out: Path | None,
    table: "TableOptions",
    others: tuple[int, int | None, Path | None],
    voice: Voice,
) -> None:
    """Look labelled partitions over."""
    seed, jobs, config = others
    written: list[str] = []
    with voice.work(Stage.START, Stage.FETCH, *FIT, Stage.DOUBT):
        from beltrami.partitions.people.checking import check_in
        from beltrami.tables import write_table

        target = None if out is None else table_target(source, out, "issues", (config,))
        found = check_in(parts.open_answered(source, table, seed, jobs))
        lines, facts = found.lines(), found.record()
        voice.detail(found.checks.report.lines())
        if target is not None:
            write_table(target, found.sheet(target), {"seed": str(seed)})
            written.append(f"written: {target}")
            facts["written"] = str(target)
    voice.result(written, facts, findings=lines)
