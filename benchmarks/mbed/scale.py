"""``python -m benchmarks.mbed.scale``: seconds, memory and row errors of Mbed on many points.

Ten classes on curved sheets in 20 dimensions, 1000 labels, every setting the default. Each size
runs in a process of its own, whose peak memory is the whole process.
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

STEM = "mbed_scale"
SIZES = (25_000, 50_000, 100_000)
_TOY_SIZES = (300, 600)


def main(arguments: list[str] | None = None) -> None:
    """Run every size; the files are written after each."""
    parser = contest_parser("mbed.scale", __doc__)
    parser.add_argument("--toy", action="store_true", help="hundreds of points")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.child:
        print(json.dumps(measure(asked.child, toy=asked.toy)))
        return

    folder = results_folder(asked.out, toy=asked.toy)
    warn_if_busy()
    record: dict[str, Any] = {"circumstances": circumstances(), "rows": []}
    for n in _TOY_SIZES if asked.toy else SIZES:
        record["rows"].append(_in_a_process(n, toy=asked.toy))
        print(record["rows"][-1], flush=True)
        write_results(folder, STEM, record, render(record))
    print(render(record))


def _in_a_process(n: int, *, toy: bool) -> dict[str, Any]:
    return json.loads(run_module("mbed.scale", "--child", str(n), *["--toy"] * toy))


def measure(n: int, *, toy: bool) -> dict[str, Any]:
    """Fit n points, then place new ones."""
    import numpy as np  # noqa: PLC0415

    from beltrami import Mbed, PoissonClassifier  # noqa: PLC0415
    from benchmarks.manifold.clouds import sheets  # noqa: PLC0415

    cloud = sheets(n, toy=toy)
    y, truth = np.asarray(cloud.labels), np.asarray(cloud.targets)
    Mbed(random_state=0).fit(cloud.points[:200], np.asarray(truth[:200]))  # compiles
    start = time.perf_counter()
    learner = Mbed(random_state=0).fit(cloud.points, y)
    seconds = time.perf_counter() - start
    peak = peak_bytes() / GIB
    new = np.asarray(cloud.new_points)[:1000]
    start = time.perf_counter()
    answer = learner.predict(new)
    placing = time.perf_counter() - start
    hidden = y < 0
    error = learner.stage_.error
    poisson = PoissonClassifier().fit(cloud.points, y)
    return {
        "n": n,
        "seconds": seconds,
        "gib": peak,
        "n_steps": learner.stage_.n_steps,
        "row_error_normalizer": error.normalizer,
        "row_error_force": error.force,
        "n_rows": error.n_rows,
        "wrong_percent": 100 * float(np.mean(learner.transduction_[hidden] != truth[hidden])),
        "poisson_percent": 100 * float(np.mean(poisson.transduction_[hidden] != truth[hidden])),
        "new_points": len(new),
        "new_seconds": placing,
        "new_wrong_percent": 100 * float(np.mean(answer != np.asarray(cloud.new_targets)[:1000])),
    }


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""

    facts, rows = record["circumstances"], record["rows"]
    lines = [
        [
            f"{row['n']:,}", f"{row['seconds']:.0f}", f"{row['gib']:.2f}", str(row["n_steps"]),
            f"{row['row_error_normalizer']:.1e} / {row['row_error_force']:.1e}",
            f"{row['wrong_percent']:.2f} ({row['poisson_percent']:.2f})",
            f"{row['new_seconds']:.1f}", f"{row['new_wrong_percent']:.1f}",
        ]
        for row in rows
    ]  # fmt: skip
    header = [
        "points", "fit, s", "peak, GiB", "last steps", "row errors", "% wrong (Poisson)",
        "1000 new points, s", "% wrong on them",
    ]  # fmt: skip
    growth = (
        f"\nSeconds grow as n^{growth_exponent({row['n']: row['seconds'] for row in rows}):.2f}.\n"
        if len(rows) > 1
        else ""
    )
    return (
        "# Mbed on many points, K = 10\n\n"
        f"{facts['cpu']}, {facts['cores']} cores; {facts['date']} at commit {facts['commit']}. "
        "Ten curved sheets in 20 dimensions, 1000 labels, default settings: the guess, the "
        "neighbours, a coarse map, the map, and three maps of 4000 points for the temperature. "
        "Row errors are those of normalisers and forces on 500 exact rows at the end; memory is "
        "the whole process.\n\n" + table(header, lines) + growth
    )


if __name__ == "__main__":
    main()
