import numpy as np
import pytest
from scipy.sparse import csr_array

from beltrami import KnnGraph, RadiusGraph
from beltrami.core.errors import InvalidInputError
from beltrami.graph.families import ring
from beltrami.graph.specification import given_graph, recipe_of

POINTS = np.random.default_rng(0).normal(size=(30, 2))


def test_none_is_the_default_recipe_and_recipes_are_themselves() -> None:
    assert recipe_of(None).get_params() == KnnGraph().get_params()
    for recipe in (KnnGraph(3), RadiusGraph(1.0)):
        assert recipe_of(recipe) is recipe
    assert recipe_of(ring(4)) is recipe_of(csr_array(np.eye(3))) is None


def test_given_graphs_are_checked_for_size() -> None:
    built = KnnGraph(4).build(POINTS)
    assert given_graph(built, 30) is built
    assert given_graph(built.weights, 30).n_edges == built.n_edges
    with pytest.raises(InvalidInputError, match="5 nodes and X has 30 rows"):
        given_graph(ring(5), 30)


@pytest.mark.parametrize("bad", ["knn", 10, np.eye(3), KnnGraph])
def test_what_is_no_graph_is_refused(bad: object) -> None:
    with pytest.raises(InvalidInputError, match="is not a graph; give a recipe"):
        recipe_of(bad)
