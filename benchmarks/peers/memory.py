"""Peak memory of one side, measured in a process of its own, apart from the clocks.

The child makes the problem, runs the toy of the same contest so that compilers and imports have
had their share, and then counts how far its resident memory rises above where it stood.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace

from benchmarks.common.memory import added_mb
from benchmarks.common.processes import run_module


def peak_mb(name: str, side: str, *, toy: bool, settings: Mapping[str, float]) -> float:
    """Run one side of a contest in a child and return the megabytes it added at its peak."""
    options = ["--settings", json.dumps(dict(settings)), *["--toy"] * toy]
    return float(run_module("peers.memory", name, side, *options))


def _measure(name: str, side: str, *, toy: bool, settings: Mapping[str, float]) -> float:
    from benchmarks.peers.contests import contests  # noqa: PLC0415 - the parent needs it not

    every = contests(toy=toy)
    place = [contest.name for contest in every].index(name)
    rehearsal = contests(toy=True)[place]
    getattr(rehearsal, side)(rehearsal.problem())
    problem = replace(every[place].problem(), settings=settings)
    return added_mb(lambda: getattr(every[place], side)(problem))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("side", choices=("ours", "peer"))
    parser.add_argument("--settings", type=json.loads, default={})
    parser.add_argument("--toy", action="store_true")
    asked = parser.parse_args()
    print(_measure(asked.name, asked.side, toy=asked.toy, settings=asked.settings))
