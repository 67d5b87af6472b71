"""``python -m benchmarks.mbed.scale``: seconds, memory and row errors of Mbed on many points.

Ten classes on curved sheets in 20 dimensions, 1000 labels, every setting the default. Each size
runs in a process of its own, whose peak memory is the whole process.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parents[1]
STEM = "mbed_scale"
SIZES = (25_000, 50_000, 100_000)
_TOY_SIZES = (300, 600)
MARKS = {"seconds": 1200.0, "gib": 4.0, "row_error": 0.02}


def main(arguments: list[str] | None = None) -> None:
    """Run every size; the files are written after each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mbed.scale")
    parser.add_argument("--toy", action="store_true", help="hundreds of points")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help="where the JSON file and the page go")
    asked = parser.parse_args(arguments)
    if asked.child:
        print(json.dumps(measured(asked.child, toy=asked.toy)))
        return
    from beltrami.core.files import write_text  # noqa: PLC0415
    from benchmarks.peers.report import circumstances  # noqa: PLC0415

    folder = asked.out or (_HERE / ".cache" / "toy" if asked.toy else _HERE / "results")
    if os.getloadavg()[0] > 1:
        print(f"the machine is busy (load {os.getloadavg()[0]:.1f}): do not publish these times")
    record: dict[str, Any] = {"circumstances": circumstances(0), "rows": []}
    for n in _TOY_SIZES if asked.toy else SIZES:
        record["rows"].append(_in_a_process(n, toy=asked.toy))
        print(record["rows"][-1], flush=True)
        write_text(folder / f"{STEM}.json", json.dumps(record, indent=1) + "\n")
        write_text(folder / f"{STEM}.md", render(record))
    print(render(record))


def _in_a_process(n: int, *, toy: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.mbed.scale", "--child", str(n)]
    done = subprocess.run(
        command + ["--toy"] * toy, check=True, capture_output=True, text=True, cwd=_HERE.parent
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(n: int, *, toy: bool) -> dict[str, Any]:
    """Fit n points, then place new ones."""
    import resource  # noqa: PLC0415

    import numpy as np  # noqa: PLC0415

    from beltrami import Mbed, PoissonClassifier  # noqa: PLC0415
    from benchmarks.manifold.clouds import sheets  # noqa: PLC0415

    cloud = sheets(n, toy=toy)
    y, truth = np.asarray(cloud.labels), np.asarray(cloud.targets)
    Mbed(random_state=0).fit(cloud.points[:200], np.asarray(truth[:200]))  # compiles
    start = time.perf_counter()
    learner = Mbed(random_state=0).fit(cloud.points, y)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
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


def exponent(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the slope of log seconds over log n, by least squares."""
    points = [(math.log(row["n"]), math.log(row["seconds"])) for row in rows]
    middle = [sum(axis) / len(points) for axis in zip(*points, strict=True)]
    above = sum((x - middle[0]) * (t - middle[1]) for x, t in points)
    return above / sum((x - middle[0]) ** 2 for x, _ in points)


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    from benchmarks.manifold.accuracy_report import table  # noqa: PLC0415

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
    growth = f"\nSeconds grow as n^{exponent(rows):.2f}.\n" if len(rows) > 1 else ""
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
