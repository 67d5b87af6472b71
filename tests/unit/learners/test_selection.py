"""Splits hold out labels only; scores count labelled rows only."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss, r2_score
from sklearn.model_selection import GridSearchCV, KFold, check_cv, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from beltrami.core.errors import DegenerateDataWarning, InvalidInputError
from beltrami.data import two_moons
from beltrami.learners.selection import (
    SemiSupervisedSplit,
    accuracy_scorer,
    balanced_accuracy_scorer,
    labeled_accuracy,
    labeled_r2,
    labeled_scorer,
    log_loss_scorer,
    mean_squared_error_scorer,
    r2_scorer,
)
from beltrami.learners.spectral.estimators import EigenfunctionClassifier, EigenfunctionRegressor

MOONS = two_moons(120, random_state=0)


def moons_with_gaps() -> np.ndarray:
    y = np.full(120, -1)
    y[::5] = MOONS.targets[::5]
    return y


def pairs(y, n_splits=5, **options):
    return list(SemiSupervisedSplit(n_splits, **options).split(np.zeros((len(y), 1)), y))


class Parrot:
    """Answers with what it was given."""

    def __init__(self, answers, *, kind="classifier", classes=None):
        self.answers, self.kind, self.classes_ = np.asarray(answers), kind, classes

    def predict(self, X):
        return self.answers

    predict_proba = predict

    def __sklearn_tags__(self):
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=self.kind, target_tags=TargetTags(required=True))


# --- splits ------------------------------------------------------------------


@given(
    counts=st.lists(st.integers(1, 12), min_size=1, max_size=5),
    n_gaps=st.integers(0, 10),
    n_splits=st.integers(2, 5),
    shuffle=st.booleans(),
    seed=st.integers(0, 1000),
)
@pytest.mark.filterwarnings("ignore::beltrami.core.errors.DegenerateDataWarning")
def test_every_split_keeps_its_promises(counts, n_gaps, n_splits, shuffle, seed):
    counts = [*counts, 5]
    y = np.repeat(np.arange(-1, len(counts)), [n_gaps, *counts])
    y = np.random.default_rng(seed).permutation(y)
    found = pairs(y, n_splits, shuffle=shuffle, random_state=seed)
    assert len(found) == n_splits
    held_out = np.concatenate([test for _, test in found])
    can_be_held_out = np.flatnonzero((y >= 0) & (np.array([*counts, 0])[y] > 1))
    assert sorted(held_out) == can_be_held_out.tolist()
    for train, test in found:
        assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(y)))
        assert set(np.flatnonzero(y < 0)) <= set(train)
        assert set(y[train]) >= set(range(len(counts)))
        assert len(test) > 0
    sizes = [len(test) for _, test in found]
    assert max(sizes) - min(sizes) <= 1
    for label in range(len(counts)):
        shares = [int((y[test] == label).sum()) for _, test in found]
        assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize(
    "y",
    [
        ["a", "b", None, "a", "b", "", np.nan, -1],
        np.array(["a", "b", "", "a", "b", "", "", ""]),
        np.array(["a", "b", None, "a", "b", None, np.nan, pd.NA], dtype=object),
        pd.Series([3, 7, None, 3, 7, None, None, None], dtype="Int64"),
        pd.Categorical(["a", "b", None, "a", "b", None, None, None]),
        [True, False, None, True, False, None, None, None],
        np.array([3.0, 7.0, np.nan, 3.0, 7.0, np.nan, np.nan, np.nan]),
    ],
    ids=["list", "str", "object", "Int64", "categorical", "bool", "whole floats"],
)
def test_targets_of_every_type_are_stratified(y):
    found = pairs(y, 2, random_state=3)
    for train, test in found:
        assert set(train) >= {2, 5, 6, 7}
        assert sorted(test % 3) == [0, 1]  # one row of each class
        assert len(test) == 2


def test_floats_that_are_not_all_whole_get_plain_folds_in_which_minus_one_is_a_number():
    y = np.array([0.5, np.nan, -1.0, 2.0, 2.0, np.nan, 3.25, 7.0])
    rows = np.array([0, 2, 3, 4, 6, 7])
    found = pairs(y, 3, shuffle=False)
    for (_, test), (_, expected) in zip(found, KFold(3).split(rows), strict=True):
        assert_array_equal(test, rows[expected])
    assert all({1, 5} <= set(train) for train, _ in found)
    drawn = pairs(y, 3, random_state=0)
    assert sorted(np.concatenate([test for _, test in drawn])) == rows.tolist()
    assert [t.tolist() for _, t in drawn] != [t.tolist() for _, t in found]


def test_a_marker_of_ones_own_and_none_are_understood():
    y = np.array([0, 0, 5, 6, 5, 6, -1, -1])
    assert all({0, 1} <= set(train) for train, _ in pairs(y, 2, unlabeled=0))
    held_out = np.concatenate([test for _, test in pairs(y, 2, unlabeled=None)])
    assert sorted(held_out) == list(range(8))


def test_the_only_label_of_a_class_is_never_held_out_and_a_warning_names_the_class():
    y = ["a", "a", "b", "c", "a", "c", None]
    with pytest.warns(DegenerateDataWarning, match=r"1 of 3 classes have a single label \(b\)"):
        found = pairs(y, 2)
    assert all(2 in train for train, _ in found)


def test_too_few_labels_are_refused_with_numbers():
    with pytest.raises(InvalidInputError, match="n_splits=5 and only 3 of 7 rows"):
        pairs([1, 1, 1, -1, -1, -1, -1])
    with pytest.raises(InvalidInputError, match=r"largest of 3 classes, 'b', has 3 label\(s\)"):
        pairs(["a", "b", "b", "b", "c", "c", "a", None], 4)
    with pytest.raises(InvalidInputError, match="only 2 of 4 rows"):
        pairs([0.5, np.nan, np.nan, 1.5], 3)
    with pytest.raises(InvalidInputError, match="only 0 of 3 rows"):
        pairs([None, None, None], 2)
    with pytest.raises(InvalidInputError, match="Whole numbers are read as classes"):
        pairs(np.arange(20.0))


@pytest.mark.parametrize("n_splits", [1, 0, 2.5, "3", True])
def test_wrong_numbers_of_folds_are_refused(n_splits):
    with pytest.raises(InvalidInputError, match="n_splits"):
        SemiSupervisedSplit(n_splits).get_n_splits()
    with pytest.raises(InvalidInputError, match="n_splits"):
        pairs(np.repeat([0, 1], 10), n_splits)


def test_wrong_targets_and_groups_are_refused():
    with pytest.raises(InvalidInputError, match="requires y"):
        next(SemiSupervisedSplit().split(np.zeros((4, 1))))
    with pytest.raises(InvalidInputError, match="4 rows and 3"):
        next(SemiSupervisedSplit().split(np.zeros((4, 1)), [0, 1, 0]))
    with pytest.raises(InvalidInputError, match="groups"):
        next(SemiSupervisedSplit(2).split([0] * 4, [0, 1, 0, 1], groups=[0, 0, 1, 1]))


def test_a_seed_gives_the_same_folds_each_time_and_no_seed_others():
    y = np.repeat([0, 1, -1], 30)
    splitter = SemiSupervisedSplit(random_state=5)
    one, two = (list(splitter.split(y, y)) for _ in range(2))
    for (_, first), (_, second) in zip(one, two, strict=True):
        assert_array_equal(first, second)
    assert any(set(a[1]) != set(b[1]) for a, b in zip(one, pairs(y, random_state=6), strict=True))
    assert any(set(a[1]) != set(b[1]) for a, b in zip(pairs(y), pairs(y), strict=True))
    np.random.seed(0)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    pairs(y)
    assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_a_splitter_prints_and_is_taken_as_scikit_learn_splitters_are():
    splitter = SemiSupervisedSplit(3, random_state=0)
    assert " ".join(repr(splitter).split()) == (
        "SemiSupervisedSplit(n_splits=3, random_state=0, shuffle=True, unlabeled='auto')"
    )
    assert check_cv(splitter) is splitter
    assert splitter.get_n_splits() == 3


def test_cross_validation_of_a_learner_uses_the_unlabelled_rows_and_scores_the_others():
    splitter = SemiSupervisedSplit(4, random_state=0)
    learner = EigenfunctionClassifier(n_eigenvectors=4)
    for y in (moons_with_gaps(), np.array([None, "left", "right"])[moons_with_gaps() + 1]):
        scores = cross_val_score(learner, MOONS.points, y, cv=splitter, scoring=accuracy_scorer)
        assert scores.shape == (4,)
        assert scores.mean() > 0.75
        assert_allclose(scores, cross_val_score(learner, MOONS.points, y, cv=splitter))


def test_a_grid_search_over_a_pipeline_understands_the_marker_of_its_last_step():
    y = np.where(moons_with_gaps() < 0, 9, moons_with_gaps())
    pipeline = make_pipeline(StandardScaler(), EigenfunctionClassifier(unlabeled=9))
    search = GridSearchCV(
        pipeline,
        {"eigenfunctionclassifier__n_eigenvectors": [2, 5]},
        cv=SemiSupervisedSplit(3, unlabeled=9, random_state=0),
        scoring=balanced_accuracy_scorer,
    ).fit(MOONS.points, y)
    assert search.best_score_ > 0.75
    right = search.predict(MOONS.points)[::5] == MOONS.targets[::5]
    assert accuracy_scorer(search, MOONS.points, y) == pytest.approx(right.mean())


def test_cross_validation_of_a_regressor_scores_values():
    y = np.where(np.arange(120) % 3 == 0, MOONS.points[:, 0], np.nan)
    for scorer, least in ((r2_scorer, 0.5), (mean_squared_error_scorer, -0.5)):
        scores = cross_val_score(
            EigenfunctionRegressor(n_eigenvectors=8),
            MOONS.points,
            y,
            cv=SemiSupervisedSplit(4, random_state=0),
            scoring=scorer,
        )
        assert (scores > least).all()


# --- scores ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "predicted", "expected"),
    [
        ([0, 1, -1, 1], np.array([0, 0, 1, 1]), 2 / 3),
        (["a", "b", None, "b"], np.array(["a", "a", "b", "b"]), 2 / 3),
        (["a", "b", "", "b"], np.array(["a", "", "b", "b"]), 2 / 3),
        (["a", "b", None, "b"], np.array(["a", None, "b", "b"], dtype=object), 2 / 3),
        (["a", "b", pd.NA, "b"], np.array(["a", pd.NA, pd.NA, "b"], dtype=object), 2 / 3),
        (["a", "b", -1, "b"], np.array(["a", -1, -1, "b"], dtype=object), 2 / 3),
        ([0, 1, -1, 1], np.array([0, -1, -1, 1]), 2 / 3),
        ([True, False, None, True], np.array([True, None, None, True], dtype=object), 2 / 3),
        (np.array([0, 1, np.nan, 1]), np.array([0, np.nan, np.nan, 1]), 2 / 3),
        (pd.Series([0, 1, None, 1], dtype="Int64"), pd.Series([0, 0, 1, 1]), 2 / 3),
        ([3, 3, 3, 3], np.array([3, 3, 3, 4]), 3 / 4),
        (["only", None], ["only", "other"], 1),
        ([5, -1], np.array([-1, -1]), 0),
    ],
)
def test_accuracy_counts_labelled_rows_and_a_marker_as_wrong(y, predicted, expected):
    assert labeled_accuracy(y, predicted) == pytest.approx(expected)


def test_accuracy_understands_other_markers():
    assert labeled_accuracy([0, 1, 2], np.array([0, 1, 1]), unlabeled=0) == 0.5
    assert labeled_accuracy([-1, 1, 1], np.array([-1, 1, 1]), unlabeled=None) == 1
    lost = np.array([None, 1, -1], dtype=object)
    assert labeled_accuracy([-1, 1, -1], lost, unlabeled=None) == pytest.approx(2 / 3)


def test_accuracy_is_weighted_by_the_rows_that_count():
    weights = [3.0, 1.0, np.nan]
    assert labeled_accuracy([0, 1, -1], np.array([0, 0, 0]), sample_weight=weights) == 0.75
    with pytest.raises(InvalidInputError, match="sample_weight"):
        labeled_accuracy([0, 1, -1], np.array([0, 0, 0]), sample_weight=[1.0, 1.0])


def test_accuracy_refuses_what_cannot_be_scored():
    with pytest.raises(InvalidInputError, match="none of its 2 rows"):
        labeled_accuracy([-1, -1], np.array([0, 1]))
    with pytest.raises(InvalidInputError, match="3 rows and 2 labels"):
        labeled_accuracy([0, 1], np.array([0, 1, 1]))
    with pytest.raises(InvalidInputError, match=r"shape \(2, 2\)"):
        labeled_accuracy([0, 1], np.eye(2))
    with pytest.raises(InvalidInputError, match="texts and numbers"):
        labeled_accuracy([0, 1], np.array(["0", "1"]))
    with pytest.raises(InvalidInputError, match="continuous"):
        labeled_accuracy([0.5, 1], np.array([0, 1]))


def test_r2_is_that_of_scikit_learn_on_the_labelled_rows():
    rng = np.random.default_rng(0)
    y, predicted, weights = rng.standard_normal((3, 30))
    weights, y[-10:], predicted[-10:] = np.abs(weights), np.nan, 1e6
    assert labeled_r2(y, predicted) == pytest.approx(r2_score(y[:20], predicted[:20]))
    assert labeled_r2(y, predicted, sample_weight=weights) == pytest.approx(
        r2_score(y[:20], predicted[:20], sample_weight=weights[:20])
    )
    assert labeled_r2([None, -1, 2], [0, -1, 2]) == 1  # -1 is a number
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(labeled_r2([1.0, np.nan], [1.0, 2.0]))
    with pytest.raises(InvalidInputError, match="no value at all"):
        labeled_r2([np.nan, np.nan], [1.0, 2.0])
    with pytest.raises(InvalidInputError, match="2 rows and 3"):
        labeled_r2([1.0, 2.0, 3.0], [1.0, 2.0])


# --- scorers -----------------------------------------------------------------

X = np.zeros((5, 1))
Y = ["a", "b", None, "b", "b"]
ANSWERS = np.array(["a", "b", "a", "a", "b"])
ROWS = [0, 1, 3, 4]


def test_class_scorers_are_those_of_scikit_learn_on_the_labelled_rows():
    parrot, truth = Parrot(ANSWERS), np.array(["a", "b", "b", "b"])
    weights = np.array([1.0, 2.0, np.nan, 3.0, 4.0])
    assert accuracy_scorer(parrot, X, Y) == 0.75
    assert accuracy_scorer(parrot, X, Y, sample_weight=weights) == pytest.approx(0.7)
    assert balanced_accuracy_scorer(parrot, X, Y) == pytest.approx(
        balanced_accuracy_score(truth, ANSWERS[ROWS])
    )
    assert balanced_accuracy_scorer(parrot, X, Y, sample_weight=weights) == pytest.approx(
        balanced_accuracy_score(truth, ANSWERS[ROWS], sample_weight=weights[ROWS])
    )


def test_balanced_accuracy_takes_markers_as_wrong_and_leaves_out_classes_that_count_nothing():
    lost = Parrot(np.array(["a", None, "a", "a", "b"], dtype=object))
    assert balanced_accuracy_scorer(lost, X, Y) == pytest.approx((1 + 1 / 3) / 2)
    only_b = balanced_accuracy_scorer(lost, X, Y, sample_weight=[0, 1, 1, 1, 1])
    assert only_b == pytest.approx(1 / 3)


def test_log_loss_knows_the_classes_that_a_fold_lacks():
    probabilities = np.array([[0.2, 0.5, 0.3], [0.1, 0.8, 0.1], [1, 0, 0], [0.3, 0.3, 0.4]])
    parrot = Parrot(probabilities, classes=np.array(["a", "b", "c"]))
    found = log_loss_scorer(parrot, X[:4], ["b", "b", None, "a"])
    assert found == pytest.approx(np.log([0.5, 0.8, 0.3]).mean())
    weighted = log_loss_scorer(parrot, X[:4], ["b", "b", None, "a"], sample_weight=[1, 1, 5, 2])
    assert weighted == pytest.approx(np.log([0.5, 0.8, 0.3, 0.3]).mean())


def test_value_scorers_count_rows_with_a_value():
    parrot = Parrot([1.0, 2.0, 50.0, -1.0], kind="regressor")
    y = [0.0, 2.0, np.nan, -1.0]
    assert mean_squared_error_scorer(parrot, X[:4], y) == pytest.approx(-1 / 3)
    assert mean_squared_error_scorer(parrot, X[:4], y, sample_weight=[2, 1, 9, 1]) == -0.5
    assert r2_scorer(parrot, X[:4], y) == pytest.approx(r2_score([0, 2, -1], [1, 2, -1]))


def test_a_scorer_of_ones_own_gets_truth_and_answers_of_the_labelled_rows():
    def pairs_of(truth, answers):
        assert (truth.tolist(), answers.tolist()) == (["a", "b", "b", "b"], ["a", "b", "a", "b"])
        return 3.0

    assert labeled_scorer(pairs_of, sign=-1)(Parrot(ANSWERS), X, Y) == -3
    macro = labeled_scorer(lambda truth, answers: f1_score(truth, answers, average="macro"))
    assert 0 < macro(Parrot(ANSWERS), X, Y) < 1
    with pytest.raises(InvalidInputError, match="'predict', 'predict_proba'"):
        labeled_scorer(log_loss, response="decision_function")


def test_scorers_serve_estimators_of_scikit_learn_and_travel_to_other_processes():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((40, 2))
    y = (points[:, 0] > 0).astype(int)
    points.setflags(write=False)
    for scorer in (accuracy_scorer, balanced_accuracy_scorer, log_loss_scorer):
        scores = cross_val_score(LogisticRegression(), points, y, scoring=scorer, cv=3)
        model = LogisticRegression().fit(points, y)
        assert np.isfinite(scores).all()
        copy = pickle.loads(pickle.dumps(scorer))
        assert copy(model, points, y) == scorer(model, points, y)
    line = LinearRegression().fit(points, points[:, 0])
    assert r2_scorer(line, points, points[:, 0]) == pytest.approx(1)
    with pytest.raises(InvalidInputError, match="none of its 40 rows"):
        accuracy_scorer(DummyClassifier().fit(points, y), points, np.full(40, -1))
