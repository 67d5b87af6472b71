"""``beltrami audit``: check a few labels blindly, and know how right all of them are."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli.speech import Voice
from beltrami.cli.targets import answer_target, page_target
from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import Stage

if TYPE_CHECKING:
    from beltrami.labelling.proving.audit_contents import AuditContents
    from beltrami.labelling.proving.audits import AuditedLabels
    from beltrami.review.audit import Certificate


def audit(
    labels: Annotated[Path, typer.Argument(help="What `beltrami label` wrote.")],
    number: Annotated[
        int | None,
        typer.Option("-n", "--number", min=1, help="Rows of a round; 65, then as the first."),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", help="The checked table: its column 'answer' filled in."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Table to fill in; NAME.audit.csv, then NAME.audit-2.csv."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="With --answers: write the proof as an HTML page here too."),
    ] = None,
    target: Annotated[
        float | None,
        typer.Option(
            "--target",
            help="Accuracy to be proved; left out, 1 less the risk that labels were accepted by, "
            "or 0.95 without one.",
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option("--confidence", help="Of the guaranteed accuracy.")
    ] = 0.95,
    other: Annotated[
        list[str] | None,
        typer.Option("--other", help="An answer that is none of the classes; may be given again."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="The data, to show the rows; looked for when left out."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Seed of the draw; a fresh one when left out.")
    ] = None,
    config: o.Config = None,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Draw labels to check blindly; with --answers, say what accuracy they prove.

    The sample is random among the labels that were accepted and not looked at before; fill in what
    you see without looking at what we said. Your own columns stand beside, where the data are found
    again. What was drawn and answered is recorded beside the labels file, and further rounds add to
    the proof. Of a folder of labelled partitions rows are drawn from all with equal chance, and the
    proof is about all of them. An answered table is also a table of labels, for `beltrami label
    --labels`: its rows are then yours, and the labels made with them begin a new certificate.

    Example: beltrami audit labels.csv -o audit.csv; beltrami audit labels.csv --answers audit.csv
    """
    voice = Voice(as_json, quiet)
    if answers is None:
        _draw(labels, number, seed, out, report, data, config, voice)
    else:
        _certify(labels, answers, tuple(other or ()), report, target, confidence, voice)


def _draw(
    labels: Path,
    number: int | None,
    seed: int | None,
    out: Path | None,
    report: Path | None,
    data: Path | None,
    config: Path | None,
    voice: Voice,
) -> None:
    with voice.work(Stage.START, Stage.READ, Stage.WRITE):
        from beltrami.core.errors import InvalidInputError
        from beltrami.tables import write_table

        if report is not None:
            raise InvalidInputError(
                "--report writes what answers prove, and a draw has none yet. Fill in the table "
                "first, then give it with --answers beside --report."
            )
        if out is not None:
            answer_target(labels, out, "audit", (config, data), "answer")  # before any work
        enter_stage(Stage.READ)
        earlier = _read(labels)
        audited = earlier.draw(number, seed)
        place = len(audited.record.trail.rounds)
        is_new = audited is not earlier
        word = "audit" if place == 1 else f"audit-{place}"
        sheet = answer_target(labels, out, word, (config, data), "answer")
        contents = _contents(labels, audited, sheet, data)
        enter_stage(Stage.WRITE)
        record = audited.record.write(labels) if is_new else audited.record.path_beside(labels)
        facts = {"labels": labels.name, "round": str(place), "labels_sha256": audited.digest}
        write_table(sheet, audited.sheet | contents.columns, facts)
    n = len(audited.drawn)
    what = f"round {place}: {n} of {audited.n_accepted:,} accepted labels to check"
    if not is_new:
        what = f"round {place} has no answers yet; its {n} rows again"
    rounds = audited.record.trail.rounds
    words = []
    if is_new and place > 1 and rounds[-1].pool != rounds[-2].pool:
        words.append("labels have changed since the last draw: a new certificate begins here")
    voice.result(
        [
            f"{what}: fill in the column 'answer'; a blank counts as wrong",
            *words,
            contents.line,
            f"written: {sheet}",
            f"recorded: {record}",
            f"then: beltrami audit {labels} --answers {sheet}",
        ],
        {
            "n_drawn": n,
            "n_accepted": audited.n_accepted,
            "round": place,
            "contents": contents.line,
            "written": str(sheet),
            "record": str(record),
        },
    )


