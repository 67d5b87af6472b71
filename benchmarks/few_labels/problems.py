"""The problems: points with their classes, and one graph for every method."""

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix
from sklearn.neighbors import kneighbors_graph

from beltrami import Graph, KnnGraph, load_dataset, principal_components
from beltrami.core.errors import BeltramiWarning
from beltrami.graph.model import Neighbors
from benchmarks.common.cache import from_cache
from benchmarks.common.facts import SEED
from benchmarks.common.threads import threads
from benchmarks.peers.problems import N_MNIST
from benchmarks.peers.problems import points as cached_points

NEIGHBORS = 10
LARGEST, SMALLEST = 5301, 708  # classes of the imbalanced problem
TOY_ROWS = 400


@dataclass(frozen=True, eq=False)
class FewLabels:
    """One problem, as every method gets it.

    `points` and `targets` are the data, `graph` is the 10-NN graph with self-tuning weights that
    all graph methods share. What a model of ours must remember between draws goes to `models`.
    """

    name: str
    points: np.ndarray
    targets: np.ndarray
    graph: Graph
    graph_s: float
    models: dict[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of points."""
        return len(self.targets)

    @cached_property
    def weights(self) -> csr_matrix:
        """The weights of the graph as the sparse matrix that the peers multiply with ``*``."""
        return csr_matrix(self.graph.weights)

    @cached_property
    def directed(self) -> csr_matrix:
        """The directed 0/1 matrix that scikit-learn makes for ``kernel="knn"``: itself first."""
        return csr_matrix(self._lists["directed"])

    @property
    def lists_s(self) -> float | None:
        """Seconds of the search behind `directed`; None where nobody asked for it."""
        made = self.__dict__.get("_lists")
        return float(made["seconds"]) if made else None

    @cached_property
    def _lists(self) -> dict[str, Any]:
        def make() -> dict[str, Any]:
            start = time.perf_counter()
            matrix = kneighbors_graph(self.points, NEIGHBORS, include_self=True, n_jobs=threads())
            return {"directed": csr_array(matrix), "seconds": time.perf_counter() - start}

        return from_cache(f"few-labels-directed-{self.name}-{NEIGHBORS}", self.size, make)


def problem(name: str) -> FewLabels:
    """Return the problem of that name: a key of `PROBLEMS`, or "toy"."""
    cloud = _SOURCES[name]()
    points, targets = cloud["points"], np.unique(cloud["targets"], return_inverse=True)[1]
    key = f"few-labels-graph-{name}-{NEIGHBORS}"
    return FewLabels(name, points, targets, *timed_graph(key, points, KnnGraph(NEIGHBORS)))


def timed_graph(key: str, points: Any, recipe: KnnGraph) -> tuple[Graph, float]:
    """Return the graph of points and the seconds that it took, from the cache where it is there."""

    def make() -> dict[str, Any]:
        start = time.perf_counter()
        with warnings.catch_warnings():  # bridges are welcome: every point must be reached
            warnings.simplefilter("ignore", BeltramiWarning)
            graph = recipe.build(points)
        return {
            "weights": graph.weights,
            "seconds": time.perf_counter() - start,
            "indices": graph.neighbors.indices,
            "distances": graph.neighbors.distances,
        }

    arrays = from_cache(key, points.shape[0], make)
    graph = Graph(arrays["weights"], Neighbors(arrays["indices"], arrays["distances"]))
    return graph, float(arrays["seconds"])


def _mnist() -> Mapping[str, np.ndarray]:
    return cached_points("mnist", N_MNIST).arrays  # on 100 principal components


def _digits(n: int | None = None) -> Mapping[str, np.ndarray]:
    digits = load_dataset("digits")
    return {"points": digits.points[:n].astype(np.float32), "targets": digits.targets[:n]}


def _plain(name: str) -> Mapping[str, np.ndarray]:
    data = load_dataset(name)
    return {"points": np.asarray(data.points, dtype=np.float32), "targets": data.targets}


def _imbalanced() -> Mapping[str, np.ndarray]:
    """MNIST with class sizes that fall geometrically, the classes in a random order."""

    def make() -> dict[str, np.ndarray]:
        digits = load_dataset("mnist")
        targets = np.asarray(digits.targets[:N_MNIST])
        rng = np.random.default_rng(SEED)
        order = rng.permutation(10)
        sizes = np.geomspace(LARGEST, SMALLEST, 10).round().astype(int)
        parts = [
            rng.choice(np.flatnonzero(targets == one), size, replace=False)
            for one, size in zip(order, sizes, strict=True)
        ]
        rows = np.sort(np.concatenate(parts))
        pixels = np.asarray(digits.points[rows], dtype=np.float32)
        return {"points": principal_components(pixels, 100), "targets": targets[rows]}

    return from_cache(f"few-labels-imbalanced-{LARGEST}-{SMALLEST}", N_MNIST, make)


PROBLEMS: Mapping[str, str] = {
    "mnist": "the first 60000 images of MNIST on their 100 principal components",
    "usps": "all 9298 images of USPS",
    "digits": "scikit-learn's 1797 digits",
    "imbalanced": "images of MNIST, classes subsampled to sizes that fall geometrically from "
    f"{LARGEST} to {SMALLEST}, on their 100 principal components",
    "isolet": "all 7797 spoken letters of ISOLET",
    "phoneme": "4509 log-periodograms of 5 phonemes; no choice was made by looking at this set",
    "coil20": "1440 views of 20 objects; no choice was made by looking at this set",
}
_SOURCES: Mapping[str, Callable[[], Mapping[str, np.ndarray]]] = {
    "mnist": _mnist,
    "usps": partial(_plain, "usps"),
    "digits": _digits,
    "imbalanced": _imbalanced,
    "isolet": partial(_plain, "isolet"),
    "phoneme": partial(_plain, "phoneme"),
    "coil20": partial(_plain, "coil20"),
    "toy": lambda: _digits(TOY_ROWS),
}
