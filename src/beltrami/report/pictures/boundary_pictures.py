"""Pictures of maps with class boundaries: a fitted `Mbed` enters, a matplotlib figure leaves.

``map_figure(model, groups, labelled=rows)`` draws the map, and ``save_figure`` of `figures` writes
it. The functions below it draw on axes of one's own.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.embeddings.mbed.model import Stage
from beltrami.report.pictures.boundary_views import MapView, view_of
from beltrami.report.pictures.figures import bare, literal_text
from beltrami.report.pictures.palette import style_of

_FAR = 2.0
_SHORT = 2
_STEEP = 0.3


def map_figure(
    model: Any,
    groups: NDArray[Any] | None = None,
    *,
    labelled: IndexVector | None = None,
    names: Sequence[str] | None = None,
    title: str = "",
) -> Figure:
    """Draw the map of a fitted `Mbed` with its boundaries.

    Parameters
    ----------
    model : Mbed
        Fitted.
    groups : array of shape (n,) or None, default=None
        What the colours show, such as the true classes; None shows the classes that were found.
    labelled : array of int or None, default=None
        Rows that are drawn large: those whose label was given.
    names : sequence of str or None, default=None
        What to call the groups, in sorted order; None writes their values.
    title : str, default=""
        Above the picture.

    Returns
    -------
    Figure
        One panel.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import Mbed, two_moons
    >>> from beltrami.report.pictures.boundary_pictures import map_figure
    >>> moons = two_moons(60, random_state=0)
    >>> y = np.full(60, -1)
    >>> y[[0, 59]] = moons.targets[[0, 59]]
    >>> model = Mbed(mode="paper", random_state=0).fit(moons.points, y)
    >>> figure = map_figure(model, moons.targets, labelled=[0, 59], title="Two moons")
    >>> figure.axes[0].get_title()
    'Two moons'
    """
    figure = Figure(figsize=(5.6, 5.2), layout="constrained")
    axes = figure.subplots()
    view = view_of(model.embedding_, model.directions_)
    shown = model.transduction_ if groups is None else groups
    draw_map(axes, view, shown, labelled=labelled, names=names)
    axes.set_title(title)
    add_legend(axes)
    return figure


def nearest_stages(path: Sequence[Stage], numbers: Sequence[int]) -> list[Stage]:
    """Return the stages of these numbers, or the nearest that the path has; of two the earlier."""
    return [min(path, key=lambda stage: abs(stage.number - number)) for number in numbers]


def draw_map(
    axes: Any,
    view: MapView,
    groups: NDArray[Any],
    *,
    labelled: IndexVector | None = None,
    names: Sequence[str] | None = None,
    size: float = 9.0,
) -> None:
    """Draw a map on a plane: regions and boundaries, or directions; points; labelled points.

    The directions of the view come in the order of the groups (n,), as do their names. Rows in
    `labelled` are drawn large: as the name of their group where it is short and the view shows
    boundaries, else as an edged mark.
    """
    values, codes = np.unique(groups, return_inverse=True)
    called = [str(value) for value in values] if names is None else list(names)
    low, side = _square_around(view.positions)
    if view.shows_boundaries:
        _draw_regions(axes, view.directions, side)
    else:
        draw_directions(axes, view.directions, called, 0.45 * side)
    chosen = np.zeros(len(codes), dtype=bool)
    if labelled is not None:
        chosen[labelled] = True
    for number, name in enumerate(called):
        colour, marker = style_of(number)
        x, y = view.positions[(codes == number) & ~chosen].T
        shown = literal_text(name)
        axes.scatter(x, y, s=size, c=colour, marker=marker, lw=0, alpha=0.75, label=shown)
    for number, name in enumerate(called):
        glyph = name if view.shows_boundaries else ""
        _emphasise(axes, view.positions[(codes == number) & chosen], number, glyph, size)
    axes.set_aspect("equal")
    axes.set_xlim(low[0], low[0] + side)
    axes.set_ylim(low[1], low[1] + side)
    bare(axes)


def _draw_regions(axes: Any, directions: FloatMatrix, reach: float) -> None:
    """Tint the regions of two or three classes and draw the boundaries between them.

    Directions are (K, 2), on their plane; the boundaries meet at the origin and are drawn at least
    as far as `reach`.
    """
    rays = boundary_rays(directions)
    for number, direction in enumerate(directions):
        # A region's corners: the boundaries that are not opposite to it, and far between them.
        first, second = rays[rays @ direction > -1e-9]
        corners = np.array([np.zeros(2), first, first + 2 * direction, second + 2 * direction])
        corners = np.vstack([corners, second]) * _FAR * reach
        axes.fill(*corners.T, color=style_of(number)[0], alpha=0.09, lw=0, zorder=0)
    for ray in rays * _FAR * reach:
        axes.plot([0, ray[0]], [0, ray[1]], color="0.25", lw=1.1, zorder=0.5)


def boundary_rays(directions: FloatMatrix) -> FloatMatrix:
    """Return the boundaries between two or three classes on their plane, as K unit vectors.

    They run along the one boundary and back, or between each two of three classes, which is
    opposite to the third.
    """
    if len(directions) == 2:
        along = np.array([-directions[0, 1], directions[0, 0]])
        return np.array([along, -along])
    return -directions


def draw_directions(axes: Any, directions: FloatMatrix, names: Sequence[str], reach: float) -> None:
    """Draw class directions as arrows with names: the longer, the nearer they lie to the plane.

    Those that lean so far out of it that they would be short are left out. Of directions without a
    name the number is written.
    """
    lengths = np.linalg.norm(directions, axis=1) / np.linalg.norm(directions, axis=1).max()
    for number in np.flatnonzero(lengths > _STEEP).tolist():
        tip, colour = directions[number] / np.linalg.norm(directions[number]), style_of(number)[0]
        tip = tip * lengths[number] * reach
        arrow = {"arrowstyle": "-|>", "color": colour, "lw": 1.6, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", tip, (0, 0), arrowprops=arrow, zorder=2.5)
        name = literal_text(names[number] if number < len(names) else number)
        plate = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": colour, "lw": 1.2}
        place = tip * (1 + 0.06 / lengths[number])
        axes.text(*place, name, ha="center", va="center", size="small", bbox=plate, zorder=4)


def caption_stage(axes: Any, stage: Stage, *, is_chosen: bool, asked: int | None = None) -> None:
    """Write a stage's number and scale above its panel; the chosen stage gets a thick frame.

    Where the path lacks the number that was `asked` for, the caption says so.
    """
    word = ", chosen" if is_chosen else ""
    if asked not in {None, stage.number}:
        word += f" (in place of {asked})"
    axes.set_title(f"step {stage.number}{word}\n$\\lambda$ = {stage.scale:.3g}", fontsize="medium")
    if is_chosen:
        axes.spines[:].set_linewidth(2.2)


def add_legend(where: Any, handles: Any = None, names: Any = None) -> None:
    """Put a legend beside a panel, or below the panels of a figure."""
    style: dict[str, Any] = {"frameon": False, "fontsize": "medium", "markerscale": 2.5}
    style |= {"handletextpad": 0.2, "columnspacing": 1.4}
    if handles is None:
        where.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), **style)
    else:
        where.legend(handles, names, loc="outside lower center", ncols=10, **style)


def _square_around(positions: FloatMatrix) -> tuple[FloatVector, float]:
    """Return lower left corner and side of a square that holds all points and the origin."""
    low, high = np.minimum(positions.min(axis=0), 0), np.maximum(positions.max(axis=0), 0)
    side = 1.12 * max(float((high - low).max()), 1e-9)
    return (low + high - side) / 2, side


def _emphasise(axes: Any, positions: FloatMatrix, number: int, name: str, size: float) -> None:
    colour, marker = style_of(number)
    x, y = positions.T
    if name.isalnum() and len(name) <= _SHORT:
        halo = [withStroke(linewidth=3.0, foreground="white")]
        glyph = f"$\\mathbf{{{name}}}$"
        axes.scatter(x, y, s=9 * size, c=colour, marker=glyph, lw=0.2, path_effects=halo, zorder=3)
    else:
        axes.scatter(
            x, y, s=6 * size, c=colour, marker=marker, lw=1.2, edgecolors="black", zorder=3
        )
