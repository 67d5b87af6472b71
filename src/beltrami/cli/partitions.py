"""Rows in partitions on the command line: which sources these are, and what is done with them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beltrami.cli.speech import Voice
from beltrami.cli.targets import model_target, usual_folder
from beltrami.core.errors import InvalidInputError

if TYPE_CHECKING:
    from beltrami.labelling import LearningOptions
    from beltrami.partitions import PartitionOptions
    from beltrami.partitions.people.answered import Answered
    from beltrami.project import Project
    from beltrami.tables import Table, TableOptions

Memory = Annotated[
    str | None,
    typer.Option("--memory", help="Of partitions: what the process may hold, such as 3GiB."),
]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", help="Of partitions: local, or a Dask scheduler, tcp://..."),
]
Representatives = Annotated[
    int | None,
    typer.Option("--representatives", min=1, help="Of partitions: rows that learn, at most."),
]
Cover = Annotated[
    float, typer.Option("--cover", help="Of partitions: share of rows that these are to cover.")
]
Form = Annotated[str, typer.Option("--form", help="Of partitions: parquet or csv is written.")]


def goes_by_parts(source: str | None, memory: str | None, cluster: str | None) -> bool:
    """Say whether a source is labelled by partitions: a folder or pattern of tables, a large file.

    So is one file where memory or a cluster is named.
    """
    if source is None:
        return False
    from beltrami.partitions.reading.sources import is_large, is_partitioned, is_table_file

    if is_partitioned(source) or memory is not None or cluster is not None:
        return True
    path = Path(source)
    return is_table_file(path) and is_large(path)


def label_parts(
    source: str,
    out: Path | None,
    table: "TableOptions",
    learning: "LearningOptions",
    options: "PartitionOptions",
    cluster: str | None,
    voice: Voice,
    save: Path | None,
) -> None:
    """Label partitions, say what came of it, and exit with 1 where some failed."""
    from beltrami.partitions.job import STAGES, Job

    path = Path(source)
    if path.is_file():
        voice.tell([f"{path.name} is read and answered in parts; memory does not hold it at once"])
    target = out or usual_folder(source, "labelled")
    with voice.work(*STAGES):
        if save is not None:
            model_target(save, [source])
        found = Job(source, table, learning, options, target, cluster, voice.tell).run()
        voice.detail(found.report.lines())
        kept = [] if save is None else [found.save(model_target(save, [source]))]
    summary = {
        "sentence": found.sentence,
        "counts": found.counts,
        "unlike": found.n_unlike,
        "coverage": {
            "share": found.coverage.share,
            "largest_distance": found.coverage.largest_distance,
            "representatives": found.coverage.n_representatives,
            "rounds": found.coverage.rounds,
        },
        "passes": found.pace.by_pass(),
        "failures": {one.name: one.reason for one in found.failures},
        "written": [str(one) for one in (*found.written, *kept)],
    }
    written = [f"written: {len(found.written)} file(s) in {target}"]
    written += [f"written: {one}" for one in kept]
    voice.result([*found.lines(), *written], summary)
    if found.failures:
        raise typer.Exit(1)


def is_answered(source: str) -> bool:
    """Say whether a source is a folder of labelled partitions; refuse those without labels yet."""
    from beltrami.partitions.people.answered import is_results
    from beltrami.partitions.reading.sources import is_partitioned
    from beltrami.tables.reading.images import holds_images

    path = Path(source)
    if is_results(path):
        return True
    if is_partitioned(source) and not holds_images(path):
        raise InvalidInputError(
            f"{source!r} holds partitions, which are looked at once they are labelled: beltrami "
            f"label {source} -o OUT, and then this command on OUT."
        )
    return False


def open_answered(source: str, table: "TableOptions", seed: int, jobs: int | None) -> "Answered":
    """Open a folder of labelled partitions, which says itself how it is read."""
    from beltrami.partitions.people.answered import Answered
    from beltrami.project.options import said_options

    folder = Answered.open(Path(source), n_jobs=jobs)
    folder.require_as_labelled(said_options(table), table.label, seed)
    return folder


def labels_of(project: "Project") -> "Table":
    """Return the labels of a project as a table to stand beside partitions, by ids."""
    import pyarrow as pa

    from beltrami.tables import Table

    intake = project.intake
    cells = {
        "id": intake.ids[intake.is_given].tolist(),
        "label": intake.labels[intake.is_given].tolist(),
    }
    return Table(project.path.name, pa.table(cells))
