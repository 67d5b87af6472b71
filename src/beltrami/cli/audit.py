"""``beltrami audit``: check a few labels blindly, and know how right all of them are."""

from pathlib import Path
from typing import Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli.targets import answer_target


def audit(
    labels: Annotated[Path, typer.Argument(help="What `beltrami label` wrote.")],
    number: Annotated[int, typer.Option("-n", "--number", min=1, help="Rows to check.")] = 60,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", help="The checked table: its column 'answer' filled in."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Table to fill in; NAME.audit.csv.")
    ] = None,
    confidence: Annotated[
        float, typer.Option("--confidence", help="Of the guaranteed accuracy.")
    ] = 0.95,
    seed: o.Seed = 0,
    config: o.Config = None,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Draw labels to check blindly; with --answers, say what accuracy they prove.

    The sample is random among the labels that were accepted; fill in what you see without looking
    at what we said.

    Example: beltrami audit labels.csv -o audit.csv; beltrami audit labels.csv --answers audit.csv
    """
    from beltrami.data.tables import write_table
    from beltrami.report.labelling.audits import Pool

    voice = o.Voice(as_json, quiet)
    if answers is None:
        target = answer_target(labels, out, "audit", (config,), "answer")
        pool = Pool.read(labels)
        columns = pool.drawn(number, random_state=seed)
        n = len(columns["id"])
        write_table(target, columns, pool.facts(n, seed))
        voice.result(
            [
                f"{n} of {len(pool.ids):,} accepted labels to check: fill in the column 'answer'",
                f"written: {target}",
                f"then: beltrami audit {labels} --answers {target}",
            ],
            {"n_drawn": n, "n_accepted": len(pool.ids), "written": str(target)},
        )
        return
    with o.collected_warnings(voice):
        found = Pool.read(labels).certified(answers, confidence=confidence)
    voice.result(
        [found.sentence],
        {
            "sentence": found.sentence,
            "n_checked": found.n_checked,
            "n_wrong": found.n_wrong,
            "n_accepted": found.n_accepted,
            "accuracy": found.accuracy,
            "lower": found.lower,
            "confidence": found.confidence,
        },
    )
