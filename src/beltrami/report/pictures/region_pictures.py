"""Pictures of multi-manifold separation: a fitted learner enters, a matplotlib figure leaves.

``region_figure(model)`` draws, side by side, the local covariances as ellipses, the graph of like
shapes from strong to weak, the cut into regions and the predictions; ``save_figure`` of
`figures` writes it. The functions below it draw one of these on axes of one's own,
from a `ShapeGraph` and arrays. Data in two and three dimensions are drawn as they are, data in more
on the plane in which they spread most.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from numpy.typing import NDArray

from beltrami.core.types import FloatMatrix, IndexVector
from beltrami.report.pictures.figures import literal_text
from beltrami.report.pictures.palette import OKABE_ITO
from beltrami.report.pictures.region_views import (
    REGION_COLOURS,
    RegionView,
    farthest_rows,
    graph_of,
    panels_of,
    region_colours,
    view_of,
)
from beltrami.separation.model import ShapeGraph

STRENGTHS = LinearSegmentedColormap.from_list(
    "beltrami_strengths", colormaps["YlOrRd"](np.linspace(0.24, 0.95, 256))
)
"""Weak links yellow, strong ones dark red: also apart in grey and for every eye."""

_CIRCLE = np.linspace(0.0, 2 * np.pi, 33)[:-1]
_READABLE = 0.032  # half the length of a typical ellipse, as a share of the picture
_MOST_POINTS = 6000
_SIZE = 5.0
_PANELS = ("local covariances", "graph of like shapes", "cut into {} regions", "predictions")


def region_figure(
    model: Any,
    *,
    labelled: IndexVector | None = None,
    queries: FloatMatrix | None = None,
    title: str = "",
) -> Figure:
    """Draw how a fitted multi-manifold learner came to its predictions, in four panels.

    Parameters
    ----------
    model : MultiManifoldClassifier or MultiManifoldRegressor
        Fitted, with at least two regions.
    labelled : array of int or None, default=None
        Rows whose label was given, ringed in the last panel.
    queries : ndarray of shape (m, d) or None, default=None
        Where predictions are shown; None means at the points of the fit.
    title : str, default=""
        Above the picture.

    Returns
    -------
    Figure
        Ellipses, graph, cut and predictions.

    Raises
    ------
    InvalidInputError
        When the model has one region, and so no graph.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import MultiManifoldRegressor, dollar_sign
    >>> from beltrami.report.pictures.region_pictures import region_figure
    >>> dollar = dollar_sign(400, random_state=0)
    >>> values = np.where(np.arange(400) % 10 == 0, dollar.targets, np.nan)
    >>> model = MultiManifoldRegressor(n_regions=5, random_state=0).fit(dollar.points, values)
    >>> len(region_figure(model, labelled=np.arange(0, 400, 10)).axes) >= 4
    True
    """
    separated = graph_of(model)
    view = view_of(separated.points)
    width, height = np.ptp(view.place(separated.points), axis=0)[:2]
    panel = 3.1 if view.is_solid else float(np.clip(3.2 * width / max(height, 1e-12), 2.2, 4.0))
    figure = Figure(figsize=(4 * panel, 3.6), layout="constrained")
    draw_story(panels_of(figure, 4, view), model, view=view, labelled=labelled, queries=queries)
    figure.suptitle(title)
    return figure


def draw_story(
    panels: Sequence[Any],
    model: Any,
    *,
    view: RegionView,
    labelled: IndexVector | None = None,
    queries: FloatMatrix | None = None,
) -> None:
    """Fill four panels: ellipses, graph, cut, predictions."""
    separated = graph_of(model)
    colours = region_colours(separated, model.node_regions_)
    shown = separated.points if queries is None else np.asarray(queries)
    if queries is not None and getattr(model, "projection_", None) is not None:
        shown = model.projection_.transform(queries)
    values = model.transduction_ if queries is None else model.predict(queries)
    scale = draw_shapes(panels[0], separated, view)
    draw_links(panels[1], separated, view, colour_bar=True)
    draw_cut(panels[2], view, separated.points, model.regions_, colours=colours)
    is_number = not hasattr(model, "classes_")
    draw_predictions(panels[3], view, shown, values, colour_bar=is_number)
    if labelled is not None:
        _ring_labelled(panels[3], view, separated.points[labelled])
    names = list(_PANELS)
    names[0] += f" ({scale:.0f} s.d.)"
    names[2] = names[2].format(len(np.unique(model.regions_)))
    for axes, name in zip(panels, names, strict=True):
        axes.set_title(name, fontsize="medium")


def draw_shapes(
    axes: Any,
    separated: ShapeGraph,
    view: RegionView,
    *,
    n_shapes: int = 56,
    scale: float | None = None,
) -> float:
    """Draw local covariances as ellipses, on nodes that lie well apart.

    In three dimensions an ellipse shows the two widest directions; on a plane of more it is the
    shadow of the covariance. Half axes have `scale` standard deviations; None takes a whole number
    that makes them readable. Returns the scale.
    """
    places = view.place(separated.points[separated.rows])
    nodes = farthest_rows(places, n_shapes)
    half_axes = np.stack([_half_axes(separated, view, int(node)) for node in nodes])
    if scale is None:
        extent = float(np.ptp(places, axis=0).max())
        typical = float(np.median(np.linalg.norm(half_axes[:, 0], axis=1)))
        scale = max(1.0, float(round(_READABLE * extent / max(typical, 1e-300))))
    _backdrop(axes, view, separated.points)
    turns = np.stack([np.cos(_CIRCLE), np.sin(_CIRCLE)], axis=1)
    outlines = places[nodes][:, None, :] + scale * np.einsum("ta,sad->std", turns, half_axes)
    style = {"facecolors": f"{OKABE_ITO[0]}40", "edgecolors": OKABE_ITO[0], "linewidths": 0.9}
    _add(axes, view, outlines, kind="outline", zorder=2, **style)
    _finish(axes, view, separated.points)
    return scale


def draw_links(
    axes: Any, separated: ShapeGraph, view: RegionView, *, colour_bar: bool = False
) -> None:
    """Draw the weighted graph: strong links dark red, weak ones yellow."""
    from scipy.sparse import triu

    links = triu(separated.graph.weights, k=1).tocoo()
    order = np.argsort(links.data, kind="stable")  # strong links lie on top
    places = view.place(separated.points[separated.rows])
    ends = np.stack([places[links.row], places[links.col]], axis=1)[order]
    drawn = _add(
        axes,
        view,
        ends,
        kind="line",
        array=links.data[order],
        cmap=STRENGTHS,
        norm=Normalize(0.0, 1.0),
        linewidths=0.8,
        zorder=2,
    )
    if colour_bar:
        _explain(axes, drawn, "weight of a link")
    _finish(axes, view, separated.points)


def draw_cut(
    axes: Any,
    view: RegionView,
    points: FloatMatrix,
    regions: IndexVector,
    *,
    colours: Sequence[str] | None = None,
) -> None:
    """Draw points in the colours of their regions, or else in turn those of the palette."""
    count = int(np.max(regions)) + 1
    named = (
        [REGION_COLOURS[r % len(REGION_COLOURS)] for r in range(count)]
        if colours is None
        else colours
    )
    rows = _rows_to_draw(len(points))
    marks = np.asarray(named, dtype=object)[np.asarray(regions)[rows]]
    places = view.place(points[rows])
    axes.scatter(*places.T, s=_SIZE, c=list(marks), linewidths=0, **_solid_marks(view))
    _finish(axes, view, points)


def draw_predictions(
    axes: Any,
    view: RegionView,
    points: FloatMatrix,
    values: NDArray[Any],
    *,
    colour_bar: bool = False,
) -> None:
    """Draw points in the colours of what is predicted there: a number if a float, else a class.

    A `colour_bar` explains the colours of numbers beside the panel.
    """
    rows, values = _rows_to_draw(len(points)), np.asarray(values)
    places, style = view.place(points[rows]), {"s": _SIZE, "linewidths": 0, **_solid_marks(view)}
    if values.dtype.kind == "f":
        # A few wild values must not take the colours from all others.
        limits = dict(zip(("vmin", "vmax"), np.percentile(values, (1, 99)), strict=True))
        drawn = axes.scatter(*places.T, c=values[rows], cmap="viridis", **limits, **style)
        if colour_bar:
            _explain(axes, drawn, "predicted")
    else:
        for number, name in enumerate(np.unique(values)):
            colour = REGION_COLOURS[number % len(REGION_COLOURS)]
            shown = literal_text(name)
            axes.scatter(*places[values[rows] == name].T, c=colour, label=shown, **style)
    _finish(axes, view, points)


def _ring_labelled(axes: Any, view: RegionView, points: FloatMatrix) -> None:
    """Ring the points whose label was given."""
    places = view.place(points)
    axes.scatter(*places.T, s=16.0, facecolors="none", edgecolors="black", lw=0.6, zorder=3)


def _half_axes(separated: ShapeGraph, view: RegionView, node: int) -> FloatMatrix:
    """Return the two half axes of an ellipse of one standard deviation, as drawn."""
    shadow = view.axes.T @ separated.shapes.covariance(node) @ view.axes
    values, vectors = np.linalg.eigh(shadow)
    widest: FloatMatrix = (vectors * np.sqrt(np.maximum(values, 0.0))).T[::-1][:2]
    return widest


def _rows_to_draw(count: int) -> IndexVector:
    """Return rows to draw: all of them, or evenly spaced ones of too many, in mixed order."""
    rows = np.random.default_rng(0).permutation(count)
    return rows[:_MOST_POINTS]


def _add(axes: Any, view: RegionView, pieces: FloatMatrix, *, kind: str, **style: Any) -> Any:
    """Add lines or filled outlines, in the dimensions of the view."""
    if not view.is_solid:
        flat: Any = LineCollection if kind == "line" else PolyCollection
        return axes.add_collection(flat(pieces, **style))
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    solid: Any = Line3DCollection if kind == "line" else Poly3DCollection
    drawn = solid(pieces, **style)
    axes.add_collection3d(drawn)
    return drawn


def _solid_marks(view: RegionView) -> dict[str, Any]:
    return {"depthshade": True, "alpha": 0.9} if view.is_solid else {}


def _backdrop(axes: Any, view: RegionView, points: FloatMatrix) -> None:
    places = view.place(points[_rows_to_draw(len(points))])
    axes.scatter(*places.T, s=1.5, c="0.82", linewidths=0, **_solid_marks(view), zorder=1)


def _explain(axes: Any, drawn: Any, name: str) -> None:
    # Inside the panel's own box, so that panels with and without a bar stay equally large.
    place = axes.inset_axes((0.2, -0.09, 0.6, 0.028))
    bar = axes.figure.colorbar(drawn, cax=place, orientation="horizontal")
    bar.set_label(name, fontsize="small", labelpad=1)
    bar.ax.tick_params(labelsize="small", length=2, pad=1)
    bar.outline.set_visible(False)


def _finish(axes: Any, view: RegionView, points: FloatMatrix) -> None:
    """Set equal scales and limits around the points; take away what has no unit."""
    places = view.place(points)
    low, high = places.min(axis=0), places.max(axis=0)
    margin = 0.05 * float((high - low).max()) + 1e-12
    axes.set_xlim(low[0] - margin, high[0] + margin)
    axes.set_ylim(low[1] - margin, high[1] + margin)
    if view.is_solid:
        axes.set_zlim(low[2] - margin, high[2] + margin)
        axes.set_box_aspect(high - low + 2 * margin, zoom=1.42)
        axes.view_init(elev=24, azim=-58)
        for drawn in axes.collections:
            drawn.set_clip_on(False)  # the box of a turned space is wider than its panel
    else:
        axes.set_aspect("equal")
    axes.set_axis_off()
