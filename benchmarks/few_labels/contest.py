"""Hold the contest on one problem: the same draws for every method, the clocks interleaved."""

import gc
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from benchmarks.common.draws import labelled_rows
from benchmarks.few_labels.methods import Learner, Method
from benchmarks.few_labels.problems import FewLabels

PER_CLASS = (1, 2, 3, 5, 10)
_NOT_NEWS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning)


@dataclass
class Cell:
    """One method at one number of labels per class, draw by draw.

    `seconds` holds the timed fits. It is shorter than `accuracy` where the budget ended before
    the draws did and the rest were learned by `again`, whose seconds are in `again_s`.
    """

    accuracy: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    again_s: list[float] = field(default_factory=list)
    warned: dict[str, int] = field(default_factory=dict)


@dataclass
class Row:
    """One method on one problem; `cells` are keyed by the labels per class, as text.

    `clock_s` holds the seconds of a run for the clocks alone, on a quiet machine; where it is
    empty, those of the cells count.
    """

    method: str
    cells: dict[str, Cell] = field(default_factory=dict)
    clock_s: list[float] = field(default_factory=list)
    first_fit_s: float | None = None
    peak_mb: float | None = None
    note: str = ""
    failed: str = ""
    commit: str = ""
    clock_commit: str = ""
    date: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> "Row":
        """Read what `as_json` wrote."""
        cells = {key: Cell(**cell) for key, cell in record["cells"].items()}
        return cls(**{**record, "cells": cells})


def hold(
    problem: FewLabels,
    chosen: Sequence[Method],
    *,
    per_class: Sequence[int] = PER_CLASS,
    draws: int = 20,
    budget_s: float = np.inf,
) -> Iterator[dict[str, Row]]:
    """Run every method on every draw; yield all rows after each number of labels.

    A method that has used `budget_s` at one number of labels gets no further draws there, except
    by `again`, where it has that.
    """
    rows = {method.name: Row(method.name, note=method.note) for method in chosen}
    for method in chosen:
        for name in method.inputs:  # made before the clock starts
            getattr(problem, name)
    for count in per_class:
        for method in chosen:
            rows[method.name].cells[str(count)] = Cell()
        for draw in range(draws):
            labelled = labelled_rows(problem.targets, count, draw)
            for method in chosen:  # interleaved: a slow minute of the machine hits all
                _one_draw(problem, method, rows[method.name], str(count), labelled, budget_s)
        yield rows


def warm_up(toy: FewLabels, method: Method) -> None:
    """Run the method on the toy, so that imports and compilers have had their share."""
    labelled = labelled_rows(toy.targets, 2, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method.fit(toy, labelled)
        if method.again:
            method.again(toy, labelled)


def percent_right(problem: FewLabels, labelled: np.ndarray, predicted: np.ndarray) -> float:
    """Return the percentage of right answers among the unlabelled points."""
    right = predicted == problem.targets
    right[labelled] = False
    return 100.0 * float(right.sum()) / (problem.size - len(labelled))


def _one_draw(
    problem: FewLabels, method: Method, row: Row, key: str, labelled: np.ndarray, budget_s: float
) -> None:
    cell = row.cells[key]
    spent = sum(cell.seconds)
    late = bool(cell.seconds) and spent * (1 + 1 / len(cell.seconds)) >= budget_s
    if row.failed or (late and not method.again):
        return
    try:
        if method.clock_again:
            if row.first_fit_s is None:
                _, row.first_fit_s = _timed(method.fit, problem, labelled, cell)
            predicted, seconds = _timed(method.again, problem, labelled, cell)
        else:
            learner = method.again if late else method.fit
            predicted, seconds = _timed(learner, problem, labelled, cell)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - graphlearning calls sys.exit
        row.failed = f"FAILED: {type(error).__name__}: {str(error)[:200]}"
        print(f"    {method.name}: {row.failed}", flush=True)
        return
    (cell.again_s if late and not method.clock_again else cell.seconds).append(round(seconds, 6))
    cell.accuracy.append(round(percent_right(problem, labelled, predicted), 4))


def _timed(
    learner: Learner, problem: FewLabels, labelled: np.ndarray, cell: Cell
) -> tuple[np.ndarray, float]:
    gc.collect()
    with warnings.catch_warnings(record=True) as caught:  # told in the note of the row
        warnings.simplefilter("always")
        start = time.perf_counter()
        predicted = learner(problem, labelled)
        seconds = time.perf_counter() - start
    news = {one.category.__name__ for one in caught if not issubclass(one.category, _NOT_NEWS)}
    cell.warned |= {name: cell.warned.get(name, 0) + 1 for name in news}
    return predicted, seconds
