"""What an estimator's ``graph=`` may be, and how it becomes a `Graph`."""

from typing import Any

from scipy.sparse import issparse

from beltrami.core.errors import InvalidInputError
from beltrami.graph.model import Graph
from beltrami.graph.recipes import GraphRecipe, KnnGraph, RadiusGraph


def recipe_of(graph: Any) -> GraphRecipe | None:
    """Return the recipe behind a ``graph=`` argument, or None where the graph is given."""
    if graph is None:
        return KnnGraph()
    if isinstance(graph, KnnGraph | RadiusGraph):
        return graph
    if isinstance(graph, Graph) or issparse(graph):
        return None
    raise InvalidInputError(
        f"graph={graph!r} is not a graph; give a recipe such as KnnGraph(10), a Graph, or a sparse "
        "symmetric matrix of weights."
    )


def given_graph(graph: Any, n_points: int) -> Graph:
    """Return a graph that the user gave, after a check of its size."""
    given = graph if isinstance(graph, Graph) else Graph.from_matrix(graph)
    if given.n_nodes != n_points:
        raise InvalidInputError(
            f"the graph has {given.n_nodes} nodes and X has {n_points} rows; they must be the same "
            "points in the same order."
        )
    return given
