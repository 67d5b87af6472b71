"""The quadratic criterion where each class keeps its share of the labels, on graphs of two kinds.

A problem of the book, a number of labels and a split enter; classes of all rows leave.
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform

from beltrami.core.types import FloatMatrix, IndexVector
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami.learners import GraphRegularizedClassifier
from beltrami.separation.assignment import assign
from beltrami_papers.sslbook.problems import BookProblem


def neighbors_graph(problem: BookProblem, n_neighbors: int) -> Graph:
    """Return the graph of nearest neighbours, made once."""
    name = f"graph of {n_neighbors}"
    if name not in problem.fitted:
        problem.fitted[name] = KnnGraph(n_neighbors).build(problem.points)
    graph: Graph = problem.fitted[name]
    return graph


def graph_of_all_pairs(problem: BookProblem, width: float) -> Graph:
    """Return the graph of all pairs with Gaussian weights, made once.

    - `width`: as a multiple of the median distance.
    """
    name = f"all pairs, {width:g}"
    if name not in problem.fitted:
        distances = pdist(np.asarray(problem.points))
        weights = np.exp(-0.5 * np.square(distances / (width * np.median(distances))))
        problem.fitted[name] = Graph(csr_array(squareform(weights)))
    graph: Graph = problem.fitted[name]
    return graph


def classes_by_rank(scores: FloatMatrix, labels: IndexVector) -> IndexVector:
    """Return the classes of greatest total score in which each class keeps its share of the labels.

    - `labels`: classes from zero, -1 for rows without a label, which are those that are shared out.
    """
    free = labels < 0
    sizes = _shares(np.bincount(labels[~free], minlength=scores.shape[1]), int(free.sum()))
    classes = labels.copy()
    classes[free] = assign(-scores[free], sizes, sizes).labels
    return classes


def _shares(counts: IndexVector, total: int) -> IndexVector:
    """Return whole numbers that add up to a total, as near as can be to the ratio of the counts."""
    exact = counts * (total / counts.sum())
    sizes: IndexVector = np.floor(exact).astype(np.intp)
    largest = np.argsort(sizes - exact, kind="stable")
    sizes[largest[: total - sizes.sum()]] += 1
    return sizes


def teach_by_rank(problem: BookProblem, labels: IndexVector, graph: Graph) -> IndexVector:
    """Solve the criterion on a graph through the labels, and share its classes out."""
    model = GraphRegularizedClassifier(graph=graph, gamma=0.0).fit(problem.points, labels)
    return classes_by_rank(np.asarray(model.values_, dtype=np.float64), labels)
