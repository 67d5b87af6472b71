"""The classifier at the front door: labels of any type, probabilities, sets, reports."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from beltrami import ManifoldClassifier, load_dataset
from beltrami.core.errors import InvalidInputError
from beltrami.front_door.report import exact_bounds

pytestmark = pytest.mark.usefixtures("few_trees")

NAMES = np.array(["zero", "one", "two", "three"])


@pytest.fixture(scope="module")
def y(digits):
    labels = np.full(240, -1)
    labels[:40] = digits[1][:40]
    return labels


@pytest.fixture(scope="module")
def fitted(digits, y):
    return ManifoldClassifier(random_state=0).fit(digits[0], y)


def test_most_rows_are_labelled_right_and_given_labels_are_kept(fitted, digits, y):
    assert (fitted.transduction_ == digits[1]).mean() > 0.95
    np.testing.assert_array_equal(fitted.transduction_[:40], y[:40])


def test_probabilities_are_finite_and_sum_to_one(fitted, digits):
    new = np.vstack([digits[0][:5], digits[0][:5] * 0.5, 1e3 * np.ones((1, 64))])
    for found in (fitted.label_distributions_, fitted.predict_proba(new)):
        assert np.isfinite(found).all()
        assert (found >= 0).all()
        np.testing.assert_allclose(found.sum(axis=1), 1)


def test_new_points_equal_to_old_ones_get_the_same_class(fitted, digits, y):
    free = y < 0
    found = fitted.predict(digits[0])
    np.testing.assert_array_equal(found[free], fitted.transduction_[free])
    np.testing.assert_allclose(
        fitted.predict_proba(digits[0])[free], fitted.label_distributions_[free], atol=1e-3
    )


def test_labels_of_any_type_give_the_same_answer(fitted, digits, y):
    text = np.where(y >= 0, NAMES[y], "")
    objects = np.array([None if code < 0 else int(code) for code in y], dtype=object)
    named = clone(fitted).fit(digits[0], text)
    expected = fitted.transduction_
    np.testing.assert_array_equal(named.transduction_, NAMES[expected])
    numbered = clone(fitted).fit(digits[0], objects)
    np.testing.assert_array_equal(numbered.transduction_, expected)
    np.testing.assert_array_equal(numbered.label_distributions_, fitted.label_distributions_)


def test_the_index_of_a_table_names_the_rows(digits, y):
    table = pd.DataFrame(digits[0], index=[f"id{i}" for i in range(240)])
    table.columns = [f"pixel{i}" for i in range(64)]
    learner = ManifoldClassifier("poisson").fit(table, y)
    assert learner.names_[3] == "id3"
    plain = ManifoldClassifier("poisson").fit(digits[0], y)
    np.testing.assert_array_equal(plain.names_, np.arange(240))


def test_sparse_data_are_compared_by_angle(digits, y):
    learner = ManifoldClassifier("regularized", random_state=0).fit(csr_array(digits[0]), y)
    assert (learner.transduction_ == digits[1]).mean() > 0.95
    assert any("angle" in reason for reason in learner.report_.preparation)
    assert len(learner.predict(csr_array(digits[0][:7]))) == 7


def test_a_declared_class_without_a_label_has_no_chance(digits, y):
    learner = ManifoldClassifier(classes=[0, 1, 2, 3, 9], random_state=0).fit(digits[0], y)
    assert learner.classes_.tolist() == [0, 1, 2, 3, 9]
    assert (learner.label_distributions_[:, 4] == 0).all()
    assert (learner.predict_proba(digits[0][:9])[:, 4] == 0).all()


def test_labels_of_one_class_among_declared_ones_are_enough(digits):
    y = np.full(240, -1)
    y[:3] = 1
    learner = ManifoldClassifier(classes=[0, 1], random_state=0).fit(digits[0], y)
    assert (learner.transduction_ == 1).all()


def test_other_labels_on_the_same_graph_equal_a_fresh_fit(fitted, digits):
    y = np.full(240, -1)
    y[100:130] = digits[1][100:130]
    again = clone(fitted).fit(digits[0], np.where(np.arange(240) < 40, digits[1], -1))
    graph = again.graph_
    again.fit_labels(y)
    fresh = clone(fitted).fit(digits[0], y)
    assert again.graph_ is graph
    np.testing.assert_array_equal(again.transduction_, fresh.transduction_)
    np.testing.assert_allclose(again.label_distributions_, fresh.label_distributions_, atol=1e-6)


@pytest.mark.parametrize("method", ["laplacian_rls", "laplacian_svc"])
def test_landmarks_are_drawn_alike_for_the_labels_at_hand(method, digits, y, monkeypatch):
    monkeypatch.setattr("beltrami.front_door.deciding.candidates.EXACT_MACHINE_ROWS", 200)
    monkeypatch.setattr("beltrami.front_door.deciding.candidates._LANDMARKS", 60)
    other = np.full(240, -1)
    other[100:130] = digits[1][100:130]
    again = ManifoldClassifier(method).fit(digits[0], y)
    machine = again._committee.members[method]._learner
    assert machine.approximation_.method == "nystrom"
    again.fit_labels(other)
    fresh = ManifoldClassifier(method).fit(digits[0], other)
    np.testing.assert_array_equal(again.label_distributions_, fresh.label_distributions_)


def test_an_unknown_method_is_refused_with_the_known_ones(digits, y):
    with pytest.raises(InvalidInputError, match=r"method='magic' is not known.*poisson"):
        ManifoldClassifier("magic").fit(digits[0], y)


def test_another_method_can_be_asked_for_on_the_same_graph(digits, y):
    learner = ManifoldClassifier("poisson").fit(digits[0], y)
    learner.set_params(method="neighbors").fit_labels(y)
    assert learner.method_ == "neighbors"
    learner.set_params(method="regularized").fit_labels(y)
    fresh = ManifoldClassifier("regularized").fit(digits[0], y)
    np.testing.assert_allclose(learner.label_distributions_, fresh.label_distributions_)


def test_where_the_graph_knows_nothing_the_baseline_answers_and_the_report_says_so():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(250, 9))
    truth = (points[:, :3] @ [2.0, -2.0, 1.0] > 0).astype(int)
    y = np.where(np.arange(250) < 100, truth, -1)
    learner = ManifoldClassifier(random_state=0).fit(points, y)
    assert learner.report_.members[0].name == "logistic"
    assert "a mixture answers: logistic regression, labels alone" in str(learner.report_)
    assert learner.report_.best_baseline.name == "logistic"


def test_the_report_counts_what_was_held_out(fitted):
    report = fitted.report_
    assert (report.n_rows, report.n_labels, report.n_classes) == (240, 40, 4)
    assert report.n_held_out == 40
    low, high = report.bounds
    assert low < report.held_out_accuracy <= high
    assert len(report.members) == 7
    assert sum(one.weight for one in report.members) == pytest.approx(1)
    assert str(report).startswith("240 rows, 40 labelled, 4 classes")


def test_single_labels_are_warned_of(digits):
    y = np.full(240, -1)
    for code in range(4):
        y[np.flatnonzero(digits[1] == code)[0]] = code
    learner = ManifoldClassifier("poisson").fit(digits[0], y)
    assert learner.report_.n_held_out == 0
    assert "4 class(es) have a single label" in learner.report_.warnings[0]
    assert "none could be held out" in str(learner.report_)


def test_the_exact_bounds_of_all_right_are_the_rule_of_three():
    low, high = exact_bounds(60, 60)
    assert low == pytest.approx(0.025 ** (1 / 60))
    assert high == 1
    assert exact_bounds(0, 0) == (0, 1)


def test_risk_sets_the_least_sure_rows_aside():
    rng = np.random.default_rng(0)
    truth = np.arange(300) % 2
    points = rng.normal(size=(300, 2)) + 1.5 * truth[:, None]
    y = np.where(np.arange(300) < 40, truth, -1)
    careful = ManifoldClassifier("logistic", risk=0.05).fit(points, y)
    free = y < 0
    assert 20 < (~careful.accepted_).sum() < 200
    own = careful.accepted_ & free
    assert 1 - careful.confidence_[own].mean() <= 0.05
    assert careful.confidence_[own].min() > careful.confidence_[~careful.accepted_].max()
    assert careful.accepted_[~free].all()
    with pytest.raises(InvalidInputError, match="risk"):
        ManifoldClassifier(risk=2).fit(points, y)


def test_sets_hold_the_true_class_about_as_often_as_asked():
    digits = load_dataset("digits")
    rows = np.random.default_rng(0).permutation(1797)[:500]
    points, truth = digits.points[rows], digits.targets[rows]
    y = np.where(np.arange(500) < 150, truth, -1)
    learner = ManifoldClassifier("regularized").fit(points[:400], y[:400])
    for coverage in (0.8, 0.95):
        sets = learner.prediction_sets(coverage)
        assert (sets[150:][np.arange(250), truth[150:400]]).mean() > coverage - 0.07
        assert (sets[:150].sum(axis=1) == 1).all()
        assert sets[np.arange(150), truth[:150]].all()
        new = learner.predict_set(points[400:], coverage)
        assert new[np.arange(100), truth[400:]].mean() > coverage - 0.1
        assert new.any(axis=1).all()
    whole = learner.prediction_sets(0.999)  # more than 150 labels can vouch for
    assert whole[150:].all()
    assert (whole[:150].sum(axis=1) == 1).all()
    small, large = learner.predict_set(points, 0.8), learner.predict_set(points, 0.99)
    assert (small <= large).all()


def test_sets_of_classes_that_overlap_are_as_large_as_the_coverage_needs():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, size=600)
    points = rng.normal(size=(600, 2)) + 1.5 * truth[:, None]
    y = np.where(np.arange(600) < 200, truth, -1)
    learner = ManifoldClassifier("logistic").fit(points, y)
    assert (learner.transduction_ == truth)[200:].mean() < 0.9
    for coverage in (0.9, 0.97):
        sets = learner.prediction_sets(coverage)[200:]
        assert sets[np.arange(400), truth[200:]].mean() == pytest.approx(coverage, abs=0.05)
        assert sets.sum(axis=1).mean() > 1.02
        np.testing.assert_array_equal(learner.predict_set(points[200:], coverage), sets)


def test_unfitted_it_says_so(digits):
    with pytest.raises(NotFittedError):
        ManifoldClassifier().predict(digits[0])
    with pytest.raises(NotFittedError):
        ManifoldClassifier().prediction_sets()


def test_a_label_of_weight_zero_is_no_label(digits, y):
    weights = np.ones(240)
    weights[30:40] = 0
    learner = ManifoldClassifier("poisson").fit(digits[0], y, sample_weight=weights)
    fewer = ManifoldClassifier("poisson").fit(digits[0], np.where(np.arange(240) < 30, y, -1))
    np.testing.assert_allclose(learner.label_distributions_, fewer.label_distributions_)


def test_a_tiny_time_budget_labels_all_rows_and_says_what_was_left_out(digits, y):
    learner = ManifoldClassifier(random_state=0, time_budget=0.001).fit(digits[0], y)
    assert learner.method_ == "poisson"
    assert learner.accepted_.all()
    assert (learner.transduction_ == digits[1]).mean() > 0.9
    first = learner.report_.warnings[0]
    assert "6 of 7 methods were left out for time" in first
    assert "the time budget of 0.001 s was spent" in first
    assert "graph regularisation" in first
    assert "--budget" in first


def test_without_a_budget_nothing_is_said_of_time(fitted):
    assert not any("for time" in line for line in fitted.report_.warnings)


def test_a_risk_that_no_row_meets_is_given_as_the_reason(digits, y):
    learner = ManifoldClassifier("logistic", random_state=0, risk=0.0).fit(digits[0], y)
    assert not learner.accepted_[40:].any()
    assert "no label is accepted beside those given: risk=0" in learner.report_.warnings[0]


def test_new_points_unlike_any_label_are_doubted_as_rows_are():
    rng = np.random.default_rng(4)
    truth = np.repeat([0, 1, 2], 100)
    centers = np.array([[0.0, 0, 0, 0], [3.2, 0, 0, 0], [1.6, 3.0, 0, 0]])
    points = centers[truth] + 0.7 * rng.normal(size=(300, 4))
    y = np.full(300, -1)
    y[:12], y[100:112] = 0, 1
    learner = ManifoldClassifier(random_state=0).fit(points, y)
    unlike = np.flatnonzero(learner.unlike_)
    assert len(unlike) > 30
    assert (truth[unlike] == 2).mean() > 0.9
    again = learner.predict_proba(points[unlike]).max(axis=1)
    np.testing.assert_allclose(again, learner.confidence_[unlike], atol=1e-5)
    assert again.max() < 0.51
    labelled = learner.predict_proba(points[:12]).max(axis=1)
    assert labelled.min() > 0.6


def test_priors_that_labels_speak_against_are_told_and_promise_nothing():
    rng = np.random.default_rng(6)
    truth = np.arange(200) % 2
    points = rng.normal(size=(200, 3)) + 6 * truth[:, None]
    y = np.where(np.arange(200) < 12, truth, -1)

    def fit(**options):
        return ManifoldClassifier(random_state=0, risk=0.05, **options).fit(points, y)

    wrong = fit(priors=[0.99, 0.01])
    assert any("PRIORS CONTRADICT" in line for line in wrong.report_.warnings)
    assert wrong.accepted_.sum() == 12
    bare = fit(classes=[0, 1, 2], priors=[0.1, 0.1, 0.8])
    assert any("80 % of the rows to classes without" in line for line in bare.report_.warnings)
    assert bare.accepted_.sum() == 12
    right = fit(priors=[0.5, 0.5])
    assert not any("priors" in line.lower() for line in right.report_.warnings)
    assert right.accepted_.mean() > 0.9
    assert bare.confidence_.mean() < right.confidence_.mean()
