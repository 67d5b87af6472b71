"""The slides' pictures: local covariances, the weighted graph, the cut, predictions.

Nothing enters but the wish for a quick run; a figure leaves. Part of layer 7.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from beltrami.data import Dataset, dollar_sign, surface_sphere
from beltrami.data.crossing import crossing_spheres
from beltrami.learners import MultiManifoldRegressor
from beltrami.report.region_pictures import draw_story
from beltrami.report.region_views import panels_of, view_of
from beltrami.report.reproductions.model import Reproduction


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


def fitted_scene(scene: Scene, n_points: int) -> Any:
    """Fit the learner on a scene.

    Parameters
    ----------
    scene : Scene
        What is drawn.
    n_points : int
        How many points, of which the first 80 of a random order are labelled.

    Returns
    -------
    MultiManifoldRegressor
        Fitted.
    """
    dataset = scene.make(n_points, random_state=0)
    labelled = np.random.default_rng(0).permutation(n_points)[:N_LABELLED]
    y = np.full(n_points, np.nan)
    y[labelled] = np.asarray(dataset.targets)[labelled]
    model = MultiManifoldRegressor(n_regions=scene.n_regions, random_state=0)
    return model.fit(np.asarray(dataset.points), y), labelled


def pictures_figure(*, quick: bool = False) -> Reproduction:
    """Draw how the regions of three sets come about, a row per set.

    Parameters
    ----------
    quick : bool, default=False
        Few points.

    Returns
    -------
    Reproduction
        The figure.
    """
    heights = [scene.height for scene in SCENES]
    figure = Figure(figsize=(12, sum(heights)), layout="constrained")
    rows = figure.subfigures(len(SCENES), 1, height_ratios=heights, squeeze=False)[:, 0]
    for row, scene in zip(rows, SCENES, strict=True):
        model, labelled = fitted_scene(scene, 800 if quick else scene.n_points)
        view = view_of(model.shape_graph_.points)
        draw_story(panels_of(row, 4, view), model, view=view, labelled=labelled)
        row.supylabel(scene.name, fontsize="medium")
    return Reproduction(figure=figure)
