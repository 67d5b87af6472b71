"""The page of a labelling: what its learner knows, in plain arrays and strings."""

from typing import TYPE_CHECKING, Any

import numpy as np

from beltrami.core.types import FloatVector
from beltrami.embeddings.layout import layout_graph
from beltrami.front_door.report import whole_percents
from beltrami.report.page import Bin, Candidate, ClassRow, Island, Issue, Page, Question

if TYPE_CHECKING:
    from beltrami.labelling.result import Labelling

_PER_BIN = 8
_MOST_BINS = 10
_MOST_ISLANDS = 50
_PREVIEW = 80


def page_of(found: "Labelling", *, with_map: bool = True) -> Page:
    """Return all that the page of a labelling says."""
    learner, intake, source = found.learner, found.intake, found.source
    classes = tuple(map(str, learner.classes_))
    codes = found.codes
    given = np.where(source == 0, codes, -1)
    right, sureness, weights = _held_out(learner)
    coverage, risk = _risk_coverage(right, sureness, weights)
    ids = intake.ids
    return Page(
        title=f"Labels for {intake.table.name}",
        sentence=found.headline,
        evidence=found.evidence,
        no_issues=found.issues.reason,
        counts=found.counts,
        ids=np.asarray(ids, dtype=object),
        positions=layout_graph(learner.graph_, random_state=0) if with_map else None,
        classes=classes,
        codes=codes,
        given=given,
        source=source.astype(np.uint8),
        confidence=learner.confidence_,
        class_rows=_class_rows(classes, codes, source, learner.confidence_),
        reliability=_bins(right, sureness, weights),
        coverage=coverage,
        risk=risk,
        candidates=_candidates(learner),
        questions=tuple(
            Question(
                str(ids[one.row]),
                one.reason,
                one.settles,
                classes[codes[one.row]] if codes[one.row] >= 0 else "",
                float(learner.confidence_[one.row]),
            )
            for one in found.questions
        ),
        issues=tuple(
            Issue(str(name), str(said), str(better), float(score))
            for name, said, better, score in zip(
                found.issues.names,
                found.issues.given,
                found.issues.suggested,
                found.issues.scores,
                strict=True,
            )
        ),
        islands=_islands(found),
        warnings=(*intake.notes, *learner.report_.warnings),
        facts=found.facts | {"method": learner.report_.verdict},
        previews=_previews(found),
    )


def _held_out(learner: Any) -> tuple[FloatVector, FloatVector, FloatVector]:
    """Return whether held-out labels came out right, how sure that was, and what each counts."""
    answer = learner._answer
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
    if len(right) < 2 * _PER_BIN:
        return np.zeros(0), np.zeros(0)
    order = np.argsort(-sureness, kind="stable")
    held = np.cumsum(weights[order])
    risk = np.cumsum(weights[order] * (1 - right[order])) / held
    return held / held[-1], risk


def _class_rows(
    classes: tuple[str, ...], codes: Any, source: Any, confidence: FloatVector
) -> tuple[ClassRow, ...]:
    found = []
    for code, name in enumerate(classes):
        own = codes == code
        sure = confidence[own & (source == 1)]
        quartiles = np.quantile(sure, (0.25, 0.5, 0.75)) if len(sure) else np.full(3, np.nan)
        found.append(
            ClassRow(
                name,
                int((own & (source == 0)).sum()),
                len(sure),
                int((own & (source == 2)).sum()),
                (float(quartiles[0]), float(quartiles[1]), float(quartiles[2])),
            )
        )
    return tuple(found)


def _candidates(learner: Any) -> tuple[Candidate, ...]:
    report = learner.report_
    rounded = whole_percents([one.weight for one in report.members])
    first = Candidate(
        "the answer: " + ("a mixture" if learner.method_ == "mixture" else report.members[0].title),
        1 - report.held_out_accuracy,
        _standard_error(report.held_out_accuracy, report.n_held_out),
        sum(one.seconds for one in report.members),
        "",
        is_chosen=True,
    )
    others = (
        Candidate(
            one.title,
            one.error,
            one.standard_error,
            one.seconds,
            one.note or (f"weight {part} %" if part else ""),
            is_baseline=one.is_baseline,
        )
        for one, part in zip(report.members, rounded, strict=True)
    )
    return (first, *others)


def _standard_error(accuracy: float, count: int) -> float:
    return float(np.sqrt(accuracy * (1 - accuracy) / count)) if count else float("nan")


def _islands(found: "Labelling") -> tuple[Island, ...]:
    number, ids = found.learner.island_, found.intake.ids
    count = int(number.max(initial=-1)) + 1
    islands = []
    for one in range(min(count, _MOST_ISLANDS)):
        rows = np.flatnonzero(number == one)
        islands.append(Island(len(rows), tuple(str(ids[row]) for row in rows[:5]), 0))
    return tuple(islands)


def _previews(found: "Labelling") -> Any:
    """Return the first text of each row, cut short, where the table has texts."""
    roles, table = found.intake.roles, found.intake.table
    if not roles.text:
        return None
    values = table.columns.column(roles.text[0]).to_pylist()
    return np.array([str(value or "")[:_PREVIEW] for value in values], dtype=object)
