"""Pictures of many two-class problems: errors of machines enter, panels leave."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from beltrami.report.pictures.palette import OKABE_ITO
from beltrami_papers.lapsvm.machines import ErrorTable

_BLUE, _ORANGE, _GREEN, _PINK, _, _RED = OKABE_ITO[:6]
_STYLE = {
    "RLS": (_RED, "o"),
    "SVM": (_RED, "o"),
    "TSVM": (_ORANGE, "^"),
    "LapRLS": (_BLUE, "s"),
    "LapSVM": (_BLUE, "s"),
}
_SECOND = (_GREEN, "D")
"""Of a Laplacian machine in a second reading."""


def draw_pairs(table: ErrorTable, names: Sequence[str], title: str) -> Figure:
    """Draw figure 2: three comparisons over the pairs, two of sets, one of deviations."""
    figure = Figure(figsize=(13.5, 7.8), layout="constrained")
    panels = figure.subplots(2, 3)
    shown = (("RLS", "LapRLS"), ("SVM", "LapSVM"), ("TSVM", "LapSVM"))
    highest = 1.05 * max(table[name]["unlabelled"].mean(axis=1).max() for name in _STYLE)
    for axes, machines in zip(panels[0], shown, strict=True):
        _over_pairs(axes, table, machines, names)
        axes.set_ylim(-0.02 * highest, highest)
    panels[0, 0].set_ylabel("error on unlabelled images, %")
    for axes, machines in zip(panels[1, :2], shown[:2], strict=True):
        _unlabelled_and_test(axes, table, machines)
    _deviations(panels[1, 2], table)
    figure.suptitle(f"{title}; errors at the break-even point", fontsize="medium")
    return figure


def draw_speakers(table: ErrorTable, title: str) -> Figure:
    """Draw figure 3: errors over the labelled speakers, least squares and margins, two sets.

    Two rows of two panels with one scale of errors for each row.
    """
    figure = Figure(figsize=(13, 8), layout="constrained")
    panels = figure.subplots(2, 2, sharey="row", sharex=True)
    sets = (("unlabelled", "unlabelled speakers"), ("isolet5", "isolet5 (new speakers)"))
    families = (
        [name for name in table if name.partition(" (")[0] in {"RLS", "LapRLS"}],
        [name for name in table if name.partition(" (")[0] in {"SVM", "TSVM", "LapSVM"}],
    )
    for row, (view, label) in zip(panels, sets, strict=True):
        row[0].set_ylabel(f"error on {label}, %")
        errors = np.concatenate([views[view].mean(axis=1) for views in table.values()])
        low, high = errors.min(), errors.max()
        row[0].set_ylim(low - 0.05 * (high - low), high + 0.25 * (high - low))
        for axes, machines in zip(row, families, strict=True):
            _over_speakers(axes, table, machines, view)
    for axes in panels[1]:
        axes.set_xlabel("labelled speaker")
    figure.suptitle(
        f"{title}; errors at the break-even point, dashed: mean over the speakers",
        fontsize="medium",
    )
    return figure


def _style(machine: str, readings: list[str]) -> tuple[str, str]:
    """Return colour and mark; a second reading of the same machine has its own."""
    kind = machine.partition(" (")[0]
    alike = [name for name in readings if name.partition(" (")[0] == kind]
    return _SECOND if alike.index(machine) else _STYLE[kind]


def _over_pairs(
    axes: Any, table: ErrorTable, machines: Sequence[str], names: Sequence[str]
) -> None:
    places = np.arange(len(names))
    for machine in machines:
        colour, marker = _STYLE[machine]
        means = table[machine]["unlabelled"].mean(axis=1)
        axes.plot(places, means, "-", c=colour, lw=0.8, alpha=0.5)
        label = f"{machine}, mean {means.mean():.2f}"
        axes.plot(places, means, ls="", marker=marker, ms=4, c=colour, label=label)
    firsts = [name.split("-")[0] for name in names]
    starts = [i for i, first in enumerate(firsts) if i == 0 or firsts[i - 1] != first]
    for start in starts[1:]:
        axes.axvline(start - 0.5, c="0.85", lw=0.8, zorder=0)
    middles = [np.mean([i for i, f in enumerate(firsts) if f == firsts[s]]) for s in starts]
    axes.set_xticks(middles, [f"{firsts[start]}" for start in starts])
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.8, len(names) - 0.2)
    axes.set_xlabel("pairs, by first digit; within, by second digit")
    axes.set_title(" and ".join(machines), fontsize="medium")
    axes.grid(axis="y", alpha=0.25)
    axes.legend(frameon=False, fontsize="small", loc="upper left")


def _square(axes: Any, high: float) -> None:
    """Give both axes one scale from zero, with the line where they are equal."""
    axes.plot([0, high], [0, high], c="0.6", lw=0.8, zorder=0)
    axes.set_xlim(-0.03 * high, high)
    axes.set_ylim(-0.03 * high, high)
    axes.set_aspect("equal")
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize="small", loc="lower right")


def _unlabelled_and_test(axes: Any, table: ErrorTable, machines: Sequence[str]) -> None:
    high = 0.0
    for machine in machines:
        colour, marker = _STYLE[machine]
        x, y = (table[machine][view].mean(axis=1) for view in ("unlabelled", "test"))
        axes.plot(x, y, ls="", marker=marker, ms=4.5, c=colour, alpha=0.75, label=machine)
        high = max(high, x.max(), y.max())
    axes.set_xlabel("error on unlabelled images, %")
    axes.set_ylabel("error on new images, %")
    axes.set_title("out of sample: a mark per pair", fontsize="medium")
    _square(axes, 1.08 * high)


def _deviations(axes: Any, table: ErrorTable) -> None:
    high = 0.0
    for theirs, ours, colour, marker in (
        ("RLS", "LapRLS", _PINK, "D"),
        ("SVM", "LapSVM", _RED, "o"),
        ("TSVM", "LapSVM", _ORANGE, "^"),
    ):
        x, y = (table[name]["unlabelled"].std(axis=1, ddof=1) for name in (ours, theirs))
        label = f"{theirs} over {ours}"
        axes.plot(x, y, ls="", marker=marker, ms=4.5, c=colour, alpha=0.75, label=label)
        high = max(high, x.max(), y.max())
    axes.set_xlabel("standard deviation of the Laplacian machine")
    axes.set_ylabel("standard deviation of the other")
    axes.set_title("unlabelled images: deviation over the draws", fontsize="medium")
    _square(axes, 1.08 * high)


def _over_speakers(axes: Any, table: ErrorTable, machines: list[str], view: str) -> None:
    for machine in machines:
        colour, marker = _style(machine, machines)
        errors = table[machine][view].mean(axis=1)
        places = np.arange(1, len(errors) + 1)
        label = f"{machine}: {errors.mean():.1f}"
        axes.plot(places, errors, "-", c=colour, marker=marker, ms=4.5, lw=1, label=label)
        axes.axhline(errors.mean(), c=colour, ls="--", lw=0.9, alpha=0.7, zorder=0)
    axes.set_xlim(0.3, len(places) + 0.7)
    axes.set_xticks([place for place in places if place in {1, len(places)} or place % 5 == 0])
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize="small", loc="upper left", ncols=2)
