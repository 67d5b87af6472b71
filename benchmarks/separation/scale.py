"""``python -m benchmarks.separation.scale``: seconds and memory of separation on many points.

A wavy sheet that crosses a sphere, turned into 50 dimensions, with noise in all of them; 320
labels, every setting the default. Each size runs in a process of its own, whose peak memory is the
whole process.
"""

import argparse
import json
import time
from collections.abc import Mapping
from typing import Any

from benchmarks.common.command import contest_parser, results_folder
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.memory import GIB, peak_bytes
from benchmarks.common.pages import growth_exponent, table, write_results
from benchmarks.common.processes import run_module

STEM = "separation_scale"
SIZES = (12_500, 25_000, 50_000, 100_000)
_TOY_SIZES = (600, 1200)
NOISES = (0.003, 0.01)
_DIMENSIONS, _LABELS = 50, 320


def main(arguments: list[str] | None = None) -> None:
    """Run every size; the files are written after each."""
    parser = contest_parser("separation.scale", __doc__)
    parser.add_argument("--toy", action="store_true", help="hundreds of points")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--noise", type=float, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.child:
        print(json.dumps(measure(asked.child, asked.noise)))
        return

    folder = results_folder(asked.out, toy=asked.toy)
    warn_if_busy()
    record: dict[str, Any] = {"circumstances": circumstances(), "rows": []}
    for noise in NOISES:
        for n in _TOY_SIZES if asked.toy else SIZES:
            record["rows"].append(_in_a_process(n, noise))
            print(record["rows"][-1], flush=True)
            write_results(folder, STEM, record, render(record))
    print(render(record))


def _in_a_process(n: int, noise: float) -> dict[str, Any]:
    return json.loads(run_module("separation.scale", "--child", str(n), "--noise", str(noise)))


def measure(n: int, noise: float) -> dict[str, Any]:
    """Fit n points, then ask for new ones."""
    import numpy as np  # noqa: PLC0415

    from beltrami import MultiManifoldRegressor  # noqa: PLC0415

    points, targets, manifold = cloud(n, noise, seed=0)
    y = np.full(n, np.nan)
    labeled = np.random.default_rng(1).choice(n, min(_LABELS, n // 4), replace=False)
    y[labeled] = targets[labeled]
    some = np.concatenate([labeled[:60], np.flatnonzero(np.isnan(y))[:300]])
    MultiManifoldRegressor(random_state=0).fit(points[some], y[some])  # compiles
    start = time.perf_counter()
    learner = MultiManifoldRegressor(random_state=0).fit(points, y)
    seconds = time.perf_counter() - start
    peak = peak_bytes() / GIB
    new, truth, _ = cloud(1000, noise, seed=1)
    start = time.perf_counter()
    answer = learner.predict(new)
    asking = time.perf_counter() - start
    plain = MultiManifoldRegressor(n_regions=1).fit(points[labeled], y[labeled])
    codes = 2 * learner.regions_ + manifold
    counts = np.bincount(codes, minlength=2 * learner.n_regions_).reshape(-1, 2)
    return {
        "n": n,
        "noise": noise,
        "seconds": seconds,
        "gib": peak,
        "n_neighbors": learner.shape_graph_.neighborhoods.n_neighbors,
        "n_nodes": len(learner.shape_graph_.rows),
        "n_regions": learner.n_regions_,
        "purity": float(counts.max(axis=1).sum() / n),
        "new_seconds": asking,
        "mean_squared_error": float(np.mean((answer - truth) ** 2)),
        "one_region_error": float(np.mean((plain.predict(new) - truth) ** 2)),
    }


def cloud(n: int, noise: float, *, seed: int) -> tuple[Any, Any, Any]:
    """Return points in 50 dimensions, their values and manifolds."""
    import numpy as np  # noqa: PLC0415

    from beltrami import surface_sphere  # noqa: PLC0415

    flat = surface_sphere(n, random_state=seed)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((_DIMENSIONS, 3)))[0]
    spread = np.random.default_rng(seed + 1000).standard_normal((n, _DIMENSIONS))
    return flat.points @ turn.T + noise * spread, flat.targets, flat.extras["manifold"]


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""

    facts, rows = record["circumstances"], record["rows"]
    lines = [
        [
            f"{row['noise']:g}", f"{row['n']:,}", f"{row['seconds']:.0f}", f"{row['gib']:.2f}",
            str(row["n_neighbors"]), f"{row['n_nodes']:,}", str(row["n_regions"]),
            f"{row['purity']:.3f}",
            f"{row['mean_squared_error']:.3f} ({row['one_region_error']:.3f})",
            f"{row['new_seconds']:.1f}",
        ]
        for row in rows
    ]  # fmt: skip
    header = [
        "noise", "points", "fit, s", "peak, GiB", "neighbours", "nodes", "regions", "purity",
        "error (one region)", "1000 new points, s",
    ]  # fmt: skip
    growths = []
    for noise in NOISES:
        seconds = {row["n"]: row["seconds"] for row in rows if row["noise"] == noise}
        if len(seconds) > 1:
            growths.append(f"n^{growth_exponent(seconds):.2f} at noise {noise:g}")
    growth = f"\nSeconds grow as {' and '.join(growths)}.\n" if growths else ""
    return (
        "# Multi-manifold separation on many points\n\n"
        f"{facts['cpu']}, {facts['cores']} cores; {facts['date']} at commit {facts['commit']}. "
        f"A wavy sheet that crosses a sphere, turned into {_DIMENSIONS} dimensions, Gaussian noise "
        f"in each of them; {_LABELS} labels, `MultiManifoldRegressor()` with default settings, all "
        "candidates for the number of regions tried. Errors are mean squares on 1000 new points; "
        "memory is the whole process.\n\n" + table(header, lines) + growth
    )


if __name__ == "__main__":
    main()
