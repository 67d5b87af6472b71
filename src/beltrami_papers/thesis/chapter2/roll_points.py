"""Thesis figure A.2: random points on the swiss roll.

Nothing enters but the wish for a quick run; the points in space and on the flat rectangle leave,
with how well lengths agree.
"""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.data import Dataset, swiss_roll
from beltrami.graph.recipes import KnnGraph
from beltrami_papers.cells import table_lines
from beltrami_papers.findings import THESIS, Claim, Setting, reproduction_of
from beltrami_papers.model import Reproduction, StageClock
from beltrami_papers.thesis.chapter2.roll import SHORTCUT, shortcut_share


def _roll_points_figure(roll: Dataset) -> Figure:
    """Draw the points in space and on the flat rectangle that they were rolled from."""
    points, arc = np.asarray(roll.points), np.asarray(roll.extras["arc_length"])
    figure = Figure(figsize=(7.6, 8), layout="constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=(3.2, 1))
    space = figure.add_subplot(grid[0], projection="3d")
    x, height, z = points.T
    space.scatter(x, height, z, c=arc, cmap="viridis", s=6, linewidths=0, depthshade=False)
    space.view_init(elev=12, azim=-72)
    space.set_box_aspect((1, 0.95, 0.95), zoom=1.05)
    for name in "xyz":
        getattr(space, f"set_{name}label")({"x": "x", "y": "height", "z": "z"}[name], labelpad=-6)
        getattr(space, f"set_{name}ticklabels")([])
    space.set_title(f"{len(points)} points on the roll", fontsize="medium")
    flat = figure.add_subplot(grid[1])
    flat.scatter(arc, height, c=arc, cmap="viridis", s=6, linewidths=0)
    flat.set_aspect("equal")
    flat.set_xlabel("arc length along the spiral")
    flat.set_ylabel("height")
    flat.set_title("the same points on the flat rectangle", fontsize="medium")
    figure.suptitle("The swiss roll is a flat rectangle in disguise (colour: arc length)")
    return figure


def roll_points_reproduction(*, quick: bool = False) -> Reproduction:
    """Reproduce figure A.2: 2000 random points on the swiss roll."""
    clock = StageClock()
    with clock.stage("points and graph"):
        roll = swiss_roll(500 if quick else 2000, random_state=0)
        numbers = flatness(roll)
    setting = Setting(
        name="thesis-a2",
        source=f"{THESIS}, figure A.2",
        data="swiss_roll, uniform on its surface",
        n=len(np.asarray(roll.points)),
        settings={"roll": "(t cos t, h, t sin t), t from 3 pi/2 to 9 pi/2, h from 0 to 21"},
        seeds="points: random_state=0.",
        remarks=["The thesis states neither the size nor the sampling of its roll."],
    )
    claim = Claim(
        "the roll is a flat two-dimensional submanifold",
        f"edges of the 5-neighbour graph are {numbers['edge_ratio']:.4f} times as long in space as "
        f"on the rectangle (least {numbers['edge_ratio_least']:.3f}), edges between turns "
        f"({numbers['shortcuts']:.2f} percent) left out",
        0.98 < numbers["edge_ratio"] <= 1,
    )
    rows = [[name.replace("_", " "), f"{value:g}"] for name, value in numbers.items()]
    return reproduction_of(
        setting,
        _roll_points_figure(roll),
        clock,
        claims=[claim],
        numbers={"flatness": numbers},
        body=table_lines(["measure", "value"], rows, words=(0,)),
    )


def flatness(roll: Dataset) -> dict[str, float]:
    """Return how lengths in space and on the rectangle compare along edges of a graph.

    Mean and least ratio over edges within a turn, percent of edges between turns, the sides of the
    rectangle, the gap between turns and the mean length of an edge.
    """
    points = np.asarray(roll.points)
    flat = np.column_stack([roll.extras["arc_length"], roll.extras["height"]])
    graph = KnnGraph(5, weights="binary").build(points)
    edges = graph.weights.tocoo()
    inside = np.abs(flat[edges.row, 0] - flat[edges.col, 0]) <= SHORTCUT
    start, end = edges.row[inside], edges.col[inside]
    in_space = _lengths(points, start, end)
    ratio = in_space / _lengths(flat, start, end)
    measures = {
        "edge_ratio": ratio.mean(),
        "edge_ratio_least": ratio.min(),
        "shortcuts": 100 * shortcut_share(graph, flat[:, 0]),
        "length": flat[:, 0].max(),
        "width": flat[:, 1].max(),
        "gap_between_turns": 2 * np.pi,
        "mean_edge": in_space.mean(),
    }
    return {name: round(float(value), 4) for name, value in measures.items()}


def _lengths(points: FloatMatrix, start: Any, end: Any) -> FloatVector:
    lengths: FloatVector = np.linalg.norm(points[start] - points[end], axis=1)
    return lengths
