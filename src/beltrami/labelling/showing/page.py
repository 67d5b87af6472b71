"""The page of a labelling: what its learner knows, in plain arrays and strings."""

from typing import TYPE_CHECKING, Any

import numpy as np

from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import Stage
from beltrami.core.types import FloatVector, IndexVector
from beltrami.embeddings.layout import layout_graph
from beltrami.front_door.insight import judgement_of
from beltrami.front_door.report import whole_percents
from beltrami.labelling.showing.page_contents import shown_rows
from beltrami.report.page.model import (
    Bin,
    Candidate,
    ClassRow,
    Island,
    Issue,
    Page,
    Question,
)
from beltrami.tables.own_results import Source

if TYPE_CHECKING:
    from beltrami.labelling.result import Labelling

_PER_BIN = 8
_MOST_BINS = 10
_MOST_ISLANDS = 50


def page_of(labelling: "Labelling", *, with_map: bool = True, with_times: bool = True) -> Page:
    """Return all that the page of a labelling says.

    - `with_times`: whether it says what methods took, which is never the same twice.
    """
    learner, intake = labelling.learner, labelling.intake
    source, codes, issues = labelling.source, labelling.codes, labelling.issues
    classes = tuple(map(str, learner.classes_))
    enter_stage(Stage.MAP)
    shown = shown_rows(labelling)
    right, sureness, weights = _held_out(learner)
    coverage, risk = _risk_coverage(right, sureness, weights)
    return Page(
        title=f"Labels for {intake.table.name}",
        headline=labelling.headline,
        evidence=labelling.evidence,
        no_issues=issues.reason,
        counts=labelling.counts,
        ids=np.asarray(intake.ids, dtype=object),
        positions=layout_graph(learner.graph_, random_state=0) if with_map else None,
        classes=classes,
        codes=codes,
        given=np.where(source == Source.GIVEN, codes, -1),
        source=source.astype(np.uint8),
        confidence=learner.confidence_,
        class_rows=_class_rows(classes, codes, source, learner.confidence_),
        reliability=_bins(right, sureness, weights),
        coverage=coverage,
        risk=risk,
        candidates=_candidates(learner, with_times=with_times),
        questions=tuple(
            Question(
                str(intake.ids[one.row]),
                one.reason,
                one.settles,
                classes[codes[one.row]] if codes[one.row] >= 0 else "",
                float(learner.confidence_[one.row]),
            )
            for one in labelling.questions
        ),
        issues=tuple(
            Issue(str(name), str(given), str(better), float(score))
            for name, given, better, score in zip(
                issues.names, issues.given, issues.suggested, issues.scores, strict=True
            )
        ),
        islands=_islands(labelling),
        warnings=(*intake.given.notes, *learner.report_.warnings),
        facts=labelling.facts | {"method": learner.report_.verdict},
        previews=shown.previews,
        views=shown.views,
        pictures=shown.pictures,
        pictures_note=shown.note,
    )


def _held_out(learner: Any) -> tuple[FloatVector, FloatVector, FloatVector]:
    """Return whether held-out labels came out right, how sure that was, and what each counts."""
    answer = judgement_of(learner)
    kept = answer.is_told
    scores, judged = answer.held_out[kept], answer.judged
    right = scores.argmax(axis=1) == judged.targets[kept].argmax(axis=1)
    return right.astype(np.float64), scores.max(axis=1, initial=0.0), judged.weights[kept]


def _bins(right: FloatVector, sureness: FloatVector, weights: FloatVector) -> tuple[Bin, ...]:
    """Group held-out labels of like confidence, as many groups as there are labels for."""
    count = min(_MOST_BINS, len(right) // _PER_BIN)
    if count < 2:
        return ()
    order = np.argsort(sureness, kind="stable")
    return tuple(
        Bin(
            float(sureness[part].min()),
            float(sureness[part].max()),
            float(np.average(sureness[part], weights=weights[part])),
            float(np.average(right[part], weights=weights[part])),
            len(part),
        )
        for part in np.array_split(order, count)
    )


def _risk_coverage(
    right: FloatVector, sureness: FloatVector, weights: FloatVector
) -> tuple[FloatVector, FloatVector]:
    """Return the share of the surest held-out labels, and the share of these that is wrong."""
    if len(right) < 2 * _PER_BIN:
        return np.zeros(0), np.zeros(0)
    order = np.argsort(-sureness, kind="stable")
    held = np.cumsum(weights[order])
    risk = np.cumsum(weights[order] * (1 - right[order])) / held
    return held / held[-1], risk


def _class_rows(
    classes: tuple[str, ...], codes: IndexVector, source: IndexVector, confidence: FloatVector
) -> tuple[ClassRow, ...]:
    """Count the rows of each class by source, and say how sure the labelled ones are."""
    rows = []
    for code, name in enumerate(classes):
        is_class = codes == code
        sureness = confidence[is_class & (source == Source.LABELLED)]
        low, middle, high = (
            np.quantile(sureness, (0.25, 0.5, 0.75)) if len(sureness) else np.full(3, np.nan)
        )
        rows.append(
            ClassRow(
                name,
                given=int((is_class & (source == Source.GIVEN)).sum()),
                labelled=len(sureness),
                abstained=int((is_class & (source == Source.ABSTAINED)).sum()),
                quartiles=(float(low), float(middle), float(high)),
            )
        )
    return tuple(rows)


def _candidates(learner: Any, *, with_times: bool) -> tuple[Candidate, ...]:
    report, factor = learner.report_, 1.0 if with_times else float("nan")
    rounded = whole_percents([one.weight for one in report.members])
    first = Candidate(
        "the answer: " + ("a mixture" if learner.method_ == "mixture" else report.members[0].title),
        1 - report.held_out_accuracy,
        _standard_error(report.held_out_accuracy, report.n_held_out),
        factor * sum(one.seconds for one in report.members),
        "",
        is_chosen=True,
    )
    others = (
        Candidate(
            one.title,
            one.error,
            one.standard_error,
            factor * one.seconds,
            one.note or (f"weight {part} %" if part else ""),
            is_baseline=one.is_baseline,
        )
        for one, part in zip(report.members, rounded, strict=True)
    )
    return (first, *others)


def _standard_error(accuracy: float, count: int) -> float:
    return float(np.sqrt(accuracy * (1 - accuracy) / count)) if count else float("nan")


def _islands(labelling: "Labelling") -> tuple[Island, ...]:
    number, ids = labelling.learner.island_, labelling.intake.ids
    count = int(number.max(initial=-1)) + 1
    islands = []
    for one in range(min(count, _MOST_ISLANDS)):
        rows = np.flatnonzero(number == one)
        islands.append(Island(len(rows), tuple(str(ids[row]) for row in rows[:5]), 0))
    return tuple(islands)
