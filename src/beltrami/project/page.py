"""The report of a project: its events and what was learned from them enter, a page leaves.

Nothing on it depends on the clock or on where files lie: the same project gives the same page.
"""

import platform
import shlex
from dataclasses import dataclass, replace

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.embeddings.layout import layout_graph
from beltrami.front_door.doubts import WERE_ASKED_FOR
from beltrami.graph.model import Graph
from beltrami.labelling.options import LearningOptions
from beltrami.labelling.result import Labelling
from beltrami.labelling.showing.page import page_of
from beltrami.project.file import seal_at
from beltrami.project.project import Project
from beltrami.project.record.state import State
from beltrami.project.work import (
    curve_of,
    hands_of,
    labels_by_class,
    measured_of,
    minutes,
    proof_words,
    rounds_of,
)
from beltrami.report.page.model import Page
from beltrami.report.page.work import Work
from beltrami.tables.own_results import Source


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """What a learner says on the report of a project: taken while nothing is learned, kept after.

    Attributes
    ----------
    page : Page
        Without its map and what people did.
    graph : Graph
        What the map is drawn from.
    accepted : dict of int to str
        Labels of ours that are accepted, by row.
    state : State
        The labels that it rests on: later events are left out.
    options : LearningOptions
        How it was learned.
    """

    page: Page
    graph: Graph
    accepted: dict[int, str]
    state: State
    options: LearningOptions


def draft_page(labelling: Labelling, state: State, options: LearningOptions) -> Draft:
    """Return what was learned from the labels of a project, for its report.

    - `state`: of the labels that were learned from.
    """
    page = page_of(labelling, with_map=False, with_times=False)
    learner = labelling.learner
    # Which labels were asked for only the learner knows that asked.
    warnings = tuple(one for one in page.warnings if WERE_ASKED_FOR not in one)
    return Draft(
        replace(page, warnings=warnings),
        learner.graph_,
        accepted_labels(labelling),
        state,
        replace(options, risk=learner.risk),
    )


def finish_page(project: Project, draft: Draft) -> Page:
    """Return the report of a project: the map is drawn, and what people did is put in.

    It takes some seconds for many rows or events, and asks nothing of a learner.
    """
    state, risk = draft.state, draft.options.risk
    events = project.events[: state.number]
    proof, note = proof_words(state.audits, draft.accepted, risk, project.path.name)
    command = _command(project, state, draft.options)
    work = Work(
        hands=hands_of(events, state),
        by_class=labels_by_class(events, state),
        n_unsure=len(state.unsure),
        curve=curve_of(events),
        measured=measured_of(project.measures.all(), state.number),
        rounds=rounds_of(events, state.audits),
        proof=proof,
        proof_note=note,
        command=command,
        date=minutes(events[-1].at),
    )
    facts = {"command": command} if command else {}
    return replace(
        _with_colours(draft.page, state.class_names),
        positions=layout_graph(draft.graph, random_state=0),
        work=work,
        facts=facts | draft.page.facts | _facts(project, state),
    )


def _with_colours(page: Page, names: list[str]) -> Page:
    """Return the page with its classes in the order in which people named them, as in the studio.

    A class has its colour by its place.
    """
    ordered = [name for name in names if name in page.classes]
    ordered += [name for name in page.classes if name not in ordered]
    places = np.array([*(ordered.index(name) for name in page.classes), -1], dtype=np.intp)
    return replace(
        page,
        classes=tuple(ordered),
        codes=places[page.codes],
        given=places[page.given],
        class_rows=tuple(sorted(page.class_rows, key=lambda row: ordered.index(row.name))),
    )


def accepted_labels(labelling: Labelling) -> dict[int, str]:
    """Return the labels that we gave and that are accepted, by row."""
    rows = np.flatnonzero(labelling.source == Source.LABELLED)
    names = np.array([str(name) for name in labelling.learner.classes_], dtype=object)
    return dict(zip(rows.tolist(), names[labelling.codes[rows]].tolist(), strict=True))


def too_few_classes(state: State, name: str) -> InvalidInputError:
    """Return why there is no report yet: labels that cannot be told apart teach nothing."""
    n_classes = len({given.label for given in state.labels.values()})
    return InvalidInputError(
        f"{name} has labels of {n_classes} class(es), and 2 are needed to tell them apart, so "
        "there is no report yet. Label a few rows of each in the studio."
    )


def _command(project: Project, state: State, options: LearningOptions) -> str:
    """Return what writes the same labels, seen from the folder of the project."""
    if project.data.source is None:
        return ""
    parts = ["beltrami", "label", "--project", project.path.name, "-o", "labels.csv"]
    if options.risk != state.risk and options.risk is not None:
        parts += ["--risk", f"{options.risk:g}"]
    if options.random_state != 0:
        parts += ["--seed", str(options.random_state)]
    return shlex.join(parts)


def _facts(project: Project, state: State) -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "project": project.path.name,
        "project_events": f"{state.number:,}",
        "project_seal": seal_at(project.path, state.number),
        "project_risk": "none" if state.risk is None else f"{state.risk:g}",
        "last_change": project.events[state.number - 1].at,
    }
