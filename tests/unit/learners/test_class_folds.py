"""Labels put aside in folds: each fold has every class, and single labels stay."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beltrami.learners.model import Labeled
from beltrami.learners.splits import class_folds, typical_count


def _labeled(codes):
    codes = np.asarray(codes)
    count = len(codes)
    return Labeled(2 * np.arange(count), np.eye(codes.max() + 1)[codes], np.ones(count))


def test_five_folds_hold_one_label_of_each_class_of_five():
    labeled = _labeled(np.repeat([0, 1, 2], 5))
    found = list(class_folds(labeled))
    assert len(found) == 5
    for rest, aside in found:
        assert sorted(labeled.targets[aside].argmax(axis=1)) == [0, 1, 2]
        assert len(rest.rows) == 12


def test_two_labels_a_class_make_two_folds():
    found = [aside.tolist() for _, aside in class_folds(_labeled([0, 0, 1, 1]))]
    assert found == [[0, 2], [1, 3]]


def test_the_only_label_of_a_class_always_stays():
    labeled = _labeled([0, 0, 0, 1, 2, 2])
    aside = np.concatenate([aside for _, aside in class_folds(labeled)])
    assert sorted(aside) == [0, 1, 2, 4, 5]
    assert all(6 in rest.rows for rest, _ in class_folds(labeled))


def test_nothing_is_put_aside_where_every_class_has_one_label():
    assert list(class_folds(_labeled([0, 1, 2]))) == []
    assert typical_count(_labeled([0, 1, 2])) == 0


@given(st.lists(st.integers(0, 3), min_size=2, max_size=40))
def test_every_label_that_can_be_is_put_aside_once_and_its_class_never_vanishes(codes):
    labeled = _labeled(codes)
    counts = labeled.targets.sum(axis=0)
    seen = []
    for rest, aside in class_folds(labeled):
        assert not set(rest.rows) & set(labeled.rows[aside])
        assert (rest.targets.any(axis=0) == (counts > 0)).all()
        seen += aside.tolist()
    assert sorted(seen) == [i for i, code in enumerate(codes) if counts[code] > 1]


def test_of_many_labels_a_sample_is_put_aside_and_the_rest_stay():
    labeled = _labeled(np.arange(1200) % 2)
    found = list(class_folds(labeled))
    assert sum(len(aside) for _, aside in found) == 1000
    for rest, aside in found:
        assert len(rest.rows) == 1200 - len(aside)
        assert not set(rest.rows) & set(labeled.sample().rows[aside])
