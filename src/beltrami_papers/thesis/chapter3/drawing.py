"""Curves of learning: means and deviations enter, lines on logarithmic axes leave."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from beltrami.report.pictures.palette import style_of

_WIDE = 10


@dataclass(frozen=True, slots=True)
class Line:
    """One curve of errors.

    Attributes
    ----------
    label : str
        For the legend.
    labelled : sequence of int
        Numbers of labelled points.
    means : sequence of float
        Errors in percent.
    deviations : sequence of float or None
        Half width of the band around the line; None draws no band.
    group : int
        Chooses colour and mark.
    dashed : bool
        Whether the line is dashed and its marks hollow.
    """

    label: str
    labelled: Sequence[int]
    means: Sequence[float]
    deviations: Sequence[float] | None = None
    group: int = 0
    dashed: bool = False


def learning_figure(lines: Sequence[Line], *, title: str, what: str, columns: int = 1) -> Figure:
    """Draw errors against the number of labelled points.

    - `lines`: the curves; those of the first line's numbers of labelled points are marked on the
      axis.
    - Returned: logarithmic across; also up where the errors span more than a factor of ten.
    """
    figure = Figure(figsize=(7.2, 4.8), layout="constrained")
    axes = figure.subplots()
    for line in lines:
        _draw(axes, line)
    ticks = list(lines[0].labelled)
    axes.set_xscale("log")
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    _scale_errors(axes, [mean for line in lines for mean in line.means])
    axes.minorticks_off()
    axes.set_xlabel("number of labelled points")
    axes.set_ylabel(f"error on {what}, %")
    axes.set_title(title, fontsize="medium")
    axes.grid(alpha=0.25)
    axes.legend(
        frameon=False, fontsize="small", ncols=columns, title="band: one standard deviation",
        title_fontsize="small",
    )  # fmt: skip
    return figure


def _scale_errors(axes: Any, errors: Sequence[float]) -> None:
    if max(errors) <= _WIDE * min(errors):
        axes.set_ylim(bottom=0)
        return
    axes.set_yscale("log")
    ticks = [tick for tick in (0.5, 1, 2, 3, 5, 10, 20, 30, 50, 100) if tick >= min(errors) / 1.5]
    ticks = [tick for tick in ticks if tick <= 1.5 * max(errors)]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_ylim(min(errors) / 1.3, 1.3 * max(errors))


def _draw(axes: Any, line: Line) -> None:
    colour, _ = style_of(line.group)
    axes.plot(
        line.labelled,
        line.means,
        "--" if line.dashed else "-",
        c=colour,
        marker="os^"[line.group % 3],
        ms=5,
        mfc="white" if line.dashed else colour,
        lw=1.1 if line.dashed else 1.8,
        label=line.label,
    )
    if line.deviations is not None:
        pairs = list(zip(line.means, line.deviations, strict=True))
        low, high = [max(m - s, 0.0) for m, s in pairs], [m + s for m, s in pairs]
        axes.fill_between(line.labelled, low, high, color=colour, alpha=0.13, lw=0)
