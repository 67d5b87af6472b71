"""``python -m benchmarks.regression.intervals``: do intervals hold in easy and hard parts alike?

Each set is learned from 30, 100 and 300 random labels by `ManifoldRegressor`, nine tenths of the
rows being in the fit. Intervals whose width follows the row stand beside those of one scale for all
rows (plain jackknife+), of the same fit. Coverage is that of rows without a label, in all and in
thirds of them: by the true noise where it is known, by how much the true values of a row's
neighbours in the graph differ (its own is not looked at), and by the width itself; and that of rows
not in the fit.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from beltrami import ManifoldRegressor
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.graph.model import Graph
from beltrami.learners.base import GraphRegressor
from benchmarks.common.command import contest_parser, results_folder
from benchmarks.common.facts import SEED, circumstances
from benchmarks.common.pages import load_record, table, write_results
from benchmarks.regression.interval_sets import CHOSEN_ON, JUDGED_ON, ValueSet, make_set

STEM, COVERAGE = "regression_intervals", 0.9
LABELS = (30, 100, 300)
IN_FIT, MOST_LABELED = 0.9, 0.8
SIDES = ("before", "after")
MEASURES = ("coverage", "new", "noise", "neighbors", "width", "mean_width", "score")


class BothRegressor(ManifoldRegressor):
    """The front door's regressor, whose widths follow the row or not."""

    follows_rows = True

    def _half_widths(self, points: Any, sizes: FloatVector) -> Callable[[slice], FloatMatrix]:
        owner = ManifoldRegressor if self.follows_rows else GraphRegressor
        return owner._half_widths(self, points, sizes)


def run(problem: ValueSet, n_draws: int) -> dict[str, dict[str, dict[str, list[Any]]]]:
    """Return what was measured: by number of labels, side and measure, a number for each draw."""
    n = int(IN_FIT * len(problem.values))
    learner, found = BothRegressor(random_state=0), {}
    for count in LABELS:
        if count > MOST_LABELED * n:
            continue
        record = found[str(count)] = {side: {key: [] for key in MEASURES} for side in SIDES}
        for draw in range(n_draws):
            rows = np.random.default_rng((SEED, count, draw)).permutation(n)[:count]
            y = np.full(n, np.nan)
            y[rows] = problem.values[rows]
            if hasattr(learner, "graph_"):
                learner.fit_labels(y)
            else:
                learner.fit(problem.points[:n], y)
            for side in SIDES:
                learner.follows_rows = side == "after"
                for key, value in _measure(learner, problem, np.isnan(y)).items():
                    record[side][key].append(value)
    return found


def _measure(learner: BothRegressor, problem: ValueSet, is_open: np.ndarray) -> dict[str, Any]:
    """Return coverage, in all and in thirds, width and interval score of one fit."""
    n = len(is_open)
    ends = learner.predict_interval(problem.points, COVERAGE)
    inside = (ends[:, 0] <= problem.values) & (problem.values <= ends[:, 1])
    width, held = (ends[:, 1] - ends[:, 0])[:n][is_open], inside[:n][is_open]
    low, high = ends[:n][is_open].T
    truth = problem.values[:n][is_open]
    off = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    spread = _spread_of_neighbors(learner.graph_, problem.values[:n])[is_open]
    noise = None if problem.noise is None else problem.noise[:n][is_open]
    return {
        "coverage": _share(held),
        "new": _share(inside[n:]),
        "noise": None if noise is None or not np.ptp(noise) else _by_thirds(held, noise),
        "neighbors": _by_thirds(held, spread),
        "width": _by_thirds(held, width),
        "mean_width": float(width.mean()),
        "score": float((width + 2 / (1 - COVERAGE) * off).mean()),
    }


def _spread_of_neighbors(graph: Graph, values: np.ndarray) -> np.ndarray:
    """Return the standard deviation of the values of each row's neighbours, its own left out."""
    joined = graph.weights.copy()
    joined.data[:] = 1.0
    counts = np.maximum(np.diff(joined.indptr), 1)
    centered = values - values.mean()
    means = joined @ centered / counts
    return np.sqrt(np.maximum(joined @ centered**2 / counts - means**2, 0.0))


def _by_thirds(held: np.ndarray, difficulty: np.ndarray) -> list[float]:
    """Return the share held in the easiest third, the middle and the hardest."""
    parts = np.array_split(np.argsort(difficulty, kind="stable"), 3)
    return [_share(held[rows]) for rows in parts]


