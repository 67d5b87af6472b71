"""What estimators on a graph share: what ``graph=`` may be, and errors that show the way out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.graph.families import ring
from beltrami.graph.fitting import fitted_graph, recipe_of

MOONS = bt.two_moons(60, random_state=0)
Y = np.where(np.arange(60) % 3 == 0, MOONS.targets, -1)
ON_A_GRAPH = [
    bt.EigenfunctionClassifier,
    bt.EigenfunctionRegressor,
    bt.GeodesicNeighborsClassifier,
    bt.GraphRegularizedClassifier,
    bt.GraphRegularizedRegressor,
    bt.LaplacianEigenmaps,
    bt.LaplacianRLSClassifier,
    bt.LaplacianRLSRegressor,
    bt.LaplacianSVC,
    bt.ManifoldClassifier,
    bt.ManifoldRegressor,
    bt.PoissonClassifier,
    bt.SpectralClustering,
]


def test_none_is_the_default_recipe_and_recipes_are_themselves():
    assert recipe_of(None).get_params() == bt.KnnGraph().get_params()
    for recipe in (bt.KnnGraph(3), bt.RadiusGraph(1.0)):
        assert recipe_of(recipe) is recipe
    assert recipe_of(ring(4)) is recipe_of(csr_array(np.eye(3))) is None


def test_given_graphs_are_checked_for_size():
    built = bt.KnnGraph(4).build(MOONS.points)
    assert fitted_graph(built, MOONS.points) == (built, None)
    assert fitted_graph(built.weights, MOONS.points)[0].n_edges == built.n_edges
    with pytest.raises(InvalidInputError, match="5 nodes and X has 60 rows"):
        fitted_graph(ring(5), MOONS.points)


@pytest.mark.parametrize("bad", ["knn", 10, np.eye(3), bt.KnnGraph])
def test_what_is_no_graph_is_refused(bad):
    with pytest.raises(InvalidInputError, match="is not a graph; give a recipe"):
        recipe_of(bad)


@pytest.mark.parametrize("kind", ON_A_GRAPH)
def test_a_parameter_of_no_recipe_says_to_give_one(kind):
    with pytest.raises(InvalidInputError, match=rf"{kind.__name__}\(graph=KnnGraph\(\)\)"):
        kind().set_params(graph__n_neighbors=4)
    found = kind().set_params(graph=bt.KnnGraph(), graph__n_neighbors=4)
    assert found.graph.n_neighbors == 4


def test_a_search_over_the_graph_of_a_given_recipe_works_inside_a_pipeline():
    model = make_pipeline(StandardScaler(), bt.PoissonClassifier(graph=bt.KnnGraph()))
    grid = {"poissonclassifier__graph__n_neighbors": [4, 8]}
    search = GridSearchCV(model, grid, cv=bt.SemiSupervisedSplit(2, random_state=0))
    assert search.fit(MOONS.points, Y).best_score_ > 0.8


def test_a_search_over_the_graph_of_none_says_so():
    search = GridSearchCV(bt.PoissonClassifier(), {"graph__n_neighbors": [4, 8]}, cv=2)
    with pytest.raises(InvalidInputError, match="graph=None leaves the graph to PoissonClassifier"):
        search.fit(MOONS.points, Y)


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("kind", [bt.PoissonClassifier, bt.ManifoldClassifier, bt.Mbed])
def test_words_in_a_frame_are_named_with_their_columns(library, kind):
    frame = library.DataFrame(
        {"x": MOONS.points[:, 0], "colour": ["red", "blue"] * 30, "shop": [None, "b"] * 30}
    )
    words = r"2 of 3 columns of X hold words: 'colour' \('red'\), 'shop' \('b'\).*beltrami.label"
    with pytest.raises(InvalidInputError, match=words):
        kind().fit(frame, Y)


def test_folds_without_a_label_point_at_the_split_that_has_them():
    y = np.where(np.arange(60) < 2, MOONS.targets, -1)
    y[:2] = [0, 1]
    with pytest.raises(InvalidInputError, match="SemiSupervisedSplit"):
        cross_val_score(
            bt.PoissonClassifier(), MOONS.points, y, cv=_late_folds(), error_score="raise"
        )


def _late_folds():
    yield np.arange(40), np.arange(40, 60)
