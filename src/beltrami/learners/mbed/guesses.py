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
_WALK = 2
_SMALLEST = 1e-12


def spread_guess(
    learner: Any, points: Points, graph: Any, labeled: Labeled, n_classes: int
) -> FloatMatrix:
    """Spread what is known over a neighbourhood graph.

    Returns shape (n, K).

    - `learner`: learns from integer labels with gaps and tells ``label_distributions_``; None means
      `PoissonClassifier` on the graph.
    - `labeled`: class distributions of some rows; of soft ones the likeliest class counts, as much
      as it is sure.
    - Returned: probabilities of the classes, 0.95 sure of one class on average; uniform where no
      label reaches.
    """
    y, weights = np.full(points.shape[0], -1), np.zeros(points.shape[0])
    y[labeled.rows] = labeled.targets.argmax(axis=1)
    weights[labeled.rows] = labeled.weights * sureness(labeled.targets)
    asked = PoissonClassifier(graph=graph) if learner is None else clone(learner)
    with warnings.catch_warnings():
        # What the guess leaves open, the map and its own warnings say.
        warnings.simplefilter("ignore", BeltramiWarning)
        asked.set_params(classes=range(n_classes)).fit(points, y, sample_weight=weights)
    found: FloatMatrix = np.array(asked.label_distributions_, dtype=np.float64)
    if found.shape != (points.shape[0], n_classes) or not np.isfinite(found).all():
        raise InvalidInputError(
            f"the guess of {type(asked).__name__} has shape {found.shape} or holds NaN; "
            f"label_distributions_ must be finite and of shape {(points.shape[0], n_classes)}."
        )
    reached = getattr(asked, "reached_", np.ones(len(found), dtype=bool))
    found[~reached] = 1 / n_classes
    if reached.any():
        found[reached] = tempered(found[reached], _SURENESS)
    return found


def cut_guess(mutual: Any, labeled: Labeled, n_classes: int, seed: Seed) -> FloatMatrix:
    """Cut the neighbours' graph into K parts, and call each what most of its labels say.

    Parts without labels get the classes that are left.

    Shapes: `mutual` (n, n); returns (n, K).

    - Returned: probabilities of the classes: where a walk of two steps among the neighbours ends.
    """
    weights: CsrMatrix = csr_array(mutual)
    graph = Graph(weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeltramiWarning)
        cut = SpectralClustering(n_classes, graph=graph, random_state=seed)
        parts = cut.fit(np.zeros((graph.n_nodes, 1))).labels_
    votes = np.zeros((n_classes, n_classes))
    np.add.at(votes, parts[labeled.rows], labeled.targets * labeled.weights[:, None])
    _, named = linear_sum_assignment(-votes)
    found = np.eye(n_classes)[named[parts]]
    walk = diags_array(1 / np.maximum(graph.degrees, _SMALLEST)) @ weights
    for _ in range(_WALK):
        found = walk @ found
    return tempered(found, _SURENESS)


def tempered(distributions: FloatMatrix, confidence: float) -> FloatMatrix:
    """Raise distributions to the power that gives them a mean confidence.

    Shapes: `distributions` (m, K); returns (m, K).

    - `confidence`: what the largest entries of the rows should be on average.
    - Returned: in the same order within every row; as near to the confidence as a power can bring
      them.
    """
    logs = np.log(np.maximum(distributions, _SMALLEST))
    logs -= logs.max(axis=1, keepdims=True)
    low, high = -6.0, 6.0
    for _ in range(40):
        middle = (low + high) / 2
        powers = np.exp(logs * np.exp(middle))
        powers /= powers.sum(axis=1, keepdims=True)
        low, high = (low, middle) if powers.max(axis=1).mean() > confidence else (middle, high)
    found: FloatMatrix = powers
    return found


def guess_graph(metric: Any, mutual: Any) -> Any:
    """Return what the guess spreads over: ten neighbours, or the given near pairs themselves.

    Shapes: `mutual` (n, n).

    - `metric`: how to compare vectors; "precomputed" for dissimilarities, which need not be
      symmetric.
    """
    if metric == "precomputed":
        return Graph(csr_array(mutual))
    return KnnGraph(10, metric=metric, weights="tuned_shared")
