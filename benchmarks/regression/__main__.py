"""``python -m benchmarks.regression [--draws N]``: error and coverage, ours beside peers.

A smooth function on 2000 points of the unit sphere and of the swiss roll is learned from 20 random
labels. Peers see the labelled points only. The functions, sizes and peers were fixed before the
run; every learner and both functions are in the table.
"""

import argparse
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.neighbors import KNeighborsRegressor

import beltrami as bt
from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances
from benchmarks.common.pages import write_results

N_POINTS, N_LABELS, COVERAGE = 2000, 20, 0.9
STEM = "regression"


@dataclass(frozen=True)
class Surface:
    name: str
    function: str
    points: np.ndarray
    values: np.ndarray


def _surfaces(n: int) -> list[Surface]:
    ball = np.asarray(bt.sphere(n, random_state=0).points)
    x, y, z = ball.T
    roll = bt.swiss_roll(n, random_state=0)
    length, height = (np.asarray(roll.extras[key]) for key in ("arc_length", "height"))
    along, across = ((v - v.min()) / (v.max() - v.min()) for v in (length, height))
    return [
        Surface("sphere", "x y + sin(3 z) / 2", ball, x * y + np.sin(3 * z) / 2),
        Surface(
            "swiss roll",
            "sin(2 pi s) + h, s along and h across, both 0 to 1",
            np.asarray(roll.points),
            np.sin(2 * np.pi * along) + across,
        ),
    ]


def learners() -> dict[str, Any]:
    return {
        "EigenfunctionRegressor()": bt.EigenfunctionRegressor(),
        "EigenfunctionRegressor(gamma=0)": bt.EigenfunctionRegressor(gamma=0.0),
        "GraphRegularizedRegressor()": bt.GraphRegularizedRegressor(),
        "GraphRegularizedRegressor(iterated 2)": bt.GraphRegularizedRegressor(
            smoothness=("iterated", 2)
        ),
        "GraphRegularizedRegressor(iterated 2, gamma auto)": bt.GraphRegularizedRegressor(
            smoothness=("iterated", 2), gamma="auto"
        ),
    }


def peers() -> dict[str, Callable[[], Any]]:
    kernel = ConstantKernel() * RBF() + WhiteKernel(1e-4)
    makers: dict[str, Callable[[], Any]] = {
        f"{k}-NN, distance weights": lambda k=k: KNeighborsRegressor(k, weights="distance")
        for k in (1, 3, 5)
    }
    makers["Gaussian process, fitted"] = lambda: GaussianProcessRegressor(
        kernel, normalize_y=True, n_restarts_optimizer=2, random_state=0
    )
    makers["Gaussian process, defaults"] = lambda: GaussianProcessRegressor(normalize_y=True)
    return makers


def run(surface: Surface, n_draws: int) -> dict[str, dict[str, list[float]]]:
    n, ours = len(surface.values), learners()
    record: dict[str, dict[str, list[float]]] = {
        name: {"rmse": [], "coverage": [], "width": []} for name in [*ours, *peers()]
    }
    for seed in range(n_draws):
        rows = np.random.default_rng(seed).choice(n, N_LABELS, replace=False)
        rest = np.setdiff1d(np.arange(n), rows)
        truth = surface.values[rest]
        y = np.full(n, np.nan)
        y[rows] = surface.values[rows]
        for name, learner in ours.items():
            if seed == 0:
                learner.fit(surface.points, y)
            else:
                learner.fit_labels(y)
            ends = learner.predict_interval(surface.points[rest], COVERAGE)
            inside = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
            record[name]["rmse"].append(_rmse(learner.transduction_[rest], truth))
            record[name]["coverage"].append(float(inside.mean()))
            record[name]["width"].append(float(np.median(ends[:, 1] - ends[:, 0])))
        for name, make in peers().items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the optimiser's remarks on its bounds
                model = make().fit(surface.points[rows], surface.values[rows])
            record[name]["rmse"].append(_rmse(model.predict(surface.points[rest]), truth))
    return record


def _rmse(predicted: np.ndarray, truth: np.ndarray) -> float:
    return float(np.sqrt(np.mean((predicted - truth) ** 2)))


def render(results: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    lines = [
        "# Regression from 20 labels\n",
        f"{N_POINTS} points, {N_LABELS} random labels, {facts['draws']} draws; root mean squared "
        "error on the other points, mean (sd) over draws; intervals of nominal coverage "
        f"{COVERAGE:.0%}, mean coverage and median width. Peers see the labelled points only. "
        f"Commit {facts['commit']}, {facts['date']}; `python -m benchmarks.regression`.\n",
    ]
    for name, result in results.items():
        lines += [
            f"\n## {name}: f = {result['function']} (standard deviation {result['sd']:.3f})\n",
            "| learner | rmse | coverage | width |",
            "|---|---|---|---|",
        ]
        for learner, record in result["learners"].items():
            error = f"{np.mean(record['rmse']):.3f} ({np.std(record['rmse']):.3f})"
            cover = f"{np.mean(record['coverage']):.1%}" if record["coverage"] else "-"
            width = f"{np.median(record['width']):.2f}" if record["width"] else "-"
            lines.append(f"| {learner} | {error} | {cover} | {width} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    facts = circumstances() | {"draws": asked.draws}
    results = {
        surface.name: {
            "function": surface.function,
            "sd": float(surface.values.std()),
            "learners": run(surface, asked.draws),
        }
        for surface in _surfaces(N_POINTS)
    }
    record = {"circumstances": facts, "surfaces": results}
    write_results(asked.out, STEM, record, render(results, facts))
    print(render(results, facts))


if __name__ == "__main__":
    main()
