"""Edge weights in another unit change no answer where no parameter has that unit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone, is_classifier

import beltrami as bt

pytestmark = pytest.mark.usefixtures("few_trees")

LEARNERS = [
    bt.PoissonClassifier(),
    bt.PoissonClassifier(n_steps=3),
    bt.PoissonClassifier(n_steps=0),
    bt.GraphRegularizedClassifier(),
    bt.GraphRegularizedClassifier(gamma="auto"),
    bt.GraphRegularizedClassifier(gamma="auto", smoothness=("iterated", 2)),
    bt.GraphRegularizedRegressor(gamma="auto"),
    bt.EigenfunctionClassifier(random_state=0),
    bt.EigenfunctionClassifier(gamma="auto", random_state=0),
    bt.EigenfunctionRegressor(random_state=0),
    bt.GeodesicNeighborsClassifier(3),
    bt.LaplacianRLSClassifier(random_state=0),
    bt.LaplacianSVC(random_state=0),
    bt.ManifoldClassifier(random_state=0),
    bt.ManifoldRegressor(random_state=0),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: repr(one)[:60])
def test_the_unit_of_edge_weights_changes_no_answer(learner) -> None:
    moons = bt.two_moons(120, noise=0.15, random_state=0)
    graph = bt.KnnGraph(8, weights="tuned_shared").build(moons.points)
    y = np.where(np.arange(120) % 10 == 0, moons.targets, -1)
    if not is_classifier(learner):
        y = np.where(y < 0, np.nan, moons.points[:, 0])

    def answers(unit: float):
        fitted = clone(learner).set_params(graph=unit * graph.weights).fit(moons.points, y)
        return fitted.label_distributions_ if is_classifier(learner) else fitted.transduction_

    expected = answers(1.0)
    for unit in (1e-30, 1e-3, 1e3, 1e30):
        assert_allclose(answers(unit), expected, atol=1e-6)
