"""Pictures of embeddings: coordinates and groups enter, a matplotlib figure leaves.

Figures are built as objects, without pyplot, so that nothing is global and no window opens.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.files import atomic_path
from beltrami.core.spelling import spell_out
from beltrami.core.types import FloatMatrix
from beltrami.report.pictures.palette import OKABE_ITO, style_of

_MOST_NAMED = 20  # classes that a legend holds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}
"""Endings of pictures, and what must be left out for the same figure to give the same bytes."""


def scatter_groups(
    axes: Any,
    coordinates: FloatMatrix,
    groups: NDArray[Any],
    *,
    names: list[str] | None = None,
    size: float = 8.0,
) -> None:
    """Draw points in two dimensions, one colour and mark per group, with a legend.

    The legend has the `names` of the groups, in sorted order, or their values.
    """
    for number, group in enumerate(np.unique(groups)):
        colour, marker = style_of(number)
        inside = groups == group
        axes.scatter(
            coordinates[inside, 0],
            coordinates[inside, 1],
            s=size,
            c=colour,
            marker=marker,
            linewidths=0,
            alpha=0.75,
            label=literal_text(names[number] if names else group),
        )
    axes.legend(loc="best", markerscale=2, frameon=False, fontsize="small", ncols=2)
    bare(axes)


def rows_figure(positions: FloatMatrix, labels: NDArray[Any]) -> "Figure":
    """Draw a map of rows: those without a label (None) in grey, the others in colour."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 7), layout="constrained")
    axes = figure.subplots()
    is_given = np.asarray(labels != np.array(None), dtype=bool)
    texts = labels[is_given].astype(str)
    x, y = positions[~is_given].T
    axes.scatter(x, y, s=4, c="0.75", linewidths=0, rasterized=True)
    names = np.unique(texts)
    for number, name in enumerate(names):
        x, y = positions[is_given][texts == name].T
        colour = OKABE_ITO[number % len(OKABE_ITO)]
        axes.scatter(x, y, s=24, color=colour, edgecolors="w", label=literal_text(name))
    axes.set_aspect("equal")
    axes.set_axis_off()
    if 0 < len(names) <= _MOST_NAMED:
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    axes.set_title(f"Map of {len(labels):,} rows, {len(texts):,} labelled")
    return figure


def literal_text(name: object) -> str:
    r"""Return a name that matplotlib draws letter by letter.

    It takes what stands between two dollars for a formula, leaves a name that begins with an
    underscore out of legends, and has no picture of control characters.

    Examples
    --------
    >>> from beltrami.report.pictures.figures import literal_text
    >>> print(literal_text("5$ or 10$"))
    5\$ or 10\$
    """
    text = spell_out(str(name)).replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text


def scatter_values(axes: Any, coordinates: FloatMatrix, values: NDArray[Any]) -> None:
    """Draw points in two dimensions, coloured by a number."""
    x, y = coordinates.T
    axes.scatter(x, y, s=4.0, c=values, cmap="viridis", linewidths=0)
    bare(axes)


def bare(axes: Any) -> None:
    """Take away ticks: coordinates of an embedding have no unit."""
    axes.set_xticks([])
    axes.set_yticks([])


def save_figure(figure: "Figure", path: Path) -> Path:
    """Write a figure, whole or not at all; the same figure gives the same bytes."""
    from matplotlib import rc_context

    kind = path.suffix.lower()
    if kind not in PICTURES:
        raise InvalidInputError(
            f"the picture {path.name!r} must end in one of {', '.join(PICTURES)}."
        )
    with rc_context({"svg.hashsalt": "beltrami"}), atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=150, metadata={PICTURES[kind]: None})
    return path.resolve()
