"""How separated data are looked at: the plane or space, the colours of regions, rows to show.

Points, a graph of shapes and regions enter; a projection, colours and row numbers leave.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.report.pictures.palette import OKABE_ITO
from beltrami.separation.model import ShapeGraph

REGION_COLOURS = OKABE_ITO[:6]
"""Those of the palette that carry small marks on white."""


@dataclass(frozen=True, slots=True, eq=False)
class RegionView:
    """The space that points are looked at in.

    Attributes
    ----------
    origin : ndarray of shape (d,)
        What is taken off the points first.
    axes : ndarray of shape (d, 2) or (d, 3)
        What they are multiplied with: orthonormal, so nothing is stretched.
    """

    origin: FloatVector
    axes: FloatMatrix

    @property
    def is_solid(self) -> bool:
        """Whether the picture has three dimensions."""
        return bool(self.axes.shape[1] == 3)

    def place(self, points: FloatMatrix) -> FloatMatrix:
        """Return where points are drawn."""
        places: FloatMatrix = (np.asarray(points, dtype=np.float64) - self.origin) @ self.axes
        return places


def view_of(points: FloatMatrix) -> RegionView:
    """Return the view of a set: the space itself up to three dimensions, else a plane.

    A line lies on the first axis of a plane; with more than three dimensions the plane is that of
    the two leading principal components.
    """
    points = np.asarray(points, dtype=np.float64)
    d = points.shape[1]
    if d <= 3:
        return RegionView(np.zeros(d), np.eye(d, max(d, 2)))
    origin = points.mean(axis=0)
    directions = np.linalg.svd(points - origin, full_matrices=False)[2][:2]
    signs = np.sign(directions[np.arange(2), np.abs(directions).argmax(axis=1)])
    return RegionView(origin, (directions * signs[:, None]).T)


def panels_of(figure: Any, n_panels: int, view: RegionView) -> list[Any]:
    """Add a row of panels to a figure or a part of one, of as many dimensions as the view."""
    options = {"projection": "3d", "computed_zorder": False} if view.is_solid else {}
    return list(figure.subplots(1, n_panels, squeeze=False, subplot_kw=options)[0])


def graph_of(model: Any) -> ShapeGraph:
    """Return the graph of shapes of a fitted learner, or say why there is none."""
    separated: ShapeGraph | None = model.shape_graph_
    if separated is None:
        raise InvalidInputError(
            "the model has one region and no graph of shapes, so there is no cut to draw. Fit it "
            "with n_regions of at least 2, or draw a graph from "
            "beltrami.separation.separate.shape_graph by draw_shapes and draw_links."
        )
    return separated


def region_colours(separated: ShapeGraph, node_regions: IndexVector) -> list[str]:
    """Return a colour for each region that the regions it is linked to most do not have.

    Six colours that every eye can tell apart come round again among regions that do not touch.
    """
    count = int(node_regions.max()) + 1
    member = np.zeros((len(node_regions), count))
    member[np.arange(len(node_regions)), node_regions] = 1.0
    ties = member.T @ (separated.graph.weights.astype(bool).astype(np.float64) @ member)
    np.fill_diagonal(ties, 0.0)
    chosen = np.full(count, -1)
    for region in np.argsort(-ties.sum(axis=1), kind="stable"):
        # Least tied first, then least used.
        cost = [
            (ties[region, chosen == colour].sum(), int((chosen == colour).sum()))
            for colour in range(len(REGION_COLOURS))
        ]
        chosen[region] = min(range(len(REGION_COLOURS)), key=cost.__getitem__)
    return [REGION_COLOURS[colour] for colour in chosen]


def farthest_rows(places: FloatMatrix, count: int) -> IndexVector:
    """Return `count` rows that lie far apart, each the farthest from those before it; or all."""
    if len(places) <= count:
        return np.arange(len(places))
    chosen = [int(places[:, -1].argmax())]
    distances = np.linalg.norm(places - places[chosen[0]], axis=1)
    while len(chosen) < count:
        chosen.append(int(distances.argmax()))
        distances = np.minimum(distances, np.linalg.norm(places - places[chosen[-1]], axis=1))
    return np.array(chosen)
