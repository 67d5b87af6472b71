"""What estimators share: checked points, the graph that ``graph=`` stands for, new points."""

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import validate_data

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.memory import fit_bytes, require_address_space
from beltrami.core.types import Points
from beltrami.graph.model import Attachment, Graph
from beltrami.graph.recipes import GraphRecipe, KnnGraph, RadiusGraph
from beltrami.graph.storing import build_or_recall


class GraphParameters(BaseEstimator):
    """An estimator with ``graph=``, whose own parameters can be set through it."""

    graph: Any

    def set_params(self, **params: Any) -> Self:
        """Set parameters, of the graph's recipe as ``graph__n_neighbors`` and the like.

        Parameters
        ----------
        **params : object
            New values by name.

        Returns
        -------
        GraphParameters
            Itself.
        """
        inner = [name for name in params if name.startswith("graph__")]
        if inner and params.get("graph", self.graph) is None:
            raise InvalidInputError(
                f"{inner[0]} cannot be set: graph=None leaves the graph to "
                f"{type(self).__name__}, so there is no recipe to change. Give it one, as in "
                f"{type(self).__name__}(graph=KnnGraph()), and search over {inner[0]} then."
            )
        super().set_params(**params)
        return self


def checked_points(estimator: Any, X: Any, *, reset: bool) -> Points:
    """Return X as scikit-learn's contract wants it: checked, features counted, float kept.

    ``reset=True`` at fit; new points, whose features must agree with those of the fit, take False.
    """
    try:
        points: Any = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_min_samples=2 if reset else 1,
        )
    except (TypeError, ValueError) as error:
        _require_numbers(X, cause=error)
        raise
    checked: Points = csr_array(points) if hasattr(points, "tocsr") else points
    return checked


def _require_numbers(X: Any, *, cause: Exception) -> None:
    """Refuse a DataFrame with words in it, and say in which columns; anything else passes."""
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        return
    words = {}
    for name in X.columns:
        for value in X[name]:
            if isinstance(value, str):
                words[name] = value
                break
    if words:
        some = ", ".join(f"{name!r} ({value!r})" for name, value in list(words.items())[:3])
        more = f" and {len(words) - 3} more" if len(words) > 3 else ""
        raise InvalidInputError(
            f"{len(words)} of {len(X.columns)} columns of X hold words: {some}{more}. Rows are "
            "compared by numbers. Encode these columns, leave them out, or use beltrami.label, "
            "which reads tables with words."
        ) from cause


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


def fitted_graph(graph: Any, points: Points) -> tuple[Graph, GraphRecipe | None]:
    """Return the graph of a fit and the recipe that made it, None where the graph was given."""
    require_address_space(fit_bytes(), what=f"a fit of {points.shape[0]} rows")
    recipe = recipe_of(graph)
    if recipe is None:
        return _given_graph(graph, points.shape[0]), None
    recipe = clone(recipe)  # what the user does to the recipe later must not reach this fit
    return build_or_recall(recipe, points), recipe


def _given_graph(weights: Any, n_points: int) -> Graph:
    graph = weights if isinstance(weights, Graph) else Graph.from_matrix(weights)
    if graph.n_nodes != n_points:
        raise InvalidInputError(
            f"the graph has {graph.n_nodes} nodes and X has {n_points} rows; they must be the same "
            "points in the same order."
        )
    return graph


def graph_tags(tags: Any, graph: Any) -> Any:
    """Complete scikit-learn's tags: sparse input is taken, precomputed distances are pairwise."""
    tags.input_tags.sparse = True
    tags.input_tags.pairwise = getattr(graph, "metric", None) == "precomputed"
    return tags


def attach_to_fit(estimator: Any, new: Points) -> Attachment:
    """Attach new points to the ``points_`` and ``graph_`` of an estimator's fit."""
    recipe = estimator.recipe_
    if not isinstance(recipe, KnnGraph | RadiusGraph):
        raise InvalidInputError(
            f"this {type(estimator).__name__} was fitted on a given graph, which says nothing "
            "about new points. Fit with a recipe, graph=KnnGraph(...), to use them."
        )
    return recipe.attach(estimator.graph_, estimator.points_, new)
