"""What other rooms ask of a learner is said by functions, and nobody reaches into it."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import beltrami
from beltrami import ManifoldClassifier, two_moons
from beltrami.core.errors import BeltramiWarning
from beltrami.front_door.insight import count_changes, count_pieces, given_rows, judgement_of

MOONS = two_moons(200, noise=0.15, random_state=0)
NAMES = np.array(["upper", "lower"])[MOONS.targets]


@pytest.fixture(scope="module")
def learner(few_trees):
    y = np.where(np.arange(200) % 20 == 0, NAMES, "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeltramiWarning)
        return ManifoldClassifier(random_state=0).fit(MOONS.points, y)


def test_given_rows_are_those_that_were_judged(learner):
    assert given_rows(learner).tolist() == list(range(0, 200, 20))
    assert judgement_of(learner).judged.rows.tolist() == list(range(0, 200, 20))


def test_changes_are_counted_without_the_rows_that_change_and_nothing_is_learned(learner):
    before = learner.label_distributions_.copy()
    rows = [row for row in range(200) if row % 20 == 1]
    learner_says = learner.transduction_
    other = "upper" if (learner_says[rows] == "lower").sum() > 5 else "lower"
    n = count_changes(learner, rows, other, 1.0)
    assert 0 < n <= 190
    assert count_changes(learner, rows[:1], learner_says[rows[0]], 1.0) < n
    assert count_changes(learner, rows[:1], "a third", 1.0) >= 0
    np.testing.assert_array_equal(learner.label_distributions_, before)
    assert learner.classes_.tolist() == ["lower", "upper"]


def test_pieces_are_counted_before_any_label_is_there():
    points = np.concatenate([MOONS.points, MOONS.points + 1000.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeltramiWarning)
        assert count_pieces(ManifoldClassifier(random_state=0).start(points)) == 2


def test_no_other_room_reaches_into_a_learner():
    root = Path(beltrami.__file__).parent
    rooms = ("cli", "doors", "labelling", "project", "report", "studio_server")
    files = [path for room in rooms for path in (root / room).rglob("*.py")]
    assert len(files) > 50
    for path in files:
        assert not re.search(r"\blearner\._", path.read_text(encoding="utf-8")), path.name
