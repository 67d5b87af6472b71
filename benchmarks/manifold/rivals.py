"""The learners of the accuracy table: each takes a sample and labelled rows, and answers for all.

What a learner chooses, it chooses by the labelled rows. No setting here was changed after a look
at an error on unlabelled rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import LeaveOneOut, StratifiedKFold
from sklearn.svm import SVC

from beltrami import (
    EigenfunctionClassifier,
    Graph,
    GraphRegularizedClassifier,
    KnnGraph,
    LaplacianRLSClassifier,
    LaplacianSVC,
)
from beltrami.kernel_machines.kernels import typical_width
from benchmarks.manifold.samples import Sample

NEIGHBORS = (10, 50)
"""Graphs that the Laplacian machines choose from."""

COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""C and widths, of the typical one, that the support vector machine chooses from."""

_USUAL_COST, _USUAL_WIDTH = 100.0, 1.0
VOTERS = (1, 3, 5, 7, 9)
MOST_LEFT_OUT, FOLDS = 50, 5
"""Labels up to which a support vector machine is judged by leave-one-out, and folds above."""


@dataclass(frozen=True)
class Reply:
    """A class for every row, and what was chosen on the way."""

    predicted: np.ndarray
    chosen: Mapping[str, Any] = field(default_factory=dict)


Rival = Callable[[np.ndarray], Reply]


def rivals(sample: Sample) -> dict[str, Rival]:
    """Return the learners for one sample, in the order of the table."""
    table = _Table(sample)
    return {
        "LapRLS": partial(table.machine, LaplacianRLSClassifier),
        "LapSVM": partial(table.machine, LaplacianSVC),
        "SVM": table.support_vectors,
        "k-NN": table.nearest,
        "Eigenfunctions": partial(table.on_graph, EigenfunctionClassifier),
        "GraphRegularized": partial(table.on_graph, GraphRegularizedClassifier),
    }


