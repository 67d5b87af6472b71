"""What pages are told in JSON: the state of the desk, rows with their content, the columns."""

import math
from dataclasses import asdict
from typing import Any

from beltrami.front_door.doubts import LAST_JUDGED
from beltrami.labelling.showing.contents import Content
from beltrami.project.record.events import Event, Labelled
from beltrami.questions import Question
from beltrami.report.sentences import evidence, headline
from beltrami.studio_server.desk import Desk
from beltrami.tables import TableOptions
from beltrami.tables.options import KIND_LISTS

_SHOWN_ROWS = 60
_PREVIEW_ROWS, _EXAMPLES = 8, 5


def tell_state(desk: Desk, user: str) -> dict[str, Any]:
    """Return all that a page shows around the rows."""
    project, learning = desk.project, desk.learning
    state, answers, beliefs = project.state, learning.answers, learning.beliefs
    counts = _counts(desk)
    sentence, told = _first_sentence(desk), tuple[str, ...]()
    if answers is not None and beliefs is not None:
        sentence = headline(counts)
        told = evidence(counts, answers.expected, state.risk, beliefs.report)
    return {
        "view": "map",
        "rows": project.n_rows,
        "given": len(state.labels),
        "version": 0 if answers is None else answers.version,
        "behind": learning.n_behind,
        "phase": learning.phase,
        "failure": learning.failure,
        "classes": _classes(desk),
        "user": user,
        "users": list(desk.users),
        "read_only": desk.is_read_only,
        "source": project.data.table.name,
        "project": project.path.name,
        "about": desk.about,
        "label": project.data.roles.label,
        "marker": None if project.open_marker is None else asdict(project.open_marker),
        "kind": desk.contents.kind,
        "has_pictures": desk.contents.has_pictures,
        "columns": [{"name": name, "kind": kind} for name, kind in desk.colourable],
        "headline": sentence,
        "evidence": list(told),
        "warnings": _warnings(desk),
        "counts": counts,
        "unsure": len(state.unsure),
        "has_learned": learning.has_learned,
        "settled": learning.is_settled,
        "has_map": desk.places_frame is not None,
        "can_undo": project.can_undo(user),
    }


def _warnings(desk: Desk) -> list[str]:
    """Return what to know before answers are trusted, without how the project was opened."""
    beliefs = desk.learning.beliefs
    said = [one for one in desk.words if one not in desk.project.words]
    warned = beliefs.report.warnings if beliefs is not None else ()
    return said + [one for one in warned if not one.startswith(LAST_JUDGED)]


def _counts(desk: Desk) -> dict[str, int]:
    answers = desk.learning.answers
    if answers is not None:
        return answers.counts
    n, given = desk.project.n_rows, len(desk.project.state.labels)
    return {"rows": n, "given": given, "labelled": 0, "abstained": 0, "unreached": n - given}


def _classes(desk: Desk) -> list[dict[str, Any]]:
    """Return the classes with their counts; labels are counted as saved, answers as learned."""
    state, answers, given = desk.project.state, desk.learning.answers, desk.given_counts
    counted = [] if answers is None else answers.class_counts
    nothing = {"given": 0, "labelled": 0, "left": 0}
    return [
        {"name": one.name, "gone": one.gone}
        | (counted[place] if place < len(counted) else nothing)
        | {"given": given[one.name]}
        for place, one in enumerate(state.classes)
    ]


def _first_sentence(desk: Desk) -> str:
    """Say what there is before anything was learned."""
    counts = desk.given_counts
    n_given, n_classes = counts.total(), len(counts)
    if not n_given:
        return "No labels yet. Name what you see in a few rows, and the map answers."
    labels = "1 label" if n_given == 1 else f"{n_given:,} labels"
    if n_classes == 1:
        return f"{labels} of one class so far; the map answers from the second class on."
    return f"{labels} of {n_classes:,} classes so far; the first answers are being worked out."


def tell_rows(desk: Desk, rows: list[int]) -> list[dict[str, Any]]:
    """Return rows with what they hold and what is known of them."""
    return [tell_row(desk, row) for row in rows[:_SHOWN_ROWS]]


