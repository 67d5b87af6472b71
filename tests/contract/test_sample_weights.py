"""Weights say how much a label counts next to the others: their unit has no meaning."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression, Ridge

import beltrami as bt
from beltrami.core.errors import BeltramiWarning
from beltrami.data.labels import checked_weights

pytestmark = pytest.mark.usefixtures("few_trees")

LEARNERS = [
    bt.EigenfunctionClassifier(random_state=0),
    bt.EigenfunctionClassifier(gamma="auto", random_state=0),
    bt.EigenfunctionRegressor(gamma="auto", random_state=0),
    bt.GeodesicNeighborsClassifier(3),
    bt.GraphRegularizedClassifier(gamma="auto"),
    bt.GraphRegularizedClassifier(gamma=0.1),
    bt.GraphRegularizedRegressor(gamma="auto"),
    bt.LaplacianRLSClassifier(random_state=0),
    bt.LaplacianRLSRegressor(random_state=0),
    bt.LaplacianSVC(random_state=0),
    bt.TransductiveSVC(),
    bt.PoissonClassifier(),
    bt.PoissonClassifier(n_steps=0),
    bt.Mbed(mode=bt.PracticalMode(n_steps=20), random_state=0),
    bt.Mbed(mode=bt.PaperMode(n_steps=60, n_first_steps=5), random_state=0),
    bt.MultiManifoldClassifier(LogisticRegression(), n_regions=2, random_state=0),
    bt.MultiManifoldRegressor(Ridge(), n_regions=2, random_state=0),
    bt.ManifoldClassifier(random_state=0),
    bt.ManifoldRegressor(random_state=0),
]


def _data(learner):
    moons = bt.two_moons(150, noise=0.25, random_state=3)
    y = moons.targets if is_classifier(learner) else moons.points[:, 0] * moons.points[:, 1]
    return moons.points, np.where(
        np.arange(150) % 7 == 0, y, -1 if is_classifier(learner) else np.nan
    )


def _answers(learner, weights):
    points, y = _data(learner)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeltramiWarning)
        fitted = clone(learner).fit(points, y, weights)
    probabilities = getattr(fitted, "label_distributions_", np.zeros(0))
    return fitted.transduction_, fitted.predict(points + 0.01), probabilities


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: repr(one)[:60])
def test_weights_that_are_all_the_same_change_nothing(learner) -> None:
    expected = _answers(learner, None)
    for weight in (100.0, 1e-300):
        for found, own in zip(_answers(learner, np.full(150, weight)), expected, strict=True):
            assert_allclose(found, own, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: repr(one)[:60])
def test_weights_in_another_unit_change_nothing(learner) -> None:
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 150)
    expected = _answers(learner, weights)
    for found, own in zip(_answers(learner, 1024 * weights), expected, strict=True):
        assert_allclose(found, own, rtol=1e-6, atol=1e-9)


def test_every_learner_that_takes_weights_is_tried() -> None:
    tried = {type(learner).__name__ for learner in LEARNERS}
    public = [getattr(bt, name) for name in bt.__all__]
    taking = [one for one in public if "sample_weight" in _parameters_of_fit(one)]
    assert tried == {one.__name__ for one in taking}


def _parameters_of_fit(thing) -> tuple[str, ...]:
    fit = getattr(thing, "fit", None) if isinstance(thing, type) else None
    return fit.__code__.co_varnames[: fit.__code__.co_argcount] if fit is not None else ()


def test_weights_have_the_mean_one_over_the_labels_that_count() -> None:
    rows = np.array([0, 2, 3, 4])
    given = np.array([2.0, 77.0, 0.0, 4.0, 6.0])
    assert_allclose(checked_weights(given, 5, rows), [0.5, 0.0, 1.0, 1.5], rtol=1e-15)
    assert_array_equal(checked_weights(1e308, 5, rows), np.ones(4))
    assert_array_equal(checked_weights(np.full(5, 1e-320), 5, rows), np.ones(4))
