"""Geometry of the two small charts, and the sentences that stand in for them.

Bins and curves of held-out labels enter; coordinates for the template's SVG and words for those
who cannot see it leave.
"""

import math
from dataclasses import dataclass

import numpy as np

from beltrami.core.types import FloatVector
from beltrami.report.page.model import Bin

WIDTH, HEIGHT = 460.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 12.0, 12.0, 44.0


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the grid: where it lies in the drawing, and what it says."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Dot:
    """A bin of the reliability diagram: its disc, its whisker, and its tool tip."""

    x: float
    y: float
    radius: float
    low: float
    high: float
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart as the template draws it.

    Attributes
    ----------
    sentence : str
        What the chart shows, in words.
    across, up : tuple of Tick
        Grid lines of the two axes.
    line, area : str
        Points of the line, and of the area under it.
    dots : tuple of Dot
        Marks on it.
    header : tuple of str
        Names of the columns of `rows`.
    rows : tuple of tuples of str
        The same as a table.
    """

    sentence: str
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    line: str
    area: str
    dots: tuple[Dot, ...]
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def reliability_chart(bins: tuple[Bin, ...]) -> Chart | None:
    """Return the diagram of accuracy against confidence, or None where nothing was held out.

    Discs grow with the number of labels; whiskers are 95 % intervals (Wilson).
    """
    bins = tuple(item for item in bins if item.count > 0)
    if not bins:
        return None
    most = max(item.count for item in bins)
    dots = []
    for item in bins:
        low, high = wilson(item.accuracy, item.count)
        text = (
            f"confidence {in_percent(item.confidence)}, right {in_percent(item.accuracy)} "
            f"of {item.count:,}"
        )
        radius = 3.0 + 5.0 * math.sqrt(item.count / most)
        dots.append(
            Dot(x_of(item.confidence), y_of(item.accuracy), radius, y_of(low), y_of(high), text)
        )
    total = sum(item.count for item in bins)
    gap = sum(item.count * abs(item.accuracy - item.confidence) for item in bins) / total
    worst = max(bins, key=lambda item: abs(item.accuracy - item.confidence))
    sentence = (
        f"Over {total:,} held-out labels, confidence and accuracy differ by "
        f"{100 * gap:.1f} points on average; most at confidence {in_percent(worst.confidence)}, "
        f"where {in_percent(worst.accuracy)} of {worst.count:,} were right."
    )
    steps = (0.0, 0.25, 0.5, 0.75, 1.0)
    return Chart(
        sentence=sentence,
        across=tuple(Tick(x_of(step), in_percent(step)) for step in steps),
        up=tuple(Tick(y_of(step), in_percent(step)) for step in steps),
        line=" ".join(f"{dot.x:.1f},{dot.y:.1f}" for dot in dots),
        area="",
        dots=tuple(dots),
        header=("confidence", "mean", "right", "labels"),
        rows=tuple(
            (
                f"{in_percent(item.low)} to {in_percent(item.high)}",
                in_percent(item.confidence, 1),
                in_percent(item.accuracy, 1),
                f"{item.count:,}",
            )
            for item in bins
        ),
    )


def risk_chart(coverage: FloatVector, risk: FloatVector) -> Chart | None:
    """Return the curve of error against the share of rows labelled, or None where it is empty.

    The curve is thinned to 200 places; eleven of its values stand in the table.
    """
    is_finite = np.isfinite(coverage) & np.isfinite(risk)
    coverage, risk = np.asarray(coverage)[is_finite], np.asarray(risk)[is_finite]
    if not len(coverage):
        return None
    order = np.argsort(coverage, kind="stable")
    coverage, risk = coverage[order], risk[order]
    top, steps = nice_axis(float(risk.max()))
    some = np.unique(np.linspace(0, len(risk) - 1, 200).astype(int))
    places = [f"{x_of(float(coverage[i])):.1f},{y_of(float(risk[i]) / top):.1f}" for i in some]
    shares = [share for share in np.arange(0.0, 1.01, 0.1) if share >= coverage[0] - 1e-9]
    picked = sorted({int(np.argmin(np.abs(coverage - share))) for share in shares or [1.0]})
    half = int(np.argmin(np.abs(coverage - 0.5)))
    sentence = (
        f"Of all held-out labels {in_percent(float(risk[-1]), 1)} are wrong; of the surest "
        f"{in_percent(float(coverage[half]))}, {in_percent(float(risk[half]), 1)}."
    )
    ends = (float(coverage[-1]), float(coverage[0]))
    floor = " ".join(f"{x_of(one):.1f},{y_of(0.0):.1f}" for one in ends)
    return Chart(
        sentence=sentence,
        across=tuple(Tick(x_of(step), in_percent(step)) for step in (0.0, 0.25, 0.5, 0.75, 1.0)),
        up=tuple(
            Tick(y_of(step / top), in_percent(step, 0 if top >= 0.04 else 1)) for step in steps
        ),
        line=" ".join(places),
        area=" ".join([*places, floor]),
        dots=(),
        header=("surest share", "wrong"),
        rows=tuple((in_percent(float(coverage[i])), in_percent(float(risk[i]), 1)) for i in picked),
    )


def wilson(share: float, count: int) -> tuple[float, float]:
    """Return the 95 % interval (Wilson) of a share seen in `count` draws."""
    z = 1.959964
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    reach = z / (1 + z**2 / count) * math.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def nice_axis(largest: float) -> tuple[float, tuple[float, ...]]:
    """Return the end of an axis of shares that holds `largest`, and its ticks."""
    for step in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2):
        if largest <= 5 * step:
            count = max(2, math.ceil(largest / step - 1e-9))
            return count * step, tuple(step * i for i in range(count + 1))
    return 1.0, (0.0, 0.25, 0.5, 0.75, 1.0)


def x_of(share: float) -> float:
    """Return where a share of the way across lies in the drawing."""
    return LEFT + (WIDTH - LEFT - RIGHT) * min(max(share, 0.0), 1.0)


def y_of(share: float) -> float:
    """Return where a share of the way up lies in the drawing."""
    return TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - min(max(share, 0.0), 1.0))


def in_percent(share: float, digits: int = 0) -> str:
    """Return a share as text."""
    return f"{100 * share:.{digits}f} %"
