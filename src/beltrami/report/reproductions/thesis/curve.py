"""Thesis figure A.1, figure 1 of the eigenfunction paper: two classes on a plane curve."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from beltrami.data import plane_curve
from beltrami.embeddings import LaplacianEigenmaps
from beltrami.graph.recipes import KnnGraph
from beltrami.report.figures import bare
from beltrami.report.palette import style_of

_PER_CLASS = 3


def plane_curve_figure() -> Figure:
    """Draw the six panels: a curve whose two halves nearly touch, and its eigenmap, a circle.

    Returns
    -------
    Figure
        Top row the plane, bottom row the ideal and the computed representation.
    """
    sample = plane_curve(500, random_state=0)
    points, classes = np.asarray(sample.points), np.asarray(sample.targets)
    arc = np.asarray(sample.extras["arc_length"])
    angle = 2 * np.pi * arc / np.asarray(sample.extras["length"])
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    graph = KnnGraph(8, weights="binary", connect="raise")
    eigenmap = LaplacianEigenmaps(2, graph=graph).fit_transform(points)
    rng = np.random.default_rng(0)
    labelled = np.concatenate(
        [rng.choice(np.flatnonzero(classes == c), _PER_CLASS, replace=False) for c in (0, 1)]
    )
    query = _misleading_point(points, eigenmap, classes, labelled)
    figure = Figure(figsize=(10, 6.4), layout="constrained")
    panels = figure.subplots(2, 3)
    _two_classes(panels[0, 0], points, classes, "1. two classes on a plane curve")
    _labels(panels[0, 1], points, classes, labelled, query, "2. labelled examples and '?'")
    _unlabelled(panels[0, 2], points, "3. 500 random unlabelled examples")
    _two_classes(panels[1, 0], circle, classes, "4. ideal representation")
    _labels(panels[1, 1], eigenmap, classes, labelled, query, "5. labels after the eigenmap")
    _unlabelled(panels[1, 2], eigenmap, "6. all examples after the eigenmap")
    return figure


def _misleading_point(points: Any, eigenmap: Any, classes: Any, labelled: Any) -> int:
    """Return a "+" that is nearer to a "-" in the plane and well among "+" in the eigenmap."""

    def nearest(positions: Any, kind: int) -> Any:
        chosen = labelled[classes[labelled] == kind]
        return np.linalg.norm(positions[:, None] - positions[chosen], axis=2).min(axis=1)

    misleading = (classes == 1) & (nearest(points, 0) < 0.6 * nearest(points, 1))
    clear = nearest(eigenmap, 0) - nearest(eigenmap, 1)
    return int(np.argmax(np.where(misleading, clear, -np.inf)))


def _two_classes(axes: Any, points: Any, classes: Any, title: str) -> None:
    for number in (0, 1):
        colour, _ = style_of(number)
        inside = classes == number
        axes.scatter(points[inside, 0], points[inside, 1], s=6, c=colour, linewidths=0)
    _finish(axes, title)


def _labels(axes: Any, points: Any, classes: Any, labelled: Any, query: int, title: str) -> None:
    axes.plot(points[:, 0], points[:, 1], ".", c="0.9", ms=2)
    for number, mark in ((0, "$-$"), (1, "$+$")):
        colour, _ = style_of(number)
        chosen = labelled[classes[labelled] == number]
        axes.scatter(points[chosen, 0], points[chosen, 1], marker=mark, c=colour, s=130)
    axes.scatter(points[query, 0], points[query, 1], marker="$?$", c="black", s=150)
    _finish(axes, title)


def _unlabelled(axes: Any, points: Any, title: str) -> None:
    axes.scatter(points[:, 0], points[:, 1], s=5, c="0.35", linewidths=0)
    _finish(axes, title)


def _finish(axes: Any, title: str) -> None:
    axes.set_title(title, fontsize="medium")
    axes.set_aspect("equal", adjustable="datalim")
    bare(axes)
