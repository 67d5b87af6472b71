"""Tables of the multi-manifold experiment, and how far ours goes towards a clairvoyant learner.

Cells enter, lines of Markdown leave; every number is computed from the cells. Part of layer 7.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from beltrami.report.reproductions.cells import table_lines
from beltrami.report.reproductions.multi_manifold_problems import (
    CLAIRVOYANT,
    GLOBAL,
    METHODS,
    OURS,
    SLIDES,
)


def error_lines(cells: Sequence[Mapping[str, Any]], task: str) -> list[str]:
    """Return a table per set: a row per method and number of unlabelled points.

    Parameters
    ----------
    cells : sequence of dict
        From `cells_of`.
    task : {"regression", "classification"}
        Which.

    Returns
    -------
    list of str
        Lines of Markdown; the mean over draws, and the mean number of regions in brackets.
    """
    lines, digits = [], 3 if task == "regression" else 1
    for data in dict.fromkeys(cell["data"] for cell in cells):
        own = [cell for cell in cells if (cell["data"], cell["task"]) == (data, task)]
        place = {(c["method"], c["unlabelled"], c["labelled"]): c for c in own}
        counts = sorted({cell["labelled"] for cell in own})
        most = max(cell["draws"] for cell in own)
        rows = []
        for method in (name for name in METHODS if any(c["method"] == name for c in own)):
            for m in sorted({c["unlabelled"] for c in own if c["method"] == method}):
                row = [place[method, m, n] for n in counts]
                fewer = "" if row[0]["draws"] == most else f", {row[0]['draws']} draws"
                shown = [_shown(cell, digits) for cell in row]
                rows.append([f"{method}{fewer}", str(m) if m else "", *shown])
        header = [data, "unlabelled", *(f"n = {n}" for n in counts)]
        lines += [*table_lines(header, rows), ""]
    return lines


def _shown(cell: Mapping[str, Any], digits: int) -> str:
    regions = cell["regions"]
    suffix = f" ({regions:g})" if cell["method"] in {OURS, SLIDES} else ""
    return f"{cell['mean']:.{digits}f}{suffix}"


def verdict_lines(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say, set by set, where ours lies between the two references and what more points do.

    Parameters
    ----------
    cells : sequence of dict
        From `cells_of`.

    Returns
    -------
    list of str
        A line per task and set, losses included.
    """
    place = {
        (c["task"], c["data"], c["method"], c["unlabelled"], c["labelled"]): c["mean"]
        for c in cells
    }
    lines = []
    for task, data in dict.fromkeys((c["task"], c["data"]) for c in cells):
        own = [key for key in place if key[:3] == (task, data, OURS)]
        sizes, counts = sorted({key[3] for key in own}), sorted({key[4] for key in own})
        worse = [
            f"n = {n}, m = {m} ({place[task, data, OURS, m, n]:.3g} against "
            f"{place[task, data, GLOBAL, 0, n]:.3g})"
            for n in counts
            for m in sizes
            if place[task, data, OURS, m, n] > place[task, data, GLOBAL, 0, n]
        ]
        closed = [_closed(place, task, data, m, counts) for m in sizes]
        shares = ", ".join(
            f"{share:.0%} at m = {m}" for m, share in zip(sizes, closed, strict=True)
        )
        losses = f"; worse than {GLOBAL} at {'; '.join(worse)}" if worse else ""
        lines.append(
            f"- {task}, {data}: of the way from {GLOBAL} to {CLAIRVOYANT} ours goes {shares} "
            f"(errors summed over n){losses}."
        )
    return lines


def _closed(
    place: Mapping[tuple[str, str, str, int, int], float],
    task: str,
    data: str,
    m: int,
    counts: Sequence[int],
) -> float:
    """Return the share of the way from Global to Clairvoyant, errors summed over n first."""
    starts = np.array([place[task, data, GLOBAL, 0, n] for n in counts])
    ends = np.array([place[task, data, CLAIRVOYANT, 0, n] for n in counts])
    ours = np.array([place[task, data, OURS, m, n] for n in counts])
    way = float((starts - ends).sum())
    return float((starts - ours).sum()) / way if way > 0 else float("nan")
