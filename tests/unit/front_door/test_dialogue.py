"""The talk with the person who labels: updates, questions, doubts, reasons, audits."""

import copy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from beltrami import ManifoldClassifier, load_dataset
from beltrami.core.errors import InvalidInputError, TooFewLabelsWarning

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.fixture(scope="module")
def y(digits):
    labels = np.full(240, -1)
    labels[:30] = digits[1][:30]
    return labels


@pytest.fixture(scope="module")
def fitted(digits, y, few_trees):
    return ManifoldClassifier("regularized", random_state=0).fit(digits[0], y)


@pytest.fixture
def learner(fitted):
    return copy.deepcopy(fitted)


def _same(one, other):
    np.testing.assert_array_equal(one.transduction_, other.transduction_)
    np.testing.assert_allclose(one.label_distributions_, other.label_distributions_, atol=1e-7)


@pytest.mark.parametrize("gap", [None, float("nan"), -1])
def test_labels_added_changed_and_taken_away_equal_a_fresh_fit(gap, learner, digits, y):
    learner.update([50, 60, 3, 4], [1, 2, int(digits[1][3] == 0), gap])
    changed = y.copy()
    changed[[50, 60, 3, 4]] = [1, 2, int(digits[1][3] == 0), -1]
    _same(learner.settle(), clone(learner).fit(digits[0], changed))
    assert 4 in learner.query(236)


def test_all_candidates_learn_from_an_update_as_from_a_fresh_fit(digits, y):
    learner = ManifoldClassifier(random_state=0).fit(digits[0], y)
    learner.update(50, int(digits[1][50]))
    changed = y.copy()
    changed[50] = digits[1][50]
    _same(learner.settle(), clone(learner).fit(digits[0], changed))


def test_a_new_class_may_come(learner, digits, y):
    learner.update([200], [7])
    assert learner.classes_.tolist() == [0, 1, 2, 3, 7]
    changed = y.copy()
    changed[200] = 7
    _same(learner.settle(), clone(learner).fit(digits[0], changed))


def test_texts_are_updated_as_texts(digits, y):
    text = np.where(y >= 0, np.array(["a", "b", "c", "d"])[y], "")
    learner = ManifoldClassifier("poisson").fit(digits[0], text)
    learner.update([50, 3], ["b", ""])
    assert learner.transduction_[50] == "b"
    text = text.copy()
    text[[50, 3]] = ["b", ""]
    _same(learner.settle(), clone(learner).fit(digits[0], text))


def test_weights_survive_an_update_and_a_new_label_weighs_their_mean(digits, y):
    weights = np.where(np.arange(240) < 15, 1.0, 3.0)
    weights[7] = 0.0
    learner = ManifoldClassifier("logistic").fit(digits[0], y, sample_weight=weights)
    learner.update(50, 2)
    changed, own = y.copy(), weights.copy()
    changed[50], own[50] = 2, weights[:30][weights[:30] > 0].mean()
    _same(learner.settle(), clone(learner).fit(digits[0], changed, sample_weight=own))


def test_nothing_new_changes_nothing(learner):
    before = learner.label_distributions_
    learner.update([], [])
    np.testing.assert_array_equal(learner.label_distributions_, before)


@pytest.mark.parametrize(
    ("rows", "labels", "why"),
    [
        ([240], [1], "0 to 239"),
        ([-1], [1], "0 to 239"),
        ([1, 2], [1], "as many"),
        ([0.5], [1], "kind"),
    ],
)
def test_wrong_rows_are_refused_and_nothing_changes(rows, labels, why, learner):
    before = learner.transduction_
    with pytest.raises(InvalidInputError, match=why):
        learner.update(rows, labels)
    assert learner.transduction_ is before


def test_a_cold_start_asks_then_learns(digits):
    learner = ManifoldClassifier("regularized", random_state=0).start(digits[0])
    rows, questions = learner.query(8, return_reasons=True)
    assert [question.row for question in questions] == rows.tolist()
    assert len(set(digits[1][rows])) >= 3
    with pytest.raises(NotFittedError):
        learner.predict(digits[0])
    with pytest.warns(TooFewLabelsWarning, match="1 class"):
        learner.update(int(rows[0]), int(digits[1][rows[0]]))
    assert rows[0] not in learner.query(10)
    learner.update(rows, digits[1][rows])
    y = np.full(240, -1)
    y[rows] = digits[1][rows]
    _same(learner.settle(), clone(learner).fit(digits[0], y))


