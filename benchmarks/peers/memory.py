"""Peak memory of one side, measured in a process of its own, apart from the clocks.

The child makes the problem, runs the toy of the same contest so that compilers and imports have
had their share, and then counts how far its resident memory rises above where it stood.
"""

import argparse
import ctypes
import gc
import json
import resource
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_STATUS = Path("/proc/self/status")


def peak_mb(name: str, side: str, *, toy: bool, settings: Mapping[str, float]) -> float:
    """Run one side of a contest in a child and return the megabytes it added at its peak."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.peers.memory", name, side]
    command += ["--settings", json.dumps(dict(settings))] + ["--toy"] * toy
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"measuring the memory of {name!r} failed: {done.stderr[-500:]}")
    return float(done.stdout.splitlines()[-1])


def _child(name: str, side: str, *, toy: bool, settings: Mapping[str, float]) -> float:
    from benchmarks.peers.contests import contests  # noqa: PLC0415 - the parent needs it not

    found = contests(toy=toy)
    place = [contest.name for contest in found].index(name)
    rehearsal = contests(toy=True)[place]
    getattr(rehearsal, side)(rehearsal.problem())
    problem = replace(found[place].problem(), settings=settings)
    gc.collect()
    before = _restart()
    answer = getattr(found[place], side)(problem)
    peak = _peak()
    del answer
    return max(0.0, (peak - before) / 1e6)


def _restart() -> int:
    """Set the high-water mark to the present size where the system allows, and return the size."""
    if not _STATUS.exists():
        return _peak()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:  # give back what the rehearsal freed, or the call would reuse it unseen
        trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _field("VmRSS")


def _peak() -> int:
    if _STATUS.exists():
        return _field("VmHWM")
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else 1024 * largest


def _field(name: str) -> int:
    lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("side", choices=("ours", "peer"))
    parser.add_argument("--settings", type=json.loads, default={})
    parser.add_argument("--toy", action="store_true")
    asked = parser.parse_args()
    print(_child(asked.name, asked.side, toy=asked.toy, settings=asked.settings))
