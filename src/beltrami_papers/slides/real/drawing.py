"""The picture of multi-manifold separation on real data.

Cells enter, a figure leaves: five objects on a turntable and their regions, learning curves, and
every problem that was tried.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from beltrami.report.pictures.palette import MARKERS, OKABE_ITO, style_of
from beltrami.report.pictures.region_views import view_of
from beltrami_papers.slides.real.lines import Cell, table_cells
from beltrami_papers.slides.real.methods import (
    BASES,
    CHOSEN,
    CLAIRVOYANT,
    GLOBAL,
    KMEANS,
    LINEAR,
    OURS,
    clusters,
    fit_separation,
)
from beltrami_papers.slides.real.problems import ANGLES, RealProblem

_STYLE: dict[str, dict[str, Any]] = {
    GLOBAL: {"c": "0.25", "ls": "--"},
    KMEANS: {"c": OKABE_ITO[1], "ls": "-"},
    CHOSEN: {"c": OKABE_ITO[1], "ls": ":"},
    OURS: {"c": OKABE_ITO[0], "ls": "-", "lw": 2.2, "marker": "o", "ms": 4, "zorder": 4},
    CLAIRVOYANT: {"c": OKABE_ITO[2], "ls": "-."},
}
_BASE_COLOURS = dict(zip(BASES, (OKABE_ITO[2], OKABE_ITO[0], OKABE_ITO[3]), strict=True))
_WIDEST = 2.2  # of the axis of ratios


def draw_real(
    cells: Sequence[Cell], curves: Sequence[str], shown: RealProblem, units: dict[str, str]
) -> Figure:
    """Draw regions, learning curves and all problems."""
    names = list(dict.fromkeys(cell["data"] for cell in table_cells(cells)))
    figure = Figure(figsize=(14.5, max(7.5, 0.235 * len(names) + 1.6)), layout="constrained")
    halves: Any = figure.subfigures(1, 2, width_ratios=(1.45, 1))
    left, right = halves
    above, below = left.subfigures(2, 1, height_ratios=(1, 1.5))
    _draw_regions(above, shown)
    _draw_curves(below, [name for name in curves if name in names], cells, units)
    _draw_ratios(right.subplots(), names, table_cells(cells))
    return figure


def _draw_regions(figure: Any, problem: RealProblem) -> None:
    """Draw the plane of the objects by object, by region and by cluster, joined in true order."""
    rows = problem.draw_labels(min(100, len(problem.targets) // 2), 0)
    values = np.cos(problem.targets) if problem.kind == ANGLES else problem.targets
    model = fit_separation(problem, values, rows, LINEAR, 0)
    places = view_of(problem.points).place(problem.points)
    pieces = np.zeros(len(places), np.intp) if problem.pieces is None else problem.pieces
    panels = figure.subplots(1, 3)
    groupings = {
        "five objects turned round": pieces,
        f"ours: {model.n_regions_} regions": model.regions_,
        f"k-means: {model.n_regions_} clusters": clusters(problem, int(model.n_regions_), 0),
    }
    for axes, (title, groups) in zip(panels, groupings.items(), strict=True):
        for piece in np.unique(pieces):
            around = np.flatnonzero(pieces == piece)
            around = around[np.argsort(problem.targets[around], kind="stable")]
            axes.plot(*places[np.append(around, around[:1])].T, c="0.8", lw=0.7, zorder=1)
        for group in np.unique(groups):
            colour, mark = style_of(int(group))
            members = places[groups == group]
            axes.scatter(*members.T, s=15, c=colour, marker=mark, linewidths=0, zorder=2)
        axes.set_title(title, fontsize="medium")
        axes.set_axis_off()


def _draw_curves(
    figure: Any, names: Sequence[str], cells: Sequence[Cell], units: dict[str, str]
) -> None:
    if not names:
        return
    grid = figure.subplots(2, (len(names) + 1) // 2, squeeze=False)
    handles: dict[str, Any] = {}
    for name, axes in zip(names, grid.ravel(), strict=False):
        curve = sorted(
            (c for c in cells if (c["data"], c["base"]) == (name, LINEAR)),
            key=lambda cell: int(cell["labelled"]),
        )
        counts = [cell["labelled"] for cell in curve]
        for method, style in _STYLE.items():
            if method in curve[0]["means"]:
                means = [cell["means"][method] for cell in curve]
                error = [_standard_error(cell["each"][method]) for cell in curve]
                handles[method] = axes.plot(counts, means, **style)[0]
                if method in {GLOBAL, OURS}:
                    low, high = np.array(means) - error, np.array(means) + error
                    axes.fill_between(counts, low, high, color=style["c"], alpha=0.13, lw=0)
        axes.set_title(f"{name}, linear", fontsize="medium")
        axes.set_ylabel(units[name], fontsize="small")
        axes.set_xscale("log")
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.2)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid.ravel()[len(names) :]:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel("number of labels", fontsize="small")
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=5, frameon=False,
        fontsize="small",
    )  # fmt: skip


def _standard_error(each: Sequence[float]) -> float:
    return float(np.std(each, ddof=1) / np.sqrt(len(each))) if len(each) > 1 else 0.0


def _draw_ratios(axes: Any, names: Sequence[str], cells: Sequence[Cell]) -> None:
    """Draw the error of ours over that of Global, problem by problem."""
    height = {name: place for place, name in enumerate(names)}
    axes.axvline(1.0, c="0.4", lw=0.9, zorder=1)
    for place, base in enumerate(BASES):
        chosen = [cell for cell in cells if cell["base"] == base]
        for cell in chosen:
            start = max(cell["means"][GLOBAL], 1e-9)
            gap = cell["against"][GLOBAL]
            ratio, error = cell["means"][OURS] / start, (gap["standard_error"] or 0.0) / start
            y = height[cell["data"]] + 0.24 * (place - 1)
            sure = bool(gap["verdict"])
            colour = _BASE_COLOURS[base]
            ends = np.clip([ratio - 2 * error, ratio + 2 * error], 0.01, _WIDEST)
            axes.plot(ends, [y, y], c=colour, lw=1.0, alpha=0.7, zorder=2)
            axes.plot(
                min(ratio, _WIDEST), y, MARKERS[place], ms=4.2, c=colour, zorder=3,
                mfc=colour if sure else "white",
            )  # fmt: skip
        axes.plot([], [], MARKERS[place], ms=4.2, c=_BASE_COLOURS[base], label=base)
    for y in range(1, len(names), 2):
        axes.axhspan(y - 0.5, y + 0.5, color="0.955", lw=0, zorder=0)
    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(0.2, _WIDEST)
    axes.set_xlabel("error of ours / error of Global ± 2 s.e. (filled: beyond)")
    axes.set_title("everything that was tried: left of the line ours is better", fontsize="medium")
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.legend(loc="lower right", fontsize="small", frameon=True, framealpha=0.9)
