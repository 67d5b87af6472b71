"""How a graph is stored: what it depends on, and how it becomes arrays and comes back."""

from dataclasses import asdict
from typing import Any

from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

from beltrami.core.store import NO_CONTENT, Form, Parcel, recall, seed_content
from beltrami.core.types import CsrMatrix, Points
from beltrami.graph.model import Graph, GraphCertificate, Neighbors
from beltrami.graph.recipes import GraphRecipe

_WEIGHTS = ("data", "indices", "indptr")


def build_or_recall(recipe: GraphRecipe, points: Points) -> Graph:
    """Build the graph of points, or take it from the store where there is one."""
    return recall(GRAPH, lambda: (_content(recipe), points), lambda: recipe.build(points))


def pack_graph(graph: Graph) -> Parcel:
    """Return a graph as arrays."""
    arrays = {name: getattr(graph.weights, name) for name in _WEIGHTS}
    facts: dict[str, Any] = {"certificate": asdict(graph.certificate)}
    if graph.neighbors is not None:
        lists = Parcel.of(graph.neighbors)
        arrays |= {f"neighbors.{name}": array for name, array in lists.arrays.items()}
        facts["neighbors"] = lists.facts
    return Parcel(arrays, facts)


def unpack_graph(parcel: Parcel) -> Graph:
    """Return the graph that was packed; it is checked as any other."""
    data, indices, indptr = (parcel.arrays[name] for name in _WEIGHTS)
    n = len(indptr) - 1
    weights: CsrMatrix = csr_array((data, indices, indptr), shape=(n, n))
    # As they were: the constructor of older versions of SciPy shortens row numbers.
    weights.indices, weights.indptr = indices, indptr
    lists = None
    if "neighbors" in parcel.facts:
        arrays = {
            name.removeprefix("neighbors."): array
            for name, array in parcel.arrays.items()
            if name not in _WEIGHTS
        }
        lists = Neighbors(**Parcel(arrays, parcel.facts["neighbors"]).parts)
    return Graph(weights, lists, GraphCertificate(**parcel.facts["certificate"]))


GRAPH = Form("graph", pack_graph, unpack_graph)
"""How the store keeps a graph."""


def _content(recipe: Any) -> Any:
    """Return all parameters of a recipe or of a rule of weights, if it is the library's own.

    A search without a seed may find other neighbours every time, and a user's class says nothing
    of what it does.
    """
    if not isinstance(recipe, BaseEstimator):
        return recipe
    if not type(recipe).__module__.startswith("beltrami."):
        return NO_CONTENT
    parameters = {name: _content(one) for name, one in recipe.get_params(deep=False).items()}
    if "random_state" in parameters:
        parameters["random_state"] = seed_content(parameters["random_state"])
    return type(recipe).__name__, parameters
