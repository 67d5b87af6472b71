"""``beltrami apply``: new rows answered by a labeller that was kept."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli import targets
from beltrami.cli.partitions import Form
from beltrami.cli.speech import Voice
from beltrami.core.errors import InvalidInputError
from beltrami.core.telling.stages import Stage

if TYPE_CHECKING:
    from beltrami.labelling.kept.table_labeller import TableLabeller
    from beltrami.tables import TableOptions


def apply(
    model: Annotated[
        Path, typer.Argument(help="The labeller, as `beltrami label --save` wrote it.")
    ],
    source: Annotated[
        str, typer.Argument(help="New rows: a file as for other commands, a folder or a pattern.")
    ],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Result; NAME.applied.csv when left out.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", help="Column of the ids; as it was when left out.")
    ] = None,
    embeddings: Annotated[
        str | None,
        typer.Option("--embeddings", help="Vectors beside the data, where they stood beside it."),
    ] = None,
    text_model: Annotated[
        str | None, typer.Option("--text-model", help="Where the model of texts lies now.")
    ] = None,
    delimiter: Annotated[str | None, typer.Option("--delimiter", help="Of a csv file.")] = None,
    form: Form = "parquet",
    jobs: o.Jobs = None,
    config: o.Config = None,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Answer new rows by a labeller that was kept, without fitting again.

    Columns are found by their names, in whatever order. Labels that are in the new data stay, and
    are compared with the answers. Rows unlike what the labeller saw are left to you, counted, and
    marked in the column `unlike`; the summary says what has changed since the labeller learned.

    A parquet or arrow file is read in batches. A folder or a pattern of tables gives a folder with
    a file for each, and the same command takes up what was cut short.

    Example: beltrami apply model.beltrami new.parquet -o labels.parquet
    """
    voice = Voice(as_json, quiet)
    with voice.work(Stage.START, Stage.READ, Stage.SURVEY, Stage.ANSWER):
        from beltrami.partitions.reading.sources import is_partitioned

        is_folder = is_partitioned(source)
        inputs = (model, embeddings, config)
        target = _target(source, out, inputs, is_folder=is_folder)
        labeller, facts = _labeller(model, source)
        labeller = labeller.found_in(text_model).with_jobs(jobs).with_id(id_column)
        options = labeller.reading(embeddings=embeddings, delimiter=delimiter)
        voice.tell([f"labeller: {facts['labeller']}, learned from {facts['learned_from']}"])
        if is_folder:
            _answer_parts(labeller, source, target, options, facts, form, jobs, voice)
            return
        from beltrami.partitions.answers.applying import apply_to_table

        applied = apply_to_table(labeller, source, target, options, facts)
    summary = applied.facts() | {"facts": facts, "written": [str(target)]}
    voice.result([*applied.lines(), f"written: {target}"], summary)


def _target(source: str, out: Path | None, inputs: tuple[object, ...], *, is_folder: bool) -> Path:
    if not is_folder:
        return targets.table_target(source, out, "applied", inputs)
    return targets.folder_target(targets.usual_folder(source, "applied") if out is None else out)


def _labeller(model: Path, source: str) -> "tuple[TableLabeller, dict[str, str]]":
    """Return the labeller, and what the answers rest on."""
    from beltrami import __version__
    from beltrami.front_door.kept.file import is_labeller, seal_of
    from beltrami.labelling.kept.keeping import load_table_labeller

    if is_labeller(Path(source)):
        raise InvalidInputError(
            f"{source!r} is a labeller, and new rows are due there. The labeller comes first: "
            "beltrami apply MODEL SOURCE."
        )
    labeller = load_table_labeller(model)
    learned = labeller.facts
    return labeller, {
        "beltrami": __version__,
        "labeller": model.name,
        "labeller_seal": seal_of(model),
        "learned_from": learned.get("data", ""),
        "learned_from_sha256": learned.get("data_sha256", ""),
    }


def _answer_parts(
    labeller: "TableLabeller",
    source: str,
    out: Path,
    options: "TableOptions",
    facts: dict[str, str],
    form: str,
    jobs: int | None,
    voice: Voice,
) -> None:
    """Answer partitions, say what came of it, and exit with 1 where some failed."""
    from beltrami.partitions.answers.applying import apply_to_parts

    if options.embeddings is not None:
        raise InvalidInputError(
            "embeddings stand beside one file; write them into the partitions as a column of lists."
        )
    found = apply_to_parts(
        labeller,
        source,
        out,
        facts=facts,
        form=form,
        delimiter=options.delimiter,
        n_jobs=jobs,
    )
    summary = found.applied.facts() | {
        "facts": facts,
        "failures": {one.name: one.reason for one in found.failures},
        "written": [str(one) for one in found.written],
    }
    failed = [f"failed: {one}" for one in found.failures]
    written = f"written: {len(found.written)} file(s) in {out}"
    voice.result([*found.applied.lines(), *failed, written], summary)
    if found.failures:
        raise typer.Exit(1)
