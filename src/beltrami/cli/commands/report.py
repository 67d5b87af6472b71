"""``beltrami report``: the labelling of a file, or the work in a project, as one HTML page."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli import projects
from beltrami.cli.speech import Voice
from beltrami.cli.targets import page_target
from beltrami.core.errors import InvalidInputError
from beltrami.core.telling.stages import LEARNING, Stage

if TYPE_CHECKING:
    from beltrami.labelling import Labelling
    from beltrami.labelling.options import LearningOptions
    from beltrami.tables import TableOptions


@o.with_table_options()
def report(
    source: Annotated[
        str, typer.Argument(help="The data, as for other commands, or a project (.beltrami).")
    ],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The page; NAME.report.html.")
    ] = None,
    table: "TableOptions",
    risk: Annotated[
        float | None,
        typer.Option("--risk", help="Expected share of wrong labels; the least sure are left out."),
    ] = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    config: o.Config = None,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> None:
    """Label a file and write only the page: map, classes, reliability, questions, doubts.

    Of a project the page also says who labelled what, how it went, what audits prove, and which
    command writes the same labels again. Its data are read as they were in the studio, which may
    be open meanwhile.

    Example: beltrami report data.beltrami -o report.html
    """
    voice = Voice(as_json, quiet, verbose)
    with voice.work(*LEARNING, Stage.ASK, Stage.MAP, Stage.PAGE):
        from beltrami.labelling.intake import take_in
        from beltrami.labelling.main_job import label_rows
        from beltrami.labelling.options import LearningOptions

        learning = LearningOptions(risk=risk, random_state=seed, n_jobs=jobs)
        if projects.is_project(source):
            target = page_target(_data_of(source), out, (source, config))
            labelling, lines = _report_project(Path(source), target, table, learning, voice)
        else:
            target = page_target(source, out, (*table.beside, config))
            intake = take_in(source, table)
            voice.tell(intake.lines())
            labelling = label_rows(intake, learning)
            voice.detail(labelling.learner.report_.lines())
            labelling.report(target)
            lines = labelling.lines()
    voice.result(
        [*lines, f"written: {target}"],
        {"sentence": labelling.sentence, "counts": labelling.counts, "written": str(target)},
    )


def _data_of(project: str) -> Path:
    from beltrami.project import data_of

    return data_of(project)


def _report_project(
    path: Path, target: Path, table: "TableOptions", learning: "LearningOptions", voice: Voice
) -> "tuple[Labelling, list[str]]":
    """Write the page of a project, read by the options that it keeps; its summary leaves, too."""
    from beltrami.core.telling.progress import enter_stage
    from beltrami.labelling.bare import can_learn
    from beltrami.labelling.main_job import label_rows
    from beltrami.project.options import said_options
    from beltrami.project.page import draft_page, finish_page, too_few_classes
    from beltrami.report.page.render import save_page

    said = said_options(table)
    if said:
        raise InvalidInputError(
            f"{path.name} keeps how its data are read, so --{' and --'.join(sorted(said))} cannot "
            "be said here. Leave it out, or change the roles in the studio."
        )
    opened = projects.open_to_read(None, table, path, voice)
    if not can_learn(opened.intake):
        raise too_few_classes(opened.state, opened.path.name)
    voice.tell(opened.intake.lines())
    learning = replace(learning, risk=projects.risk_of(opened, learning.risk, voice))
    labelling = label_rows(opened.intake, learning)
    voice.detail(labelling.learner.report_.lines())
    page = finish_page(opened, draft_page(labelling, opened.state, learning))
    enter_stage(Stage.PAGE)
    save_page(page, target)
    return labelling, projects.result_lines(opened, labelling, learning.risk)
