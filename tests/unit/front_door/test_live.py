"""Labels that come one by one: answers at once, by an earlier judgement, and exactly undone."""

import copy
import warnings

import numpy as np
import pytest

from beltrami import ManifoldClassifier, eigenbasis, two_moons
from beltrami.core.errors import BeltramiWarning, InvalidInputError
from beltrami.core.telling.progress import listen
from beltrami.learners.spectral import estimators


@pytest.fixture(scope="module")
def moons():
    found = two_moons(400, noise=0.15, random_state=0)
    names = np.array(["upper", "lower"])[found.targets]
    return found.points, names


@pytest.fixture(scope="module")
def fitted(moons, few_trees):
    points, names = moons
    y = np.where(np.arange(400) % 20 == 0, names, "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeltramiWarning)
        return ManifoldClassifier(random_state=0).fit(points, y)


@pytest.fixture
def learner(fitted):
    return copy.deepcopy(fitted)


FITTED = ("transduction_", "label_distributions_", "confidence_", "accepted_", "island_")


def state(learner):
    return {name: getattr(learner, name).copy() for name in FITTED} | {
        "weights": dict(learner.weights_),
        "temperatures": learner._answer.judgement.mixture.temperatures,
    }


def assert_same(one, other):
    for name in FITTED:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
    assert one["weights"] == other["weights"]
    assert one["temperatures"] == other["temperatures"]


def test_an_update_keeps_weights_and_temperatures(learner, moons):
    before = state(learner)
    learner.update([3, 5], moons[1][[3, 5]])
    after = state(learner)
    assert after["weights"] == before["weights"]
    assert after["temperatures"] == before["temperatures"]
    assert (learner.transduction_[[3, 5]] == moons[1][[3, 5]]).all()


def test_taking_a_label_back_is_exact(learner, moons):
    learner.update(7, moons[1][7])
    before = state(learner)
    wrong = "upper" if moons[1][9] == "lower" else "lower"
    learner.update(9, wrong)
    learner.update([11, 13], moons[1][[11, 13]])
    assert learner.transduction_[9] == wrong
    learner.update([9, 11, 13], [None, None, ""])
    assert_same(state(learner), before)


def test_taking_back_the_label_of_a_new_class_is_exact(learner, moons):
    learner.update(7, moons[1][7])
    before = state(learner)
    learner.update(9, "middle")
    assert learner.classes_.tolist() == ["lower", "middle", "upper"]
    learner.update(9, None)
    assert learner.classes_.tolist() == ["lower", "upper"]
    assert_same(state(learner), before)


def test_taking_back_the_label_that_doubled_them_is_exact(learner, moons):
    rows = np.setdiff1d(np.arange(400), np.arange(0, 400, 20))[:20]
    learner.update(rows[:-1], moons[1][rows[:-1]])
    before = state(learner)
    learner.update(rows[-1], moons[1][rows[-1]])  # as many again: judged anew
    assert not any("settle()" in line for line in learner.report_.warnings)
    learner.update(rows[-1], None)
    assert_same(state(learner), before)


def test_many_updates_end_where_a_fit_ends(learner, moons):
    points, names = moons
    rows = np.random.default_rng(0).permutation(400)[:25]  # above 20, labels are judged anew
    for row in rows:
        learner.update(row, names[row])
    y = np.where(np.arange(400) % 20 == 0, names, "")
    y[rows] = names[rows]
    fresh = ManifoldClassifier(random_state=0).fit(points, y)
    learner.settle()
    np.testing.assert_array_equal(learner.transduction_, fresh.transduction_)
    np.testing.assert_allclose(learner.label_distributions_, fresh.label_distributions_, atol=1e-5)
    assert learner.weights_ == pytest.approx(fresh.weights_, abs=1e-6)


def test_the_order_of_updates_has_no_part_in_the_answer(learner, moons):
    learner.update([3, 5, 7], moons[1][[3, 5, 7]])
    before = state(learner)
    learner.update([3, 5, 7], [None, None, None])
    for row in (7, 3, 5):
        learner.update(row, moons[1][row])
    assert_same(state(learner), before)


def test_the_report_says_that_labels_came_since_they_were_judged(learner, moons):
    assert not any("settle()" in line for line in learner.report_.warnings)
    learner.update(3, moons[1][3])
    assert any("settle()" in line for line in learner.report_.warnings)
    assert not any("settle()" in line for line in learner.settle().report_.warnings)


def test_a_label_that_changed_or_went_since_is_no_longer_doubted(learner, moons):
    judged = learner._answer.judgement.judged.rows
    assert learner._is_as_judged().all()
    learner.update([20, 40, 3], ["upper" if moons[1][20] == "lower" else "lower", None, "lower"])
    assert judged[~learner._is_as_judged()].tolist() == [20, 40]


def test_every_candidate_answers_to_an_update(learner, moons):
    learner.update(3, moons[1][3])
    for name in learner.weights_:
        assert (learner.candidate_codes(name) >= 0).all()
    with pytest.raises(InvalidInputError, match="none of the candidates"):
        learner.candidate_codes("oracle")


def test_new_points_are_answered_by_the_labels_of_now(learner, moons):
    points = moons[0][:50] + 0.01
    learner.update(np.arange(0, 40, 2), np.where(moons[1][:40:2] == "upper", "lower", "upper"))
    live = learner.predict_proba(points)
    learner.update(np.arange(0, 40, 2), [None] * 20)
    assert not np.allclose(live, learner.predict_proba(points))


def test_nothing_changes_where_an_update_is_refused(learner):
    before = state(learner)
    with pytest.raises(InvalidInputError):
        learner.update([3], [1.5])
    assert_same(state(learner), before)
    assert learner.update([], []) is learner


def test_a_row_that_is_named_twice_is_refused(learner):
    with pytest.raises(InvalidInputError, match="row 3 is named 2 times"):
        learner.update([3, 5, 3], [0, 1, 1])


def test_an_update_that_is_cancelled_changes_nothing(learner, moons):
    learner.update(7, moons[1][7])
    before, new = state(learner), learner.predict_proba(moons[0][:20] + 0.01)

    def cancel(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listen(cancel):
        learner.update(9, "a class that comes first")  # judged anew, which tells of its progress
    assert learner.classes_.tolist() == ["lower", "upper"]
    assert_same(state(learner), before)
    np.testing.assert_array_equal(learner.predict_proba(moons[0][:20] + 0.01), new)
    learner.settle()
    assert learner.classes_.tolist() == ["lower", "upper"]


def test_an_update_computes_no_eigenvectors(monkeypatch, learner, moons):
    learner.update(7, moons[1][7])  # the first may ask for one more than there were
    sizes = []

    def count(graph, n_components, **options):
        sizes.append(n_components)
        return eigenbasis(graph, n_components, **options)

    monkeypatch.setattr(estimators, "eigenbasis", count)
    assert "eigenfunctions" in learner.weights_
    for row in (8, 9, 11):
        learner.update(row, moons[1][row])
    assert sizes == []


WEIGHTS = np.where(np.arange(400) % 3 == 0, 0.25, 1.0)


def fresh_fit(points, labels, weights=None):
    return ManifoldClassifier(random_state=0).fit(points, labels, sample_weight=weights)


def test_weights_of_updates_are_those_of_a_fresh_fit(learner, moons):
    points, names = moons
    y = np.where(np.arange(400) % 20 == 0, names, "")
    rows = np.array([3, 5, 7, 9, 11, 15])
    learner.update(rows[:4], names[rows[:4]], weights=WEIGHTS[rows[:4]])
    learner.update(rows[4:], names[rows[4:]], weights=0.5)
    weights = np.ones(400)  # those of the fit, which had none
    weights[rows] = WEIGHTS[rows]
    weights[rows[4:]] = 0.5
    y[rows] = names[rows]
    assert_same(state(learner.settle()), state(fresh_fit(points, y, weights)))


def test_weights_may_change_and_go_with_their_label(learner, moons):
    points, names = moons
    y = np.where(np.arange(400) % 20 == 0, names, "")
    learner.update([3, 5], names[[3, 5]], weights=[0.25, 0.25])
    learner.update([3, 5], [names[3], None], weights=[1.0, 1.0])
    y[3] = names[3]
    assert_same(state(learner.settle()), state(fresh_fit(points, y)))


def test_updates_stand_beside_the_weights_of_the_fit_in_their_unit(moons):
    points, names = moons
    y = np.where(np.arange(400) % 20 == 0, names, "")
    learner = fresh_fit(points, y, 8 * WEIGHTS)
    learner.update([3, 5], names[[3, 5]], weights=[2.0, 8.0])
    weights = WEIGHTS.copy()
    weights[[3, 5]] = 0.25, 1.0
    y[[3, 5]] = names[[3, 5]]
    assert_same(state(learner.settle()), state(fresh_fit(points, y, weights)))


def test_a_label_without_a_weight_counts_as_others_do_on_average(moons):
    points, names = moons
    y = np.where(np.arange(400) % 20 == 0, names, "")
    learner = fresh_fit(points, y, WEIGHTS)
    learner.update(3, names[3])
    weights = WEIGHTS.copy()
    weights[3] = WEIGHTS[y != ""].mean()
    y[3] = names[3]
    assert_same(state(learner.settle()), state(fresh_fit(points, y, weights)))


@pytest.mark.parametrize(
    "weights", [0, -1.0, [1.0], [1.0, np.nan], [1.0, np.inf], "many", [[1, 1]]]
)
def test_weights_that_say_nothing_are_refused(learner, moons, weights):
    before = learner.transduction_
    with pytest.raises(InvalidInputError, match="weights"):
        learner.update([3, 5], moons[1][[3, 5]], weights=weights)
    assert learner.transduction_ is before


@pytest.mark.parametrize("k", [3, 15])
def test_labels_that_came_one_by_one_settle_into_a_fresh_fit(k, few_trees):
    rng, n = np.random.default_rng(k), 500
    truth = rng.integers(0, k, n)
    points = 2 * rng.normal(size=(k, 6))[truth] + rng.normal(size=(n, 6))
    names = np.array([f"class {i}" for i in range(k)])[truth]
    rows = np.concatenate([np.flatnonzero(truth == i)[:4] for i in range(k)])
    y, weights = np.full(n, "", dtype=names.dtype), np.where(np.arange(n) % 3 == 0, 0.25, 1.0)
    y[rows] = names[rows]
    fresh = ManifoldClassifier(random_state=0).fit(points, y, sample_weight=weights)

    learner = ManifoldClassifier(random_state=0).start(points)
    first, *rest = np.array_split(rows, 5)
    learner.update(rows[::4], names[rows[::4]], weights=weights[rows[::4]])
    for part in (*rest, first):
        learner.update(part, names[part], weights=weights[part])
    assert_same(state(learner.settle()), state(fresh))
    np.testing.assert_array_equal(learner.query(10), fresh.query(10))

    whole = ManifoldClassifier(random_state=0).start(points).fit_labels(y, weights)
    assert_same(state(whole), state(fresh))
