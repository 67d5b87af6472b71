"""A guess of every row's class, for methods that need somewhere to start."""

import warnings
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array, diags_array
from sklearn.base import clone

from beltrami.core.errors import BeltramiWarning, InvalidInputError
from beltrami.core.types import CsrMatrix, FloatMatrix, Points, Seed
from beltrami.embeddings.clustering import SpectralClustering
from beltrami.embeddings.mbed.simplex import sureness
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami.learners.model import Labeled
from beltrami.learners.poisson.classifier import PoissonClassifier

_SURENESS = 0.95
"""Mean probability of the likeliest class in a guess."""

_WALK = 2
"""Steps of the walk that softens a cut."""

_SMALLEST = 1e-12


def spread_guess(
    learner: Any, points: Points, graph: Any, labeled: Labeled, n_classes: int
) -> FloatMatrix:
    """Return class probabilities, (n, K), as a learner spreads the labels over all rows.

    The learner takes integer labels with gaps and has ``label_distributions_``; None means
    `PoissonClassifier` on the graph. Of soft labels the likeliest class counts, as much as it is
    sure. Probabilities are sharpened to 0.95 for the likeliest class on average; they are uniform
    where no label reaches.
    """
    y, weights = np.full(points.shape[0], -1), np.zeros(points.shape[0])
    y[labeled.rows] = labeled.targets.argmax(axis=1)
    weights[labeled.rows] = labeled.weights * sureness(labeled.targets)
    guesser = PoissonClassifier(graph=graph) if learner is None else clone(learner)
    with warnings.catch_warnings():
        # What the guess leaves open, the map and its own warnings say.
        warnings.simplefilter("ignore", BeltramiWarning)
        guesser.set_params(classes=range(n_classes)).fit(points, y, sample_weight=weights)
    guess: FloatMatrix = np.array(guesser.label_distributions_, dtype=np.float64)
    if guess.shape != (points.shape[0], n_classes) or not np.isfinite(guess).all():
        raise InvalidInputError(
            f"the guess of {type(guesser).__name__} has shape {guess.shape} or holds NaN; "
            f"label_distributions_ must be finite and of shape {(points.shape[0], n_classes)}."
        )
    reached = getattr(guesser, "reached_", np.ones(len(guess), dtype=bool))
    guess[~reached] = 1 / n_classes
    if reached.any():
        guess[reached] = _temper(guess[reached], _SURENESS)
    return guess


def cut_guess(mutual: Any, labeled: Labeled, n_classes: int, seed: Seed) -> FloatMatrix:
    """Cut the neighbours' graph into K parts, and call each what most of its labels say.

    Parts without labels get the classes that are left. The probabilities, (n, K), are those of
    where a walk of two steps among the neighbours ends.
    """
    weights: CsrMatrix = csr_array(mutual)
    graph = Graph(weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeltramiWarning)
        cut = SpectralClustering(n_classes, graph=graph, random_state=seed)
        parts = cut.fit(np.zeros((graph.n_nodes, 1))).labels_
    votes = np.zeros((n_classes, n_classes))
    np.add.at(votes, parts[labeled.rows], labeled.targets * labeled.weights[:, None])
    _, class_of_part = linear_sum_assignment(-votes)
    guess = np.eye(n_classes)[class_of_part[parts]]
    walk = diags_array(1 / np.maximum(graph.degrees, _SMALLEST)) @ weights
    for _ in range(_WALK):
        guess = walk @ guess
    return _temper(guess, _SURENESS)


def _temper(distributions: FloatMatrix, confidence: float) -> FloatMatrix:
    """Raise distributions to the power that brings the mean of their largest entries to a value.

    As near to it as a power can; the order within every row stays.
    """
    logs = np.log(np.maximum(distributions, _SMALLEST))
    logs -= logs.max(axis=1, keepdims=True)
    low, high = -6.0, 6.0
    for _ in range(40):
        middle = (low + high) / 2
        powers = np.exp(logs * np.exp(middle))
        powers /= powers.sum(axis=1, keepdims=True)
        low, high = (low, middle) if powers.max(axis=1).mean() > confidence else (middle, high)
    return np.asarray(powers)


def guess_graph(metric: Any, mutual: Any) -> Any:
    """Return what the guess spreads over: ten neighbours, or for dissimilarities P + P' itself."""
    if metric == "precomputed":
        return Graph(csr_array(mutual))
    return KnnGraph(10, metric=metric, weights="tuned_shared")
