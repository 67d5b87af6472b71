"""Maps of points in two dimensions, and how well nearby points of a map belong together.

Points enter; an eigenmap with settled signs leaves, or the share of neighbours in a map that are
of the same group.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix, IndexVector
from beltrami.embeddings import LaplacianEigenmaps
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami.graph.search import open_space
from beltrami_papers.baselines.neighbors import neighbor_lists

_DIGITS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Eigenmap:
    """A map and the graph that it was made of.

    Attributes
    ----------
    coordinates : ndarray of shape (n, m)
        Each column with its largest entry positive.
    eigenvalues : ndarray of shape (m,)
        One per column.
    graph : Graph
        The graph.
    """

    coordinates: FloatMatrix
    eigenvalues: FloatVector
    graph: Graph


def eigenmap_of(points: Any, graph: KnnGraph, n_components: int = 2) -> Eigenmap:
    """Return the Laplacian eigenmap of points, the same on every run."""
    model = LaplacianEigenmaps(n_components, graph=graph).fit(points)
    # Points with the same neighbours are at one place, to rounding that differs between machines.
    unit = float(np.abs(model.embedding_).max())
    coordinates = unit * np.round(with_signs(model.embedding_) / unit, _DIGITS)
    return Eigenmap(coordinates, model.eigenvalues_, model.graph_)


def plain_eigenmap(points: Any, n_neighbors: int = 14, n_components: int = 2) -> Eigenmap:
    """Return the eigenmap of the thesis's examples: N neighbours and weights of one.

    The graph is joined by its shortest missing edges where it falls apart.
    """
    return eigenmap_of(points, KnnGraph(n_neighbors, weights="binary"), n_components)


def with_signs(columns: FloatMatrix) -> FloatMatrix:
    """Turn each column so that its entry of largest size is positive.

    - `columns`: eigenvectors, each of which is as good with the other sign.
    """
    largest = np.abs(columns).argmax(axis=0)
    flipped: FloatMatrix = columns * np.where(
        columns[largest, np.arange(columns.shape[1])] < 0, -1.0, 1.0
    )
    return flipped


def nearest_in_map(coordinates: FloatMatrix, k: int) -> IndexMatrix:
    """Return the `k` nearest other points of every point."""
    return neighbor_lists(open_space(coordinates, "euclidean"), k)


def same_group_share(coordinates: FloatMatrix, groups: IndexVector, k: int) -> float:
    """Return how many of the nearest points are of a point's own group, on average."""
    near = nearest_in_map(coordinates, k)
    return float(np.mean(groups[near] == groups[:, None]))


def chance_share(groups: NDArray[Any]) -> float:
    """Return the probability that two different points drawn at random are of one group."""
    n = len(groups)
    counts = np.unique(groups, return_counts=True)[1].astype(np.float64)
    return float((counts * (counts - 1)).sum() / (n * (n - 1)))


def explained_share(coordinates: FloatMatrix, truth: FloatMatrix) -> float:
    """Return the share of the variance of `truth` that a linear map of coordinates explains.

    It is one where `truth` is a linear image of the coordinates, whatever the turn or scale.
    """
    scale = np.linalg.norm(coordinates, axis=0) / np.sqrt(len(coordinates))
    design = np.column_stack([np.ones(len(coordinates)), coordinates / scale])
    fit = design @ np.linalg.lstsq(design, truth, rcond=None)[0]
    spread = ((truth - truth.mean(axis=0)) ** 2).sum()
    return float(1 - ((truth - fit) ** 2).sum() / spread)
