"""Thesis figure A.3: eigenmaps of the swiss roll, for several graphs.

Nothing enters but the wish for a quick run; the 3 x 3 table of maps, and how well each unrolls the
roll leave.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from beltrami.core.telling.progress import track
from beltrami.core.types import FloatVector
from beltrami.data import Dataset, swiss_roll
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami.graph.weights import HeatKernel
from beltrami.report.pictures.figures import scatter_values
from beltrami_papers.cells import table_lines
from beltrami_papers.findings import THESIS, Claim, Setting, reproduction_of
from beltrami_papers.model import Reproduction, StageClock
from beltrami_papers.thesis.chapter2.maps import (
    Eigenmap,
    eigenmap_of,
    explained_share,
    nearest_in_map,
)

NEIGHBORS = (5, 10, 15)
WIDTHS = (5.0, 25.0, np.inf)
MANY_NEIGHBORS = (30, 60, 100)
"""Beyond the figure, where edges begin to join turns."""

SHORTCUT = 10.0
"""An edge that skips this much of the spiral joins two of its turns, which are 2 pi apart."""

_LOCAL = 10


def roll_map(roll: Dataset, n_neighbors: int, t: float) -> Eigenmap:
    """Map the roll.

    The thesis's section 2.2 writes the kernel exp(-d^2 / t); ours has 4t, hence the quarter.

    It has two dimensions, turned so that the arc length grows to the right and the ends are up.
    """
    eigenmap = eigenmap_of(roll.points, KnnGraph(n_neighbors, weights=HeatKernel(t / 4)))
    arc = np.asarray(roll.extras["arc_length"])
    ideal = np.column_stack([arc, np.cos(2 * np.pi * arc / arc.max())])
    along = ((ideal - ideal.mean(axis=0)) * eigenmap.coordinates).sum(axis=0)
    return replace(eigenmap, coordinates=eigenmap.coordinates * np.where(along < 0, -1.0, 1.0))


def roll_measures(roll: Dataset, eigenmap: Eigenmap) -> dict[str, float]:
    """Return how well a map unrolls the roll.

    ``order``: rank correlation of the first coordinate with the arc length s, its size;
    ``rectangle``: variance of the two lowest eigenfunctions of the flat rectangle, cos(pi s/S) and
    cos(2 pi s/S), that a linear map explains; ``along``: mean difference of s between neighbours in
    the map, in shares of what it is between random points; ``across``: the same of the height;
    ``shortcuts``: percent of edges that join two turns.
    """
    arc = np.asarray(roll.extras["arc_length"])
    phase = np.pi * arc / arc.max()
    ideal = np.column_stack([np.cos(phase), np.cos(2 * phase)])
    near = nearest_in_map(eigenmap.coordinates, _LOCAL)
    return {
        "order": round(abs(float(spearmanr(eigenmap.coordinates[:, 0], arc).statistic)), 4),
        "rectangle": round(explained_share(eigenmap.coordinates, ideal), 4),
        "along": round(_local_spread(arc, near), 4),
        "across": round(_local_spread(np.asarray(roll.extras["height"]), near), 4),
        "shortcuts": round(100 * shortcut_share(eigenmap.graph, arc), 3),
    }


def _local_spread(values: FloatVector, near: Any) -> float:
    """Return the mean difference to neighbours, in shares of that to all points."""
    ranked = np.sort(values)
    n = len(values)
    # The mean of |a - b| over all pairs, from the order statistics.
    overall = 2 * float(((2 * np.arange(n) - n + 1) * ranked).sum()) / n**2
    return float(np.abs(values[near] - values[:, None]).mean()) / overall


def shortcut_share(graph: Graph, arc_length: FloatVector) -> float:
    """Return the share of edges that join two turns of the roll."""
    edges = graph.weights.tocoo()
    skipped = np.abs(arc_length[edges.row] - arc_length[edges.col])
    return float(np.mean(skipped > SHORTCUT))


def _swiss_roll_table(roll: Dataset | None = None) -> tuple[Figure, list[dict[str, Any]]]:
    """Draw the 3 x 3 table: N = 5, 10, 15 down, t = 5, 25, infinity across.

    The thesis does not state the size of its roll, which gives t its unit; ours is the usual one.

    - `cells`: what `roll_measures` says of each map, with ``turned``: how far the map is from the
      one of the same N and weights of one, as a share of its variance.
    """
    seen = swiss_roll(2000, random_state=0) if roll is None else roll
    along = np.asarray(seen.extras["arc_length"])
    figure = Figure(figsize=(9, 9.6), layout="constrained")
    panels = figure.subplots(len(NEIGHBORS), len(WIDTHS))
    cells: list[dict[str, Any]] = []
    with track("maps of the swiss roll", total=panels.size) as advance:
        for row, n_neighbors in enumerate(NEIGHBORS):
            maps = {t: roll_map(seen, n_neighbors, t) for t in WIDTHS}
            plain = maps[np.inf].coordinates
            for axes, (t, eigenmap) in zip(panels[row], maps.items(), strict=True):
                kept = explained_share(eigenmap.coordinates, plain / np.linalg.norm(plain, axis=0))
                measured = roll_measures(seen, eigenmap)
                cells.append(
                    {"N": n_neighbors, "t": _width(t), **measured, "turned": round(1 - kept, 4)}
                )
                scatter_values(axes, eigenmap.coordinates, along)
                axes.set_title(f"N = {n_neighbors}, t = {_width(t)}", fontsize="medium")
                axes.set_xlabel(f"order along the roll kept: {measured['order']:.3f}")
                advance(1)
    whole = sum(cell["order"] > 0.99 for cell in cells)
    figure.suptitle(
        f"{whole} of {len(cells)} eigenmaps unroll the swiss roll into a curve\n"
        "(colour: position along the spiral; rank correlation of the horizontal axis with it)"
    )
    return figure, cells


def _width(t: float) -> str:
    return "∞" if np.isinf(t) else f"{t:g}"


def roll_reproduction(*, quick: bool = False) -> Reproduction:
    """Reproduce figure A.3, with how well each map unrolls the roll."""
    clock = StageClock()
    with clock.stage("maps"):
        roll = swiss_roll(600 if quick else 2000, random_state=0)
        figure, cells = _swiss_roll_table(roll)
    with clock.stage("many neighbours"):
        more = _many_neighbors(roll)
    setting = Setting(
        name="thesis-a3",
        source=f"{THESIS}, figure A.3",
        data="swiss_roll, uniform on its surface",
        n=len(np.asarray(roll.points)),
        settings={"N": "5, 10, 15 neighbours", "t": "5, 25, infinity in exp(-d^2 / t)"},
        seeds="points: random_state=0.",
        remarks=[
            "The text names no values of N and t; ours are, from memory, those of the article by "
            "Belkin and Niyogi (2003).",
            "The thesis states neither the size nor the sampling of its roll; the size gives t its "
            "unit. Ours is 89.4 by 21, so the two lowest eigenfunctions are cosines of the arc "
            "length alone: the map of a perfect graph is a curve, and the height is not in it.",
            "Order: rank correlation of the first coordinate with the arc length. Rectangle: share "
            "of the variance of the rectangle's own two eigenfunctions that a linear map explains. "
            f"Along, across: difference of arc length and height to the {_LOCAL} nearest in the "
            "map, in shares of that between random points. Shortcuts: percent of edges between "
            "turns. Turned: share of the variance of the map with t = ∞ and the same N that the "
            "map does not explain.",
        ],
    )
    return reproduction_of(
        setting,
        figure,
        clock,
        claims=_claims(cells, more),
        numbers={"maps": cells, "many_neighbours": more},
        body=[*_lines(cells), "", "Beyond the figure:", "", *_lines(more)],
    )


def _many_neighbors(roll: Dataset) -> list[dict[str, Any]]:
    """Measure maps of graphs with more neighbours than the figure has."""
    return [
        {"N": n, "t": _width(t), **roll_measures(roll, roll_map(roll, n, t))}
        for n in MANY_NEIGHBORS
        for t in (min(WIDTHS), np.inf)
    ]


def _claims(cells: Sequence[Mapping[str, Any]], more: Sequence[Mapping[str, Any]]) -> list[Claim]:
    place = {(cell["N"], cell["t"]): cell for cell in [*cells, *more]}
    small, large, huge = min(NEIGHBORS), max(NEIGHBORS), max(MANY_NEIGHBORS)
    turned = max(place[small, _width(t)]["turned"] for t in WIDTHS)
    orders, across = [cell["order"] for cell in cells], [cell["across"] for cell in cells]
    along = max(cell["along"] for cell in cells)
    narrow, plain = place[large, "5"], place[large, "∞"]
    wide, open_ = place[huge, "5"], place[huge, "∞"]
    return [
        Claim(
            "the algorithm manages to unroll the roll",
            f"rank correlation of the first coordinate with the arc length from "
            f"{min(orders):.3f} to {max(orders):.3f}",
            min(orders) > 0.95,
        ),
        Claim(
            "it keeps the locality on the manifold",
            f"along the roll yes: neighbours in the map differ by at most {along:.1%} of what "
            f"random points do; across it hardly: {min(across):.0%} to {max(across):.0%}",
            max(along, *across) < 0.5,
        ),
        Claim(
            "for small N the maps for different t are virtually identical",
            f"at N = {small} no map leaves more than {turned:.2%} of that of t = ∞ unexplained",
            turned < 0.05,
        ),
        Claim(
            "when N becomes bigger, smaller t seemingly lead to better maps",
            f"not yet at N = {large}, where no edge joins two turns: rectangle "
            f"{narrow['rectangle']:.4f} with t = 5, {plain['rectangle']:.4f} with t = ∞",
            narrow["rectangle"] > plain["rectangle"] + 0.005,
        ),
        Claim(
            "for very large N it is critical to choose t correctly",
            f"at N = {huge}: order {wide['order']:.3f} with t = 5, {open_['order']:.3f} with "
            f"t = ∞; {open_['shortcuts']:.1f} percent of the edges join two turns",
            wide["order"] > open_["order"] + 0.1,
        ),
    ]


def _lines(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    names = [name for name in cells[0] if name not in {"N", "t"}]
    rows = [[str(cell["N"]), cell["t"], *(f"{cell[name]:.3f}" for name in names)] for cell in cells]
    return table_lines(["N", "t", *names], rows)