def _share(held: np.ndarray) -> float:
    return round(float(held.mean()), 4)


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    facts, sets = record["circumstances"], record["sets"]
    lines = [
        "# Intervals that follow the row\n",
        f"`ManifoldRegressor`, intervals of {COVERAGE:.0%}, {facts['draws']} draws of labels; "
        "before: one scale for all rows (plain jackknife+), after: a scale for each row. Thirds go "
        "from easy to hard: by the true noise, by the spread of the true values of a row's "
        "neighbours in the graph (without its own), by the width itself. Width and interval score "
        "(mean width and 20 times how far values lie outside; lower is better) are those of after "
        f"over before. Commit {facts['commit']}, {facts['date']}; "
        "`python -m benchmarks.regression.intervals`.\n",
    ]
    for title, names in (
        ("Sets that had no part in choosing constants", JUDGED_ON),
        ("Sets that constants were chosen on", CHOSEN_ON),
    ):
        there = [name for name in names if name in sets]
        if not there:
            continue
        lines += [f"\n## {title}\n", "Mean over sets, each counting the same.\n"]
        lines.append(table(_HEADER[1:], _summary(sets, there)))
        lines += ["\nSet by set.\n", table(_HEADER, _rows(sets, there))]
    return "\n".join(lines)


_HEADER = (
    "set", "labels", "side", "all", "new rows", "thirds by noise", "by neighbours", "by width",
    "width", "score",
)  # fmt: skip


def _rows(sets: Mapping[str, Any], names: Iterable[str]) -> Iterable[list[str]]:
    for name in names:
        for count, sides in sets[name]["labels"].items():
            for side in SIDES:
                yield [name, count, side, *_cells(_means(sides[side]), _means(sides["before"]))]


def _summary(sets: Mapping[str, Any], names: Iterable[str]) -> Iterable[list[str]]:
    for count in map(str, LABELS):
        cells = [sets[name]["labels"][count] for name in names if count in sets[name]["labels"]]
        for side in SIDES:
            means = [_means(cell[side]) for cell in cells]
            ratios = [
                _ratios(one, _means(cell["before"])) for one, cell in zip(means, cells, strict=True)
            ]
            whole = {
                key: _mean([one[key] for one in means if one[key] is not None]) for key in _SHARES
            }
            yield [count, side, *_shares(whole), *(f"{x:.2f}" for x in np.mean(ratios, axis=0))]


_SHARES = ("coverage", "new", "noise", "neighbors", "width")


def _means(side: Mapping[str, list[Any]]) -> dict[str, Any]:
    return {key: _mean(values) for key, values in side.items()}


def _mean(values: list[Any]) -> Any:
    """Return the mean of numbers or of thirds; None where there are none."""
    return None if not values or values[0] is None else np.mean(values, axis=0)


def _cells(means: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    return [*_shares(means), *(f"{x:.2f}" for x in _ratios(means, before))]


def _ratios(means: Mapping[str, Any], before: Mapping[str, Any]) -> list[float]:
    return [means[key] / before[key] for key in ("mean_width", "score")]


def _shares(means: Mapping[str, Any]) -> list[str]:
    return [
        "-"
        if means[key] is None
        else " / ".join(f"{100 * x:.0f}" for x in np.ravel(means[key]))
        if np.ndim(means[key])
        else f"{100 * means[key]:.1f}"
        for key in _SHARES
    ]


def main() -> None:
    """Measure, and write the record and its page."""
    parser = contest_parser("regression.intervals", __doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--only", default="", help="sets whose names hold this; others stay")
    asked = parser.parse_args()
    folder = results_folder(asked.out, toy=False)
    record = load_record(folder, STEM, sets={})
    record["circumstances"] = circumstances() | {"draws": asked.draws}
    for name in [*JUDGED_ON, *CHOSEN_ON]:
        if asked.only not in name:
            continue
        problem = make_set(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # bridges and pieces are not the question here
            found = run(problem, asked.draws)
        record["sets"][name] = {
            "about": problem.about, "rows": len(problem.values), "labels": found,
        }  # fmt: skip
        print(name, "done", flush=True)
        write_results(folder, STEM, record, render(record), indent=None)
    print(render(record))


if __name__ == "__main__":
    main()
