"""What learning costs beside its graph, and one more label: a fit, then a hundred labels.

The 60,000 training images of MNIST and a million rows of the sheets of `scale`. The graph and its
eigenbasis are timed as they are worked out, then the learning from 100 labels; a hundred further
labels, drawn at random, come one by one with a question after each; then all is judged anew, and
the answers of the last update are compared with those.

Run: python -m benchmarks.front_door.live
"""

import argparse
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from beltrami import ManifoldClassifier, load_dataset
from beltrami.core.errors import BeltramiWarning
from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.pages import load_record, table, versions_line, write_results
from benchmarks.front_door.scale import sheets

STEM = "front_door_live"
PER_CLASS, N_UPDATES = 10, 100
WARM_ROWS = 25_000
"""Rows of the fit that compiles, before anything is timed."""


def mnist() -> tuple[np.ndarray, np.ndarray]:
    """Return the training images and their classes."""
    found = load_dataset("mnist")
    return found.points[:60_000], found.targets[:60_000]


PROBLEMS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "mnist": mnist,
    "sheets": lambda: sheets(1_000_000),
}


def measure(name: str, seed: int = 0) -> dict[str, Any]:
    """Fit, ask and update; return seconds, agreement and accuracy."""
    points, targets = PROBLEMS[name]()
    rng = np.random.default_rng(seed)
    classes = np.unique(targets)
    first = np.concatenate(
        [rng.choice(np.flatnonzero(targets == one), PER_CLASS, replace=False) for one in classes]
    )
    y = np.full(len(targets), -1)
    y[first] = targets[first]
    _warm(points, y, first)
    learner = ManifoldClassifier(random_state=0)
    graph, _ = _timed(lambda: learner.start(points))
    basis, _ = _timed(lambda: learner._foundation.basis)
    learning, _ = _timed(lambda: learner.fit_labels(y))
    rest = np.flatnonzero(y < 0)
    right = float((learner.transduction_[rest] == targets[rest]).mean())
    learner.query(1)
    updates, questions = [], []
    for row in rng.choice(rest, N_UPDATES, replace=False)[: N_UPDATES - 1].tolist():
        updates.append(_timed(lambda row=row: learner.update(row, int(targets[row])))[0])
        questions.append(_timed(lambda: learner.query(1))[0])
    live = learner.transduction_.copy()
    settling, _ = _timed(learner.settle)
    return {
        "name": name,
        "rows": len(targets),
        "seconds": {"graph": graph, "basis": basis, "learning": learning, "settling": settling},
        "ratio": (graph + basis + learning) / (graph + basis),
        "right": right,
        "update": updates,
        "query": questions,
        "agreement": float((live == learner.transduction_).mean()),
        "right_live": float((live[rest] == targets[rest]).mean()),
        "right_settled": float((learner.transduction_[rest] == targets[rest]).mean()),
        "weights": learner.weights_,
    }


def _warm(points: np.ndarray, y: np.ndarray, labelled: np.ndarray) -> None:
    """Let all loops compile on a part of the rows."""
    rows = np.union1d(np.arange(WARM_ROWS), labelled)
    learner = ManifoldClassifier(random_state=0).fit(points[rows], y[rows])
    learner.query(1)
    learner.update(int(np.flatnonzero(y[rows] < 0)[0]), int(y[labelled[0]]))


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    facts, header = record["circumstances"], ("", *(one["name"] for one in record["problems"]))

    def line(title: str, say: Callable[[Mapping[str, Any]], str]) -> list[str]:
        return [title, *(say(one) for one in record["problems"])]

    lines = [
        line("rows", lambda one: f"{one['rows']:,}"),
        *(
            line(f"{part}, s", lambda one, part=part: f"{one['seconds'][part]:.1f}")
            for part in ("graph", "basis", "learning", "settling")
        ),
        line("fit over graph and basis", lambda one: f"{one['ratio']:.2f}"),
        line("right, 100 labels, %", lambda one: f"{100 * one['right']:.2f}"),
        line("one more label, median, s", lambda one: f"{median(one['update']):.3f}"),
        line("95th percentile, s", lambda one: f"{np.quantile(one['update'], 0.95):.3f}"),
        line("a question after it, median, s", lambda one: f"{median(one['query']):.3f}"),
        line("95th percentile, s", lambda one: f"{np.quantile(one['query'], 0.95):.3f}"),
        line("rows as after settling, %", lambda one: f"{100 * one['agreement']:.2f}"),
        line("right, live, %", lambda one: f"{100 * one['right_live']:.2f}"),
        line("right, settled, %", lambda one: f"{100 * one['right_settled']:.2f}"),
    ]
    return "\n".join(
        [
            "# Live",
            "",
            f"`ManifoldClassifier()` with {PER_CLASS} labels of each of ten classes, then "
            f"{N_UPDATES - 1} labels one by one, each followed by `query(1)`, then `settle()`.",
            "",
            table(header, lines),
            f"{facts['cpu']}, {facts['cores']} cores; Python {facts['python']}, "
            f"{versions_line(facts)}; commit {facts['commit']}, {facts['date']}.",
            "",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    """Measure each problem; the files are written after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", nargs="+", choices=list(PROBLEMS), default=list(PROBLEMS))
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    warn_if_busy()
    warnings.simplefilter("ignore", BeltramiWarning)
    for name in asked.problems:
        found = measure(name)
        record = load_record(asked.out, STEM, problems=[])
        others = [one for one in record["problems"] if one["name"] != name]
        record = {
            "circumstances": circumstances(),
            "problems": sorted([*others, found], key=lambda one: one["rows"]),
        }
        write_results(asked.out, STEM, record, render(record))
        print(render(record), flush=True)


if __name__ == "__main__":
    main()
