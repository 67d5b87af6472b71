"""The slides' pictures: local covariances, the weighted graph, the cut, predictions.

Nothing enters but the wish for a quick run; a figure leaves, with how pure regions and edges are
and how well values are predicted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from beltrami.core.telling.progress import track
from beltrami.core.types import IndexVector
from beltrami.data import Dataset, dollar_sign, surface_sphere
from beltrami.data.shapes.crossing import crossing_spheres
from beltrami.learners import MultiManifoldRegressor
from beltrami.report.pictures.region_pictures import draw_story
from beltrami.report.pictures.region_views import panels_of, view_of
from beltrami_papers.cells import table_lines
from beltrami_papers.findings import Claim, Setting, reproduction_of
from beltrami_papers.model import Reproduction, StageClock
from beltrami_papers.preparation import keep_labels
from beltrami_papers.slides.purity import purity


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A row of the figure.

    Attributes
    ----------
    name : str
        Before the row.
    make : callable
        A generator of sets.
    n_points : int
        How many points.
    n_regions : int
        How many regions.
    height : float
        Of the row, in inches.
    """

    name: str
    make: Callable[..., Dataset]
    n_points: int
    n_regions: int
    height: float


N_LABELLED = 80
SCENES = (
    Scene("dollar sign", partial(dollar_sign, noise=0.02), 4000, 12, 3.6),
    Scene("surface and sphere", surface_sphere, 10000, 8, 3.1),
    Scene(
        "spheres of dimensions 2 and 4\nin 5 dimensions, projected",
        partial(crossing_spheres, dimensions=(2, 4)),
        10000,
        3,
        2.9,
    ),
)


def fit_scene(scene: Scene, n_points: int) -> tuple[Any, IndexVector]:
    """Fit the learner on a scene.

    - `n_points`: how many points, of which the first 80 of a random order are labelled.
    """
    dataset = scene.make(n_points, random_state=0)
    labelled = np.random.default_rng(0).permutation(n_points)[:N_LABELLED]
    model = MultiManifoldRegressor(n_regions=scene.n_regions, random_state=0)
    y = keep_labels(np.asarray(dataset.targets), labelled, blank=np.nan)
    return model.fit(np.asarray(dataset.points), y), labelled


def _scene_cell(scene: Scene, model: Any, labelled: IndexVector) -> dict[str, Any]:
    """Measure what a row of the figure shows.

    Numbers of points, nodes and edges; ``weight_between``: percent of the weight of the graph that
    lies on edges between the manifolds, and ``edges_between`` percent of the edges; ``purity``:
    percent of points on the commonest manifold of their region; ``error`` and ``one_region``: root
    mean squared errors on unlabelled points, with the regions and of the same learner with one
    region.
    """
    n = len(model.regions_)
    dataset = scene.make(n, random_state=0)
    manifold, truth = np.asarray(dataset.extras["manifold"]), np.asarray(dataset.targets)
    graph = model.shape_graph_
    edges = graph.graph.weights.tocoo()
    nodes = manifold[graph.rows]
    between = nodes[edges.row] != nodes[edges.col]
    whole = MultiManifoldRegressor(n_regions=1, random_state=0)
    whole.fit(np.asarray(dataset.points), keep_labels(truth, labelled, blank=np.nan))
    asked = np.setdiff1d(np.arange(n), labelled)
    return {
        "scene": scene.name.replace("\n", " "),
        "n": n,
        "regions": int(model.n_regions_),
        "nodes": len(graph.rows),
        "edges": int(edges.nnz // 2),
        "edges_between": round(100 * float(between.mean()), 3),
        "weight_between": round(100 * float(edges.data[between].sum() / edges.data.sum()), 3),
        "purity": round(100 * purity(model.regions_, manifold), 2),
        "error": round(_rms(model.transduction_ - truth, asked), 4),
        "one_region": round(_rms(whole.transduction_ - truth, asked), 4),
    }


def _rms(errors: Any, rows: IndexVector) -> float:
    return float(np.sqrt(np.mean(errors[rows] ** 2)))


def pictures_figure(*, quick: bool = False) -> Reproduction:
    """Draw how the regions of three sets come about, a row per set."""
    clock, cells = StageClock(), []
    heights = [scene.height for scene in SCENES]
    figure = Figure(figsize=(12, sum(heights) + 0.4), layout="constrained")
    rows = figure.subfigures(len(SCENES), 1, height_ratios=heights, squeeze=False)[:, 0]
    with track("pictures of multi-manifold separation", total=len(SCENES)) as advance:
        for row, scene in zip(rows, SCENES, strict=True):
            with clock.stage("fits"):
                model, labelled = fit_scene(scene, 800 if quick else scene.n_points)
            with clock.stage("measures"):
                cells.append(_scene_cell(scene, model, labelled))
            with clock.stage("drawing"):
                view = view_of(model.shape_graph_.points)
                draw_story(panels_of(row, 4, view), model, view=view, labelled=labelled)
                row.supylabel(scene.name, fontsize="medium")
            advance(1)
    least = min(cell["purity"] for cell in cells)
    figure.suptitle(
        f"Where manifolds cross, local shapes tell them apart: {least:.1f} percent of the points "
        "or more lie on the main manifold of their region"
    )
    return reproduction_of(
        _setting(cells),
        figure,
        clock,
        claims=_claims(cells),
        numbers={"scenes": cells},
        body=_lines(cells),
    )


def _setting(cells: Sequence[Mapping[str, Any]]) -> Setting:
    return Setting(
        name="multi-manifold-pictures",
        source="Zhu (2009), slides on multi-manifold separation; they print no numbers",
        data=", ".join(cell["scene"] for cell in cells),
        n=", ".join(str(cell["n"]) for cell in cells),
        settings={
            "learner": "MultiManifoldRegressor with the number of regions of the table",
            "labels": f"{N_LABELLED} of each set, without noise",
        },
        seeds="points: random_state=0; labelled rows: the first 80 of default_rng(0).permutation; "
        "learner: random_state=0.",
        remarks=[
            "The dollar sign has noise of 0.02, the others none.",
            "Between: edges of the graph whose ends lie on different manifolds, and the weight on "
            "them. Errors: root mean squared, on the unlabelled points.",
        ],
    )


def _claims(cells: Sequence[Mapping[str, Any]]) -> list[Claim]:
    lightest = max(cells, key=lambda cell: float(cell["weight_between"]))
    impure = min(cells, key=lambda cell: float(cell["purity"]))
    worse = [cell["scene"] for cell in cells if cell["error"] >= cell["one_region"]]
    return [
        Claim(
            "edges across manifolds get small weights",
            "; ".join(
                f"{c['scene']}: {c['edges_between']:.1f} percent of the edges, "
                f"{c['weight_between']:.1f} of the weight"
                for c in cells
            ),
            lightest["weight_between"] < lightest["edges_between"],
        ),
        Claim(
            "the cut separates the manifolds",
            f"at least {impure['purity']:.1f} percent of the points lie on the commonest manifold "
            f"of their region ({impure['scene']})",
            impure["purity"] > 90,
        ),
        Claim(
            "a learner in each region predicts better than one for all",
            "; ".join(
                f"{c['scene']}: {c['error']:.3f} against {c['one_region']:.3f}" for c in cells
            ),
            not worse,
        ),
    ]


def _lines(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    header = ["set", "n", "regions", "nodes", "edges", "edges between, %", "weight between, %"]
    header += ["purity, %", "error", "error of one region"]
    rows = [[str(value) for value in cell.values()] for cell in cells]
    return table_lines(header, rows, words=(0,))
