"""What answers new points says what the members say, whichever of them is heard."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from beltrami import ManifoldClassifier, load_dataset
from beltrami.front_door.answering import _loops
from beltrami.front_door.answering.answerer import learner_answerer
from beltrami.front_door.answering.forest import ForestVoice
from beltrami.front_door.deciding import candidates
from beltrami.learners.spectral import estimators as spectral

METHODS = (
    "poisson", "regularized", "eigenfunctions", "laplacian_rls", "laplacian_svc", "logistic",
    "forest", "neighbors", "auto",
)  # fmt: skip

pytestmark = pytest.mark.usefixtures("few_trees")


def _fitted(method: str, n: int = 250):
    digits = load_dataset("digits")
    y = np.where(np.arange(n) < 40, digits.targets[:n], -1)
    learner = ManifoldClassifier(method, random_state=0).fit(digits.points[:n], y)
    return learner, digits.points[n - 5 : n + 50]


def _assert_as_members(learner, new) -> None:
    plain, projected = learner._view.treat(new.astype(np.float64))
    members = learner._committee.at(projected, plain, learner._answer.judgement)
    answerer = learner_answerer(learner)
    assert answerer is not None
    np.testing.assert_allclose(answerer.at(new).scores, members, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_the_answerer_says_of_new_points_what_the_members_say(method: str) -> None:
    _assert_as_members(*_fitted(method))


def test_the_walks_functions_say_the_same_as_their_combination(monkeypatch) -> None:
    monkeypatch.setattr(spectral, "_OWN_ROWS", 100)
    learner, new = _fitted("eigenfunctions", n=400)
    voice = learner_answerer(learner).voices["eigenfunctions"]
    assert type(voice).__name__ == "WalkVoice"
    _assert_as_members(learner, new)


def test_a_machine_on_landmarks_says_the_same_without_its_features(monkeypatch) -> None:
    monkeypatch.setattr(candidates, "EXACT_MACHINE_ROWS", 100)
    learner, new = _fitted("laplacian_rls", n=400)
    _assert_as_members(learner, new)


def test_sums_over_neighbours_are_their_twin() -> None:
    rng = np.random.default_rng(0)
    near, weights = rng.integers(0, 50, (30, 7)), rng.random((30, 7))
    weights[::3, 2:] = 0.0
    for dtype in (np.float32, np.float64):
        values = rng.normal(size=(50, 4)).astype(dtype)
        expected = _loops.gather_sums_reference(near, weights, values)
        found = _loops.gather_sums(near.astype(np.int32), weights, values)
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)


def test_trees_are_walked_as_their_twin_and_scikit_learn_walk_them() -> None:
    rng = np.random.default_rng(0)
    points = rng.integers(0, 9, (700, 5)).astype(np.float32) / 3  # thresholds between close values
    forest = RandomForestClassifier(7, random_state=0).fit(points, rng.integers(0, 3, 700))
    voice = ForestVoice.of(forest, 3)
    arrays = (voice.roots, voice.columns, voice.thresholds, voice.left, voice.right, voice.shares)
    found = _loops.walk_trees(points, *arrays)
    np.testing.assert_array_equal(found, _loops.walk_trees_reference(points, *arrays))
    np.testing.assert_allclose(found / 7, forest.predict_proba(points), rtol=1e-12)


@pytest.mark.parametrize("method", ["auto", "forest"])
def test_an_answer_does_not_depend_on_the_number_of_threads(method: str) -> None:
    learner, new = _fitted(method)
    answerer = learner_answerer(learner)
    assert answerer.at(new, 1).scores.tobytes() == answerer.at(new, 2).scores.tobytes()