def test_a_start_forgets_an_earlier_fit(learner, digits, y):
    learner.start(digits[0][:100])
    assert not hasattr(learner, "transduction_")
    assert learner.query(3).max() < 100
    learner.update(np.arange(20), y[:20])
    _same(
        learner.settle(),
        clone(learner).fit(digits[0][:100], np.where(np.arange(100) < 20, y[:100], -1)),
    )


def test_questions_are_never_of_labelled_rows(learner):
    for strategy in ("auto", "cover", "uncertain", "random"):
        rows = learner.query(300, strategy)
        assert len(rows) == 210
        assert rows.min() >= 30
    assert set(learner.query(5, candidates=[10, 100, 101])) <= {100, 101}


def test_a_planted_wrong_label_is_found(digits):
    found = load_dataset("digits")
    points, truth = found.points[:300], found.targets[:300]
    y = np.where(np.arange(300) < 120, truth, -1)
    y[17] = (truth[17] + 1) % 10
    learner = ManifoldClassifier("regularized", random_state=0).fit(points, y)
    issues = learner.label_issues()
    assert 17 in issues.rows
    place = issues.rows.tolist().index(17)
    assert issues.given[place] == y[17]
    assert issues.suggested[place] == truth[17]
    assert len(issues) <= 6
    assert "row 17: given" in str(issues)
    clean = ManifoldClassifier("regularized", random_state=0).fit(*digits, None)
    assert len(clean.label_issues()) <= 2


def test_an_explanation_names_a_supporter_of_the_same_class(learner, digits, y):
    told = [learner.explain(row) for row in range(30, 60)]
    right = [one.labels[0] == one.label for one in told]
    assert np.mean(right) > 0.9
    for one in told:
        assert (y[one.supporters] >= 0).all()
        np.testing.assert_array_equal(one.labels, y[one.supporters])
        assert one.shares.sum() <= 1 + 1e-9
        assert f"row {one.row} is {one.label}" in str(one)
    with pytest.raises(InvalidInputError):
        learner.explain(240)


def test_an_audit_draws_accepted_rows_without_a_label(learner, digits):
    rows = learner.audit(50)
    assert len(set(rows)) == 50
    assert rows.min() >= 30
    assert learner.accepted_[rows].all()
    answers = {int(row): digits[1][row] for row in rows}
    by_row, in_order = learner.certify(answers), learner.certify(digits[1][rows])
    assert by_row == in_order or str(by_row) == str(in_order)
    n_wrong = int((learner.transduction_[rows] != digits[1][rows]).sum())
    assert (by_row.n_checked, by_row.n_wrong) == (50, n_wrong)


def test_answers_left_out_count_as_wrong(learner, digits):
    rows = learner.audit(20)
    truths = [None, *digits[1][rows[1:]]]
    found = learner.certify(truths)
    assert (found.n_checked, found.n_blank) == (20, 1)
    assert found.lower <= learner.certify(digits[1][rows]).lower


def test_a_further_audit_draws_other_rows_and_adds_to_the_proof(learner, digits):
    first = learner.audit(20)
    assert learner.audit().tolist() == first.tolist()  # answers are due
    learner.certify(digits[1][first])
    second = learner.audit()
    assert not set(first) & set(second)
    found = learner.certify(digits[1][second])
    assert (found.n_checked, found.look) == (40, 2)


def test_answers_for_other_rows_are_refused(learner, digits):
    rows = learner.audit(20)
    other = next(row for row in range(240) if row not in rows)
    with pytest.raises(InvalidInputError, match="not drawn"):
        learner.certify({other: 1})
    with pytest.raises(InvalidInputError, match="20 rows were drawn and 2"):
        learner.certify([1, 2])


def test_an_audit_does_not_vouch_for_labels_learned_after_it(learner, digits):
    with pytest.raises(InvalidInputError, match="no audit"):
        learner.certify([])
    rows = learner.audit(20)
    learner.update(rows, digits[1][rows])  # now all of them are right
    with pytest.raises(InvalidInputError, match="no audit"):
        learner.certify(digits[1][rows])


def test_an_area_that_is_labelled_at_once_leaves_no_other_row_unlike(digits):
    points, targets = digits
    labels = np.full(len(targets), -1)
    labels[:12] = targets[:12]
    labels[targets == 0] = 0
    learner = ManifoldClassifier("poisson", random_state=0).fit(points, labels)
    assert learner.unlike_.mean() < 0.1
    assert not any("ONE PART" in one for one in learner.report_.warnings)
