"""The candidates at work: who is fitted, who is left out and why, who answers."""

import copy
import pickle

import numpy as np
import pytest

from beltrami import GraphRegularizedClassifier, KnnGraph, load_dataset
from beltrami.core.errors import InvalidInputError
from beltrami.front_door.base import check_budget
from beltrami.front_door.deciding import members
from beltrami.front_door.deciding.candidates import CLASS_CANDIDATES
from beltrami.front_door.deciding.committee import ClassCommittee
from beltrami.front_door.deciding.members import GraphMember
from beltrami.front_door.mixture.experience import Situation, load_experience
from beltrami.front_door.prepare import build_view
from beltrami.learners.baselines import NEVER
from beltrami.learners.model import Labeled
from beltrami.learners.shared_graph import left_out_at

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.fixture(scope="module")
def digits():
    found = load_dataset("digits")
    keep = np.isin(found.targets, [0, 1, 2])
    return found.points[keep][:150], found.targets[keep][:150]


@pytest.fixture(scope="module")
def view(digits):
    points, _ = digits
    recipe = KnnGraph(10)
    return build_view(points, recipe, scale="none", metric="auto", random_state=0, n_jobs=None)


@pytest.fixture
def labeled(digits):
    rows = np.arange(24)
    return Labeled(rows, np.eye(3)[digits[1][rows]], np.ones(len(rows)))


def test_one_method_alone_answers_and_the_baselines_are_judged_beside_it(view, labeled):
    committee = ClassCommittee.of("regularized")
    answer = committee.answer(view, labeled, time_budget=None)
    baselines = {"logistic", "forest", "neighbors"}
    assert set(committee.candidates) == {"regularized", *baselines}
    weights = answer.judgement.mixture.weights
    assert weights == {"regularized": 1.0} | dict.fromkeys(baselines, 0.0)
    assert next(one.name for one in answer.judgement.members) == "regularized"
    assert all(0 <= one.error <= 1 for one in answer.judgement.members)
    np.testing.assert_array_equal(answer.scores.argmax(axis=1), answer.codes["regularized"])


def test_poisson_learning_hears_of_class_sizes_that_are_given(view, labeled):
    committee = ClassCommittee.of("poisson")
    committee.answer(view, labeled, time_budget=None)
    assert committee.members["poisson"].choices.priors_ is None
    committee.shares = np.array([0.5, 0.3, 0.2])
    committee.answer(view, labeled, time_budget=None)
    learner = committee.members["poisson"].choices
    assert learner.hypothesis_ == "the given sizes"
    np.testing.assert_allclose(learner.priors_, committee.shares, atol=0.02)
    committee.shares = None
    committee.answer(view, labeled, time_budget=None)
    assert committee.members["poisson"].choices.priors_ is None


def test_a_spent_time_budget_leaves_the_rest_out_with_a_note(view, labeled):
    committee = ClassCommittee.of("auto")
    answer = committee.answer(view, labeled, time_budget=0.0)
    assert answer.judgement.mixture.weights == {"poisson": 1.0}
    notes = {one.name: one.note for one in answer.judgement.members}
    assert notes.pop("poisson") == ""
    assert len(notes) == 6
    assert all("time budget of 0 s" in note for note in notes.values())


def test_the_method_that_was_asked_for_is_tried_whatever_the_time(view, labeled):
    committee = ClassCommittee.of("laplacian_rls")
    answer = committee.answer(view, labeled, time_budget=0.0)
    assert answer.judgement.mixture.weights["laplacian_rls"] == 1.0


def test_a_candidate_that_cannot_be_fitted_is_left_out_with_its_reason(view, labeled):
    is_broken = [True]

    def fail(_):
        raise InvalidInputError("it rains")

    def make(_):
        learner = GraphRegularizedClassifier()
        if is_broken[0]:
            learner._prepare = fail
        return learner

    committee = ClassCommittee.of("auto")
    names = ("regularized", "neighbors")
    committee.candidates = {name: committee.candidates[name] for name in names}
    committee.members["regularized"] = GraphMember(make, are_shares=True)
    answer = committee.answer(view, labeled, time_budget=None)
    notes = {one.name: one.note for one in answer.judgement.members}
    assert notes["regularized"] == "left out: it rains"
    assert set(answer.judgement.mixture.weights) == {"neighbors"}
    is_broken[0] = False  # and it may come back with other labels
    answer = committee.answer(view, labeled, time_budget=None)
    assert set(answer.judgement.mixture.weights) == {"neighbors", "regularized"}


