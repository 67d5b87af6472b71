"""Files that a person waits for: the digits, a demonstration, and 20,000 rows of many classes.

Each command is run as a user would, in a process of its own and without the cache, several times,
one after the other, so that a slow minute of the machine hits all; before the first round, one that
is not timed compiles what there is to compile.

Run: python -m benchmarks.front_door.small
"""

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.pages import table, versions_line, write_results
from benchmarks.front_door.second_command import run

STEM = "front_door_small"
ROUNDS, PER_CLASS = 5, 5
MANY_ROWS, MANY_CLASSES, N_COLUMNS = 20_000, 26, 16
MARKS = {"digits": 3.0, "26 classes": 30.0, "demo": 4.0}


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Return the 1,797 digits and their classes."""
    from beltrami import load_dataset  # noqa: PLC0415

    dataset = load_dataset("digits")
    return np.asarray(dataset.points), np.asarray(dataset.targets)


def many_classes() -> tuple[np.ndarray, np.ndarray]:
    """Return curved patches that overlap a little, one for each class."""
    rng = np.random.default_rng(0)
    targets = rng.integers(0, MANY_CLASSES, MANY_ROWS)
    centres = 1.2 * rng.normal(size=(MANY_CLASSES, N_COLUMNS))
    waves = rng.normal(size=(4, N_COLUMNS))
    points = centres[targets] + np.sin(rng.normal(size=(MANY_ROWS, 4)) @ waves)
    return points + 0.5 * rng.normal(size=points.shape), targets


def write_problem(path: Path, points: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Write a table with some labels of each class; return the classes as texts."""
    rng, names = np.random.default_rng(2), np.array([f"class {one}" for one in targets])
    labels = np.full(len(targets), None, dtype=object)
    for name in np.unique(names):
        rows = rng.choice(np.flatnonzero(names == name), PER_CLASS, replace=False)
        labels[rows] = name
    columns = {f"x{j}": points[:, j] for j in range(points.shape[1])}
    pq.write_table(pa.table(columns | {"label": pa.array(labels, type=pa.string())}), path)
    return names


def hold(folder: Path, n_rounds: int) -> dict[str, dict[str, list[float]]]:
    """Run all commands round by round, and return seconds and percent right."""
    truths, commands = {}, {}
    for name, make in (("digits", digits), ("26 classes", many_classes)):
        source, out = folder / f"{name}.parquet", folder / f"{name}.labels.parquet"
        truths[name] = write_problem(source, *make())
        commands[name] = ["label", str(source), "-o", str(out), "--no-cache"]
    commands["demo"] = ["demo", "--out", str(folder / "demo")]
    found: dict[str, dict[str, list[float]]] = {
        name: {"seconds": [], "processor": [], "right": []} for name in commands
    }
    for number in range(n_rounds + 1):
        for name, command in commands.items():
            with tempfile.TemporaryDirectory(dir=folder) as cache:
                seconds, busy = run(command, Path(cache))
            if not number:
                continue
            found[name]["seconds"].append(round(seconds, 2))
            found[name]["processor"].append(round(busy, 2))
            if name in truths:
                guesses = pq.read_table(command[3], columns=["guess"])["guess"].to_pylist()
                right = 100 * float((np.array(guesses) == truths[name]).mean())
                found[name]["right"].append(round(right, 2))
    return found


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    facts, lines = record["circumstances"], []
    for name, one in record["commands"].items():
        seconds = median(one["seconds"])
        lines.append(
            [
                name,
                f"{seconds:.1f}",
                f"{min(one['seconds']):.1f} to {max(one['seconds']):.1f}",
                f"{median(one['processor']):.1f}",
                f"{MARKS[name]:g}: {'held' if seconds <= MARKS[name] else 'MISSED'}",
                f"{median(one['right']):.1f}" if one["right"] else "-",
            ]
        )
    rounds = len(record["commands"]["digits"]["seconds"])
    return (
        "# Files that a person waits for\n\n"
        f"`beltrami label` on the 1,797 digits and on {MANY_ROWS:,} rows of {MANY_CLASSES} classes "
        f"in {N_COLUMNS} columns, {PER_CLASS} labels of each class, and `beltrami demo`; end to "
        f"end, without a cache, loops compiled before; median of {rounds} rounds.\n\n"
        + table(("what", "s", "from to", "processor s", "mark, s", "right, %"), lines)
        + f"\n{facts['cpu']}, {facts['cores']} cores; Python {facts['python']}, "
        f"{versions_line(facts)}; commit {facts['commit']}, {facts['date']}.\n"
    )


def main(arguments: list[str] | None = None) -> None:
    """Hold all rounds and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    warn_if_busy()
    with tempfile.TemporaryDirectory() as folder:
        record = {"commands": hold(Path(folder), asked.rounds), "circumstances": circumstances()}
    write_results(asked.out, STEM, record, render(record))
    print(render(record))


if __name__ == "__main__":
    main()
