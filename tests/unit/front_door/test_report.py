"""What the report says of the answers: warnings that are due, and percents that add up."""

import numpy as np
import pytest

from beltrami import ManifoldClassifier
from beltrami.front_door.doubts import _differ, doubts
from beltrami.front_door.report import whole_percents
from beltrami.review.guessing import BesideGuessing
from beltrami.review.issues import find_label_issues

pytestmark = pytest.mark.usefixtures("few_trees")

GOOD = BesideGuessing(20, 19, 0, 10, 1e-5)
NO_ISLAND = np.array([-1, -1])
ALL_LIKE = np.zeros(len(NO_ISLAND), dtype=bool)


@pytest.mark.parametrize(
    ("shares", "wanted"),
    [
        ([1 / 3, 1 / 3, 1 / 3], [34, 33, 33]),
        ([0.625, 0.125, 0.125, 0.125], [63, 13, 12, 12]),
        ([1.0, 0.0], [100, 0]),
        ([0.005, 0.995], [1, 99]),
    ],
)
def test_percents_add_up_to_a_hundred(shares, wanted):
    assert whole_percents(shares) == wanted


def test_percents_of_any_weights_add_up_to_a_hundred():
    for weights in np.random.default_rng(0).dirichlet(np.ones(7), 200):
        assert sum(whole_percents(weights)) == 100


def _false_alarms(draw, shares, accuracy, runs=400):
    rng = np.random.default_rng(0)
    return np.mean([_differ(draw(rng), shares, accuracy) for _ in range(runs)])


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.7, 0.2, 0.1], [0.9, 0.05, 0.03, 0.02]])
@pytest.mark.parametrize("total", [10, 30, 100])
def test_random_draws_are_rarely_called_unlike_the_rows(shares, total):
    def draw(rng):
        return rng.multinomial(total, shares).astype(float)

    assert _false_alarms(draw, np.array(shares), 1.0) <= 0.05


def test_random_draws_are_rarely_called_unlike_answers_that_are_partly_wrong():
    truth = np.array([0.7, 0.2, 0.1])
    wrongly = 0.8 * truth + 0.2 * np.array([0.0, 0.0, 1.0])  # a fifth goes to the last class

    def draw(rng):
        return rng.multinomial(60, truth).astype(float)

    assert _false_alarms(draw, wrongly, 0.8) <= 0.05


def test_equally_many_labels_of_each_class_are_no_fault():
    assert not _differ(np.full(10, 2.0), np.linspace(0.01, 0.19, 10), 1.0)


def test_labels_of_the_wrong_classes_are_seen():
    assert _differ(np.array([28.0, 2.0]), np.array([0.3, 0.7]), 0.95)
    said = doubts(
        np.array([28.0, 2.0]),
        np.array([0.3, 0.7]),
        ("a", "b"),
        0.95,
        GOOD,
        island=NO_ISLAND,
        unlike=ALL_LIKE,
    )
    assert "'a': 93 % of the labels, 30 % of the answers" in said[0]
    assert "certify" not in said[0]


def test_answers_no_better_than_one_class_are_said_loudly_and_first():
    beside = BesideGuessing(20, 11, 1, 10, 0.41)
    said = doubts(
        np.array([1.0, 19.0]),
        np.array([0.5, 0.5]),
        ("a", "b"),
        0.6,
        beside,
        island=NO_ISLAND,
        unlike=ALL_LIKE,
    )
    assert said[0].startswith("ANSWERS MAY BE GUESSES: 11 of 20 held-out labels")
    assert "always saying 'b'" in said[0]


def test_answers_that_are_mostly_wrong_are_said_loudly():
    said = doubts(
        np.full(26, 2.0),
        np.full(26, 1 / 26),
        tuple("abcdefghijklmnopqrstuvwxyz"),
        0.22,
        GOOD,
        island=NO_ISLAND,
        unlike=ALL_LIKE,
    )
    assert said[0].startswith("MOST ANSWERS ARE WRONG by our own estimate: 22 % right")


