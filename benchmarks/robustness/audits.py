"""``python -m benchmarks.robustness.audits``: how often every bound of an audit holds.

Audits of simulated labels, round by round, by a person who stops when the bound looks best. An
audit counts as failed if any bound that was printed in any of its rounds was false when it was
printed, so whatever rule of stopping one thinks of, coverage is at least what is written here.
"""

import argparse
import itertools
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from beltrami.review.trail import Trail
from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances
from benchmarks.common.pages import table, write_results

STEM = "audit_coverage"
CONFIDENCE = 0.95
RIGHT, WRONG = "right", "wrong"


@dataclass(frozen=True)
class Setting:
    """One kind of audit: how right the labels are, what is asked, what a person does."""

    accuracy: float
    n: int
    rounds: int
    blanks: str
    between: str
    n_pool: int = 1200


def settings() -> list[Setting]:
    """Return 24 settings, each level of each factor beside every other."""
    accuracies = (0.5, 0.7, 0.9, 0.95, 0.97, 0.99)
    sizes = (20, 60, 110, 200)
    blanks = ("none", "at random", "where wrong")
    between = ("nothing", "corrections", "labels learned anew")
    every = []
    for i, (accuracy, n) in enumerate(itertools.product(accuracies, sizes)):
        level = i // len(sizes)
        every.append(
            Setting(
                accuracy, n, 1 + (2 * i + level) % 5, blanks[i % 3], between[(i // 3 + level) % 3]
            )
        )
    return every


def _audit_once(setting: Setting, rng: np.random.Generator) -> tuple[bool, bool, float, float]:
    """Run one audit; say whether each kind of bound held in all rounds, and the best bounds."""
    n = setting.n_pool
    is_wrong = np.zeros(n, dtype=bool)
    is_wrong[rng.choice(n, round(n * (1 - setting.accuracy)), replace=False)] = True
    chance = {"none": 0.0, "at random": 0.15, "where wrong": 0.6 * is_wrong}[setting.blanks]
    can_judge = rng.random(n) >= chance
    trail, holds, holds_judged, best, best_judged = Trail(), True, True, 0.0, 0.0
    version = np.zeros(n, dtype=int)
    for place in range(setting.rounds):
        labels = {
            row: f"{RIGHT if not wrong else WRONG} {tag}"
            for row, (wrong, tag) in enumerate(
                zip(is_wrong.tolist(), version.tolist(), strict=True)
            )
        }
        if len(trail.seen) == n:
            break
        trail = trail.draw(labels, setting.n if place == 0 else None, rng)
        rows = trail.rounds[-1].rows
        answers = [(f"{RIGHT} {version[row]}" if can_judge[row] else None) for row in rows]
        trail = trail.answer(answers)
        certificate = trail.certificate(labels, confidence=CONFIDENCE)
        truth, truth_judged = 1 - is_wrong.mean(), 1 - is_wrong[can_judge].mean()
        holds &= certificate.lower <= truth + 1e-12
        holds_judged &= certificate.lower_judged <= truth_judged + 1e-12
        best, best_judged = max(best, certificate.lower), max(best_judged, certificate.lower_judged)
        if setting.between == "corrections":
            is_wrong[[row for row in rows if can_judge[row]]] = False
        elif setting.between == "labels learned anew":
            fresh = np.setdiff1d(np.arange(n), list(trail.seen))
            is_wrong[fresh] = rng.permutation(is_wrong[fresh])
            version[fresh] += 1
    return holds, holds_judged, best, best_judged


def coverage(setting: Setting, n_audits: int, seed: int) -> dict[str, float]:
    """Return how often both bounds held, over many audits of one setting."""
    rng = np.random.default_rng(seed)
    runs = np.array([_audit_once(setting, rng) for _ in range(n_audits)], dtype=float)
    names = ("coverage", "coverage_judged", "mean_best", "mean_best_judged")
    return dict(zip(names, runs.mean(axis=0).round(4).tolist(), strict=True))


def main(arguments: list[str] | None = None) -> None:
    """Simulate, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=2000, help="Audits of each setting.")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    rows = [
        asdict(setting) | coverage(setting, asked.audits, seed)
        for seed, setting in enumerate(settings())
    ]
    record = {"circumstances": circumstances(), "audits": asked.audits, "rows": rows}
    write_results(asked.out, STEM, record, render(record))


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    header = (
        "accuracy", "rows a round", "rounds", "blanks", "between rounds", "all bounds hold",
        "those of rows that can be judged", "best bound, mean", "the same, judged",
    )  # fmt: skip
    lines = [
        [
            f"{row['accuracy']:g}", str(row["n"]), str(row["rounds"]), row["blanks"],
            row["between"], f"{row['coverage']:.4f}", f"{row['coverage_judged']:.4f}",
            f"{row['mean_best']:.3f}", f"{row['mean_best_judged']:.3f}",
        ]
        for row in record["rows"]
    ]  # fmt: skip
    least = min(min(row["coverage"], row["coverage_judged"]) for row in record["rows"])
    facts = record["circumstances"]
    return (
        "# Coverage of audits\n\n"
        f"{record['audits']} audits of 1,200 labels in each setting, 95 % confidence; "
        f"{facts['date']} at commit {facts['commit']}. A bound holds if none that was "
        "printed in any round was false then: no rule of stopping can do worse. Blanks are 15 % "
        "of rows at random, or 60 % of the wrong ones. Between rounds a person does "
        "nothing, corrects what was wrong, or has the labels learned anew, as right as before "
        "on other rows.\n\n"
        f"Least coverage: {least:.4f}.\n\n" + table(header, lines) + "\n"
    )


if __name__ == "__main__":
    main()
