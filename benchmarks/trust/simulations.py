"""Promises where they should not be made: noise, labels from one part, a class without any, errors.

``python -m benchmarks.trust.simulations``: what is right, what was promised, and whether the
warning came, over 100 problems of each kind; and how often each warning comes on real sets with
labels drawn as they should be, which is a false alarm.
"""

import argparse
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from beltrami import ManifoldClassifier
from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances
from benchmarks.common.pages import table, write_results
from benchmarks.front_door.problems import PROBLEMS
from benchmarks.trust.sets import KINDS, load_set

STEM = "trust_simulations"
N, N_COLUMNS = 1000, 10
RISK = 0.05
SIGNS = {
    "no structure": ("MAY BE GUESSES",),
    "one part": ("FROM ONE PART", "UNLIKE ANY LABEL", "island(s)"),
    "unlike any label": ("FROM ONE PART", "UNLIKE ANY LABEL", "island(s)"),
    "contradictions": ("CONTRADICT",),
}
"""Words by which each warning is known. A part without labels may be most of the data, some of it,
or islands that only bridges join to the rest; each has words of its own."""


@dataclass(frozen=True, eq=False)
class Case:
    """Points, truth, labels given (-1 for none), and the rows that labels say nothing of."""

    points: np.ndarray
    truth: np.ndarray
    given: np.ndarray
    is_elsewhere: np.ndarray


def noise(seed: int, counts: tuple[int, int] = (10, 10)) -> Case:
    """Points that tell nothing, two classes of equal size."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, N)
    return _labelled(rng.normal(size=(N, N_COLUMNS)), truth, _of_each(truth, counts, rng))


def uneven_noise(seed: int) -> Case:
    """The same with labels 18 to 2."""
    return noise(seed, (18, 2))


def one_part(seed: int) -> Case:
    """Six clusters in two classes, labels in two of them only."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 6, N)
    points = _clusters(cluster, rng)
    truth = cluster % 2
    inside = np.where(np.isin(cluster, [0, 1]), truth, -1)
    case = _labelled(points, truth, _of_each(inside, (10, 10), rng))
    return Case(case.points, truth, case.given, ~np.isin(cluster, [0, 1]))


def bare_class(seed: int, distance: float = 6.0) -> Case:
    """Three clusters that are classes, and no label of the third."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, N)
    points = _clusters(truth, rng, distance)
    case = _labelled(points, truth, _of_each(truth, (10, 10, 0), rng))
    return Case(points, truth, case.given, truth == 2)


def near_bare_class(seed: int) -> Case:
    """The same with clusters that touch."""
    return bare_class(seed, 3.0)


def errors(seed: int) -> Case:
    """Two clusters, 50 labels, a fifth of them wrong."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, N)
    points = _clusters(truth, rng, 4.5)
    case = _labelled(points, truth, _of_each(truth, (25, 25), rng))
    rows = np.flatnonzero(case.given >= 0)
    wrong = rng.choice(rows, 10, replace=False)
    case.given[wrong] = 1 - case.given[wrong]
    return case


KINDS_OF_TROUBLE: dict[str, tuple[Callable[[int], Case], str]] = {
    "noise, 20 labels": (noise, "no structure"),
    "noise, labels 18 : 2": (uneven_noise, "no structure"),
    "labels from one part": (one_part, "one part"),
    "a class without a label, apart": (bare_class, "unlike any label"),
    "a class without a label, near": (near_bare_class, "unlike any label"),
    "a fifth of the labels wrong": (errors, "contradictions"),
}


def _clusters(cluster: np.ndarray, rng: Any, distance: float = 6.0) -> np.ndarray:
    centers = rng.normal(size=(int(cluster.max()) + 1, N_COLUMNS))
    centers *= distance / np.linalg.norm(centers, axis=1, keepdims=True)
    return centers[cluster] + rng.normal(size=(len(cluster), N_COLUMNS))


def _of_each(truth: np.ndarray, counts: tuple[int, ...], rng: Any) -> np.ndarray:
    return np.concatenate(
        [
            rng.choice(np.flatnonzero(truth == code), count, replace=False)
            for code, count in enumerate(counts)
            if count
        ]
    )


def _labelled(points: np.ndarray, truth: np.ndarray, rows: np.ndarray) -> Case:
    given = np.full(len(truth), -1)
    given[rows] = truth[rows]
    return Case(points, truth, given, np.zeros(len(truth), dtype=bool))


