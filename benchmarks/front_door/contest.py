"""Hold the contest on one problem: the same draws for every entrant, each row journalled.

Seconds are of the processor, all threads together, so that other work on the machine does not
count and a run may share its cores.
"""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.common.draws import labelled_rows
from benchmarks.common.journal import Row, RowJournal
from benchmarks.front_door.methods import Answer, Entrant
from benchmarks.front_door.problems import DoorProblem

PER_CLASS = (1, 2, 5, 10)
BINS = 15


@dataclass(frozen=True)
class Plan:
    """What to run: labels per class, draws, and seconds of an entrant at one number of labels."""

    per_class: Sequence[int] = PER_CLASS
    draws: Sequence[int] = range(10)
    budget_s: float = np.inf
    code: str = "1"
    again: bool = False


def hold(problem: DoorProblem, chosen: Sequence[Entrant], plan: Plan, journal: RowJournal) -> None:
    """Run every entrant on every draw that the journal lacks, or on all where that is asked."""
    prepared: dict[str, float] = {}
    for labels in plan.per_class:
        spent = {
            one.name: []
            if plan.again
            else journal.seconds(problem.name, labels, one.name, plan.code)
            for one in chosen
        }
        for draw in plan.draws:
            rows = labelled_rows(problem.targets, labels, draw)
            for entrant in chosen:
                key = {"problem": problem.name, "labels": labels, "draw": draw}
                key |= {"method": entrant.name, "code": plan.code}
                done = spent[entrant.name]
                is_late = bool(done) and sum(done) * (1 + 1 / len(done)) > plan.budget_s
                if is_late or (journal.has(**key) and not plan.again):
                    continue
                row = _one_draw(problem, entrant, rows, key, prepared)
                journal.add(row)
                done.append(row["seconds"])


def _one_draw(
    problem: DoorProblem,
    entrant: Entrant,
    rows: np.ndarray,
    key: Row,
    prepared: dict[str, float],
) -> Row:
    """Return the row of one entrant, with the errors of what it tried on its way."""
    size = {"n": problem.size, "classes": problem.n_classes}
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # bridges, folds with few of a class
            if entrant.prepare and entrant.name not in prepared:
                entrant.prepare(problem)
                prepared[entrant.name] = round(time.process_time() - start, 4)
            start = time.process_time()
            answer = entrant.learn(problem, rows)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - graphlearning calls sys.exit
        seconds = round(time.process_time() - start, 4)
        failed = f"{type(error).__name__}: {str(error)[:200]}"
        print(f"    {entrant.name} at {key['labels']} per class: FAILED: {failed}", flush=True)
        return {**key, **size, "seconds": seconds, "failed": failed}
    clocks = {"seconds": round(time.process_time() - start, 4)}
    clocks["prepare_s"] = prepared.get(entrant.name, 0.0)
    return {**key, **size, **clocks, **measure(problem.targets, rows, answer)}


def measure(targets: np.ndarray, rows: np.ndarray, answer: Answer) -> Row:
    """Return the measures of an answer on the unlabelled rows; error and coverage in percent."""
    hidden = np.ones(len(targets), dtype=bool)
    hidden[rows] = False
    right = (answer.codes == targets)[hidden]
    measures: Row = {"error": round(100.0 * float((~right).mean()), 4)}
    if answer.probabilities is not None:
        confidence = answer.probabilities.max(axis=1)[hidden]
        measures["ece"] = round(calibration_error(confidence, right), 5)
        measures["confidence"] = round(float(confidence.mean()), 5)
    if answer.sets is not None:
        inside = answer.sets[np.arange(len(targets)), targets][hidden]
        measures["coverage"] = round(100.0 * float(inside.mean()), 3)
        measures["set_size"] = round(float(answer.sets[hidden].sum(axis=1).mean()), 3)
    if answer.chosen:
        measures["chosen"] = answer.chosen
    if answer.tried:
        wrong = {name: codes[hidden] != targets[hidden] for name, codes in answer.tried.items()}
        measures["tried"] = {
            name: round(100.0 * float(one.mean()), 4) for name, one in wrong.items()
        }
    return measures


def calibration_error(confidence: np.ndarray, right: np.ndarray, bins: int = BINS) -> float:
    """Return the mean gap of confidence and accuracy over bins of equal width, by their rows."""
    place = np.clip((confidence * bins).astype(int), 0, bins - 1)
    gaps = np.bincount(place, weights=confidence - right, minlength=bins)
    return float(np.abs(gaps).sum() / len(confidence))
