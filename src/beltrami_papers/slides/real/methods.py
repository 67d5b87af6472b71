"""The ways to learn a real problem, and the error of each on the rows without a label.

A problem, the labelled rows, a base estimator and a method enter; an error leaves.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.svm import SVC, SVR

from beltrami.core.types import FloatVector, IndexVector
from beltrami.learners import (
    GraphRegularizedClassifier,
    GraphRegularizedRegressor,
    LaplacianRLSClassifier,
    LaplacianRLSRegressor,
    MultiManifoldClassifier,
    MultiManifoldRegressor,
)
from beltrami.learners.model import Labeled
from beltrami.learners.multi_manifold.region_models import fit_regional, held_out_losses
from beltrami.separation.cut import most_regions
from beltrami_papers.journal import Result
from beltrami_papers.preparation import keep_labels
from beltrami_papers.slides.real.problems import (
    ANGLES,
    CLASSES,
    RealProblem,
)

GLOBAL, OURS, KMEANS, CHOSEN = "Global", "ours", "k-means", "k-means, own number"
CLAIRVOYANT, GRAPH = "Clairvoyant", "graph learner"

KERNEL, LINEAR, MACHINE = "kernel ridge (default)", "linear", "support vectors"
BASES = (KERNEL, LINEAR, MACHINE)

_LADDER = (2, 3, 5, 8, 12, 20)


def _base_of(name: str, *, classes: bool) -> Any:
    """Return an estimator that knows nothing of unlabelled rows."""
    if name == KERNEL:
        if classes:
            return LaplacianRLSClassifier(gamma_i=0.0, unlabeled=-1)
        return LaplacianRLSRegressor(gamma_i=0.0)
    if name == LINEAR:
        return LogisticRegression() if classes else RidgeCV()
    return SVC() if classes else SVR()


def _targets(problem: RealProblem) -> list[NDArray[Any]]:
    """Return what is fitted, one after the other: an angle is its cosine and its sine."""
    if problem.kind == ANGLES:
        return [np.cos(problem.targets), np.sin(problem.targets)]
    return [problem.targets]


def _labels_of(problem: RealProblem, targets: NDArray[Any], rows: IndexVector) -> Labeled:
    known = targets[rows]
    if problem.kind == CLASSES:
        table = np.eye(int(targets.max()) + 1)[known]
    else:
        table = known[:, None].astype(np.float64)
    return Labeled.of(rows, table, np.ones(len(rows)))


def _targets_with_gaps(
    problem: RealProblem, targets: NDArray[Any], rows: IndexVector
) -> NDArray[Any]:
    return keep_labels(targets, rows, blank=-1 if problem.kind == CLASSES else np.nan)


Predicted = tuple[NDArray[Any], int | None]
"""Predictions of every row and the number of regions."""


def _predict_in_regions(
    problem: RealProblem, targets: NDArray[Any], rows: IndexVector, base: str, regions: IndexVector
) -> Predicted:
    """Fit the base estimator in given regions."""
    classes = problem.kind == CLASSES
    labeled, count = _labels_of(problem, targets, rows), int(regions.max()) + 1
    model = fit_regional(_base_of(base, classes=classes), problem.points, labeled, regions, count)
    scores = model.scores(problem.points, regions)
    return (scores.argmax(axis=1) if classes else scores[:, 0]), count


def fit_separation(
    problem: RealProblem, targets: NDArray[Any], rows: IndexVector, base: str, seed: int
) -> Any:
    """Return the multi-manifold learner as it comes, fitted."""
    classes = problem.kind == CLASSES
    kind = MultiManifoldClassifier if classes else MultiManifoldRegressor
    estimator = None if base == KERNEL else _base_of(base, classes=classes)
    return kind(estimator, random_state=seed).fit(
        problem.points, _targets_with_gaps(problem, targets, rows)
    )


def clusters(problem: RealProblem, count: int, seed: int) -> IndexVector:
    """Return the clusters of k-means, which knows no shapes."""
    fitted = KMeans(count, n_init=10, random_state=seed).fit(problem.points)
    return np.asarray(fitted.labels_, dtype=np.intp)


def _predict_in_chosen_clusters(
    problem: RealProblem, targets: NDArray[Any], rows: IndexVector, base: str, seed: int
) -> Predicted:
    """Let held-out labels choose the number of clusters, as ours choose the number of regions."""
    labeled = _labels_of(problem, targets, rows)
    estimator = _base_of(base, classes=problem.kind == CLASSES)
    chosen = np.zeros(len(targets), dtype=np.intp)
    whole = held_out_losses(estimator, problem.points, labeled, chosen, 1)
    best = float(whole.mean())
    for count in (c for c in _LADDER if c <= most_regions(len(rows))):
        regions = clusters(problem, count, seed)
        try:
            losses = held_out_losses(estimator, problem.points, labeled, regions, count)
        except ValueError:
            continue
        gains = whole - losses
        if losses.mean() < best and gains.mean() > gains.std() / np.sqrt(len(gains)):
            best, chosen = float(losses.mean()), regions
    return _predict_in_regions(problem, targets, rows, base, chosen)


def _predict_on_graph(problem: RealProblem, targets: NDArray[Any], rows: IndexVector) -> Predicted:
    kind = GraphRegularizedClassifier if problem.kind == CLASSES else GraphRegularizedRegressor
    return kind().fit(
        problem.points, _targets_with_gaps(problem, targets, rows)
    ).transduction_, None


def predictions(
    problem: RealProblem, rows: IndexVector, base: str, seed: int, *, own_number: bool = False
) -> dict[str, list[Predicted]]:
    """Return what every method predicts for every row, a part per fitted target.

    - `base`: one of `BASES`; the graph learner is run with `KERNEL` only, as it has no base.
    - `own_number`: whether to run k-means with a number of clusters of its own too.
    """
    by_method: dict[str, list[Predicted]] = {}
    for targets in _targets(problem):
        one = np.zeros(len(targets), dtype=np.intp)
        ours = fit_separation(problem, targets, rows, base, seed)
        parts = {
            GLOBAL: _predict_in_regions(problem, targets, rows, base, one),
            OURS: (ours.transduction_, int(ours.n_regions_)),
            KMEANS: _predict_in_clusters(problem, targets, rows, base, int(ours.n_regions_), seed),
        }
        if own_number:
            parts[CHOSEN] = _predict_in_chosen_clusters(problem, targets, rows, base, seed)
        if problem.pieces is not None:
            parts[CLAIRVOYANT] = _predict_in_regions(problem, targets, rows, base, problem.pieces)
        if base == KERNEL:
            parts[GRAPH] = _predict_on_graph(problem, targets, rows)
        for name, part in parts.items():
            by_method.setdefault(name, []).append(part)
    return by_method


def _predict_in_clusters(
    problem: RealProblem, targets: NDArray[Any], rows: IndexVector, base: str, count: int, seed: int
) -> Predicted:
    try:
        return _predict_in_regions(problem, targets, rows, base, clusters(problem, count, seed))
    except ValueError:  # a machine that cannot be fitted in a cluster
        return _predict_in_regions(
            problem, targets, rows, base, np.zeros(len(targets), dtype=np.intp)
        )


def error_of(problem: RealProblem, rows: IndexVector, parts: list[FloatVector]) -> float:
    """Return the error on the rows without a label.

    Percent of wrong classes; root mean squared error in percent of the deviation; or mean angle in
    degrees.
    """
    judged = np.ones(len(problem.targets), dtype=np.bool_)
    judged[rows] = False
    truth = problem.targets[judged]
    if problem.kind == ANGLES:
        off = np.arctan2(parts[1][judged], parts[0][judged]) - truth
        return float(np.degrees(np.mean(np.abs(np.angle(np.exp(1j * off))))))
    if problem.kind == CLASSES:
        return 100 * float(np.mean(parts[0][judged] != truth))
    return 100 * float(np.sqrt(np.mean((parts[0][judged] - truth) ** 2)))


def trial(
    make: Callable[[int], RealProblem], n_labelled: int, base: str, draw: int, *, own_number: bool
) -> Result:
    """Run all methods on one draw, in the same regions of chance.

    - `own_number`: whether to run k-means with a number of clusters of its own too.
    """
    started = time.perf_counter()
    problem = make(draw)
    rows = problem.draw_labels(n_labelled, draw)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_method = predictions(problem, rows, base, draw, own_number=own_number)
    return {
        "errors": {
            name: round(error_of(problem, rows, [part[0] for part in parts]), 4)
            for name, parts in by_method.items()
        },
        "regions": {
            name: float(np.mean([part[1] for part in parts]))
            for name, parts in by_method.items()
            if parts[0][1] is not None
        },
        "seconds": round(time.perf_counter() - started, 2),
    }
