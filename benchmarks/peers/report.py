"""Results: one JSON file that keeps every round, and one table made from it."""

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from beltrami.core.files import write_text
from beltrami.core.threads import usable_cpus
from benchmarks.peers.contest import Row, threads

_PACKAGES = (
    "numpy", "scipy", "scikit-learn", "numba", "faiss-cpu", "pynndescent", "pyamg", "threadpoolctl",
)  # fmt: skip
_HEADER = (
    "problem", "n", "gap", "ours s", "peer s", "ratio [quartiles]", "peak MB ours/peer",
    "error ours/peer", "rounds", "note",
)  # fmt: skip


def circumstances(seed: int) -> dict[str, Any]:
    """Say where and with what the contests run; no name of a machine, no path."""
    return {
        "cpu": _cpu_model(),
        "cores": usable_cpus(),
        "threads": threads(),
        "omp_wait_policy": os.environ.get("OMP_WAIT_POLICY", "default"),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in _PACKAGES},
        "seed": seed,
        "commit": _commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def save(folder: Path, facts: Mapping[str, Any], rows: Iterable[Row], order: list[str]) -> None:
    """Replace the rows of these contests, keep the others, and write both files whole."""
    merged = {row.name: (row, stamp) for row, stamp in load(folder)}
    stamp = {"commit": facts["commit"], "date": facts["date"]}
    merged |= {row.name: (row, stamp) for row in rows}
    places = {name: place for place, name in enumerate(order)}
    kept = sorted(merged.values(), key=lambda pair: places.get(pair[0].name, len(places)))
    record = {"circumstances": facts, "rows": [asdict(row) | stamp for row, stamp in kept]}
    write_text(folder / "contests.json", json.dumps(record, indent=1) + "\n")
    write_text(folder / "contests.md", render(facts, [row for row, _ in kept]))


def load(folder: Path) -> list[tuple[Row, dict[str, str]]]:
    """Return the rows written before, each with its commit and date."""
    place = folder / "contests.json"
    if not place.exists():
        return []
    names = {item.name for item in fields(Row)}
    rows = json.loads(place.read_text(encoding="utf-8"))["rows"]
    return [
        (
            Row(**{key: value for key, value in row.items() if key in names}),
            {key: row[key] for key in ("commit", "date")},
        )
        for row in rows
    ]


def render(facts: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """Return the page: circumstances, the table of all contests, the table of growth."""
    versions = ", ".join(f"{name} {number}" for name, number in facts["versions"].items())
    head = (
        "# Contests\n\n"
        f"{facts['cpu']}, {facts['cores']} cores, {facts['threads']} threads for every side "
        f"(OMP_WAIT_POLICY {facts['omp_wait_policy']}); "
        f"Python {facts['python']}, {versions}; seed {facts['seed']}; "
        f"last run {facts['date']} at commit {facts['commit']}.\n\n"
        "A ratio above 1 means that ours is faster. Columns are explained in the README of this "
        "folder's parent; raw seconds are in contests.json.\n\n"
    )
    lines = [_cells(row) for row in rows if not (row.growth and row.ours_s)]
    parts = [head + _table(_HEADER, lines)]
    grown = growth_table(rows)
    return "\n".join(parts + ([f"## Growth of ours\n\n{grown}"] if grown else []))


def growth_table(rows: Sequence[Row]) -> str:
    """Return seconds against n for each task, with the exponent of n."""
    rows = [row for row in rows if row.growth and row.ours_s]
    tasks = list(dict.fromkeys(row.growth for row in rows))
    if not tasks:
        return ""
    sizes = sorted({row.n for row in rows})
    lines = []
    for task in tasks:
        times = {row.n: float(np.median(row.ours_s)) for row in rows if row.growth == task}
        known = [_short(times[n]) + " s" if n in times else "-" for n in sizes]
        lines.append([task, *known, exponent(times)])
    return _table(("task", *(f"n = {n:,}" for n in sizes), "exponent of n"), lines)


def exponent(times: Mapping[int, float]) -> str:
    """Fit log seconds to log n by least squares and return the slope."""
    if len(times) < 2:
        return "-"
    slope, _ = np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)
    return f"{slope:.2f}"


def _cells(row: Row) -> list[str]:
    ratio = "-"
    if row.peer_s:
        low, middle, high = np.percentile(row.ratios, [25, 50, 75])
        ratio = f"**{_short(middle)}** [{_short(low)}, {_short(high)}]"
    against = f" vs {row.peer}" if row.peer else ", alone"
    return [
        f"{row.task} on {row.problem}{against}",
        f"{row.n:,}" if row.n else "-",
        _short(row.gap),
        _short(np.median(row.ours_s) if row.ours_s else None),
        _short(np.median(row.peer_s) if row.peer_s else None),
        ratio,
        f"{_whole(row.ours_mb)} / {_whole(row.peer_mb)}",
        f"{_short(row.ours_error)} / {_short(row.peer_error)}",
        str(len(row.ours_s)),
        row.note,
    ]


def _table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["---"] * len(header)
    return "".join(f"| {' | '.join(line)} |\n" for line in (header, rule, *lines))


def _short(number: float | None) -> str:
    if number is None:
        return "-"
    if number == 0 or 0.01 <= abs(number) < 1000:
        return f"{number:.3g}"
    return f"{number:.1e}"


def _whole(number: float | None) -> str:
    return "-" if number is None else f"{number:.0f}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
