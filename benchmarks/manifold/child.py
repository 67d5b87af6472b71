"""One large run in a process of its own: seconds, peak memory and error, printed as JSON.

The child makes the points and learns a toy first, so that compilers and imports have had their
share. Then it fits, graph included, and reads the peak of its resident memory.
"""

import argparse
import gc
import json
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.common.memory import peak_bytes, restart_peak
from benchmarks.common.processes import run_module

NEIGHBORS = 10
EXACT_SIZE = 10_000
_TOY_EXACT = 300
_WIDTHS = (0.5, 1.0)
_FACTORS = (1.0, 0.1, 10.0)
"""Settings of the exact machine: widths of the typical one, factors of the intrinsic penalty."""


def run(task: str, *, loss: str = "LapRLS", n: int = 0, toy: bool = False) -> dict[str, Any]:
    """Run one task in a child and return what it measured."""
    options = ["--loss", loss, "--n", str(n), *["--toy"] * toy]
    return json.loads(run_module("manifold.child", task, *options))


def _approximate(cloud: Any, loss: str) -> dict[str, Any]:
    """Fit with defaults: everything chosen, landmarks where the points are many."""
    learner, measures = _fit_and_measure(cloud, loss)
    about = learner.approximation_
    measures |= {
        "test_error": _test_error(learner, cloud),
        "held_out_loss": float(learner.held_out_loss_),
        "chosen": _settings_of(learner),
        "method": about.method,
        "n_features": about.n_features,
        "n_eigenfunctions": about.n_eigenfunctions,
        "kernel_error": about.kernel_error,
        "held_out_change": about.held_out_change,
        "recall": getattr(learner.graph_.certificate, "recall", None),
    }
    return measures


def _fit_and_measure(cloud: Any, loss: str) -> tuple[Any, dict[str, Any]]:
    """Fit with a recipe for the graph, as new points want it, and count the graph apart."""
    from beltrami import NystromApproximation  # noqa: PLC0415 - the parent needs neither
    from benchmarks.manifold.clouds import mnist  # noqa: PLC0415

    recipe, notes = _watched_recipe()
    rehearsal = mnist(toy=True)
    few = NystromApproximation(50, n_eigenfunctions=10)
    _learner(loss, graph=recipe, approximation=few).fit(rehearsal.points, rehearsal.labels)
    del rehearsal
    gc.collect()
    learner = _learner(loss, graph=recipe)
    before = restart_peak()
    start = time.perf_counter()
    learner.fit(cloud.points, cloud.labels)
    passed = time.perf_counter() - start
    measures = {
        "loss": loss,
        "n": len(cloud.targets),
        "labels": len(cloud.rows),
        "graph_s": notes["seconds"],
        "fit_s": passed - notes["seconds"],
        "before_mb": before / 1e6,
        "graph_peak_mb": notes["peak_mb"],
        "peak_mb": peak_bytes() / 1e6,
    }
    return learner, measures


def _watched_recipe() -> tuple[Any, dict[str, float]]:
    """Return a recipe that notes the seconds of its last graph, and the peak memory until then."""
    from beltrami import KnnGraph  # noqa: PLC0415

    notes: dict[str, float] = {}

    def build(self: Any, X: Any) -> Any:
        start = time.perf_counter()
        graph = KnnGraph.build(self, X)
        notes["seconds"] = time.perf_counter() - start
        notes["peak_mb"] = peak_bytes() / 1e6
        return graph

    watched = type("KnnGraph", (KnnGraph,), {"build": build})
    return watched(NEIGHBORS, random_state=0), notes


def _exact(cloud: Any) -> dict[str, Any]:
    """Fit exactly at a few settings, keep the one of lowest leave-one-out error, test both losses.

    Penalties and power are first chosen with landmarks at each width; the intrinsic penalty is
    then moved down and up.
    """
    from beltrami import KnnGraph, RbfKernel  # noqa: PLC0415
    from beltrami.kernel_machines.kernels import typical_width  # noqa: PLC0415

    graph = KnnGraph(NEIGHBORS, random_state=0).build(cloud.points)
    typical, tried = typical_width(cloud.points), []
    for width in _WIDTHS:
        first = _learner(
            "LapRLS", graph=graph, kernel=RbfKernel(width * typical), approximation="nystrom"
        )
        chosen = _settings_of(first.fit(cloud.points, cloud.labels))
        for factor in _FACTORS:
            setting = chosen | {"gamma_i": factor * chosen["gamma_i"]}
            tried.append({"setting": setting} | _fit_exactly(cloud, graph, "LapRLS", setting))
            gc.collect()
    best = min(tried, key=lambda one: one["held_out"])
    margin = _fit_exactly(cloud, graph, "LapSVM", best["setting"])
    errors = {"LapRLS": best["test_error"], "LapSVM": margin["test_error"]}
    measures = {"n": len(cloud.targets), "labels": len(cloud.rows), "tried": tried}
    return measures | {"chosen": best["setting"], "test_errors": errors, "fit_s": best["fit_s"]}


def _fit_exactly(cloud: Any, graph: Any, loss: str, setting: dict[str, Any]) -> dict[str, Any]:
    from beltrami import LaplacianPower, RbfKernel  # noqa: PLC0415

    learner = _learner(
        loss,
        kernel=RbfKernel(setting["width"]),
        gamma_a=setting["gamma_a"],
        gamma_i=setting["gamma_i"],
        smoothness=LaplacianPower(setting["power"]),
        graph=graph,
        approximation="none",
    )
    start = time.perf_counter()
    learner.fit(cloud.points, cloud.labels)
    measures = {"fit_s": time.perf_counter() - start, "test_error": _test_error(learner, cloud)}
    if loss == "LapRLS":
        measures["held_out"] = learner.diagnose().held_out
    return measures


def _learner(loss: str, **settings: Any) -> Any:
    from beltrami import LaplacianRLSClassifier, LaplacianSVC  # noqa: PLC0415

    kind = {"LapRLS": LaplacianRLSClassifier, "LapSVM": LaplacianSVC}[loss]
    return kind(random_state=0, **settings)


def _settings_of(learner: Any) -> dict[str, Any]:
    names = ("gamma_a", "gamma_i", "width", "power")
    return {name: getattr(learner, f"{name}_") for name in names}


def _test_error(learner: Any, cloud: Any) -> float:
    """Return the percentage of new points classified wrongly."""
    predicted = learner.predict(cloud.new_points)
    return 100.0 * float(np.mean(predicted != cloud.new_targets))


def main() -> None:
    """Run one task and print what was measured."""
    parser = argparse.ArgumentParser()
    parser.add_argument("task", choices=("mnist", "exact", "sheets"))
    parser.add_argument("--loss", default="LapRLS")
    parser.add_argument("--n", type=int, default=0)
    parser.add_argument("--toy", action="store_true")
    asked = parser.parse_args()
    from benchmarks.manifold.clouds import mnist, sheets  # noqa: PLC0415

    warnings.simplefilter("ignore")
    if asked.task == "sheets":
        measures = _approximate(sheets(asked.n, toy=asked.toy), asked.loss)
    elif asked.task == "mnist":
        measures = _approximate(mnist(toy=asked.toy), asked.loss)
    else:
        cloud = mnist(toy=asked.toy)
        measures = _exact(cloud.part(_TOY_EXACT if asked.toy else EXACT_SIZE))
    print(json.dumps(measures))


if __name__ == "__main__":
    main()