def test_a_method_that_cannot_be_fitted_is_an_error_with_the_reason(view, labeled):
    def make(view):
        raise InvalidInputError("it rains")

    committee = ClassCommittee.of("poisson")
    committee.members["poisson"] = GraphMember(make, are_shares=True)
    with pytest.raises(InvalidInputError, match=r"method='poisson' could not be fitted.*it rains"):
        committee.answer(view, labeled, time_budget=None)


def test_a_learner_whose_labels_fail_while_held_out_keeps_its_parameters(view, labeled):
    member = ClassCommittee.of("regularized").members["regularized"]
    member.fit(view, labeled)

    def fail(*_):
        raise InvalidInputError("it rains")

    member._learner._score_rows = fail
    with pytest.raises(InvalidInputError, match="rains"):
        member.held_out(view, labeled)
    assert member._learner.gamma == "auto"


def test_with_one_label_a_class_nothing_is_held_out(view, digits):
    rows = np.array([np.flatnonzero(digits[1] == code)[0] for code in range(3)])
    answer = ClassCommittee.of("auto").answer(
        view, Labeled(rows, np.eye(3), np.ones(3)), time_budget=None
    )
    assert not answer.judgement.is_told.any()
    assert not answer.judgement.can_promise
    weights = answer.judgement.mixture.weights
    prior = load_experience().believe(list(weights), Situation(3, 3, view.plain.shape[1]))
    np.testing.assert_allclose(list(weights.values()), prior)
    assert all(np.isnan(one.error) for one in answer.judgement.members)


def test_held_out_labels_stand_for_rows_not_for_how_they_were_shared(view, digits):
    codes = digits[1]
    rows = np.sort(
        np.concatenate(
            [np.flatnonzero(codes == code)[:count] for code, count in ((0, 20), (1, 5), (2, 5))]
        )
    )
    answer = ClassCommittee.of("poisson").answer(
        view, Labeled(rows, np.eye(3)[codes[rows]], np.ones(30)), time_budget=None
    )
    importance, judged = answer.judgement.importance, answer.judgement.judged
    assert importance.sum() == pytest.approx(30)
    own = judged.targets.argmax(axis=1)
    assert importance[own == 0].max() < importance[own == 1].min()


def test_a_committee_can_be_copied_and_pickled(view, labeled):
    committee = ClassCommittee.of("auto")
    judgement = committee.answer(view, labeled, time_budget=None).judgement
    new = view.points[:5], view.plain[:5], judgement
    expected = committee.at(*new)
    for twin in (pickle.loads(pickle.dumps(committee)), copy.deepcopy(committee)):
        np.testing.assert_array_equal(twin.at(*new), expected)


def test_why_a_candidate_is_not_tried_names_rows_or_seconds():
    known = {one.name: one for one in CLASS_CANDIDATES}
    squares, poisson = known["laplacian_rls"], known["poisson"]
    assert squares.skip_reason("auto", (2500, 9), 0.0, None, has_answer=True) == ""
    assert "2,500 rows" in squares.skip_reason("auto", (2501, 9), 0.0, None, has_answer=True)
    assert squares.skip_reason("laplacian_rls", (3001, 9), 9.0, 1.0, has_answer=True) == ""
    assert poisson.skip_reason("auto", (10, 9), 9.0, 1.0, has_answer=False) == ""
    forest = known["forest"]
    assert "2,000 columns" in forest.skip_reason("auto", (10, 2001), 0.0, None, has_answer=True)
    assert "time budget of 1 s" in poisson.skip_reason("auto", (10, 9), 9.0, 1.0, has_answer=True)


@pytest.mark.parametrize("seconds", [-1, "long", True, float("nan")])
def test_a_time_budget_that_is_no_time_is_refused(seconds):
    with pytest.raises(InvalidInputError, match="time_budget"):
        check_budget(seconds)


def test_of_many_labels_a_machine_leaves_out_one_at_a_time(view, labeled, monkeypatch):
    member = ClassCommittee.of("laplacian_rls").members["laplacian_rls"]
    member.fit(view, labeled)
    in_folds = member.held_out(view, labeled)
    monkeypatch.setattr(members, "_MANY_LABELS", 10)
    one_by_one = member.held_out(view, labeled)
    expected = left_out_at(member._learner, labeled.rows).scores
    np.testing.assert_array_equal(one_by_one, np.maximum(expected, NEVER))
    assert not np.allclose(in_folds, one_by_one)
