"""Sets on several manifolds with few labels, and the ways to learn from them.

The name of a set, a draw and numbers of labelled and unlabelled points enter; the error of a method
on fresh points leaves.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import BeltramiWarning
from beltrami.core.types import FloatMatrix, IndexVector
from beltrami.data import Dataset, density_change, dollar_sign, surface_sphere, two_squares
from beltrami.data.shapes.crossing import crossing_spheres
from beltrami.learners import (
    GraphRegularizedClassifier,
    GraphRegularizedRegressor,
    LaplacianRLSClassifier,
    LaplacianRLSRegressor,
    MultiManifoldClassifier,
    MultiManifoldRegressor,
)
from beltrami.learners.model import Labeled
from beltrami.learners.multi_manifold.region_models import fit_regional
from beltrami_papers.journal import Result
from beltrami_papers.preparation import keep_labels

SETS: dict[str, Callable[..., Dataset]] = {
    "dollar sign": dollar_sign,
    "two squares": two_squares,
    "surface and sphere": surface_sphere,
    "density change": density_change,
    "circle and sphere": crossing_spheres,
    "S2 and S4": partial(crossing_spheres, dimensions=(2, 4)),
}
"""Generators by the name in the tables."""

TASKS = ("regression", "classification")
MOST_LABELLED, MOST_UNLABELLED, N_TEST = 640, 20000, 2000


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One draw of a set, with fresh points to be judged on.

    Attributes
    ----------
    points, test_points : ndarray of shape (p, d) and (t, d)
        In random order; the first rows are labelled.
    regions, test_regions : ndarray of shape (p,) and (t,)
        The true manifolds.
    values, test_values : ndarray of shape (p,) and (t,)
        Targets of regression.
    classes, test_classes : ndarray of shape (p,) and (t,)
        Targets of classification, 0 and 1.
    n_reserved : int
        Rows kept for labels; unlabelled points come after them.
    """

    points: FloatMatrix
    regions: IndexVector
    values: NDArray[Any]
    classes: IndexVector
    test_points: FloatMatrix
    test_regions: IndexVector
    test_values: NDArray[Any]
    test_classes: IndexVector
    n_reserved: int

    def rows(self, n_labelled: int, n_unlabelled: int) -> IndexVector:
        """Return the rows of a trial: its labelled ones, then its unlabelled ones."""
        first = self.n_reserved
        return np.concatenate([np.arange(n_labelled), np.arange(first, first + n_unlabelled)])


def classes_of(dataset: Dataset) -> IndexVector:
    """Return classes that change within each manifold and differ between them.

    - `dataset`: with the manifold and the position s of every point.
    - Returned: 1 on the first manifold where s > 1/2, and on the second where it is not.
    """
    high = dataset.extras["position"] > 0.5
    classes: IndexVector = (high ^ (dataset.extras["manifold"] == 1)).astype(np.intp)
    return classes


def draw_problem(
    make: Callable[..., Dataset],
    draw: int,
    *,
    n_reserved: int = MOST_LABELLED,
    n_unlabelled: int = MOST_UNLABELLED,
    n_test: int = N_TEST,
) -> Problem:
    """Draw a set, in random order, and fresh points of it.

    - `draw`: which draw; points come from ``default_rng([draw, 0])``, fresh ones from
      ``default_rng([draw, 1])`` and their order from ``default_rng([draw, 2])``.
    - `n_reserved`, `n_unlabelled`, `n_test`: how many points to keep for labels, without labels,
      and to judge on.
    """
    taught = make(n_reserved + n_unlabelled, random_state=np.random.default_rng([draw, 0]))
    fresh = make(n_test, random_state=np.random.default_rng([draw, 1]))
    order = np.random.default_rng([draw, 2]).permutation(n_reserved + n_unlabelled)
    return Problem(
        points=np.asarray(taught.points)[order],
        regions=taught.extras["manifold"][order],
        values=np.asarray(taught.targets)[order],
        classes=classes_of(taught)[order],
        test_points=np.asarray(fresh.points),
        test_regions=fresh.extras["manifold"],
        test_values=np.asarray(fresh.targets),
        test_classes=classes_of(fresh),
        n_reserved=n_reserved,
    )


@lru_cache(maxsize=2)
def problem_of(name: str, draw: int) -> Problem:
    """Return a draw of one of `SETS`; the last two are kept."""
    return draw_problem(SETS[name], draw)


def _base_learner(task: str) -> Any:
    """Return what learns inside a region: the default of the multi-manifold learners."""
    if task == "regression":
        return LaplacianRLSRegressor(gamma_i=0.0)
    return LaplacianRLSClassifier(gamma_i=0.0, unlabeled=-1)