def look(case: Case, **options: Any) -> dict[str, Any]:
    """Fit, and return what was right, promised, warned of and accepted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = ManifoldClassifier(risk=RISK, random_state=0, n_jobs=1, **options)
        learner.fit(case.points, case.given)
    rest = case.given < 0
    right = learner.transduction_ == case.truth
    text = " ".join(learner.report_.warnings)
    accepted = learner.accepted_ & rest
    found = {
        "right": float(right[rest].mean()),
        "promised": float(learner.confidence_[rest].mean()),
        "accepted": float(accepted[rest].mean()),
        "wrong": float((~right[accepted]).mean()) if accepted.any() else 0.0,
    }
    if case.is_elsewhere.any():
        found["accepted elsewhere"] = float(accepted[case.is_elsewhere & rest].mean())
    return found | {
        sign: float(any(word in text for word in words)) for sign, words in SIGNS.items()
    }


def simulate(count: int) -> dict[str, dict[str, float]]:
    """Return means over problems of each kind."""
    results = {}
    for name, (make, _) in KINDS_OF_TROUBLE.items():
        looks = [look(make(seed)) for seed in range(count)]
        results[name] = {key: float(np.mean([one[key] for one in looks])) for key in looks[0]}
        results[name]["promised off by, mean"] = float(
            np.mean([abs(one["promised"] - one["right"]) for one in looks])
        )
        print(name, {key: round(one, 3) for key, one in results[name].items()}, flush=True)
    return results


def false_alarms(names: list[str], draws: int) -> dict[str, dict[str, float]]:
    """Return how often each warning comes on real sets, by labels per class."""
    data, counts = Path(os.environ["BELTRAMI_DATA"]), {}
    for name in names:
        one = load_set(name, data)
        for per_class in (5, 10):
            if not one.can_draw(per_class):
                continue
            for kind in KINDS:
                for draw in range(draws):
                    rows = one.draw(per_class, kind, draw)
                    case = _labelled(one.points, one.targets, rows)
                    found = look(case, **one.options)
                    counts.setdefault(str(per_class), []).append((name, found))
                    print(name, per_class, kind, {k: found[k] for k in SIGNS}, flush=True)
    return {
        key: {sign: float(np.mean([one[sign] for _, one in looks])) for sign in SIGNS}
        | {"draws": len(looks)}
        for key, looks in counts.items()
    }


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    lines = []
    for name, one in record["simulations"].items():
        wanted = KINDS_OF_TROUBLE[name][1]
        elsewhere = one.get("accepted elsewhere")
        lines.append([
            name, f"{100 * one['right']:.1f}", f"{100 * one['promised']:.1f}",
            f"{100 * one['promised off by, mean']:.1f}", f"{100 * one[wanted]:.0f}",
            f"{100 * one['accepted']:.0f}", f"{100 * one['wrong']:.1f}",
            "" if elsewhere is None else f"{100 * elsewhere:.0f}",
        ])  # fmt: skip
    text = (
        "# Promises where they should not be made\n\n"
        f"{record['count']} problems of each kind, {N} rows of {N_COLUMNS} columns; percent. "
        "Warned: by the warning that the kind calls for. Elsewhere: rows that labels say nothing "
        "of.\n\n"
    )
    header = ["kind", "right", "promised", "off by, mean", "warned", "accepted", "wrong of these",
              "accepted elsewhere"]  # fmt: skip
    text += table(header, lines)
    if record["false_alarms"]:
        text += "\nFalse alarms, percent of draws on real sets, by labels per class:\n\n"
        rows = [
            [key, *(f"{100 * one[sign]:.1f}" for sign in SIGNS), f"{one['draws']:g}"]
            for key, one in record["false_alarms"].items()
        ]
        text += table(["labels", *SIGNS, "draws"], rows)
    return text


def main(arguments: list[str] | None = None) -> None:
    """Simulate, look at real sets, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--draws", type=int, default=2, help="of each real set; 0 for none")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    names = [one for one in PROBLEMS if one not in {"mnist", "newsgroups20"}] if asked.draws else []
    record = {
        "circumstances": circumstances(),
        "count": asked.count,
        "simulations": simulate(asked.count),
        "false_alarms": false_alarms(names, asked.draws),
    }
    write_results(asked.out, STEM, record, render(record))
    print(render(record))


if __name__ == "__main__":
    main()
