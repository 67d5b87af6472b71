"""Thesis figure A.4: images of bars, by eigenmap and by principal components.

Nothing enters but the wish for a quick run; three panels, and how well each map tells the two kinds
apart leave.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.sparse.csgraph import connected_components

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.data import bars, principal_components
from beltrami.graph.recipes import KnnGraph
from beltrami.report.pictures.figures import bare, scatter_groups
from beltrami_papers.cells import table_lines
from beltrami_papers.findings import THESIS, Claim, Setting, reproduction_of
from beltrami_papers.model import Reproduction, StageClock
from beltrami_papers.thesis.chapter2.maps import (
    Eigenmap,
    chance_share,
    eigenmap_of,
    same_group_share,
)

N_NEIGHBORS = 14


@dataclass(frozen=True, slots=True, eq=False)
class BarScene:
    """The images and their two maps.

    Attributes
    ----------
    images : ndarray of shape (n, pixels)
        With one bar each.
    kind : ndarray of shape (n,)
        0 vertical, 1 horizontal.
    eigenmap : Eigenmap
        N = 14, t = infinity.
    components : ndarray of shape (n, 2)
        Two principal components.
    """

    images: FloatMatrix
    kind: IndexVector
    eigenmap: Eigenmap
    components: FloatMatrix


def _bar_scene(n_images: int = 1000) -> BarScene:
    """Draw images and map them."""
    sample = bars(n_images, random_state=0)
    images = np.asarray(sample.points)
    graph = KnnGraph(N_NEIGHBORS, weights="binary", connect="raise")
    eigenmap = eigenmap_of(images, graph)
    return BarScene(images, np.asarray(sample.targets), eigenmap, principal_components(images, 2))


def _bars_against_pca(scene: BarScene | None = None) -> Figure:
    """Draw a bar of each kind, the eigenmap (N = 14, t = infinity) and two principal components."""
    seen = scene or _bar_scene()
    figure = Figure(figsize=(12, 4.6), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    side = int(np.sqrt(seen.images.shape[1]))
    pair = [seen.images[seen.kind == value][0].reshape(side, side) for value in (0, 1)]
    left.imshow(np.maximum(*pair), cmap="gray_r")
    left.set_title("images of a vertical\nand a horizontal bar", fontsize="medium")
    bare(left)
    names = ["vertical", "horizontal"]
    views = ((middle, seen.eigenmap.coordinates), (right, seen.components))
    for (axes, coordinates), what in zip(
        views, ("Laplacian eigenmap", "two principal components"), strict=True
    ):
        scatter_groups(axes, coordinates, seen.kind, names=names)
        share = same_group_share(coordinates, seen.kind, N_NEIGHBORS)
        axes.set_title(f"{what}:\n{share:.1%} of neighbours are of one kind", fontsize="medium")
    figure.suptitle("The eigenmap pulls vertical and horizontal bars apart, two components do not")
    return figure


def map_measures(coordinates: FloatMatrix, kind: IndexVector) -> dict[str, float]:
    """Return how well a map tells the two kinds apart.

    ``neighbours``: share of the 14 nearest in the map that are of a point's own kind; ``nearest``:
    percent of points whose nearest is of the other kind; ``line``: percent on the wrong side of the
    least-squares line; ``gap``: least distance between the kinds in median distances to the nearest
    of one's own.
    """
    unit = coordinates / coordinates.std(axis=0)
    design = np.column_stack([np.ones(len(unit)), unit])
    side = design @ np.linalg.lstsq(design, 2.0 * kind - 1, rcond=None)[0]
    return {
        "neighbours": round(same_group_share(coordinates, kind, N_NEIGHBORS), 4),
        "nearest": round(100 * (1 - same_group_share(coordinates, kind, 1)), 2),
        "line": round(100 * float(np.mean((side > 0) != kind)), 2),
        "gap": round(_gap(coordinates, kind), 3),
    }


def _gap(coordinates: FloatMatrix, kind: IndexVector) -> float:
    first, second = coordinates[kind == 0], coordinates[kind == 1]
    apart = np.linalg.norm(first[:, None] - second, axis=2).min()
    within = np.concatenate([_nearest_own(part) for part in (first, second)])
    # Equal images lie at the same place, to rounding.
    return float(apart / np.median(within[within > 1e-9 * within.max()]))


def _nearest_own(part: FloatMatrix) -> FloatVector:
    gaps = np.linalg.norm(part[:, None] - part, axis=2)
    np.fill_diagonal(gaps, np.inf)
    nearest: FloatVector = gaps.min(axis=1)
    return nearest


def bars_reproduction(*, quick: bool = False) -> Reproduction:
    """Reproduce figure A.4, with how well each map tells the kinds apart."""
    clock = StageClock()
    with clock.stage("maps"):
        scene = _bar_scene(400 if quick else 1000)
    measured = {
        "eigenmap": map_measures(scene.eigenmap.coordinates, scene.kind),
        "principal components": map_measures(scene.components, scene.kind),
    }
    edges = scene.eigenmap.graph.weights.tocoo()
    graph = {
        "components": int(connected_components(scene.eigenmap.graph.weights, directed=False)[0]),
        "edges": scene.eigenmap.graph.n_edges,
        "edges_between_kinds": int(np.sum(scene.kind[edges.row] < scene.kind[edges.col])),
        "chance": round(chance_share(scene.kind), 4),
    }
    setting = Setting(
        name="thesis-a4",
        source=f"{THESIS}, figure A.4",
        data="bars, binary images of 40 x 40 pixels with one bar",
        n=len(scene.images),
        settings={"graph": "N = 14 neighbours, t = infinity", "bars": "16 x 4 pixels, ours"},
        seeds="images: random_state=0.",
        remarks=[
            "The thesis does not state the size of its bars.",
        ],
    )
    return reproduction_of(
        setting,
        _bars_against_pca(scene),
        clock,
        claims=_claims(measured, graph),
        numbers={"maps": measured, "graph": graph},
        body=_lines(measured, graph),
    )


def _claims(measured: Mapping[str, Mapping[str, float]], graph: Mapping[str, Any]) -> list[Claim]:
    ours, pca = measured["eigenmap"], measured["principal components"]
    return [
        Claim(
            "the local graph is connected",
            f"{graph['components']} component, {graph['edges_between_kinds']} of "
            f"{graph['edges']} edges between the kinds",
            graph["components"] == 1,
        ),
        Claim(
            "the eigenmap shows two well defined components",
            f"{ours['neighbours']:.1%} of neighbours in the map are of one kind (chance "
            f"{graph['chance']:.0%}), {ours['line']:.1f} percent on the wrong side of a line",
            ours["neighbours"] > 0.95 and ours["line"] < 5,
        ),
        Claim(
            "two principal components, drawn beside it, do not (shown, not said)",
            f"{pca['neighbours']:.1%} of neighbours of one kind, {pca['line']:.1f} percent on the "
            "wrong side of a line",
            pca["neighbours"] < ours["neighbours"] and pca["line"] > 25,
        ),
    ]


def _lines(measured: Mapping[str, Mapping[str, float]], graph: Mapping[str, Any]) -> list[str]:
    header = [
        "map",
        "neighbours of one kind",
        "nearest of the other kind, %",
        "wrong side, %",
        "gap",
    ]
    rows = [
        [
            name,
            f"{measures['neighbours']:.3f}",
            f"{measures['nearest']:.1f}",
            f"{measures['line']:.1f}",
            f"{measures['gap']:.2f}",
        ]
        for name, measures in measured.items()
    ]
    lead = (
        f"Neighbours: the {N_NEIGHBORS} nearest in the map; {graph['chance']:.3f} by chance. Wrong "
        "side: of the least-squares line. Gap: least distance between the kinds, in median "
        "distances to the nearest of one's own."
    )
    return [lead, "", *table_lines(header, rows, words=(0,))]
