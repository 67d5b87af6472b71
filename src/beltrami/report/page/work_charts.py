"""Geometry of a project's charts: how labels came in, and what was known meanwhile."""

import math
from typing import TypeVar

from beltrami.report.page.charts import Chart, Dot, Tick, in_percent, x_of, y_of
from beltrami.report.page.work import CurvePoint, Measured

_Point = TypeVar("_Point", CurvePoint, Measured)

_MOST_LINES = 24
"""Lines of a table of numbers."""


def labels_chart(points: tuple[CurvePoint, ...]) -> Chart | None:
    """Return the curve of labels over changes; None where there is no curve yet."""
    if len(points) < 2:
        return None
    first, last = points[0], points[-1]
    end, across = count_axis(last.event)
    top, up = count_axis(max(one.n_labels for one in points))
    places = [(x_of(one.event / end), y_of(one.n_labels / top)) for one in points]
    return Chart(
        sentence=(
            f"From {first.n_labels:,} labels to {last.n_labels:,} of {last.n_classes:,} "
            f"{'class' if last.n_classes == 1 else 'classes'}, from {first.at} to {last.at}."
        ),
        across=tuple(Tick(x_of(one / end), f"{one:,}") for one in across),
        up=tuple(Tick(y_of(one / top), f"{one:,}") for one in up),
        line=_line(places),
        area=_line([*places, (places[-1][0], y_of(0.0)), (places[0][0], y_of(0.0))]),
        dots=(),
        header=("change", "when", "labels", "classes"),
        rows=tuple(
            (f"{one.event:,}", one.at, f"{one.n_labels:,}", f"{one.n_classes:,}")
            for one in _some(points)
        ),
    )


def accepted_chart(measured: tuple[Measured, ...]) -> Chart | None:
    """Return the rows that we labelled over the labels that people gave."""
    points = _by_labels(measured)
    if len(points) < 2:
        return None
    end, across = count_axis(points[-1].n_labels)
    top, up = count_axis(max(one.n_accepted for one in points))
    places = [(x_of(one.n_labels / end), y_of(one.n_accepted / top)) for one in points]
    last = points[-1]
    return Chart(
        sentence=f"With {last.n_labels:,} labels {last.n_accepted:,} rows are labelled by us.",
        across=tuple(Tick(x_of(one / end), f"{one:,}") for one in across),
        up=tuple(Tick(y_of(one / top), f"{one:,}") for one in up),
        line=_line(places),
        area="",
        dots=tuple(
            Dot(x, y, 3.0, y, y, f"{one.n_labels:,} labels: {one.n_accepted:,} rows")
            for one, (x, y) in zip(points, places, strict=True)
        ),
        header=("labels", "by us", "left to people", "reached by none", "expected right"),
        rows=tuple(
            (
                f"{one.n_labels:,}",
                f"{one.n_accepted:,}",
                f"{one.n_left:,}",
                f"{one.n_unreached:,}",
                _percent_or_dash(one.expected),
            )
            for one in _some(points)
        ),
    )


def accuracy_chart(measured: tuple[Measured, ...]) -> Chart | None:
    """Return the accuracy on held-out labels over the labels given, with its range as a band."""
    tested = tuple(one for one in measured if one.n_held_out and math.isfinite(one.held_out))
    points = _by_labels(tested)
    if len(points) < 2:
        return None
    end, across = count_axis(points[-1].n_labels)
    places = [(x_of(one.n_labels / end), y_of(one.held_out)) for one in points]
    ranged = [one for one in points if math.isfinite(one.low) and math.isfinite(one.high)]
    band = [(x_of(one.n_labels / end), y_of(one.high)) for one in ranged]
    band += [(x_of(one.n_labels / end), y_of(one.low)) for one in reversed(ranged)]
    steps = (0.0, 0.25, 0.5, 0.75, 1.0)
    last = points[-1]
    return Chart(
        sentence=(
            f"Of {last.n_held_out:,} held-out labels {in_percent(last.held_out)} came out right at "
            f"the end{_range_words(last)}."
        ),
        across=tuple(Tick(x_of(one / end), f"{one:,}") for one in across),
        up=tuple(Tick(y_of(one), in_percent(one)) for one in steps),
        line=_line(places),
        area=_line(band),
        dots=(),
        header=("labels", "right", "from", "to", "held out"),
        rows=tuple(
            (
                f"{one.n_labels:,}",
                in_percent(one.held_out, 1),
                _percent_or_dash(one.low),
                _percent_or_dash(one.high),
                f"{one.n_held_out:,}",
            )
            for one in _some(points)
        ),
    )


def count_axis(largest: int) -> tuple[int, tuple[int, ...]]:
    """Return the end of an axis of whole numbers that holds `largest`, and its ticks."""
    step, factors = 1, (2, 5, 10)
    unit, place = 1, 0
    while largest > 5 * step:
        step = unit * factors[place]
        place += 1
        if place == len(factors):
            unit, place = 10 * unit, 0
    count = max(1, -(-largest // step))
    return count * step, tuple(step * one for one in range(count + 1))


def _by_labels(measured: tuple[Measured, ...]) -> tuple[Measured, ...]:
    """Return what was last known with each number of labels, by that number."""
    latest = {one.n_labels: one for one in sorted(measured, key=lambda one: one.event)}
    return tuple(latest[count] for count in sorted(latest))


def _some(points: tuple[_Point, ...]) -> list[_Point]:
    """Return some of the points, the first and the last among them."""
    count = min(len(points), _MOST_LINES)
    places = {round(one * (len(points) - 1) / max(count - 1, 1)) for one in range(count)}
    return [points[place] for place in sorted(places)]


def _line(places: list[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _percent_or_dash(share: float) -> str:
    return in_percent(share, 1) if math.isfinite(share) else "\u2013"


def _range_words(one: Measured) -> str:
    if not (math.isfinite(one.low) and math.isfinite(one.high)):
        return ""
    return f" ({100 * one.low:.0f} to {in_percent(one.high)})"