def test_one_class_alone_tested_is_said():
    beside = BesideGuessing(3, 3, 0, 3, 1.0)
    said = doubts(
        np.array([3.0, 1.0]),
        np.array([1.0, 0.0]),
        ("a", "b"),
        0.8,
        beside,
        island=NO_ISLAND,
        unlike=ALL_LIKE,
    )
    assert said[0].startswith("ONLY LABELS OF 'a' COULD BE TESTED, 3 of them")


def test_noise_is_announced_by_the_front_door():
    rng = np.random.default_rng(1)
    warned = 0
    for _ in range(5):
        y = np.where(np.arange(80) < 20, rng.permutation(np.arange(80) % 2), -1)
        learner = ManifoldClassifier("logistic", random_state=0).fit(rng.normal(size=(80, 3)), y)
        warned += learner.report_.warnings[:1] != () and "GUESSES" in learner.report_.warnings[0]
    assert warned >= 4


def test_labels_that_were_asked_for_are_counted(digits):
    points, truth = digits
    y = np.where(np.arange(240) < 30, truth, -1)
    learner = ManifoldClassifier("regularized", random_state=0).fit(points, y)
    rows = learner.query(5)
    drawn = learner.query(5, "random")
    assert not any("asked for" in line for line in learner.report_.warnings)
    learner.update(rows, truth[rows])
    learner.update(drawn, truth[drawn])
    n_asked = len(set(rows.tolist()))
    assert any(line.startswith(f"{n_asked} of the ") for line in learner.report_.warnings)
    learner.fit(points, y)
    assert not any("asked for" in line for line in learner.report_.warnings)


def test_few_labels_of_many_classes_raise_no_foreign_warning():
    rng = np.random.default_rng(0)
    classes = np.arange(260) % 26
    points = rng.normal(size=(26, 4))[classes] * 3 + rng.normal(size=(260, 4)) * 0.3
    ManifoldClassifier("logistic").fit(points, np.where(np.arange(260) < 30, classes, -1))


def test_rows_unlike_any_label_are_said_to_be_a_part_or_most():
    island = np.full(100, -1)
    common = (np.array([20.0, 20.0]), np.array([0.5, 0.5]), ("a", "b"), 0.9, GOOD)
    cases = {0.01: None, 0.05: "5 rows (5 %) are like none", 0.2: "UNLIKE ANY LABEL: 20 rows"}
    for share, word in (cases | {0.7: "FROM ONE PART"}).items():
        said = doubts(*common, island=island, unlike=np.arange(100) < 100 * share)
        assert (word in said[0]) if word else not said
    away = np.arange(100) < 70
    assert "island" in doubts(*common, island=np.where(away, 0, -1), unlike=away)[0]


def test_labels_that_contradict_their_neighbours_are_counted():
    common = (np.array([25.0, 25.0]), np.array([0.5, 0.5]), ("a", "b"), 0.9, GOOD)
    codes = np.repeat([0, 1], 25)
    held_out = np.where(codes[:, None] == [0, 1], 0.98, 0.02)
    for n_wrong, word in ((2, None), (6, "6 OF 50 LABELS CONTRADICT THEIR NEIGHBOURS")):
        given = np.where(np.arange(50) < n_wrong, 1, codes)
        issues = find_label_issues(np.arange(50), given, held_out)
        assert len(issues) == n_wrong
        said = doubts(*common, issues=issues, island=NO_ISLAND, unlike=ALL_LIKE)
        assert said[0].startswith(word) if word else not said


def test_a_report_warns_where_a_method_on_the_labels_alone_is_clearly_better():
    rng = np.random.default_rng(0)
    height = rng.uniform(-1, 1, 400)
    points = np.column_stack([rng.integers(0, 2, 400) * 8.0, height])  # both clumps are cut in two
    y = np.where(np.arange(400) < 60, height > 0, -1).astype(int)
    alone = ManifoldClassifier("poisson", random_state=0).fit(points, y).report_
    assert alone.warnings[0].startswith("A PLAIN METHOD DOES CLEARLY BETTER on held-out labels: ")
    mixed = ManifoldClassifier(random_state=0).fit(points, y).report_
    assert not any("A PLAIN METHOD" in one for one in mixed.warnings)
