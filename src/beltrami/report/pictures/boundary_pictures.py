"""Pictures of maps with class boundaries: a fitted `Mbed` enters, a matplotlib figure leaves.

``map_figure(model, groups, labelled=rows)`` draws the map and ``path_figure`` stages of its path;
``save_figure`` of `figures` writes either. The functions below them draw on axes of one's own.
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
from beltrami.report.pictures.figures import as_written, bare
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
    order: IndexVector | None = None,
    title: str = "",
) -> Figure:
    """Draw the map of a fitted `Mbed` with its boundaries.

    Shapes: `groups` (n,), `order` (K,).

    - `groups`: what the colours show, such as the true classes; None shows the classes that were
      found.
    - `labelled`: rows that are drawn large: those whose label was given.
    - `names`: what to call the groups, in sorted order; None writes their values.
    - `order`: which class direction belongs to each group, so that regions have the colours of
      their groups; None means that both come in the same order. For clusters,
      `beltrami_papers.mbed.agreement.cluster_of_each_class` finds it.

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
    view = view_of(model.embedding_, _ordered(model.directions_, order))
    shown = model.transduction_ if groups is None else groups
    draw_map(axes, view, shown, labelled=labelled, names=names)
    axes.set_title(title)
    add_legend(axes)
    return figure


def path_figure(
    model: Any,
    groups: NDArray[Any] | None = None,
    *,
    numbers: Sequence[int] = (2, 5, 9, 13, 17),
    labelled: IndexVector | None = None,
    names: Sequence[str] | None = None,
    order: IndexVector | None = None,
    title: str = "",
) -> Figure:
    """Draw stages of the path of a fitted `Mbed` side by side: one plane, each to its own scale.

    Shapes: `groups` (n,), `order` (K,).

    - `groups`: what the colours show; None shows the classes that were found.
    - `numbers`: which stages, besides the chosen one; of one that the path lacks, the nearest is
      taken.
    """
    wanted = {stage.number: stage for stage in nearest_stages(model.path_, numbers)}
    wanted[model.stage_.number] = model.stage_
    stages = [wanted[number] for number in sorted(wanted)]
    figure = Figure(figsize=(2.4 * len(stages), 3.3), layout="constrained")
    panels = figure.subplots(1, len(stages), squeeze=False)[0]
    directions = _ordered(model.directions_, order)
    plane = view_of(model.embedding_, directions).axes
    shown = model.transduction_ if groups is None else groups
    for axes, stage in zip(panels, stages, strict=True):
        view = view_of(stage.embedding, directions, axes=plane)
        draw_map(axes, view, shown, labelled=labelled, names=names, size=5.0)
        caption_stage(axes, stage, is_chosen=stage is model.stage_)
    add_legend(figure, *panels[0].get_legend_handles_labels())
    figure.suptitle(title)
    return figure


def nearest_stages(path: Sequence[Stage], numbers: Sequence[int]) -> list[Stage]:
    """Return the stages with given numbers, or the nearest ones that the path has.

    - `numbers`: which; of two stages equally near the earlier is taken.
    """
    return [min(path, key=lambda stage: abs(stage.number - wanted)) for wanted in numbers]


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

    Shapes: `groups` (n,).

    - `view`: from `view_of`; its directions come in the order of the groups.
    - `labelled`: rows drawn large: as the name of their group where it is short and the view shows
      boundaries, else as an edged mark.
    - `names`: what to call the groups, in sorted order; None writes their values.
    """
    values, codes = np.unique(groups, return_inverse=True)
    called = [str(value) for value in values] if names is None else list(names)
    low, side = _square_around(view.positions)
    if view.shows_boundaries:
        draw_regions(axes, view.directions, side)
    else:
        draw_directions(axes, view.directions, called, 0.45 * side)
    chosen = np.zeros(len(codes), dtype=bool)
    if labelled is not None:
        chosen[labelled] = True
    for number, name in enumerate(called):
        colour, marker = style_of(number)
        x, y = view.positions[(codes == number) & ~chosen].T
        shown = as_written(name)
        axes.scatter(x, y, s=size, c=colour, marker=marker, lw=0, alpha=0.75, label=shown)
    for number, name in enumerate(called):
        glyph = name if view.shows_boundaries else ""
        _emphasise(axes, view.positions[(codes == number) & chosen], number, glyph, size)
    axes.set_aspect("equal")
    axes.set_xlim(low[0], low[0] + side)
    axes.set_ylim(low[1], low[1] + side)
    bare(axes)


def draw_regions(axes: Any, directions: FloatMatrix, reach: float) -> None:
    """Tint the regions of two or three classes and draw the boundaries between them.

    Shapes: `directions` (K, 2).

    - `directions`: class directions on their plane; the boundaries meet at the origin.
    - `reach`: how far from the origin they must be drawn at least.
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
    """Return the boundaries between two or three classes on their plane, as rays from the origin.

    Shapes: `directions` (K, 2); returns (K, 2).

    - Returned: unit vectors: along the one boundary and back, or between each two of three classes,
      which is opposite to the third.
    """
    if len(directions) == 2:
        along = np.array([-directions[0, 1], directions[0, 0]])
        return np.array([along, -along])
    return -directions


def draw_directions(axes: Any, directions: FloatMatrix, names: Sequence[str], reach: float) -> None:
    """Draw class directions as arrows with names: the longer, the nearer they lie to the plane.

    Those that lean so far out of it that they would be short are left out.

    Shapes: `directions` (K, 2).

    - `names`: of the classes; of directions without a name the number is written.
    """
    lengths = np.linalg.norm(directions, axis=1) / np.linalg.norm(directions, axis=1).max()
    for number in np.flatnonzero(lengths > _STEEP).tolist():
        tip, colour = directions[number] / np.linalg.norm(directions[number]), style_of(number)[0]
        tip = tip * lengths[number] * reach
        arrow = {"arrowstyle": "-|>", "color": colour, "lw": 1.6, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", tip, (0, 0), arrowprops=arrow, zorder=2.5)
        name = as_written(names[number] if number < len(names) else number)
        plate = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": colour, "lw": 1.2}
        place = tip * (1 + 0.06 / lengths[number])
        axes.text(*place, name, ha="center", va="center", size="small", bbox=plate, zorder=4)


def caption_stage(axes: Any, stage: Stage, *, is_chosen: bool, asked: int | None = None) -> None:
    """Write a stage's number and scale above its panel; the chosen stage gets a thick frame.

    - `asked`: the number that was asked for, where the path may lack it.
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


def _ordered(directions: FloatMatrix, order: IndexVector | None) -> FloatMatrix:
    return directions if order is None else directions[order]


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
