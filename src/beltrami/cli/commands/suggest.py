"""``beltrami suggest``: which rows to label next, and why."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli import partitions as parts
from beltrami.cli.speech import Voice
from beltrami.cli.targets import answer_target
from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import FIT, LEARNING, Stage

if TYPE_CHECKING:
    from beltrami.tables import TableOptions


@o.with_table_options(min_classes=0)
def suggest(
    source: o.Source,
    *,
    number: Annotated[int, typer.Option("-n", "--number", min=1, help="How many rows.")] = 20,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Table of the rows; NAME.ask.csv.")
    ] = None,
    strategy: Annotated[
        str, typer.Option("--strategy", help="auto, cover, uncertain or random.")
    ] = "auto",
    table: "TableOptions",
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    config: o.Config = None,
    as_json: o.AsJson = False,
    quiet: o.QuietButFindings = False,
    verbose: o.Verbose = False,
) -> None:
    """Say which rows to label next, each with its reason and the rows it would settle.

    Works without any label too: then the rows stand for groups of the data. Your own columns stand
    beside the column to fill in; of images, their paths. Of a folder that `beltrami label` wrote
    for partitions the representatives are asked, and the rows counted that they settle in all.

    Example: beltrami suggest data.csv --label category -n 20 -o ask.csv
    """
    voice = Voice(as_json, quiet, verbose)
    if parts.is_answered(source):
        _suggest_in_parts(source, number, out, strategy, table, (seed, jobs, config), voice)
        return
    with voice.work(*LEARNING, Stage.ASK, Stage.WRITE):
        from beltrami.labelling.intake import take_in
        from beltrami.labelling.options import LearningOptions
        from beltrami.labelling.suggestions import suggest_rows
        from beltrami.tables.writing import records, write_table

        target = answer_target(source, out, "ask", (*table.beside, config), "label")
        learning = LearningOptions(random_state=seed, n_questions=number, n_jobs=jobs)
        intake = take_in(source, table)
        voice.tell(intake.lines())
        suggestions = suggest_rows(intake, strategy, learning)
        enter_stage(Stage.WRITE)
        sheet = suggestions.sheet(target)
        write_table(target, sheet, {"seed": str(seed), "strategy": strategy})
    voice.result(
        [f"written: {target}"],
        {"questions": records(sheet), "written": str(target)},
        findings=suggestions.lines(),
    )


def _suggest_in_parts(
    source: str,
    number: int,
    out: Path | None,
    strategy: str,
    table: "TableOptions",
    others: tuple[int, int | None, Path | None],
    voice: Voice,
) -> None:
    """Ask about the representatives of labelled partitions."""
    seed, jobs, config = others
    with voice.work(Stage.START, Stage.FETCH, *FIT, Stage.ASK, Stage.WRITE):
        from beltrami.partitions.people.asking import suggest_in
        from beltrami.tables.writing import records, write_table

        target = answer_target(source, out, "ask", (config,), "label")
        folder = parts.open_answered(source, table, seed, jobs)
        suggestions = suggest_in(folder, number, strategy)
        enter_stage(Stage.WRITE)
        sheet = suggestions.sheet(target)
        write_table(target, sheet, {"seed": str(seed), "strategy": strategy})
    again = f"then: {folder.command} --labels {shlex.quote(str(target))} -o NEW"
    masses = suggestions.masses
    voice.result(
        [f"written: {target}", again],
        {
            "questions": records(sheet),
            "n_rows": folder.chosen.coverage.n_rows,
            "n_representatives": len(masses.each),
            "n_looked_at": masses.n_looked,
            "written": str(target),
        },
        findings=suggestions.lines(),
    )
