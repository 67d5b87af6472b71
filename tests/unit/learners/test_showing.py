"""Learners, reports and graphs in a notebook."""

import re

import numpy as np
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import beltrami as bt

pytestmark = [
    pytest.mark.usefixtures("few_trees"),
    pytest.mark.filterwarnings("ignore::beltrami.BeltramiWarning"),
]

FLOWERS = bt.load_dataset("iris")
Y = np.where(np.arange(150) % 10 == 0, FLOWERS.targets, -1)
NAMES = np.array(["<script>", "setosa", "<img src=x>"], dtype=object)
LABELS = np.where(Y < 0, None, NAMES[Y])


def html_of(thing):
    return thing._repr_mimebundle_()["text/html"]


def ours(shown):
    """Return what stands above scikit-learn's own drawing."""
    return re.split(r"<style|<div", shown)[0]


@pytest.mark.parametrize(
    "learner",
    [bt.PoissonClassifier(), bt.EigenfunctionClassifier(), bt.LaplacianSVC()],
    ids=lambda one: type(one).__name__,
)
def test_a_learner_shows_its_parameters_and_once_fitted_what_it_found(learner):
    assert ours(html_of(learner)) == ""
    assert type(learner).__name__ in html_of(learner)
    learner.fit(FLOWERS.points, LABELS)
    shown = html_of(learner)
    assert "150, of which 15 labelled" in ours(shown)
    assert "mean confidence" in ours(shown)
    assert "<img" not in shown
    assert type(learner).__name__ in shown[len(ours(shown)) :]
    assert ours(learner._repr_html_()) == ours(shown)


def test_the_front_door_shows_what_answers_and_how_sure_it_is():
    learner = bt.ManifoldClassifier("poisson", random_state=0).fit(FLOWERS.points, LABELS)
    shown = ours(html_of(learner))
    assert shown == learner.report_._repr_html_()
    assert "estimated accuracy" in shown
    assert "Poisson learning" in shown
    values = np.where(Y < 0, np.nan, FLOWERS.points[:, 0])
    regressor = bt.ManifoldRegressor(random_state=0).fit(FLOWERS.points, values)
    assert "expected error" in ours(html_of(regressor))


def test_a_front_door_that_has_only_compared_rows_shows_no_fit():
    assert ours(html_of(bt.ManifoldClassifier(random_state=0).start(FLOWERS.points))) == ""


def test_scikit_learns_own_ways_are_kept():
    with config_context(display="text"):
        assert "text/html" not in bt.PoissonClassifier()._repr_mimebundle_()
        assert not hasattr(bt.PoissonClassifier(), "_repr_html_")
    piped = make_pipeline(StandardScaler(), bt.PoissonClassifier())
    assert "PoissonClassifier" in html_of(piped)


def test_a_graph_shows_its_size_and_its_certificate():
    shown = bt.KnnGraph(5).build(FLOWERS.points)._repr_html_()
    assert "<td>150</td>" in shown
    assert "2, joined by 1 bridge" in shown
    assert "exact search" in shown
    assert "given" in bt.Graph.from_matrix([[0, 1], [1, 0]])._repr_html_()
