"""Tables of the multi-manifold experiment, and how far ours goes towards a clairvoyant learner.

Cells enter, lines of Markdown leave; every number is computed from the cells.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from beltrami_papers.cells import table_lines
from beltrami_papers.slides.problems import (
    CLAIRVOYANT,
    GLOBAL,
    METHODS,
    OURS,
    SLIDES,
)


def error_lines(cells: Sequence[Mapping[str, Any]], task: str) -> list[str]:
    """Return a table per set: a row per method and number of unlabelled points.

    Lines of Markdown; the mean over draws, and the mean number of regions in brackets.
    """
    lines, digits = [], 3 if task == "regression" else 1
    for data in dict.fromkeys(cell["data"] for cell in cells):
        chosen = [cell for cell in cells if (cell["data"], cell["task"]) == (data, task)]
        place = {(c["method"], c["unlabelled"], c["labelled"]): c for c in chosen}
        counts = sorted({cell["labelled"] for cell in chosen})
        most = max(cell["draws"] for cell in chosen)
        rows = []
        for method in (name for name in METHODS if any(c["method"] == name for c in chosen)):
            for m in sorted({c["unlabelled"] for c in chosen if c["method"] == method}):
                row = [place[method, m, n] for n in counts]
                fewer = "" if row[0]["draws"] == most else f", {row[0]['draws']} draws"
                shown = [_cell_text(cell, digits) for cell in row]
                rows.append([f"{method}{fewer}", str(m) if m else "", *shown])
        header = [data, "unlabelled", *(f"n = {n}" for n in counts)]
        lines += [*table_lines(header, rows), ""]
    return lines


def _cell_text(cell: Mapping[str, Any], digits: int) -> str:
    regions = cell["regions"]
    suffix = f" ({regions:g})" if cell["method"] in {OURS, SLIDES} else ""
    return f"{cell['mean']:.{digits}f}{suffix}"


def verdict_lines(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say, set by set, where ours lies between the two references and what more points do."""
    errors = {
        (c["task"], c["data"], c["method"], c["unlabelled"], c["labelled"]): c["each"]
        for c in cells
    }
    lines = []
    for task, data in dict.fromkeys((c["task"], c["data"]) for c in cells):
        keys = [key for key in errors if key[:3] == (task, data, OURS)]
        sizes, counts = sorted({key[3] for key in keys}), sorted({key[4] for key in keys})
        means = {m: [_on_the_same_draws(errors, task, data, m, n) for n in counts] for m in sizes}
        worse = [
            f"n = {n}, m = {m} ({ours:.3g} against {start:.3g})"
            for m, rows in means.items()
            for n, (start, ours, _) in zip(counts, rows, strict=True)
            if ours > start
        ]
        shares = ", ".join(f"{_share_of_the_way(rows):.0%} at m = {m}" for m, rows in means.items())
        losses = f"; worse than {GLOBAL} at {'; '.join(worse)}" if worse else ""
        lines.append(
            f"- {task}, {data}: of the way from {GLOBAL} to {CLAIRVOYANT} ours goes {shares} "
            f"(errors summed over n, means over the same draws){losses}."
        )
    return lines


def _on_the_same_draws(
    errors: Mapping[tuple[str, str, str, int, int], Sequence[float]],
    task: str,
    data: str,
    m: int,
    n: int,
) -> tuple[float, float, float]:
    """Return the mean errors of Global, ours and Clairvoyant over the draws that ours has."""
    ours = errors[task, data, OURS, m, n]
    start = errors[task, data, GLOBAL, 0, n][: len(ours)]
    end = errors[task, data, CLAIRVOYANT, 0, n][: len(ours)]
    return float(np.mean(start)), float(np.mean(ours)), float(np.mean(end))


def _share_of_the_way(rows: Sequence[tuple[float, float, float]]) -> float:
    """Return the share of the way from Global to Clairvoyant, errors summed over n first."""
    start, ours, end = np.sum(rows, axis=0)
    way = float(start - end)
    return float(start - ours) / way if way > 0 else float("nan")