def _known_regions(
    problem: Problem, task: str, n_labelled: int, regions: IndexVector, at_test: IndexVector
) -> NDArray[Any]:
    """Predict fresh points by a learner in each of given regions, from the labelled points alone.

    `regions` says where each point lies, `at_test` where each fresh one does.
    """
    n, labelled_regions = n_labelled, regions[:n_labelled]
    is_value = task == "regression"
    targets = problem.values[:n, None] if is_value else np.eye(2)[problem.classes[:n]]
    labeled = Labeled.of(np.arange(n), targets, np.ones(n))
    n_regions = int(max(regions.max(), at_test.max())) + 1
    model = fit_regional(
        _base_learner(task), problem.points[:n], labeled, labelled_regions, n_regions
    )
    scores = model.scores(problem.test_points, at_test)
    return scores[:, 0] if is_value else scores.argmax(axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A row of the tables.

    Attributes
    ----------
    predict : callable
        Takes problem, task, numbers of labelled and unlabelled points and the draw; returns
        predictions at the fresh points and the number of regions, None where it has none.
    """

    predict: Callable[[Problem, str, int, int, int], tuple[NDArray[Any], int | None]]


def _global(problem: Problem, task: str, n: int, m: int, draw: int) -> tuple[NDArray[Any], int]:
    del m, draw
    one = np.zeros_like(problem.regions), np.zeros_like(problem.test_regions)
    return _known_regions(problem, task, n, *one), 1


def _clairvoyant(
    problem: Problem, task: str, n: int, m: int, draw: int
) -> tuple[NDArray[Any], int]:
    del m, draw
    predicted = _known_regions(problem, task, n, problem.regions, problem.test_regions)
    return predicted, len(np.unique(problem.regions))


def teach(make: Callable[..., Any], problem: Problem, task: str, n: int, m: int) -> Any:
    """Fit an estimator on n labelled and m unlabelled points."""
    rows, is_value = problem.rows(n, m), task == "regression"
    targets = problem.values if is_value else problem.classes
    y = keep_labels(targets[rows], np.arange(n), blank=np.nan if is_value else -1)
    return make().fit(problem.points[rows], y)


def _separating(slides: bool) -> Callable[..., tuple[NDArray[Any], int]]:
    def predict(problem: Problem, task: str, n: int, m: int, draw: int) -> tuple[NDArray[Any], int]:
        kind = MultiManifoldRegressor if task == "regression" else MultiManifoldClassifier
        options: dict[str, Any] = {"random_state": draw}
        if slides:
            options |= {"n_neighbors": round(np.log(n + m)), "n_regions": "slides"}
            options |= {"carve": "voronoi"}
        model = teach(partial(kind, **options), problem, task, n, m)
        return model.predict(problem.test_points), model.n_regions_

    return predict


def _on_graph(regressor: Any, classifier: Any) -> Callable[..., tuple[NDArray[Any], None]]:
    def predict(
        problem: Problem, task: str, n: int, m: int, draw: int
    ) -> tuple[NDArray[Any], None]:
        del draw
        kind = regressor if task == "regression" else classifier
        return teach(kind, problem, task, n, m).predict(problem.test_points), None

    return predict


OURS, SLIDES = "ours", "slides' settings"
GLOBAL, CLAIRVOYANT = "Global", "Clairvoyant"
GRAPH, LAPLACIAN = "GraphRegularized", "LaplacianRLS"

METHODS: dict[str, Method] = {
    GLOBAL: Method(_global),
    CLAIRVOYANT: Method(_clairvoyant),
    OURS: Method(_separating(slides=False)),
    SLIDES: Method(_separating(slides=True)),
    GRAPH: Method(_on_graph(GraphRegularizedRegressor, GraphRegularizedClassifier)),
    LAPLACIAN: Method(
        _on_graph(LaplacianRLSRegressor, partial(LaplacianRLSClassifier, unlabeled=-1))
    ),
}
"""The rows of the tables by name."""


def trial(problem: Problem, task: str, method: str, n: int, m: int, draw: int) -> Result:
    """Run one method once; warnings of few points in a region are not shown.

    ``error``: root mean squared error, or percent of wrong classes; ``regions`` or None;
    ``seconds``.
    """
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeltramiWarning)
        predicted, regions = METHODS[method].predict(problem, task, n, m, draw)
    if task == "regression":
        error = float(np.sqrt(np.mean((predicted - problem.test_values) ** 2)))
    else:
        error = 100 * float(np.mean(predicted != problem.test_classes))
    return {
        "error": round(error, 5),
        "regions": regions,
        "seconds": round(time.perf_counter() - started, 2),
    }
