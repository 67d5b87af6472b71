"""A device beside the processor of the same machine: seconds, agreement, share of the limit.

Points on ten sheets at the sizes asked for, and MNIST where it is; each stage once to warm up, then
five times on the device and, up to a size, on the processor. Prints a JSON object for each row,
which names what it ran on, and keeps all of them after each.

Run: python -m benchmarks.device [--sizes 60000 1000000] [--device cuda] [--out FOLDER]
"""

import json
import statistics
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import beltrami as bt
from beltrami.core.errors import BeltramiError, ConnectedByBridgesWarning
from beltrami.core.machine.backend import PROCESSOR, Backend
from beltrami.core.machine.device import use_backend
from beltrami.core.machine.torch_backend import TorchBackend
from benchmarks.common.command import contest_parser
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.pages import write_results
from benchmarks.device.limits import device_facts, measured_limits, wait_for
from benchmarks.device.page import render
from benchmarks.device.stages import Stage, cloud, stages

STEM = "device"
_COLUMNS = 64
_PROCESSOR_UP_TO = 60_000
"""Rows up to which the processor is timed, and its answers compared: beyond, minutes each."""


def timed(stage: Stage, backend: Backend, device: str, rounds: int) -> tuple[list[float], Any]:
    """Return the seconds of each round after a first one, and the last result."""
    with use_backend(backend):
        result, seconds = stage.run(), []
        for _ in range(rounds):
            wait_for(device)
            started = time.perf_counter()
            result = stage.run()
            wait_for(device)
            seconds.append(time.perf_counter() - started)
    return seconds, result


def row_of(
    stage: Stage,
    problem: str,
    backend: TorchBackend,
    limits: dict[str, float],
    *,
    rounds: int,
    beside: bool,
) -> dict[str, Any]:
    """Time a stage on the device, and `beside` it on the processor."""
    seconds, found = timed(stage, backend, backend.device, rounds)
    row: dict[str, Any] = {
        "problem": problem,
        "stage": stage.name,
        "ran_on": backend.name,
        "median_s": statistics.median(seconds),
        "seconds": seconds,
    }
    if stage.operations:
        least = stage.operations / limits["float32_operations_per_s"]
        row["share_of_arithmetic_limit"] = least / row["median_s"]
    if beside:
        own, trusted = timed(stage, PROCESSOR, "cpu", min(rounds, 2))
        row |= {"processor_median_s": statistics.median(own)} | stage.agreement(trusted, found)
    return row


def problems(sizes: list[int], *, has_mnist: bool) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Return names, points and targets."""
    found = [(f"sheets {n} x {_COLUMNS}", *cloud(n, _COLUMNS)) for n in sizes]
    if has_mnist:
        try:
            mnist = bt.load_dataset("mnist")
        except BeltramiError as error:
            print(f"no MNIST: {error}")
        else:
            points = bt.principal_components(mnist.points[:60_000], 100)
            found.insert(0, ("MNIST 60000 x 100", np.asarray(points), mnist.targets[:60_000]))
    return found


def main(arguments: list[str] | None = None) -> None:
    """Time every stage; what is not timed here is not claimed."""
    parser = contest_parser("device", __doc__)
    parser.add_argument("--device", default="cuda", help="as torch calls it")
    parser.add_argument("--sizes", type=int, nargs="*", default=[60_000, 1_000_000])
    parser.add_argument("--counts", type=int, nargs="*", default=[100, 200])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processor-up-to", type=int, default=_PROCESSOR_UP_TO)
    parser.add_argument("--limit-rows", type=int, default=1_000_000, help="of the copy timed")
    parser.add_argument("--no-mnist", action="store_true")
    asked = parser.parse_args(arguments)
    warn_if_busy()
    warnings.simplefilter("ignore", ConnectedByBridgesWarning)
    backend = TorchBackend(asked.device)
    limits = measured_limits(asked.device, n_rows=asked.limit_rows)
    record = {
        "circumstances": circumstances(),
        "device": device_facts(asked.device),
        "limits": limits,
        "rows": [],
    }
    for name, points, targets in problems(asked.sizes, has_mnist=not asked.no_mnist):
        for stage in stages(points, targets, asked.counts):
            beside = len(points) <= asked.processor_up_to
            row = row_of(stage, name, backend, limits, rounds=asked.rounds, beside=beside)
            print(json.dumps(row), flush=True)
            record["rows"].append(row)
            keep(record, asked.out)


def keep(record: dict[str, Any], folder: Path | None) -> None:
    """Write what is known so far: a machine that is lent may be taken back."""
    if folder is not None:
        write_results(Path(folder), STEM, record, render(record))


if __name__ == "__main__":
    main()
