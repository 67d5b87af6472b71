"""Points that stand for many and lie apart from all labels."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beltrami import KnnGraph, ManifoldClassifier
from beltrami.front_door.apart import stand_apart
from beltrami.front_door.kept.file import read_labeller
from beltrami.front_door.kept.labeller import KeptLabeller

N_FEW, N_USUAL = 4, 300


def cloud(n_far: int = N_FEW, distance: float = 50.0) -> Any:
    """Return points of which the last lie far from all others and close to each other."""
    rng = np.random.default_rng(0)
    usual = rng.normal(size=(N_USUAL, 2))
    far = distance + rng.normal(scale=0.05, size=(n_far, 2))
    return np.vstack([usual, far])


def apart(points: Any, masses: Any = None, labelled: Any = (0, 1)) -> Any:
    lists = KnnGraph(10).build(points).neighbors
    masses = np.ones(len(points)) if masses is None else masses
    spans = lists.distances[:, -1]
    return stand_apart(lists, spans, np.asarray(masses, float), np.asarray(labelled))


def test_a_few_far_from_all_labels_stand_apart_and_nobody_else():
    masses = np.r_[np.full(N_USUAL, 100.0), np.ones(N_FEW)]
    assert np.flatnonzero(apart(cloud(), masses)).tolist() == list(range(300, 304))


def test_one_label_among_them_speaks_for_all_of_them():
    masses = np.r_[np.full(N_USUAL, 100.0), np.ones(N_FEW)]
    assert not apart(cloud(), masses, labelled=[0, N_USUAL + 2]).any()


def test_what_stands_for_more_than_one_row_in_a_hundred_is_usual():
    masses = np.r_[np.full(N_USUAL, 100.0), np.full(N_FEW, 200.0)]
    assert not apart(cloud(), masses).any()


@pytest.mark.filterwarnings("ignore::beltrami.BeltramiWarning")
def test_those_with_their_own_neighbours_around_them_are_a_piece_and_not_apart():
    """A piece without a label is an island, which others tell."""
    masses = np.r_[np.full(N_USUAL, 100.0), np.ones(30)]
    assert not apart(cloud(30), masses).any()


def test_masses_of_nobody_call_nobody_usual():
    lists = KnnGraph(10).build(cloud()).neighbors
    nobody = stand_apart(lists, np.zeros(304), np.zeros(304), np.array([], dtype=np.intp))
    assert not nobody.any()


@pytest.mark.parametrize("times", [1, 3], ids=["each once", "each three times"])
def test_new_rows_whose_stand_in_is_apart_are_unlike_before_and_after_a_file(
    times: int, tmp_path: Path
):
    """Equal rows of the fit are one anchor, whose place must be found in the masses."""
    points = np.repeat(cloud(), times, axis=0)
    labels = np.full(len(points), None, dtype=object)
    given = np.arange(20) * times
    labels[given] = np.where(points[given, 0] > 0, "right", "left")
    learner = ManifoldClassifier(method="poisson", random_state=0).fit(points, labels)
    masses = np.where(points[:, 0] > 25, 1, 1000)
    kept = KeptLabeller.of_many(learner, masses)
    new = np.array([[50.0, 50.02], [0.5, 0.1], [-0.7, 0.2]])
    assert kept.judge(new).unlike.tolist() == [True, False, False]
    without = replace(kept, answerer=replace(kept.answerer, is_apart=None))
    assert not without.judge(new).unlike.any()
    again = read_labeller(kept.save(tmp_path / "one.beltrami"))[0]
    np.testing.assert_array_equal(again.answerer.is_apart, kept.answerer.is_apart)
    assert again.judge(new).unlike.tolist() == [True, False, False]
