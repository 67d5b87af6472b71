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

from beltrami import (
    EigenfunctionClassifier,
    Graph,
    GraphRegularizedClassifier,
    KnnGraph,
    LaplacianRLSClassifier,
    LaplacianSVC,
)
from beltrami.kernel_machines.kernels import typical_width
from beltrami_papers.baselines.neighbors import majority
from beltrami_papers.baselines.support_vectors import choose_machine
from benchmarks.manifold.samples import Sample

NEIGHBORS = (10, 50)
"""Graphs that the Laplacian machines choose from."""

COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""C and widths, of the typical one, that the support vector machine chooses from."""

VOTERS = (1, 3, 5, 7, 9)


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
        machines = [self._fit_machine(kind, k, rows) for k in NEIGHBORS]
        losses = [machine.held_out_loss_ for machine in machines]
        best = int(np.nanargmin(losses)) if np.isfinite(losses).any() else 0
        learner = machines[best]
        chosen = {
            "n_neighbors": NEIGHBORS[best],
            "power": learner.power_,
            "width": learner.width_,
            "lambda1": learner.lambda1_,
            "ratio": learner.gamma_i_ / learner.gamma_a_,
            "losses": [None if np.isnan(loss) else float(loss) for loss in losses],
            "errors": [self.sample.error(rows, one.transduction_) for one in machines],
        }
        return Reply(learner.transduction_, chosen)

    def on_graph(self, kind: type, rows: np.ndarray) -> Reply:
        """Fit a learner with its defaults on the default graph."""
        make = lambda: kind(graph=self._graph(NEIGHBORS[0]))  # noqa: E731 - the default graph
        learner = self._fit_on((kind,), rows, make)
        return Reply(learner.transduction_)

    def support_vectors(self, rows: np.ndarray) -> Reply:
        """Fit scikit-learn's SVC with cost and width of lowest cross-validated error."""
        kernels = {width: kernel[:, rows] for width, kernel in self._loops.items()}
        machine = choose_machine(kernels, rows, self.sample.targets[rows], COSTS)
        return Reply(machine.predicted, {"width": machine.width, "C": machine.cost})

    def nearest(self, rows: np.ndarray) -> Reply:
        """Vote among the nearest labelled rows, as many as leave-one-out prefers."""
        targets = self.sample.targets[rows]
        among = self._distances[np.ix_(rows, rows)].copy()
        np.fill_diagonal(among, np.inf)
        counts = [k for k in VOTERS if k < len(rows)]
        errors = [np.mean(_vote(among, targets, k) != targets) for k in counts]
        k = counts[int(np.argmin(errors))]
        return Reply(_vote(self._distances[:, rows], targets, k), {"k": k})

    def _fit_machine(self, kind: type, k: int, rows: np.ndarray) -> Any:
        kernel = "cosine" if self.sample.is_text else "rbf"

        def make() -> Any:
            twin = next((one for key, one in self._fitted.items() if key[1:] == (k,)), None)
            return share_kernels(kind, twin)(kernel=kernel, graph=self._graph(k), random_state=0)

        return self._fit_on((kind, k), rows, make)

    def _fit_on(self, key: Any, rows: np.ndarray, make: Callable[[], Any]) -> Any:
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
    def _loops(self) -> dict[float | None, np.ndarray]:
        """The kernel of each width; of texts the linear one alone, under no width."""
        points = self.sample.points
        if self.sample.is_text:
            inner = points @ points.T
            return {None: inner.toarray() if issparse(inner) else inner}
        typical = typical_width(points)
        squares = self._distances**2
        return {width: np.exp(-squares / (2 * (width * typical) ** 2)) for width in WIDTHS}


def share_kernels(kind: type, twin: Any) -> type:
    """Return a machine that takes the deformed kernels from one fitted before.

    Both losses rest on the same ones, and these are most of the work. The answers are the same.
    """
    if twin is None:
        return kind

    def prepare(self: Any, labeled: Any) -> None:
        kind._prepare(self, labeled)
        self._deformations = twin._deformations

    return type(kind.__name__, (kind,), {"_prepare": prepare})


def _vote(distances: np.ndarray, classes: np.ndarray, k: int) -> np.ndarray:
    """Return the class of most votes among the k nearest; of equal ones that of the nearest."""
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return majority(classes[nearest])
