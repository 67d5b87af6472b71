"""Results: one JSON file that keeps every round, and one table made from it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.pages import (
    growth_in_words,
    load_record,
    table,
    versions_line,
    write_results,
)
from benchmarks.peers.contest import Row

STEM = "contests"
_HEADER = (
    "problem", "n", "gap", "ours s", "peer s", "ratio [quartiles]", "peak MB ours/peer",
    "error ours/peer", "rounds", "note",
)  # fmt: skip


def save(folder: Path, facts: Mapping[str, Any], rows: Iterable[Row], order: list[str]) -> None:
    """Replace the rows of these contests, keep the others, and write both files whole."""
    merged = {row.name: (row, stamp) for row, stamp in load(folder)}
    stamp = {"commit": facts["commit"], "date": facts["date"]}
    merged |= {row.name: (row, stamp) for row in rows}
    places = {name: place for place, name in enumerate(order)}
    kept = sorted(merged.values(), key=lambda pair: places.get(pair[0].name, len(places)))
    record = {"circumstances": facts, "rows": [asdict(row) | stamp for row, stamp in kept]}
    write_results(folder, STEM, record, render(facts, [row for row, _ in kept]))


def load(folder: Path) -> list[tuple[Row, dict[str, str]]]:
    """Return the rows written before, each with its commit and date."""
    names = {item.name for item in fields(Row)}
    rows = load_record(folder, STEM, rows=[])["rows"]
    return [
        (
            Row(**{key: value for key, value in row.items() if key in names}),
            {key: row[key] for key in ("commit", "date")},
        )
        for row in rows
    ]


def render(facts: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """Return the page: circumstances, the table of all contests, the table of growth."""
    head = (
        "# Contests\n\n"
        f"{facts['cpu']}, {facts['cores']} cores, {facts['threads']} threads for every side "
        f"(OMP_WAIT_POLICY {facts['omp_wait_policy']}); "
        f"Python {facts['python']}, {versions_line(facts)}; seed {facts['seed']}; "
        f"last run {facts['date']} at commit {facts['commit']}.\n\n"
        "A ratio above 1 means that ours is faster. Columns are explained in the README of this "
        "folder's parent; raw seconds are in contests.json.\n\n"
    )
    lines = [_cells(row) for row in rows if not (row.growth and row.ours_s)]
    parts = [head + table(_HEADER, lines)]
    grown = _growth_table(rows)
    return "\n".join(parts + ([f"## Growth of ours\n\n{grown}"] if grown else []))


def _growth_table(rows: Sequence[Row]) -> str:
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
        lines.append([task, *known, growth_in_words(times)])
    return table(("task", *(f"n = {n:,}" for n in sizes), "exponent of n"), lines)


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


def _short(number: float | None) -> str:
    if number is None:
        return "-"
    if number == 0 or 0.01 <= abs(number) < 1000:
        return f"{number:.3g}"
    return f"{number:.1e}"


def _whole(number: float | None) -> str:
    return "-" if number is None else f"{number:.0f}"
