"""What the cache is worth: `beltrami label` on a file, then `beltrami suggest` on the same file.

The sheets of `scale`, as parquet, and a cache folder that is empty before each round. A round runs
the two commands as a user would, and both again with ``--no-cache``, one after the other, so that a
slow minute of the machine hits all; before the first, one that is not timed compiles what there is
to compile. Ratios are taken within a round. The tables that the commands write must be the same
bytes with and without the cache.

Run: python -m benchmarks.front_door.second_command
"""

import argparse
import os
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.pages import table, versions_line, write_results
from benchmarks.front_door.scale import write_problem

STEM = "second_command"
N_ROWS, ROUNDS = 60_000, 3
MARK = 0.2

STAGES = {
    "imports": ("<frozen importlib._bootstrap>", "_find_and_load"),
    "reading the table": ("labelling/intake.py", "take_in"),
    "preparing the points": ("front_door/prepare.py", "prepare"),
    "the graph, from the cache": ("graph/fitting.py", "fitted_graph"),
    "eigenbases, from the cache": ("solvers/eigen/basis.py", "eigenbasis"),
    "learning from the labels, all": ("front_door/classifier.py", "_learn"),
    "choosing the questions, all": ("front_door/dialogue.py", "query"),
    "writing the table": ("tables/writing.py", "write_table"),
}
"""Functions whose seconds, with all that they call, are shown of the second command."""


def run(arguments: list[str], cache: Path, prefix: tuple[str, ...] = ()) -> tuple[float, float]:
    """Run a command with a cache folder; return its seconds, and those of all processors."""
    command = [sys.executable, *prefix, "-m", "beltrami.cli", *arguments, "-q"]
    environment = os.environ | {"BELTRAMI_CACHE": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installation has its bytecode
    started, busy = time.perf_counter(), _processor_seconds()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(done.stderr)
    return seconds, _processor_seconds() - busy


def _processor_seconds() -> float:
    """Return what all child processes that have ended took of all processors."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def hold_round(source: Path, folder: Path) -> dict[str, float]:
    """Run both commands with a fresh cache and without, and return their seconds."""
    seconds, tables = {}, {}
    with tempfile.TemporaryDirectory(dir=folder) as cache:
        for name in ("label", "suggest"):
            for way, option in (("", []), (" without", ["--no-cache"])):
                out = folder / f"{name}{way}.csv"
                arguments = [name, str(source), "-o", str(out), *option]
                seconds[name + way], seconds[f"{name}{way}, processor"] = run(
                    arguments, Path(cache)
                )
                tables[name + way] = out.read_bytes()
        seconds["cache MiB"] = sum(path.stat().st_size for path in Path(cache).iterdir()) / 2**20
    for name in ("label", "suggest"):
        if tables[name] != tables[f"{name} without"]:
            raise SystemExit(f"`{name}` writes something else with the cache than without it")
    return {name: round(value, 2) for name, value in seconds.items()}


def profile_second(source: Path, folder: Path) -> dict[str, float]:
    """Return where the second command's time goes, by a profiler that slows it a little."""
    out, asked, trace = folder / "profiled.csv", folder / "profiled.ask.csv", folder / "trace"
    with tempfile.TemporaryDirectory(dir=folder) as cache:
        run(["label", str(source), "-o", str(out)], Path(cache))
        prefix = ("-m", "cProfile", "-o", str(trace))
        whole, _ = run(["suggest", str(source), "-o", str(asked)], Path(cache), prefix)
    if not asked.exists():  # the profiler swallows exit codes
        raise SystemExit("the profiled command failed")
    spent = dict.fromkeys(STAGES, 0.0)
    for (file, _, function), numbers in pstats.Stats(str(trace)).stats.items():  # type: ignore[attr-defined]
        for name, (ending, wanted) in STAGES.items():
            if function == wanted and file.endswith(ending):
                spent[name] += numbers[3]
    return {name: round(value, 2) for name, value in (spent | {"all": whole}).items()}


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    rounds, facts = record["rounds"], record["circumstances"]
    shares = [one["suggest"] / one["label"] for one in rounds]
    of_processors = [one["suggest, processor"] / one["label, processor"] for one in rounds]
    overhead = [one["label"] / one["label without"] - 1 for one in rounds]
    gain = [one["suggest without"] / one["suggest"] for one in rounds]
    is_held = median(shares) <= MARK
    commands = ("label", "suggest", "label without", "suggest without")
    columns = (*commands, *(f"{name}, processor" for name in commands), "cache MiB")
    return "\n".join(
        [
            "# The second command",
            "",
            f"`beltrami label`, then `beltrami suggest`, on the same file of {record['n']:,} rows "
            "and 64 columns, each in a process of its own; beside them the same commands with "
            "`--no-cache`. The tables that they wrote are the same bytes with and without.",
            "",
            f"Second over first, median of {len(rounds)}: **{median(shares):.3f}** "
            f"(the mark is {MARK}: {'held' if is_held else 'MISSED'}); by processor seconds, "
            f"which other work on the machine disturbs less, {median(of_processors):.3f}. "
            f"Without the cache the second takes {median(gain):.1f} times as long. "
            f"What the first pays for storing: {median(overhead):+.1%}.",
            "",
            "Seconds, and the size of the cache:",
            "",
            table(columns, [[f"{one[name]:.1f}" for name in columns] for one in rounds]),
            "Where the second command's time goes (by cProfile; a stage holds what it calls, so "
            "they overlap):",
            "",
            table(
                ("stage", "s"),
                [(name, f"{value:.2f}") for name, value in record["stages"].items()],
            ),
            f"{facts['cpu']}, {facts['cores']} cores; Python {facts['python']}, "
            f"{versions_line(facts)}; commit {facts['commit']}, {facts['date']}.",
            "",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    """Hold the rounds and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    warn_if_busy()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "sheets.parquet"
        write_problem(source, asked.rows)
        run(["label", str(source), "-o", str(folder / "warm.csv"), "--no-cache"], folder)
        rounds = []
        for _ in range(asked.rounds):
            rounds.append(hold_round(source, folder))
            print(rounds[-1], flush=True)
        stages = profile_second(source, folder)
    record = {
        "circumstances": circumstances(),
        "n": asked.rows,
        "rounds": rounds,
        "stages": stages,
    }
    write_results(asked.out, STEM, record, render(record))


if __name__ == "__main__":
    main()
