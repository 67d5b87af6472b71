"""Errors on scikit-learn's digits, each mean within one standard deviation of its anchor.

The anchors are those of our reading of the papers: an independent throwaway implementation, not a
published table. Labels are drawn anew here, so a mean may differ by what draws differ.
"""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from beltrami.core.machine.threads import thread_limit
from beltrami.graph.recipes import KnnGraph
from beltrami.learners import (
    EigenfunctionClassifier,
    GraphRegularizedClassifier,
    PoissonClassifier,
)

BINARY = KnnGraph(8, weights="binary")
SELF_TUNED = KnnGraph(10)


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


@pytest.fixture(scope="module")
def learners(digits):
    """Every learner fitted once: other labels of the same points need no other graph."""
    points, truth = digits
    graphs = {id(recipe): recipe.build(points) for recipe in (BINARY, SELF_TUNED)}
    found = {}
    for group in (RANDOM, PER_CLASS):
        for name, (learner, _) in group.items():
            own = clone(learner).set_params(graph=graphs[id(learner.graph)])
            found[id(group), name] = own.fit(points, np.where(np.arange(1797) < 100, truth, -1))
    return found


def random_rows(truth, count, seed):
    """Labels drawn at random, so that a class may have none."""
    return np.random.default_rng([seed, count]).permutation(len(truth))[:count]


def rows_per_class(truth, count, seed):
    rng = np.random.default_rng([seed, count])
    return np.concatenate(
        [rng.choice(np.flatnonzero(truth == label), count, replace=False) for label in range(10)]
    )


def errors_of(learner, truth, draws):
    """Percent of the unlabelled rows that are wrong, for each draw of labelled rows."""
    found = []
    with thread_limit(1):  # small factorisations: threads would only wait for each other
        for rows in draws:
            y = np.full(len(truth), -1)
            y[rows] = truth[rows]
            learner.fit_labels(y)
            found.append(100 * (learner.transduction_ != truth)[y < 0].mean())
    return np.array(found)


def hold(name, count, errors, anchor, published):
    """Compare a mean with its anchor, in standard deviations over the draws."""
    spread = max(float(errors.std(ddof=1)), published or 0.0)
    line = f"{name}, {count}: {errors.mean():.1f}+-{errors.std(ddof=1):.1f}, anchor {anchor}"
    assert abs(errors.mean() - anchor) <= spread, line


RANDOM = {
    "eigenfunctions, p = 10": (
        EigenfunctionClassifier(graph=BINARY, n_eigenvectors=10, random_state=0),
        {20: (24.4, None), 50: (13.2, None), 100: (13.5, None), 500: (9.3, None)},
    ),
    "eigenfunctions, p = 20": (
        EigenfunctionClassifier(graph=BINARY, n_eigenvectors=20, random_state=0),
        {50: (8.1, 3.2), 100: (3.8, 1.2), 500: (2.2, None)},
    ),
    "eigenfunctions, p by leave-one-out": (
        EigenfunctionClassifier(graph=BINARY, random_state=0),
        {50: (6.8, 3.0), 100: (4.1, None), 500: (1.6, None)},
    ),
    "spectral ridge": (
        EigenfunctionClassifier(graph=BINARY, gamma="auto", random_state=0),
        {20: (19.1, None), 50: (6.5, 3.4), 100: (3.9, None), 500: (1.5, None)},
    ),
    "harmonic": (
        GraphRegularizedClassifier(graph=BINARY, class_mass=None),
        {20: (21.9, None), 50: (7.4, 3.6), 100: (3.8, None), 500: (1.5, None)},
    ),
}

PER_CLASS = {
    "harmonic": (
        GraphRegularizedClassifier(graph=SELF_TUNED, class_mass=None),
        {1: 14.6, 2: 8.6, 3: 6.2, 5: 4.1},
    ),
    "harmonic, equal classes": (
        GraphRegularizedClassifier(graph=SELF_TUNED, class_mass="equal"),
        {1: 8.6, 2: 6.3, 3: 4.7, 5: 3.6},
    ),
    "Poisson": (
        PoissonClassifier(graph=SELF_TUNED, n_steps=0),
        {1: 9.6, 2: 7.3, 3: 7.1, 5: 6.0},
    ),
}


@pytest.mark.parametrize(
    ("name", "count"), [(name, count) for name, (_, held) in RANDOM.items() for count in held]
)
def test_random_labels_give_the_anchor_errors(name: str, count: int, digits, learners) -> None:
    truth, anchors = digits[1], RANDOM[name][1]
    draws = [random_rows(truth, count, seed) for seed in range(10)]
    errors = errors_of(learners[id(RANDOM), name], truth, draws)
    hold(name, count, errors, *anchors[count])


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("name", list(PER_CLASS))
def test_labels_of_every_class_give_the_anchor_errors(
    name: str, count: int, digits, learners
) -> None:
    truth, anchors = digits[1], PER_CLASS[name][1]
    draws = [rows_per_class(truth, count, seed) for seed in range(20)]
    errors = errors_of(learners[id(PER_CLASS), name], truth, draws)
    hold(name, count, errors, anchors[count], None)


@pytest.mark.parametrize(("count", "anchor"), [(1, 34.8), (2, 25.1), (3, 20.1), (5, 14.0)])
def test_the_draws_are_like_those_of_the_anchors(count: int, anchor: float, digits) -> None:
    """One-nearest-neighbour on the labels alone, as a control of the draws themselves."""
    points, truth = digits
    found = []
    for seed in range(20):
        rows = rows_per_class(truth, count, seed)
        rest = np.setdiff1d(np.arange(len(truth)), rows)
        nearest = KNeighborsClassifier(1).fit(points[rows], truth[rows])
        found.append(100 * (nearest.predict(points[rest]) != truth[rest]).mean())
    hold("1-NN", count, np.array(found), anchor, None)
