"""``python -m benchmarks.front_door.reviews``: labels that look wrong, sets of classes, audits.

What is asked of `beltrami.review`: wrong labels found, beside cleanlab on the same
held-out probabilities; how often conformal sets hold the true class; how often a certificate
holds. The rule for wrong labels was fixed on digits and phonemes and tried on USPS; MNIST and
ISOLET had no part in it.
"""

import argparse
import importlib.util
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.stats import hypergeom

from beltrami import EigenfunctionClassifier, GraphRegularizedClassifier, PoissonClassifier
from beltrami.core.errors import BeltramiWarning
from beltrami.learners.foundation import Foundation
from beltrami.learners.model import Labeled
from beltrami.learners.regularized.smoother import Smoother
from beltrami.review.audit import certify
from beltrami.review.conformal import (
    SCORES,
    conformal_threshold,
    held_out_strangeness,
    prediction_sets,
)
from beltrami.review.issues import find_label_issues
from beltrami_papers.preparation import keep_labels
from benchmarks.common.command import contest_parser, results_folder
from benchmarks.common.facts import circumstances, package_version
from benchmarks.common.pages import load_record, table, write_results
from benchmarks.few_labels.problems import FewLabels, problem

STEM = "front_door_reviews"
SETS = ("digits", "usps", "phoneme", "isolet")
SIZES, RATES = (50, 100, 500), (0.0, 0.02, 0.05, 0.1, 0.2)
PER_CLASS, COVERAGES = (5, 10), (0.9, 0.8)
PEER_RULES = ("prune_by_noise_rate", "confident_learning", "both", "low_normalized_margin")
OURS, SPECTRAL = "ours", "spectral ridge"
LEARNERS: Mapping[str, Any] = {
    "graph regularized": (GraphRegularizedClassifier, {"gamma": "auto"}),
    SPECTRAL: (EigenfunctionClassifier, {"gamma": "auto", "random_state": 0}),
    "Poisson, plain": (PoissonClassifier, {"n_steps": 0}),
}
AUDITS = tuple(
    (pool, n, accuracy)
    for pool in (100, 1000, 50_000)
    for n in (60, 93, 300)
    for accuracy in (0.8, 0.95, 0.99)
    if n <= pool
)
TIGHT, LOOSE, MANY = 1e-6, 1e-3, 20_000  # tolerance of the solver, by the number of rows
NAMED = {"issues": 2, "sets": 1}  # where a row names its learner
MARK, WITHIN, SIMULATED = 0.8, 3.0, 1000


def main(arguments: list[str] | None = None) -> None:
    """Measure part by part and draw by draw; the files are written after each."""
    asked = _arguments(arguments)
    folder = results_folder(asked.out, toy=asked.toy)
    before = load_record(folder, STEM)
    record: dict[str, Any] = {
        "circumstances": circumstances(),
        "cleanlab": package_version("cleanlab"),
        "issues": before.get("issues", {}),
        "sets": before.get("sets", {}),
        "audits": _audits(),
    }
    for part, trials in _parts(asked):
        for key, rows in trials:
            others = [
                row for row in record[part].get(key, []) if row[NAMED[part]] not in asked.learners
            ]
            record[part][key] = others + rows
            write_results(folder, STEM, record, render(record), indent=None)
            print(part, key, flush=True)
    write_results(folder, STEM, record, render(record), indent=None)
    print(render(record))


def _parts(asked: argparse.Namespace) -> Iterator[tuple[str, Iterator[tuple[str, Any]]]]:
    if asked.toy:
        yield "issues", _issue_trials("toy", (50,), (0.0, 0.1), range(2), asked.learners)
        yield "sets", _set_trials("toy", (5,), range(2), asked.learners)
        return
    for name in asked.sets:
        if "issues" in asked.parts:
            sizes, rates = ((500,), (0.0, 0.05)) if name == "mnist" else (SIZES, RATES)
            yield "issues", _issue_trials(name, sizes, rates, asked.draws, asked.learners)
        if "sets" in asked.parts and name != "mnist":
            yield "sets", _set_trials(name, PER_CLASS, asked.draws, asked.learners)


