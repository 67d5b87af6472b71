"""An answer in the store: a learner that took it stands where one that was fitted stands."""

import copy
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from beltrami import ManifoldClassifier
from beltrami.core.errors import StoreWarning
from beltrami.core.store import Store, remember
from beltrami.front_door.deciding.committee import ClassCommittee
from beltrami.front_door.deciding.storing import pack_answer, unpack_answer

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.fixture(scope="module")
def y(digits):
    return np.where(np.arange(240) < 40, digits[1], -1)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture(scope="module")
def first(digits, y, few_trees, tmp_path_factory):
    """A learner that was fitted, and the folder that has its answer."""
    folder = tmp_path_factory.mktemp("store")
    return fitted(digits, y, Store(folder))[0], folder


@pytest.fixture
def filled(first, store) -> Store:
    """A store with the answer of the first learner."""
    shutil.copytree(first[1], store.folder, dirs_exist_ok=True)
    return store


@pytest.fixture
def pair(digits, y, first, filled):
    """One learner that was fitted, and one whose answer the store had."""
    return copy.deepcopy(first[0]), recalled(digits, y, filled)


def fitted(digits, y, store, **options) -> tuple[ManifoldClassifier, list[str]]:
    told: list[str] = []
    options = {"random_state": 0, **options}
    with remember(store, tell=told.append, least_seconds=0):
        learner = ManifoldClassifier(**options).fit(digits[0], y)
    return learner, [line.split(":")[0] for line in told]


def recalled(digits, y, store) -> ManifoldClassifier:
    learner, told = fitted(digits, y, store)
    assert "answer" in told
    assert learner._committee.owed is not None
    return learner


def assert_same(first, second) -> None:
    for name in ("label_distributions_", "transduction_", "confidence_", "accepted_", "scores_"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes(), name
    assert first.weights_ == second.weights_


def test_what_comes_back_is_what_was_answered_and_nobody_is_fitted(pair, digits, monkeypatch):
    first, second = pair
    monkeypatch.setattr(ClassCommittee, "try_all", pytest.fail)
    assert_same(first, second)
    assert str(first.report_) == str(second.report_)
    np.testing.assert_array_equal(first.query(5), second.query(5))
    np.testing.assert_array_equal(first.prediction_sets(), second.prediction_sets())
    assert str(first.label_issues()) == str(second.label_issues())
    for name in first.weights_:
        np.testing.assert_array_equal(first.candidate_codes(name), second.candidate_codes(name))


def test_new_points_are_answered_alike(pair, digits):
    first, second = pair
    new = 0.9 * digits[0][100:120]
    np.testing.assert_array_equal(first.predict_proba(new), second.predict_proba(new))
    assert second._committee.owed is None
    np.testing.assert_array_equal(first.predict(digits[0]), second.predict(digits[0]))


def test_updates_end_alike(pair, digits):
    first, second = pair
    for row in (100, 101, 150):
        for learner in (first, second):
            learner.update(row, digits[1][row])
        assert_same(first, second)
    for learner in (first, second):
        learner.update([100, 101, 150], [None] * 3)
    assert_same(first, second)
    for learner in (first, second):
        learner.update(100, digits[1][100]).settle()
    assert_same(first, second)


def test_a_pickle_of_a_learner_that_owes_its_members_works(pair, digits):
    first, second = pair
    second = pickle.loads(pickle.dumps(second))
    new = 0.9 * digits[0][100:110]
    np.testing.assert_array_equal(first.predict_proba(new), second.predict_proba(new))


@pytest.mark.parametrize(
    "options", [{"method": "poisson"}, {"random_state": 1}, {"scale": "standard"}]
)
def test_other_options_have_another_answer(digits, y, filled, options):
    assert "answer" not in fitted(digits, y, filled, **options)[1]


def test_other_labels_have_another_answer(digits, y, filled):
    other = y.copy()
    other[41] = digits[1][41]
    assert "answer" not in fitted(digits, other, filled)[1]
    swapped = y.copy()
    swapped[0] = (y[0] + 1) % 4
    assert "answer" not in fitted(digits, swapped, filled)[1]


@pytest.mark.parametrize("options", [{"time_budget": 60}, {"random_state": None}])
def test_an_answer_that_may_be_another_the_next_time_is_not_kept(digits, y, store, options):
    fitted(digits, y, store, **options)
    assert "answer" not in fitted(digits, y, store, **options)[1]


def test_a_risk_is_no_part_of_the_answer(digits, y, filled):
    learner, told = fitted(digits, y, filled, risk=0.01)
    assert "answer" in told
    plain = ManifoldClassifier(random_state=0, risk=0.01).fit(digits[0], y)
    np.testing.assert_array_equal(learner.accepted_, plain.accepted_)


def test_a_spoiled_answer_is_made_anew_with_a_word(digits, y, first, filled):
    (path,) = filled.folder.glob("answer-*")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.warns(StoreWarning, match="answer stored in .* is of no use"):
        second, told = fitted(digits, y, filled)
    assert "answer" not in told
    assert_same(first[0], second)


@pytest.mark.parametrize(
    "broken", ["probabilities", "codes.poisson", "held_out", "is_told", "odds"]
)
def test_parts_that_do_not_fit_are_refused(first, broken):
    parcel = pack_answer(first[0]._answer)
    parcel = replace(parcel, arrays=parcel.arrays | {broken: parcel.arrays[broken][:-1]})
    with pytest.raises(ValueError, match="not of one answer"):
        unpack_answer(parcel)
