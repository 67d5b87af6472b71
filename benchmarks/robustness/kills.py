"""Kill commands at random moments, and look at what they leave behind.

`label`, `audit`, `report` and `reproduce` run on a few hundred rows and are ended by SIGKILL or
SIGTERM, half of them at any moment of the run and half while a file is being written, with and
without results of an earlier run in the folder. Afterwards every input must have its old bytes,
every result must be whole or as before, and the next run must leave no temporary file.

    python -m benchmarks.robustness.kills --kills 200
"""

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.robustness.trials import (
    Command,
    Kill,
    Trace,
    begin,
    digests,
    environment_note,
    kill_once,
    temporary_files,
)

_ROWS = 300
_LABEL = ("label", "data.csv", "-o", "labels.csv", "--report", "page.html", "-q")
COMMANDS: dict[str, tuple[str, ...]] = {
    "label": _LABEL,
    "audit": ("audit", "labels.csv", "-n", "20", "-o", "audit.csv", "-q"),
    "report": ("report", "data.csv", "-o", "report.html", "-q"),
    "reproduce": ("reproduce", "thesis-a1", "--quick", "--again", "--out", "figures"),
}


def _write_data(path: Path) -> None:
    """Write a table with two classes, a few of them labelled."""
    chance = random.Random(0)
    lines = ["id,x,y,z,label"]
    for row in range(_ROWS):
        group = row % 2
        x, y, z = (chance.gauss(3.0 * group, 1.0) for _ in range(3))
        lines.append(f"r{row},{x:.4f},{y:.4f},{z:.4f},{'ab'[group] if row < 20 else ''}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _run_to_end(arguments: tuple[str, ...], folder: Path) -> float:
    """Return the seconds that a command takes when nobody kills it."""
    started = time.monotonic()
    process = begin(arguments, folder)
    errors = process.communicate()[1]
    if process.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with {process.returncode}: {errors}")
    if temporary_files(folder):
        raise RuntimeError(f"{arguments[0]} left {temporary_files(folder)} without being killed")
    return time.monotonic() - started


def _prepare_commands(names: Sequence[str], place: Path) -> tuple[dict[str, Path], list[Command]]:
    """Make the folder that each command starts from, and run each once to its end."""
    bases, commands = {}, []
    with_data = place / "data"
    with_data.mkdir()
    _write_data(with_data / "data.csv")
    _run_to_end(_LABEL, with_data)  # compiles what is not compiled yet
    for name in names:
        base = bases[name] = place / f"{name}-base"
        shutil.copytree(with_data, base)
        if name != "audit":
            for result in digests(base).keys() - {"data.csv"}:
                (base / result).unlink()
        results = place / f"{name}-results"
        shutil.copytree(base, results)
        seconds = _run_to_end(COMMANDS[name], results)
        commands.append(Command(name, COMMANDS[name], digests(base), results, seconds))
    return bases, commands


def kill_many(
    n_kills: int, place: Path, *, seed: int = 0, jobs: int = 1, only: Sequence[str] = ()
) -> dict[str, Any]:
    """Kill many times, in turn over commands, and return a summary."""
    bases, commands = _prepare_commands(only or tuple(COMMANDS), place)
    chance = random.Random(seed)
    kills = [
        Kill(
            commands[number % len(commands)],
            chance.choice((signal.SIGKILL, signal.SIGTERM)),
            chance.random() < 0.5,
            chance.random() < 0.5,
            chance.randrange(2**32),
        )
        for number in range(n_kills)
    ]
    with ThreadPoolExecutor(jobs) as pool:
        tasks = [
            pool.submit(kill_once, kill, bases[kill.command.name], place / f"kill-{number}")
            for number, kill in enumerate(kills)
        ]
        traces = [task.result() for task in tasks]
    return _summary(traces, commands)


def _summary(traces: Sequence[Trace], commands: Sequence[Command]) -> dict[str, Any]:
    """Return what was done, how it ended, and every violation."""
    violations = [
        {
            "command": trace.kill.command.name,
            "signal": trace.kill.number.name,
            "seed": trace.kill.seed,
            "faults": list(trace.faults),
        }
        for trace in traces
        if trace.faults
    ]
    return {
        "kills": len(traces),
        "by_command": dict(Counter(trace.kill.command.name for trace in traces)),
        "by_signal": dict(Counter(trace.kill.number.name for trace in traces)),
        "by_exit_code": {str(k): n for k, n in Counter(t.code for t in traces).items()},
        "while_writing": sum(trace.kill.while_writing for trace in traces),
        "left_temporary_files": sum(trace.n_temporary > 0 for trace in traces),
        "seconds": {command.name: round(command.seconds, 1) for command in commands},
        "environment": environment_note(),
        "violations": violations,
    }


def main() -> int:
    """Run from the command line; 1 where something was violated."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="how many run beside each other")
    parser.add_argument("--only", choices=tuple(COMMANDS), action="append", default=[])
    parser.add_argument("--folder", type=Path, help="an empty folder, which is kept")
    asked = parser.parse_args()
    place = asked.folder or Path(tempfile.mkdtemp(prefix="beltrami-kills-"))
    place.mkdir(parents=True, exist_ok=True)
    report = kill_many(asked.kills, place, seed=asked.seed, jobs=asked.jobs, only=asked.only)
    print(json.dumps(report, indent=2))
    if asked.folder is None and not report["violations"]:
        shutil.rmtree(place)
    return int(bool(report["violations"]))


if __name__ == "__main__":
    sys.exit(main())
