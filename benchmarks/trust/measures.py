"""What an answer is worth: accuracy, calibration, and what was accepted at a risk of 5 %."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from beltrami.front_door.acceptance import accepted_rows
from benchmarks.common.pages import table
from benchmarks.front_door.contest import calibration_error
from benchmarks.trust.answers import Cell
from benchmarks.trust.sets import PER_CLASS

RISK, TOO_MANY = 0.05, 0.10


@dataclass(frozen=True, eq=False)
class Outcome:
    """One draw, answered.

    Attributes
    ----------
    facts : dict
        The set, labels per class, kind, draw, and all measures.
    """

    facts: Mapping[str, Any]

    @classmethod
    def of(
        cls, cell: Cell, codes: np.ndarray, chance: np.ndarray, *, can_promise: bool
    ) -> "Outcome":
        """Measure answers and how sure they are."""
        right = codes == cell.truth
        none = np.zeros(0, dtype=np.intp)
        accepted = accepted_rows(chance, np.full(len(right), can_promise), none, RISK)
        wrong = float((~right[accepted]).mean()) if accepted.any() else 0.0
        return cls(
            {
                "set": cell.set_name,
                "per_class": cell.per_class,
                "kind": cell.kind,
                "draw": cell.draw,
                "accuracy": round(float(right.mean()), 5),
                "confidence": round(float(chance.mean()), 5),
                "ece": round(calibration_error(chance, right), 5),
                "accepted": round(float(accepted.mean()), 5),
                "possible": round(possible_share(chance, right), 5),
                "wrong": round(wrong, 5),
            }
        )


def possible_share(chance: np.ndarray, right: np.ndarray) -> float:
    """Return the largest share that could have been accepted at the risk, in its own order."""
    order = np.argsort(-chance, kind="stable")
    wrong = np.cumsum(~right[order]) / np.arange(1, len(order) + 1)
    held = np.flatnonzero(wrong <= RISK)
    return (held[-1] + 1) / len(order) if len(held) else 0.0


def measure(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Return means by labels per class; each set counts the same."""
    summary = {}
    for per_class in PER_CLASS:
        some = [one.facts for one in outcomes if one.facts["per_class"] == per_class]
        if some:
            summary[str(per_class)] = _means(some)
    return summary


def _means(some: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    names = sorted({one["set"] for one in some})
    by_set = {name: [one for one in some if one["set"] == name] for name in names}

    def mean(measured: Any) -> float:
        return float(np.mean([np.mean([measured(one) for one in by_set[name]]) for name in names]))

    accepted = mean(lambda one: one["accepted"])
    wrong = mean(lambda one: one["accepted"] * one["wrong"])
    gaps = [
        np.mean([one["confidence"] - one["accuracy"] for one in by_set[name]]) for name in names
    ]
    return {
        "sets": len(names),
        "draws": len(some),
        "accuracy": mean(lambda one: one["accuracy"]),
        "confidence less accuracy": float(np.mean(gaps)),
        "half of its 90 % interval": float(1.645 * np.std(gaps, ddof=1) / np.sqrt(len(gaps))),
        "ece": mean(lambda one: one["ece"]),
        "accepted": accepted,
        "could be accepted": mean(lambda one: one["possible"]),
        "wrong among accepted": wrong / accepted if accepted else 0.0,
        "draws above 10 % wrong": mean(lambda one: float(one["wrong"] > TOO_MANY)),
    }


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    summary, facts = record["summary"], record["circumstances"]
    lines = []
    for name in next(iter(summary.values())):
        shown = [f"{one[name]:g}" if name in {"sets", "draws"} else f"{one[name]:.3f}"
                 for one in summary.values()]  # fmt: skip
        lines.append([name, *shown])
    return (
        "# How sure, and how right, on sets that were left out\n\n"
        "The front door's mixture and confidence, learned from nine tenths of the sets and asked "
        "of the others, ten times over (`python -m benchmarks.trust.fit`): 43 ordinary tables and "
        "17 sets of images, speech, text and synthetic data, labels drawn evenly and at random. "
        "Columns are labels per class; each set counts the same. Accepted at risk = 0.05; nothing "
        "is accepted where no label could be held out, or many classes have no label.\n\n"
        + table(["", *summary], lines)
        + f"\n{facts['date']}, commit {facts['commit']}; every draw is in the JSON file beside.\n"
    )
