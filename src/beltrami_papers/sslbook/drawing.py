"""A picture of the SSL book's benchmark: our rows over the range of the printed ones.

Cells enter, a figure leaves.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from beltrami.report.pictures.palette import OKABE_ITO
from beltrami_papers.sslbook.lines import front_door_finding
from beltrami_papers.sslbook.methods import FRONT_DOOR
from beltrami_papers.sslbook.published import ROWS, best_published

_STYLE = {
    "1-NN": ("0.35", "x"),
    "TSVM": (OKABE_ITO[3], "v"),
    "LapRLS": (OKABE_ITO[0], "o"),
    "PoissonClassifier": (OKABE_ITO[2], "s"),
    FRONT_DOOR: (OKABE_ITO[5], "D"),
}
"""Rows of ours that are drawn: colour and mark."""

_STEP = 0.13


def draw_errors(cells: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw a panel per number of labels: a column of marks per set.

    Thin strokes are the book's rows, the thick one its best; marks are ours.
    """
    counts = sorted({cell["labels"] for cell in cells})
    figure = Figure(figsize=(8.4, 3.5 * len(counts) + 0.7), layout="constrained")
    grid = figure.subplots(len(counts), 1, squeeze=False)[:, 0]
    handles: dict[str, Any] = {}
    for labels, axes in zip(counts, grid, strict=True):
        chosen = [cell for cell in cells if cell["labels"] == labels]
        handles = _draw_panel(axes, chosen, labels)
        axes.set_title(
            f"{labels} labels: {front_door_finding(chosen)}", fontsize="small", loc="left"
        )
    style = {"ncols": 4, "frameon": False, "fontsize": "small"}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", **style)
    return figure


def _draw_panel(axes: Any, cells: Sequence[Mapping[str, Any]], labels: int) -> dict[str, Any]:
    """Draw one panel; return what the legend shows by name."""
    sets = list(dict.fromkeys(cell["data"] for cell in cells))
    handles = {}
    for column, data in enumerate(sets):
        ends = (column - 0.4, column + 0.4)
        for row in ROWS.values():
            error = row.error(data, labels)
            if error is not None:
                (line,) = axes.plot(ends, (error, error), c="0.8", lw=1.0, zorder=1)
                handles["a row of the book (from memory)"] = line
        best, _ = best_published(data, labels)
        (line,) = axes.plot(ends, (best, best), c="0.15", lw=2.4, zorder=2)
        handles["its best row"] = line
    shown = [name for name in _STYLE if any(cell["method"] == name for cell in cells)]
    for place, name in enumerate(shown):
        colour, marker = _STYLE[name]
        means = {cell["data"]: cell["mean"] for cell in cells if cell["method"] == name}
        at = [sets.index(data) + _STEP * (place - (len(shown) - 1) / 2) for data in means]
        handles[name] = axes.scatter(at, means.values(), c=colour, marker=marker, s=38, zorder=3)
    axes.set_xticks(range(len(sets)), sets)
    axes.set_ylabel("wrong on unlabelled rows, %")
    axes.set_ylim(bottom=0)
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="y", alpha=0.2)
    axes.spines[["top", "right"]].set_visible(False)
    return handles
