"""The demonstration: digits, their graph, an eigenmap and clusters, with timings and a baseline."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from beltrami.data import Dataset, load_dataset
from beltrami.embeddings import LaplacianEigenmaps, SpectralClustering
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami.report.agreement import cluster_of_each_class
from beltrami.report.figures import scatter_groups


@dataclass(frozen=True, slots=True, eq=False)
class Demonstration:
    """What the demonstration found.

    Attributes
    ----------
    dataset : Dataset
        The digits.
    graph : Graph
        Their neighbourhood graph.
    eigenmap : LaplacianEigenmaps
        Fitted.
    clusters : SpectralClustering
        Fitted.
    agreement : float
        Adjusted Rand index of the clusters with the true digits.
    baseline : float
        The same for k-means on the raw pixels.
    seconds : dict of str to float
        Time of each step.
    """

    dataset: Dataset
    graph: Graph
    eigenmap: LaplacianEigenmaps
    clusters: SpectralClustering
    agreement: float
    baseline: float
    seconds: dict[str, float]

    def lines(self) -> list[str]:
        """Return the summary, a line per step."""
        cut, seconds = self.clusters.cut_, self.seconds
        n, d = self.dataset.points.shape  # type: ignore[union-attr]
        return [
            f"data        digits, {n} images of {d} pixels, no labels used",
            f"graph       {self.graph!r}  [{seconds['graph']:.2f} s]",
            f"eigenmap    {self.eigenmap.basis_!r}  [{seconds['eigenmap']:.2f} s]",
            f"clusters    10 by normalised cut, worst conductance {cut.conductances.max():.3f}, "
            f"best two-way cut between {cut.cheeger_lower:.4f} and {cut.cheeger_upper:.3f}  "
            f"[{seconds['clusters']:.2f} s]",
            f"agreement   {self.agreement:.3f} with the true digits (adjusted Rand index)",
            f"baseline    {self.baseline:.3f} for k-means on the pixels  "
            f"[{seconds['baseline']:.2f} s]",
        ]

    def figure(self) -> Figure:
        """Draw the eigenmap by true digit and by cluster, each cluster in its digit's colour."""
        digits = np.asarray(self.dataset.targets)
        order = cluster_of_each_class(digits, self.clusters.labels_, 10)
        matched = np.argsort(order)[self.clusters.labels_]
        picture = Figure(figsize=(11, 5.2), layout="constrained")
        left, right = picture.subplots(1, 2)
        coordinates = self.eigenmap.embedding_[:, 2:4]
        scatter_groups(left, coordinates, digits)
        left.set_title("Eigenmap of 1797 digits, coordinates 3 and 4\ncolour: the true digit")
        scatter_groups(right, coordinates, matched)
        right.set_title(
            "The same map, colour: cluster found without labels\n"
            f"adjusted Rand index {self.agreement:.2f} (k-means on pixels {self.baseline:.2f})"
        )
        return picture


def demonstrate(random_state: int = 0) -> Demonstration:
    """Run the demonstration.

    Parameters
    ----------
    random_state : int, default=0
        Seeds the clusters.

    Returns
    -------
    Demonstration
        Everything it found.
    """
    dataset, seconds = load_dataset("digits"), dict[str, float]()
    with _clock(seconds, "graph"):
        graph = KnnGraph(n_neighbors=10).build(dataset.points)
    with _clock(seconds, "eigenmap"):
        eigenmap = LaplacianEigenmaps(n_components=4, graph=graph).fit(dataset.points)
    with _clock(seconds, "clusters"):
        clusters = SpectralClustering(10, graph=graph, random_state=random_state)
        clusters.fit(dataset.points)
    with _clock(seconds, "baseline"):
        plain = KMeans(10, n_init=10, random_state=random_state).fit_predict(dataset.points)
    return Demonstration(
        dataset=dataset,
        graph=graph,
        eigenmap=eigenmap,
        clusters=clusters,
        agreement=float(adjusted_rand_score(dataset.targets, clusters.labels_)),
        baseline=float(adjusted_rand_score(dataset.targets, plain)),
        seconds=seconds,
    )


@contextmanager
def _clock(seconds: dict[str, float], step: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - started