def tell_row(desk: Desk, row: int) -> dict[str, Any]:
    """Return one row with what it holds and what is known of it."""
    state, answers, beliefs = desk.project.state, desk.learning.answers, desk.learning.beliefs
    given = state.labels.get(row)
    is_reached = answers is not None and bool(answers.codes[row])
    leaders = beliefs.leaders(row) if beliefs is not None and is_reached else []
    first, second = (*leaders, (None, 0.0), (None, 0.0))[:2]
    return _content(desk.contents.content(row)) | {
        "row": row,
        "id": str(desk.project.data.ids[row]),
        "label": None if given is None else given.label,
        "how": None if given is None else given.how,
        "user": None if given is None else given.user,
        "guess": first[0],
        "confidence": _share(first[1]),
        "second": second[0],
        "second_confidence": _share(second[1]),
        "source": 3 if answers is None else int(answers.source[row]) & 3,
        "unsure": row in state.unsure,
    }


def _share(value: float) -> float:
    return round(value, 4) if math.isfinite(value) else 0.0


def _content(content: Content) -> dict[str, Any]:
    return {
        "text": content.text,
        "picture": content.has_picture,
        "cells": [
            {"name": one.name, "value": one.value, "unusual": one.unusual} for one in content.cells
        ],
    }


def tell_question(desk: Desk, question: Question) -> dict[str, Any]:
    """Return a question with the row it asks about."""
    return {
        "row": question.row,
        "reason": question.reason,
        "settles": question.settles,
        "item": tell_row(desk, question.row),
    }


def tell_why_no_question(desk: Desk, *, is_over: bool) -> str:
    """Say why nothing is asked now."""
    if is_over:
        return "every row has a label or was set aside"
    if desk.learning.phase == "starting":
        return "the rows are being compared; the first question comes right after"
    if desk.learning.failure:
        return desk.learning.failure
    if len(desk.given_counts) > 1 and not desk.learning.has_learned:
        return "the map learns from your first labels; more questions come right after"
    return "the next questions are being chosen"


def tell_saved(desk: Desk, event: Event) -> dict[str, Any]:
    """Return what is known once something is on disk."""
    answers = desk.learning.answers
    return {
        "saved": event.number,
        "given": len(desk.project.state.labels),
        "version": 0 if answers is None else answers.version,
        "behind": desk.learning.n_behind,
    }


def tell_undone(event: Event) -> dict[str, Any]:
    """Return what was taken back."""
    taken = event.taken_back
    assert taken is not None
    labels = taken.body.labels if isinstance(taken.body, Labelled) else (None,)
    return {
        "kind": taken.kind,
        "rows": list(taken.rows[:_SHOWN_ROWS]),
        "count": len(taken.rows),
        "label": labels[0],
    }


def tell_data(desk: Desk) -> dict[str, Any]:
    """Return what the columns are taken for, with some of what they hold."""
    import pyarrow.compute as pc

    intake = desk.project.data
    roles, columns, options = intake.roles, intake.table.columns, desk.project.options
    kinds = {
        name: kind
        for kind in ("numeric", "categorical", "text", "vectors")
        for name in getattr(roles, kind)
    }
    told = []
    for name in intake.table.names:
        column = columns.column(name)
        role = "label" if name == roles.label else "id" if name == roles.id else "feature"
        if name in roles.ignored:
            role = "ignored"
        told.append(
            {
                "name": name,
                "role": role,
                "kind": kinds.get(name, ""),
                "reason": roles.ignored.get(name, ""),
                "asked": _asked_role(options, name),
                "examples": [_short(one) for one in _first_values(column)],
                "missing": int(column.null_count),
                "distinct": _count_distinct(pc, column),
            }
        )
    shown = [
        [_short(columns.column(name)[row].as_py()) for name in intake.table.names]
        for row in range(min(_PREVIEW_ROWS, columns.num_rows))
    ]
    return {
        "columns": told,
        "lines": [*intake.lines(), *desk.project.words],
        "has_named_features": bool(options.features or options.text),
        "can_change": not (desk.is_read_only or roles.uses_matrix or roles.embeddings),
        "preview": {"names": list(intake.table.names), "rows": shown},
    }


def _asked_role(options: TableOptions, name: str) -> str | None:
    """Return the list that people put a column into; None where its role was guessed."""
    lists = (*KIND_LISTS, "ignore")
    return next((one for one in lists if name in getattr(options, one)), None)


def _first_values(column: Any) -> list[Any]:
    values: list[Any] = []
    for value in column.slice(0, 200).to_pylist():
        if value is not None and value not in values:
            values.append(value)
        if len(values) == _EXAMPLES:
            break
    return values


def _count_distinct(pc: Any, column: Any) -> int:
    try:
        return int(pc.count_distinct(column).as_py())
    except (NotImplementedError, TypeError, ValueError):  # arrow counts no lists
        return 0


def _short(value: Any) -> str:
    text = "" if value is None else " ".join(str(value).split())
    return text if len(text) <= 80 else text[:79] + "…"
