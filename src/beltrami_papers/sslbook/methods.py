"""The rows of ours in the SSL book's benchmark: who is taught, and on how many splits.

A problem, a number of labels and a split enter; a class for every row leaves. Nothing here looks
at the class of an unlabelled row.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from beltrami.core.types import FloatMatrix, IndexVector
from beltrami.embeddings import LaplacianEigenmaps
from beltrami.embeddings.mbed.modes import PaperMode, PracticalMode
from beltrami.front_door import ManifoldClassifier
from beltrami.kernel_machines.kernels import typical_width
from beltrami.learners import (
    GraphRegularizedClassifier,
    LaplacianRLSClassifier,
    LaplacianSVC,
    Mbed,
    PoissonClassifier,
    TransductiveSVC,
)
from beltrami_papers.baselines.neighbors import nearest_label
from beltrami_papers.baselines.support_vectors import choose_machine
from beltrami_papers.sslbook.problems import BookProblem

FRONT_DOOR = "ManifoldClassifier"
FEW_SPLITS = 4
"""Slow methods run on so many of the twelve splits, to keep the table within twelve minutes."""

N_COORDINATES = 10
"""Of the eigenmaps before 1-NN."""

COSTS = (1.0, 10.0, 100.0, 1000.0)
WIDTHS = (0.5, 1.0, 2.0)
"""C and widths, in units of the typical one, that the support vector machine chooses from."""

Teach = Callable[[BookProblem, int, int], IndexVector]
"""Takes a problem, a number of labels and a split; answers for every row."""


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A row of the table.

    Attributes
    ----------
    teach : callable
        Answers for every row of a problem from the labels of one split.
    settings : str
        What it is, in words.
    n_splits : int or None
        How many splits it runs on; None means all.
    published : str or None
        The book's row of the same method.
    """

    teach: Teach
    settings: str
    n_splits: int | None = None
    published: str | None = None


def nearest(problem: BookProblem, count: int, split: int) -> IndexVector:
    """Give each row the class of the nearest labelled one."""
    return _nearest_in(problem.points, problem, count, split)


def _nearest_in_eigenmaps(problem: BookProblem, count: int, split: int) -> IndexVector:
    """Give each row the class of the labelled one nearest in Laplacian eigenmaps."""
    if "eigenmaps" not in problem.fitted:
        maps = LaplacianEigenmaps(N_COORDINATES, graph=problem.graph, random_state=0)
        problem.fitted["eigenmaps"] = maps.fit_transform(problem.points)
    return _nearest_in(problem.fitted["eigenmaps"], problem, count, split)


def _nearest_in(points: Any, problem: BookProblem, count: int, split: int) -> IndexVector:
    return nearest_label(points, problem.draws[count].draws[split], problem.classes)


def _support_vectors(problem: BookProblem, count: int, split: int) -> IndexVector:
    """Teach scikit-learn's support vector machine, cost and width by cross-validation."""
    rows = problem.draws[count].draws[split]
    kernels = _loops(problem, rows)
    return choose_machine(kernels, rows, problem.classes[rows], COSTS).predicted


def _loops(problem: BookProblem, rows: IndexVector) -> dict[float | None, FloatMatrix]:
    """Return kernels between all rows and the labelled ones by width; of texts the linear one."""
    points: Any = problem.points
    if problem.is_text:
        return {None: (points @ points[rows].T).toarray()}
    if "width" not in problem.fitted:
        problem.fitted["width"] = typical_width(points)
    typical = problem.fitted["width"]
    exact = points.astype(np.float64)
    squares = euclidean_distances(exact, exact[rows], squared=True)
    return {width: np.exp(-squares / (2 * (width * typical) ** 2)) for width in WIDTHS}


def _afresh(make: Callable[[BookProblem, int], Any]) -> Teach:
    """Return a way to teach a new learner at every split."""

    def teach(problem: BookProblem, count: int, split: int) -> IndexVector:
        model = make(problem, split)
        labels = problem.draws[count].labels(split)
        return np.asarray(model.fit(problem.points, labels).transduction_)

    return teach


def _going_on(kind: type) -> Teach:
    """Return a way to teach a Laplacian machine that keeps what rests on the points alone."""

    def teach(problem: BookProblem, count: int, split: int) -> IndexVector:
        labels = problem.draws[count].labels(split)
        model = problem.fitted.get(kind.__name__)
        if model is None:
            model = kind(kernel=problem.kernel, graph=problem.graph, random_state=0)
            problem.fitted[kind.__name__] = model.fit(problem.points, labels)
        else:
            model.fit_labels(labels)
        return np.asarray(model.transduction_)

    return teach


def methods_of(*, quick: bool = False) -> dict[str, Method]:
    """Return our rows of the table by name."""
    steps: dict[str, Any] = {"n_steps": 60} if quick else {}

    def criterion(gamma: Any) -> Callable[[BookProblem, int], Any]:
        return lambda problem, _: GraphRegularizedClassifier(
            graph=problem.graph, gamma=gamma, class_mass="labels"
        )

    def embed(mode: Any) -> Callable[[BookProblem, int], Any]:
        return lambda _, split: Mbed(mode=mode, random_state=split)

    return {
        "1-NN": Method(nearest, "scikit-learn, Euclidean", published="1-NN"),
        "SVM": Method(
            _support_vectors,
            f"scikit-learn's SVC; C of {_in_words(COSTS)} and a Gaussian width of "
            f"{_in_words(WIDTHS)} times the median distance over the root of two, by the error of "
            "leaving one label out (10 labels) or of 5 folds (100), of equal ones the nearest to C "
            "= 100 and once that width; texts have the linear kernel",
            published="SVM",
        ),
        "LEM + 1-NN": Method(
            _nearest_in_eigenmaps, f"LaplacianEigenmaps({N_COORDINATES}), then 1-NN in the map"
        ),
        "QC+CMN": Method(
            _afresh(criterion(0.0)),
            'GraphRegularizedClassifier(class_mass="labels"), which goes through the labels; the '
            "nearest of ours to the quadratic criterion with class mass normalisation, without its "
            "ridge on the function",
            published="QC+CMN",
        ),
        'QC+CMN, gamma="auto"': Method(
            _afresh(criterion("auto")),
            "the same near the labels, how near by leaving one out",
        ),
        "TSVM": Method(
            _afresh(lambda problem, _: TransductiveSVC(kernel=problem.kernel)),
            "TransductiveSVC as it comes: C = 1, shares of the classes from the labels",
            FEW_SPLITS,
            "TSVM",
        ),
        "LapRLS": Method(
            _going_on(LaplacianRLSClassifier),
            "LaplacianRLSClassifier as it comes",
            published="LapRLS",
        ),
        "LaplacianSVC": Method(_going_on(LaplacianSVC), "as it comes"),
        "PoissonClassifier": Method(
            _afresh(lambda _, __: PoissonClassifier()), "as it comes, with a graph of its own"
        ),
        "Mbed, practical mode": Method(
            _afresh(embed(PracticalMode(n_folds=0))), "without probabilities", FEW_SPLITS
        ),
        "Mbed, paper mode": Method(_afresh(embed(PaperMode(**steps))), "as it comes", FEW_SPLITS),
        FRONT_DOOR: Method(
            _afresh(lambda _, split: ManifoldClassifier(random_state=split)),
            "as it comes, on the data as loaded",
            FEW_SPLITS,
        ),
    }


def _in_words(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in values)
