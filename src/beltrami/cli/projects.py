"""How commands read a project: without its lock, so that a studio may be open on it."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from beltrami.cli.speech import Voice

if TYPE_CHECKING:
    from beltrami.labelling.result import Labelling
    from beltrami.project import Project
    from beltrami.tables import TableOptions

ENDING = ".beltrami"
"""How names of projects end."""


def is_project(source: str | Path | None) -> bool:
    """Say whether a project is named where data might be."""
    return source is not None and Path(source).suffix == ENDING


def open_to_read(
    data: str | Path | None, table: "TableOptions", project: Path, voice: Voice
) -> "Project":
    """Open a project, whatever labels it has, and say what a person should know of it."""
    from beltrami.project import open_project

    opened = open_project(data, replace(table, min_classes=0), project, read_only=True)
    voice.tell(opened.words)
    return opened


def risk_of(project: "Project", risk: float | None, voice: Voice) -> float | None:
    """Return the risk that is said, else the one chosen in the project, and say so."""
    if risk is None and project.state.risk is not None:
        risk = project.state.risk
        voice.tell([f"risk: {risk:g}, as chosen in {project.path.name}"])
    return risk


def result_lines(project: "Project", labelling: "Labelling", risk: float | None) -> list[str]:
    """Return the summary of a project's labels, with what its own audits prove of them."""
    from beltrami.project.page import accepted_labels
    from beltrami.project.work import proof_words

    accepted = accepted_labels(labelling)
    proof = proof_words(project.state.audits, accepted, risk, project.path.name)
    first, *others = labelling.lines(project=project.path)
    return [first, *(line for line in proof if line), *others]
