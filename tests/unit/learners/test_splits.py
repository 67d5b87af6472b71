"""Splits hold out labels only."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.model_selection import GridSearchCV, KFold, check_cv, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from beltrami.core.errors import DegenerateDataWarning, InvalidInputError
from beltrami.data import two_moons
from beltrami.learners.semi_supervised_split import SemiSupervisedSplit
from beltrami.learners.spectral.estimators import EigenfunctionClassifier, EigenfunctionRegressor
from beltrami.learners.splits import deal_folds

MOONS = two_moons(120, random_state=0)


def moons_with_gaps() -> np.ndarray:
    y = np.full(120, -1)
    y[::5] = MOONS.targets[::5]
    return y


def pairs(y, n_splits=5, **options):
    return list(SemiSupervisedSplit(n_splits, **options).split(np.zeros((len(y), 1)), y))


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
        scores = cross_val_score(learner, MOONS.points, y, cv=splitter)
        assert scores.shape == (4,)
        assert scores.mean() > 0.75


def test_a_grid_search_over_a_pipeline_understands_the_marker_of_its_last_step():
    y = np.where(moons_with_gaps() < 0, 9, moons_with_gaps())
    pipeline = make_pipeline(StandardScaler(), EigenfunctionClassifier(unlabeled=9))
    search = GridSearchCV(
        pipeline,
        {"eigenfunctionclassifier__n_eigenvectors": [2, 5]},
        cv=SemiSupervisedSplit(3, unlabeled=9, random_state=0),
    ).fit(MOONS.points, y)
    assert search.best_score_ > 0.75
    right = search.predict(MOONS.points)[::5] == MOONS.targets[::5]
    assert search.score(MOONS.points, y) == pytest.approx(right.mean())


def test_cross_validation_of_a_regressor_scores_values():
    y = np.where(np.arange(120) % 3 == 0, MOONS.points[:, 0], np.nan)
    splitter = SemiSupervisedSplit(4, random_state=0)
    scores = cross_val_score(EigenfunctionRegressor(n_eigenvectors=8), MOONS.points, y, cv=splitter)
    assert (scores > 0.5).all()


def test_folds_are_dealt_in_turn_or_in_runs_and_go_on_from_class_to_class():
    strata = np.array([0, 0, 0, 1, -1, 2, 2])
    assert deal_folds(strata, 2).tolist() == [0, 1, 0, -1, -1, 1, 0]
    assert deal_folds(strata, 2, in_runs=True).tolist() == [0, 0, 1, -1, -1, 0, 1]
