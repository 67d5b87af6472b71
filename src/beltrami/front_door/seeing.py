"""How the front door sees the data: prepared, and joined into a graph."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from beltrami.core.errors import ConnectedByBridgesWarning
from beltrami.core.types import BoolVector, Points, Seed
from beltrami.front_door.candidates import View
from beltrami.front_door.preparation import Preparation, prepare
from beltrami.graph.fitting import fitted_graph, recipe_of
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph

NEIGHBORS = 10

MOST_BRIDGED = 200_000
"""Rows up to which pieces of the data are joined by bridges: finding the shortest is quadratic."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Data as the learners see them.

    Attributes
    ----------
    preparation : Preparation
        How new points are treated.
    plain, points : ndarray or csr_array
        All columns on one scale, and what the graph was built of.
    graph : Graph
        Of the points.
    recipe : KnnGraph, RadiusGraph or None
        What made it.
    """

    preparation: Preparation
    plain: Points
    points: Points
    graph: Graph
    recipe: Any

    @property
    def metric(self) -> Any:
        """How distances are measured."""
        return getattr(self.recipe, "metric", self.preparation.metric)

    @property
    def reasons(self) -> tuple[str, ...]:
        """What was done, for a person to read."""
        return self.preparation.reasons

    def prepared(self, points: Points) -> tuple[Points, Points]:
        """Return new points with all columns, and as the graph takes them."""
        plain = self.preparation.scaled(points)
        return plain, self.preparation.projected(plain)

    def view(self, n_columns: int, random_state: Seed) -> View:
        """Return what the candidates are shown, with as many columns as there are targets."""
        return View(
            self.points, self.plain, self.graph, self.recipe, self.metric, n_columns, random_state
        )

    def reached_at(self, points: Points, reached: BoolVector) -> BoolVector:
        """Say which new points, as the graph takes them, join rows that a label reaches."""
        if reached.all() or self.recipe is None:
            return np.ones(points.shape[0], dtype=bool)
        tie = self.recipe.attach(self.graph, self.points, points)
        return np.asarray((tie.weights @ reached.astype(np.float64)) > 0)


def seen(
    points: Points, graph: Any, scale: str, metric: Any, random_state: Seed, n_jobs: int | None
) -> Seen:
    """Prepare points and build their graph.

    Shapes: `points` (n, d).

    - `graph`: as given to an estimator; a recipe brings its own metric.
    """
    is_default = graph is None
    recipe = None if is_default else recipe_of(graph)
    own = metric if recipe is None else getattr(recipe, "metric", "euclidean")
    preparation = prepare(points, scale=scale, metric=own)
    plain = preparation.scaled(points)
    projected = preparation.projected(plain)
    if is_default:
        graph = KnnGraph(
            NEIGHBORS,
            metric=preparation.metric,
            weights="tuned_shared",
            connect="mst" if points.shape[0] <= MOST_BRIDGED else "keep",
            random_state=random_state,
            n_jobs=n_jobs,
        )
    with warnings.catch_warnings():
        if is_default:  # whose way out is for those who chose the graph
            warnings.simplefilter("ignore", ConnectedByBridgesWarning)
        built, made_by = fitted_graph(graph, projected)
    if is_default and built.certificate.n_bridges:
        warnings.warn(
            f"the data fall into {built.certificate.n_components_found} pieces, which were joined "
            f"by {built.certificate.n_bridges} bridge(s) where they come closest. What is said "
            "across a bridge is a guess: label some rows in each piece.",
            ConnectedByBridgesWarning,
            stacklevel=2,
        )
    return Seen(preparation, plain, projected, built, made_by)
