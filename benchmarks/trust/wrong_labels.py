"""Labels called wrong: how many are where all are right, and how many that are wrong are found.

``python -m benchmarks.trust.wrong_labels``: on every set of `sets` with up to 6,000 rows, 100
labels drawn at random (a third of the rows, if those are fewer), all right, then a twentieth
flipped to another class at random; ``ManifoldClassifier().label_issues()`` of each.
"""

import argparse
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from beltrami import ManifoldClassifier
from benchmarks.common.command import RESULTS
from benchmarks.common.facts import SEED, circumstances
from benchmarks.common.pages import table, write_results
from benchmarks.trust.sets import TrustSet, load_set, set_names

STEM = "trust_wrong_labels"
N_LABELS, MOST_ROWS = 100, 6000
SHARES = (0.0, 0.05)


def labels_of(one: TrustSet, share: float, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels with gaps (-1), and the rows of those that were flipped."""
    rng, n = np.random.default_rng((SEED, 5, draw)), len(one.targets)
    rows = np.zeros(1, dtype=np.intp)
    while len(np.unique(one.targets[rows])) < 2:
        rows = rng.choice(n, min(N_LABELS, n // 3), replace=False)
    given = np.full(n, -1)
    given[rows] = one.targets[rows]
    wrong = rows[: round(share * len(rows))]
    given[wrong] = (given[wrong] + rng.integers(1, one.n_classes, len(wrong))) % one.n_classes
    return given, wrong


def look(one: TrustSet, draws: int) -> list[dict[str, Any]]:
    """Return what is listed of each draw of one set."""
    learner = ManifoldClassifier(random_state=0, n_jobs=1, **one.options)
    found = []
    for share in SHARES:
        for draw in range(draws):
            given, wrong = labels_of(one, share, draw)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if hasattr(learner, "classes_"):
                    learner.fit_labels(given)
                else:
                    learner.fit(one.points, given)
            listed = learner.label_issues().rows
            hits = np.intersect1d(listed, wrong)
            found.append({
                "set": one.name, "share": share, "draw": draw, "labels": int((given >= 0).sum()),
                "wrong": len(wrong), "listed": len(listed), "hits": len(hits),
            })  # fmt: skip
    return found


def summarise(trials: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return shares over sets, each counting the same."""

    def mean(of: Sequence[Mapping[str, Any]], part: str, whole: str) -> float:
        names = sorted({one["set"] for one in of})
        sums = [
            [sum(one[key] for one in of if one["set"] == name) for key in (part, whole)]
            for name in names
        ]
        shares = [a / b for a, b in sums if b]
        return float(np.mean(shares)) if shares else float("nan")

    clean = [one for one in trials if not one["share"]]
    flipped = [one for one in trials if one["share"]]
    return {
        "sets": len({one["set"] for one in trials}),
        "listed of right labels, clean": mean(clean, "listed", "labels"),
        "found of wrong labels": mean(flipped, "hits", "wrong"),
        "wrong among listed": mean(flipped, "hits", "listed"),
    }


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    lines = [
        [name, f"{one['sets']:g}", *(f"{100 * one[key]:.1f}" for key in list(one)[1:])]
        for name, one in record["summary"].items()
    ]
    header = ["", *next(iter(record["summary"].values()))]
    return (
        "# Labels called wrong\n\n"
        f"`label_issues()` with {N_LABELS} labels drawn at random (a third of the rows of smaller "
        f"sets), {record['draws']} draws: all right, then a twentieth flipped. Percent, each set "
        "counting the same.\n\n" + table(header, lines)
    )


def main(arguments: list[str] | None = None) -> None:
    """Look at every set, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=[], help="parts of names; all by default")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    data = Path(os.environ["BELTRAMI_DATA"])
    names = [one for one in set_names(data) if not asked.sets or any(s in one for s in asked.sets)]
    trials: list[dict[str, Any]] = []
    for name in names:
        one = load_set(name, data)
        if len(one.targets) <= MOST_ROWS:
            trials += look(one, asked.draws)
            print(name, summarise([t for t in trials if t["set"] == name]), flush=True)
    kinds = {
        "tables": [one for one in trials if one["set"].startswith("table ")],
        "other sets": [one for one in trials if not one["set"].startswith("table ")],
        "all": trials,
    }
    summary = {name: summarise(some) for name, some in kinds.items() if some}
    record = {
        "circumstances": circumstances(),
        "draws": asked.draws,
        "summary": summary,
        "trials": trials,
    }
    write_results(asked.out, STEM, record, render(record))
    print(render(record))


if __name__ == "__main__":
    main()
