"""How `beltrami label` grows: whole files of up to a million rows, end to end, in a process each.

Ten curved sheets of eight dimensions in sixty-four columns with noise, ten labels on each, as
parquet; the command is run as a user would, and its time, its peak memory and its accuracy noted.

Run: python -m benchmarks.front_door.scale
"""

import argparse
import json
import math
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from beltrami.core.machine.threads import usable_cpus
from benchmarks.common.command import RESULTS
from benchmarks.common.memory import GIB, children_peak_bytes
from benchmarks.common.pages import write_results

STEM = "front_door_scale"
SIZES = (60_000, 250_000, 1_000_000)
N_COLUMNS, N_CLASSES, N_DIMENSIONS, PER_CLASS = 64, 10, 8, 10


def sheets(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return points on curved sheets, one for each class, and their classes."""
    rng = np.random.default_rng(seed)
    targets = rng.integers(0, N_CLASSES, n)
    points = np.empty((n, N_COLUMNS), dtype=np.float32)
    for code in range(N_CLASSES):
        shape = np.random.default_rng((1, code))
        waves = shape.normal(size=(N_DIMENSIONS, N_COLUMNS))
        phases = shape.uniform(0, 2 * np.pi, N_COLUMNS)
        rows = np.flatnonzero(targets == code)
        places = rng.uniform(-1, 1, (len(rows), N_DIMENSIONS))
        points[rows] = np.sin(0.8 * places @ waves + phases)
    points += rng.normal(0, 0.05, points.shape).astype(np.float32)
    return points, targets


def write_problem(path: Path, n: int) -> np.ndarray:
    """Write the table and return the true classes."""
    points, targets = sheets(n)
    rng = np.random.default_rng(2)
    labels = np.full(n, None, dtype=object)
    for code in range(N_CLASSES):
        for row in rng.choice(np.flatnonzero(targets == code), PER_CLASS, replace=False):
            labels[row] = f"sheet {code}"
    columns = {f"x{j}": points[:, j] for j in range(N_COLUMNS)}
    columns["label"] = pa.array(labels, type=pa.string())
    pq.write_table(pa.table(columns), path)
    return targets


def measure(n: int, folder: Path) -> dict[str, Any]:
    """Run the command on n rows and return what it took."""
    source, out = folder / f"sheets{n}.parquet", folder / f"labels{n}.parquet"
    targets = write_problem(source, n)
    command = [sys.executable, "-m", "beltrami.cli", "label", str(source), "-o", str(out)]
    command += ["--json", "--no-cache"]
    started, busy = time.perf_counter(), _processor_seconds()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds, busy = time.perf_counter() - started, _processor_seconds() - busy
    if done.returncode:
        raise SystemExit(done.stderr)
    summary = json.loads(done.stdout)
    table = pq.read_table(out, columns=["guess", "source"])
    guesses = np.array([int(value.split()[1]) for value in table["guess"].to_pylist()])
    ours = np.array(table["source"].to_pylist()) != "human"
    error = float((guesses[ours] != targets[ours]).mean())
    return {
        "n": n,
        "seconds": round(seconds, 1),
        "busy": round(busy / seconds / usable_cpus(), 3),
        "peak_gib": round(children_peak_bytes() / GIB, 2),
        "error": round(100 * error, 2),
        "method": summary["method"],
        "weights": {name: round(value, 3) for name, value in summary["weights"].items()},
    }


def _processor_seconds() -> float:
    """Return what all child processes that have ended took of all processors."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    rows = record["rows"]
    lines = [
        "# The front door at size",
        "",
        f"Ten curved sheets, {N_DIMENSIONS} dimensions in {N_COLUMNS} columns, {PER_CLASS} labels "
        "each, as parquet; `beltrami label` end to end, in a process of its own, two threads.",
        "",
        "| rows | seconds | processors busy | peak GiB | wrong, % | answered by |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row['n']:,} | {row['seconds']} | {row['busy']:.0%} | {row['peak_gib']} | "
        f"{row['error']} | {row['method']} |"
        for row in rows
    ]
    if len(rows) > 1:
        first, last = rows[0], rows[-1]
        growth = math.log(last["seconds"] / first["seconds"]) / math.log(last["n"] / first["n"])
        lines += ["", f"Growth from {first['n']:,} to {last['n']:,} rows: n^{growth:.2f}."]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Run every size; the files are written after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in asked.sizes:
            rows.append(measure(n, Path(folder)))
            print(rows[-1], flush=True)
            record = {"python": platform.python_version(), "rows": rows}
            write_results(asked.out, STEM, record, render(record))


if __name__ == "__main__":
    main()