class _Table:
    """What the learners of one sample share: graphs, distances, and what they fitted before."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self._fitted: dict[Any, Any] = {}
        self._graphs: dict[int, Graph] = {}

    def machine(self, kind: type, rows: np.ndarray) -> Reply:
        """Fit a Laplacian machine on each graph and keep the one of lower leave-one-out loss."""
        found = [self._on(kind, k, rows) for k in NEIGHBORS]
        losses = [learner.held_out_loss_ for learner in found]
        best = int(np.nanargmin(losses)) if np.isfinite(losses).any() else 0
        learner = found[best]
        chosen = {
            "n_neighbors": NEIGHBORS[best],
            "power": learner.power_,
            "width": learner.width_,
            "lambda1": learner.lambda1_,
            "ratio": learner.gamma_i_ / learner.gamma_a_,
            "losses": [None if np.isnan(loss) else float(loss) for loss in losses],
            "errors": [self.sample.error(rows, one.transduction_) for one in found],
        }
        return Reply(learner.transduction_, chosen)

    def on_graph(self, kind: type, rows: np.ndarray) -> Reply:
        """Fit a learner with its defaults on the default graph."""
        make = lambda: kind(graph=self._graph(NEIGHBORS[0]))  # noqa: E731 - the default graph
        learner = self._fitted_on((kind,), rows, make)
        return Reply(learner.transduction_)

    def support_vectors(self, rows: np.ndarray) -> Reply:
        """Fit scikit-learn's SVC with cost and width of lowest cross-validated error."""
        targets = self.sample.targets[rows]
        grid = [(width, cost) for width in self._kernels for cost in COSTS]
        grid.sort(key=_unusual)  # of equal ones the most usual
        errors = [
            _judged(self._kernels[width][np.ix_(rows, rows)], targets, cost) for width, cost in grid
        ]
        width, cost = grid[int(np.argmin(errors))]
        kernel = self._kernels[width]
        model = SVC(C=cost, kernel="precomputed").fit(kernel[np.ix_(rows, rows)], targets)
        return Reply(model.predict(kernel[:, rows]), {"width": width, "C": cost})

    def nearest(self, rows: np.ndarray) -> Reply:
        """Vote among the nearest labelled rows, as many as leave-one-out prefers."""
        targets, classes = self.sample.targets[rows], int(self.sample.targets.max()) + 1
        votes = np.eye(classes)[targets]
        among = self._distances[np.ix_(rows, rows)].copy()
        np.fill_diagonal(among, np.inf)
        counts = [k for k in VOTERS if k < len(rows)]
        errors = [np.mean(_voted(among, votes, k) != targets) for k in counts]
        k = counts[int(np.argmin(errors))]
        return Reply(_voted(self._distances[:, rows], votes, k), {"k": k})

    def _on(self, kind: type, k: int, rows: np.ndarray) -> Any:
        kernel = "cosine" if self.sample.is_text else "rbf"

        def make() -> Any:
            twin = next((one for key, one in self._fitted.items() if key[1:] == (k,)), None)
            return _sharing(kind, twin)(kernel=kernel, graph=self._graph(k), random_state=0)

        return self._fitted_on((kind, k), rows, make)

    def _fitted_on(self, key: Any, rows: np.ndarray, make: Callable[[], Any]) -> Any:
        labels = self.sample.labels(rows)
        if key in self._fitted:
            return self._fitted[key].fit_labels(labels)
        learner = make().fit(self.sample.points, labels)
        self._fitted[key] = learner
        return learner

    def _graph(self, k: int) -> Graph:
        if k not in self._graphs:
            metric = "angle" if self.sample.is_text else "euclidean"
            self._graphs[k] = KnnGraph(k, metric=metric).build(self.sample.points)
        return self._graphs[k]

    @cached_property
    def _distances(self) -> np.ndarray:
        return euclidean_distances(self.sample.points.astype(np.float64))

    @cached_property
    def _kernels(self) -> dict[float | None, np.ndarray]:
        """The kernel of each width; of texts the linear one alone, under no width."""
        points = self.sample.points
        if self.sample.is_text:
            inner = points @ points.T
            return {None: inner.toarray() if issparse(inner) else inner}
        typical = typical_width(points)
        squares = self._distances**2
        return {width: np.exp(-squares / (2 * (width * typical) ** 2)) for width in WIDTHS}


def _sharing(kind: type, twin: Any) -> type:
    """Return a machine that takes the deformed kernels from one fitted before.

    Both losses rest on the same ones, and these are most of the work. The answers are the same.
    """
    if twin is None:
        return kind

    def prepare(self: Any, labeled: Any) -> None:
        kind._prepare(self, labeled)
        self._deformations = twin._deformations

    return type(kind.__name__, (kind,), {"_prepare": prepare})


def _unusual(setting: tuple[float | None, float]) -> tuple[float, float]:
    width, cost = setting
    steps = 0.0 if width is None else abs(np.log(width / _USUAL_WIDTH))
    return steps + abs(np.log(cost / _USUAL_COST)), cost


def _judged(kernel: np.ndarray, targets: np.ndarray, cost: float) -> float:
    """Return the cross-validated error of one setting on the labelled rows."""
    few = len(targets) <= MOST_LEFT_OUT
    folds: Any = LeaveOneOut() if few else StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    wrong = 0
    for kept, left in folds.split(targets, targets):
        if len(np.unique(targets[kept])) == 1:
            wrong += int((targets[left] != targets[kept[0]]).sum())
            continue
        model = SVC(C=cost, kernel="precomputed").fit(kernel[np.ix_(kept, kept)], targets[kept])
        wrong += int((model.predict(kernel[np.ix_(left, kept)]) != targets[left]).sum())
    return wrong / len(targets)


def _voted(distances: np.ndarray, votes: np.ndarray, k: int) -> np.ndarray:
    """Return the class of most votes among the k nearest; of equal ones that of the nearest."""
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :k]
    shares = 1 + 1e-6 / np.arange(1, k + 1)
    return np.einsum("ijc,j->ic", votes[nearest], shares).argmax(axis=1)