def _read(labels: Path) -> "AuditedLabels":
    """Read a labels file, or a folder of labelled partitions."""
    if labels.is_dir():
        from beltrami.partitions.people.answered import is_results
        from beltrami.partitions.people.auditing import read_audited

        if is_results(labels):
            return read_audited(labels)
    from beltrami.labelling.proving.audits import AuditedLabels

    return AuditedLabels.read(labels)


def _contents(
    labels: Path, audited: "AuditedLabels", sheet: Path, data: Path | None
) -> "AuditContents":
    """Return what the rows that were drawn are."""
    from beltrami.labelling.proving.audit_contents import find_contents

    if labels.is_dir() and data is None:
        from beltrami.partitions.people.auditing import find_audited

        return find_audited(labels, audited.drawn, sheet)
    return find_contents(labels, audited.drawn, sheet, data)


def _certify(
    labels: Path,
    answers: Path,
    others: tuple[str, ...],
    report: Path | None,
    target: float | None,
    confidence: float,
    voice: Voice,
) -> None:
    with voice.work(Stage.START, Stage.READ, Stage.AUDIT):
        from beltrami.labelling.proving.audit_record import AuditRecord
        from beltrami.review.audit import check_share
        from beltrami.review.proof import USUAL_TARGET

        if target is not None:
            check_share(target, "target")
        if report is not None:
            page_target(labels, report, (answers, AuditRecord.path_beside(labels)))
        enter_stage(Stage.READ)
        earlier = _read(labels)
        goal = earlier.usual_target if target is None else target
        enter_stage(Stage.AUDIT)
        audited = earlier.take_answers(answers, others=others)
        proof = audited.certificate(confidence)
        outlook, n_answers = audited.outlook(proof, goal)
        if audited.record != earlier.record:
            audited.record.write(labels)
        if report is not None:
            from beltrami.labelling.proving.proof_page import proof_page
            from beltrami.report.page.proof import save_proof

            save_proof(proof_page(audited, proof, outlook, goal, answers), report)
    rounds = len(audited.record.trail.answered.rounds)
    lines = _proof_lines(audited, proof, outlook)
    if target is None and goal != USUAL_TARGET:
        lines.append(
            f"The target is {100 * goal:.12g} %, because the labels were accepted by a risk of "
            f"{earlier.risk:g}; --target names another."
        )
    if report is not None:
        lines.append(f"written: {report}")
    voice.result(
        lines,
        {
            "sentence": proof.sentence,
            "outlook": outlook,
            "n_checked": proof.n_checked,
            "n_wrong": proof.n_wrong,
            "n_blank": proof.n_blank,
            "wrong": audited.wrong,
            "n_accepted": proof.n_accepted,
            "rounds": rounds,
            "accuracy": proof.accuracy,
            "lower": proof.lower,
            "lower_judged": proof.lower_judged,
            "confidence": proof.confidence,
            "target": goal,
            "is_proved": proof.lower >= goal,
            "n_further_answers": n_answers,
            "report": None if report is None else str(report),
        },
    )


def _proof_lines(audited: "AuditedLabels", proof: "Certificate", outlook: str) -> list[str]:
    """Return what is proved, what is missing, and the labels found wrong."""
    from beltrami.tables.model import few_of

    lines = [proof.sentence, outlook]
    looks = len(audited.record.trail.answered.rounds)
    if looks > 1:
        lines.insert(1, f"This is look {looks}; all bounds given so far hold together.")
    if audited.wrong:
        lines.append(f"wrong labels: {few_of(audited.wrong, 10)}")
    return lines
