"""Learning curves of several sets and tasks as small multiples."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from beltrami.report.pictures.palette import OKABE_ITO
from beltrami_papers.slides.problems import (
    CLAIRVOYANT,
    GLOBAL,
    GRAPH,
    OURS,
    SLIDES,
    TASKS,
)

_COLOUR = {
    GLOBAL: "0.25",
    CLAIRVOYANT: "0.25",
    OURS: OKABE_ITO[0],
    SLIDES: OKABE_ITO[5],
    GRAPH: OKABE_ITO[2],
}
_AXIS = {"regression": "root mean squared error", "classification": "wrong classes, %"}
_FLOOR = {"regression": 1e-3, "classification": 0.05}
_LIGHTEST = 0.62


def shade(colour: str, place: int, count: int) -> tuple[float, float, float]:
    """Return a colour, the lighter the earlier in a series."""
    light = _LIGHTEST * (count - 1 - place) / max(count - 1, 1)
    red, green, blue = np.array(to_rgb(colour)) * (1 - light) + light
    return float(red), float(green), float(blue)


def draw_curves(cells: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw errors against the number of labels: a column per set, a row per task."""
    sets = list(dict.fromkeys(cell["data"] for cell in cells))
    figure = Figure(figsize=(2.15 * len(sets) + 0.6, 5.4), layout="constrained")
    grid = figure.subplots(len(TASKS), len(sets), squeeze=False, sharex=True, sharey="row")
    handles: dict[str, Any] = {}
    for task, row in zip(TASKS, grid, strict=True):
        for data, axes in zip(sets, row, strict=True):
            chosen = [cell for cell in cells if (cell["data"], cell["task"]) == (data, task)]
            handles |= _draw_panel(axes, chosen, _FLOOR[task])
        row[0].set_ylabel(_AXIS[task])
        row[0].set_ylim(bottom=_FLOOR[task] / 1.4)
    for data, axes in zip(sets, grid[0], strict=True):
        axes.set_title(data, fontsize="medium")
    figure.supxlabel("number of labelled points", fontsize="medium")
    columns = 7 if len(sets) > 3 else 3
    style = {"ncols": columns, "frameon": False, "fontsize": "small"}
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", **style)
    return figure


def _draw_panel(axes: Any, cells: Sequence[Mapping[str, Any]], floor: float) -> dict[str, Any]:
    """Draw one panel; return its lines by what they are called."""
    handles = {}
    for method, colour in _COLOUR.items():
        sizes = sorted({cell["unlabelled"] for cell in cells if cell["method"] == method})
        shown = sizes[-1:] if method in {SLIDES, GRAPH} else sizes
        for place, m in enumerate(shown):
            line = sorted(
                (c["labelled"], max(c["mean"], floor))
                for c in cells
                if (c["method"], c["unlabelled"]) == (method, m)
            )
            name = f"{method}, m = {m}" if m else method
            handles[name] = axes.plot(
                *np.transpose(line),
                c=shade(colour, place, len(shown)),
                ls=_line_style(method),
                lw=2.0 if method == OURS else 1.3,
                marker="o" if method == OURS else None,
                ms=3.5,
                zorder=3 if method == OURS else 2,
            )[0]
    counts = sorted({cell["labelled"] for cell in cells})
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(counts, [str(count) for count in counts], rotation=45, fontsize="small")
    axes.minorticks_off()
    axes.grid(alpha=0.2)
    axes.spines[["top", "right"]].set_visible(False)
    return handles


def _line_style(method: str) -> Any:
    return {GLOBAL: "--", CLAIRVOYANT: ":", SLIDES: (0, (4, 1.5)), GRAPH: "-."}.get(method, "-")