class _Bench:
    """The learners on one problem; columns of labels are solved for once per draw, for all."""

    def __init__(self, name: str) -> None:
        self.problem: FewLabels = problem(name)
        self.n_classes = int(self.problem.targets.max()) + 1
        self._models: dict[str, Any] = {}
        self._columns: tuple[np.ndarray, np.ndarray] | None = None

    def draw(self, rows: np.ndarray, learners: Sequence[str]) -> None:
        """Solve for the influence of all rows that this draw may label, where one needs it."""
        if list(learners) == [SPECTRAL]:
            return
        everything = Labeled(rows, np.zeros((len(rows), 1)), np.ones(len(rows)))
        smoother = Smoother.of(
            Foundation(self.problem.graph),
            "laplacian",
            tol=LOOSE if self.problem.size > MANY else TIGHT,
        )
        order = np.argsort(rows)
        self._columns = rows[order], smoother.columns(everything)[:, order]

    def probabilities(
        self, learner: str, rows: np.ndarray, labels: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return held-out probabilities of the labelled rows and those of all rows."""
        y = np.full(self.problem.size, -1)
        y[rows] = labels

        def kept(_: Smoother, labeled: Labeled) -> np.ndarray:
            kept_rows, columns = self._columns
            return columns[:, np.searchsorted(kept_rows, labeled.rows)]

        with warnings.catch_warnings(), patch.object(Smoother, "columns", kept):
            warnings.simplefilter("ignore", BeltramiWarning)
            if learner not in self._models:
                kind, settings = LEARNERS[learner]
                model = kind(
                    graph=self.problem.graph, classes=np.arange(self.n_classes), **settings
                )
                self._models[learner] = model.fit(self.problem.points, y)
            model = self._models[learner].fit_labels(y)
            left = model._left_out()
        scores = model._without_absent(left.scores)
        held_out = model._distributions(scores, np.ones(len(rows), dtype=bool))
        back = np.empty_like(held_out)
        back[np.argsort(rows)] = held_out[np.argsort(left.rows)]
        return back, model.label_distributions_


def _issue_trials(
    name: str, sizes: Sequence[int], rates: Sequence[float], draws: range, learners: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    """Flip some labels to another class at random; count those found by every rule."""
    bench = _Bench(name)
    targets = bench.problem.targets
    for draw in draws:
        rng = np.random.default_rng((77, draw))
        pool = rng.choice(bench.problem.size, max(sizes), replace=False)
        bench.draw(pool, learners)
        results = []
        for size in sizes:
            rows = pool[:size]
            for rate in rates:
                wrong = np.zeros(size, dtype=bool)
                wrong[np.argsort(rng.random(size))[: round(rate * size)]] = True
                moved = (targets[rows] + rng.integers(1, bench.n_classes, size)) % bench.n_classes
                labels = np.where(wrong, moved, targets[rows])
                for learner in learners:
                    held_out, _ = bench.probabilities(learner, rows, labels)
                    for rule, flagged in _flags(rows, labels, held_out).items():
                        counts = (int((flagged & wrong).sum()), int(flagged.sum()))
                        results.append([size, rate, learner, rule, *counts, int(wrong.sum())])
        yield f"{name} {draw}", results


def _flags(rows: np.ndarray, labels: np.ndarray, held_out: np.ndarray) -> dict[str, np.ndarray]:
    ours = find_label_issues(rows, labels, held_out)
    flags = {OURS: np.isin(rows, ours.rows)}
    if importlib.util.find_spec("cleanlab") is None:
        return flags
    from cleanlab.filter import find_label_issues as peer  # noqa: PLC0415 - optional

    positive = np.maximum(held_out, 1e-9)
    positive /= positive.sum(axis=1, keepdims=True)
    for rule in PEER_RULES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flagged = peer(labels, positive, filter_by=rule, n_jobs=1)
        flags[f"cleanlab {rule}"] = np.asarray(flagged, dtype=bool)
    return flags


def _set_trials(
    name: str, per_class: Sequence[int], draws: range, learners: Sequence[str]
) -> Iterator[tuple[str, list[Any]]]:
    """Label a uniform random sample; see how often sets of the other rows hold the truth."""
    bench = _Bench(name)
    targets = bench.problem.targets
    for draw in draws:
        rng = np.random.default_rng((78, draw))
        sizes = [each * bench.n_classes for each in per_class]
        pool = rng.choice(bench.problem.size, max(sizes), replace=False)
        bench.draw(pool, learners)
        results = []
        for each, size in zip(per_class, sizes, strict=True):
            rows = pool[:size]
            rest = np.flatnonzero(keep_labels(targets, rows) < 0)
            for learner in learners:
                held_out, everywhere = bench.probabilities(learner, rows, targets[rows])
                right = float((everywhere[rest].argmax(axis=1) == targets[rest]).mean())
                for score in SCORES:
                    strange = held_out_strangeness(held_out, targets[rows], score)
                    for coverage in COVERAGES:
                        q = conformal_threshold(strange, coverage)
                        sets = prediction_sets(everywhere[rest], q, score)
                        full = prediction_sets(everywhere[rest], q, score, never_empty=True)
                        hit = sets[np.arange(len(rest)), targets[rest]]
                        hit_full = full[np.arange(len(rest)), targets[rest]]
                        facts = (hit.mean(), sets.sum(1).mean(), (~sets.any(1)).mean())
                        more = (hit_full.mean(), full.sum(1).mean(), right)
                        numbers = [round(float(one), 5) for one in facts + more]
                        results.append([each, learner, score, coverage, *numbers])
        yield f"{name} {draw}", results


def _audits() -> list[list[float]]:
    """Return how often the lower and the upper bound hold: exactly, and in simulated audits."""
    rng, lines = np.random.default_rng(0), []
    for pool, n, accuracy in AUDITS:
        wrong = round(pool * (1 - accuracy))
        truth = 1 - wrong / pool
        seen = range(max(0, n - (pool - wrong)), min(n, wrong) + 1)
        bounds = {x: certify(n, x, pool) for x in seen}
        low = {x: bounds[x].lower <= truth + 1e-12 for x in seen}
        high = {x: bounds[x].upper >= truth - 1e-12 for x in seen}
        chances = {x: float(hypergeom.pmf(x, pool, wrong, n)) for x in seen}
        drawn = rng.hypergeometric(wrong, pool - wrong, n, SIMULATED)
        lines.append(
            [
                pool, n, truth,
                sum(chances[x] for x in seen if low[x]), float(np.mean([low[x] for x in drawn])),
                sum(chances[x] for x in seen if high[x]), float(np.mean([high[x] for x in drawn])),
                float(np.mean([bounds[x].lower for x in drawn])),
            ]
        )  # fmt: skip
    return lines


def _issue_lines(record: Mapping[str, Any], sets: tuple[str, ...]) -> list[list[str]]:
    sums: dict[tuple[Any, ...], np.ndarray] = {}
    for key, rows in record["issues"].items():
        for size, rate, learner, rule, *counts in rows:
            cell = (key.split()[0], size, learner, rate, rule)
            sums[cell] = sums.get(cell, np.zeros(4)) + np.array([*counts, 1])
    rules = [OURS, *(f"cleanlab {rule}" for rule in PEER_RULES)]
    lines = []
    for name, size, learner, rate in sorted({cell[:4] for cell in sums}):
        if name not in sets:
            continue
        cells, draws = [], 0
        for rule in rules:
            hits, flagged, wrong, draws = sums.get((name, size, learner, rate, rule), np.zeros(4))
            if draws == 0:
                cells.append("")
            elif wrong == 0:
                cells.append(f"{100 * flagged / (draws * size):.1f} %")
            else:
                cells.append(f"{hits / max(flagged, 1):.2f} / {hits / wrong:.2f}")
        lines.append([name, str(size), learner, f"{100 * rate:g} %", *cells, f"{draws:.0f}"])
    return lines


def _set_lines(record: Mapping[str, Any]) -> list[list[str]]:
    cells: dict[tuple[Any, ...], list[list[float]]] = {}
    for key, rows in record["sets"].items():
        for each, learner, score, coverage, *numbers in rows:
            cells.setdefault((key.split()[0], each, learner, coverage, score), []).append(numbers)
    lines = []
    for (name, each, learner, coverage, score), draws in sorted(cells.items()):
        hit, size, empty, hit_full, size_full, right = np.mean(draws, axis=0)
        off = 100 * abs(hit - coverage)
        lines.append(
            [
                name, str(each), learner, f"{100 * coverage:g}", score, f"{100 * hit:.1f}",
                "yes" if off <= WITHIN else "MISSED", f"{size:.2f}", f"{100 * empty:.1f}",
                f"{100 * hit_full:.1f}", f"{size_full:.2f}", f"{100 * right:.1f}", str(len(draws)),
            ]
        )  # fmt: skip
    return lines


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    facts = record["circumstances"]
    header = ("set", "labels", "learner", "wrong", *(OURS, *PEER_RULES), "draws")
    audit_header = (
        "accepted", "checked", "accuracy", "lower holds, exactly", "in 1000 audits",
        "upper holds, exactly", "in 1000 audits", "mean lower bound",
    )  # fmt: skip
    set_header = (
        "set", "labels per class", "learner", "nominal", "score", "coverage",
        f"within {WITHIN:g} points", "size", "empty %", "coverage, none empty",
        "size, none empty", "accuracy", "draws",
    )  # fmt: skip
    return (
        "# Second looks\n\n"
        f"{facts['cpu']}; Python {facts['python']}, NumPy {facts['versions']['numpy']}, cleanlab "
        f"{record['cleanlab']}; {facts['date']} at commit {facts['commit']}. Labels are a uniform "
        "random sample of the rows; 10-NN graph with self-tuning weights for all.\n\n"
        "## Wrong labels on MNIST\n\n"
        "60,000 images on 100 principal components, 500 labels. Precision / recall over all draws "
        "together where labels were flipped to another class at random; where none was, the share "
        "of labels listed, all of them false alarms but for errors of the set itself. All rules "
        "get the same leave-one-out probabilities, exact but for the class masses of the "
        "graph-regularized learner; four columns have the names of cleanlab's `filter_by`. Asked "
        f"of ours: at least {MARK:g} / {MARK:g}. The last column says how many draws a learner "
        "had.\n\n"
        + table(header, _issue_lines(record, ("mnist", "toy")))
        + "\n## Wrong labels on other sets\n\n"
        + table(header, _issue_lines(record, SETS))
        + "\n## Sets of classes\n\n"
        "Thresholds from leave-one-out probabilities, sets of all unlabelled rows; means over "
        "draws. `share` is 1 - p, `lead` the lead of the best other class, `sum` the mass of all "
        "classes as probable. An empty set counts as a miss; `none empty` gives it its best "
        "class.\n\n" + table(set_header, _set_lines(record)) + "\n## Certificates\n\n"
        "Each bound at 95 %, one-sided. Of all simulated audits together the lower bound held in "
        f"{100 * np.mean([row[4] for row in record['audits']]):.1f} % and the upper one in "
        f"{100 * np.mean([row[6] for row in record['audits']]):.1f} %; a single line of 1000 has a "
        "standard error of 0.7 points.\n\n"
        + table(
            audit_header,
            [
                [f"{row[0]}", f"{row[1]}", f"{row[2]:.3f}", *(f"{one:.4f}" for one in row[3:])]
                for row in record["audits"]
            ],
        )
    )


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = contest_parser("front_door.reviews", __doc__)
    parser.add_argument("--toy", action="store_true", help="400 digits, two draws")
    parser.add_argument("--sets", nargs="*", default=["mnist", *SETS], help="data sets")
    parser.add_argument("--parts", nargs="*", default=["issues", "sets"], help="issues, sets")
    parser.add_argument("--learners", nargs="*", default=list(LEARNERS), help="whose answers")
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--last", type=int, default=20, help="draws end before this one")
    asked = parser.parse_args(arguments)
    asked.draws = range(asked.first, asked.last)
    return asked


if __name__ == "__main__":
    main()
