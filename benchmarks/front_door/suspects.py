"""Wrong labels found by the front door itself: 500 labels of MNIST, 5 % of them flipped.

`ManifoldClassifier().label_issues()` on the mixture that the labels choose, draw by draw; the
reviews have the rule alone, on other learners and beside cleanlab.

Run: python -m benchmarks.front_door.suspects
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from beltrami import ManifoldClassifier
from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances
from benchmarks.common.pages import write_results
from benchmarks.few_labels.problems import problem

STEM = "front_door_suspects"


def trial(
    learner: ManifoldClassifier, points: Any, truth: np.ndarray, size: int, share: float, draw: int
) -> dict[str, Any]:
    """Flip some labels to another class at random, learn, and count what is found."""
    rng, n_classes = np.random.default_rng((7, draw)), int(truth.max()) + 1
    rows = rng.choice(len(truth), size, replace=False)
    wrong = rng.choice(size, round(share * size), replace=False)
    labels = truth[rows].copy()
    labels[wrong] = (labels[wrong] + rng.integers(1, n_classes, len(wrong))) % n_classes
    y = np.full(len(truth), -1)
    y[rows] = labels
    started = time.process_time()
    learner.fit_labels(y) if hasattr(learner, "classes_") else learner.fit(points, y)
    issues = learner.label_issues()
    hits = len(set(issues.rows.tolist()) & set(rows[wrong].tolist()))
    return {
        "draw": draw,
        "precision": round(hits / max(len(issues), 1), 3),
        "recall": round(hits / len(wrong), 3),
        "listed": len(issues),
        "answered by": learner.method_,
        "processor seconds": round(time.process_time() - started, 1),
    }


def _page(name: str, rows: list[dict[str, Any]]) -> str:
    """Return the table."""
    names = list(rows[0])
    lines = [
        f"# Wrong labels found by the front door on {name}",
        "",
        "Labels drawn at random from all rows, 5 % of them flipped to another class.",
        "",
        "| " + " | ".join(names) + " |",
        "|" + " --- |" * len(names),
        *("| " + " | ".join(str(row.get(key, "")) for key in names) + " |" for row in rows),
        "",
        f"Mean precision {np.mean([row['precision'] for row in rows]):.2f}, recall "
        f"{np.mean([row['recall'] for row in rows]):.2f}.",
    ]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Measure draw by draw; the files are written after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", default="mnist", help="digits for a short try")
    parser.add_argument("--size", type=int, default=500)
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    task, rows = problem(asked.set), list[dict[str, Any]]()
    learner = ManifoldClassifier(random_state=0)
    for draw in range(asked.draws):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            truth = np.asarray(task.targets)
            rows.append(trial(learner, task.points, truth, asked.size, 0.05, draw))
        record = {"set": asked.set, "circumstances": circumstances(), "rows": rows}
        write_results(asked.out, STEM, record, _page(asked.set, rows))
        print(rows[-1], flush=True)


if __name__ == "__main__":
    main()
