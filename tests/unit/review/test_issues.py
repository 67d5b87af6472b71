"""Wrong labels: the formula, clean labels, noise found, singletons, what does not matter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from beltrami import load_dataset, two_moons
from beltrami.core.errors import InvalidInputError
from beltrami.learners import GraphRegularizedClassifier
from beltrami.review.issues import find_label_issues, fit_noise


def sample(n, n_classes, rate, *, sure=0.15, temperature=1.0, seed=0):
    """Return true classes drawn from calibrated probabilities, some flipped, and these."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(n_classes, sure), n)
    truth = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=n_classes - 1)
    wrong = rng.random(n) < rate
    given_codes = np.where(wrong, (truth + rng.integers(1, n_classes, n)) % n_classes, truth)
    shown = np.maximum(p, 1e-6) ** temperature
    return truth, given_codes, shown / shown.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.2])
def test_rate_and_temperature_are_recovered(rate, temperature):
    _, codes, p = sample(4000, 5, rate, temperature=temperature)
    found = find_label_issues(np.arange(4000), codes, p)
    assert_allclose(found.rate, rate, atol=0.015)
    assert_allclose(found.temperature, temperature, rtol=0.15)
    assert_allclose(found.chances.sum(), 4000 * rate, atol=60)


def test_the_score_is_the_chance_of_being_wrong():
    truth, codes, p = sample(20_000, 4, 0.1)
    found = find_label_issues(np.arange(20_000), codes, p)
    wrong = codes != truth
    for low, high in [(0.0, 0.1), (0.3, 0.7), (0.9, 1.0)]:
        inside = (found.chances >= low) & (found.chances <= high)
        spread = 3 * 0.5 / np.sqrt(inside.sum())  # three standard errors at most
        assert_allclose(wrong[inside].mean(), found.chances[inside].mean(), atol=spread)


def test_what_is_listed_is_sorted_and_likelier_wrong_than_right():
    truth, codes, p = sample(500, 6, 0.1, sure=0.05)
    rows = np.random.default_rng(1).permutation(9000)[:500]
    found = find_label_issues(rows, codes, p)
    place = {int(row): i for i, row in enumerate(rows)}
    at = np.array([place[int(row)] for row in found.rows])
    assert (np.diff(found.scores) <= 0).all()
    assert (found.scores > 0.5).all()
    assert_array_equal(found.given, codes[at])
    assert_array_equal(found.scores, found.chances[at])
    assert (found.suggested != found.given).all()
    assert (found.suggested == truth[at]).mean() > 0.8
    assert (truth[at] != codes[at]).mean() > 0.8


def test_labels_that_others_only_say_otherwise_of_are_beside_the_list():
    _, given, p = sample(400, 4, 0.05, sure=0.4)
    found = find_label_issues(np.arange(400), given, p)
    missed = np.flatnonzero(p.argmax(axis=1) != given)
    assert len(found.denied) > 5
    assert_array_equal(np.sort(np.concatenate([found.rows, found.denied.rows])), missed)
    assert (np.diff(found.denied.scores) <= 0).all()
    assert_array_equal(found.denied.suggested, p[found.denied.rows].argmax(axis=1))
    named = found.with_names(np.arange(400) + 1000, np.array(list("abcd")))
    assert_array_equal(named.denied.names, found.denied.rows + 1000)
    assert set(named.denied.given) <= set("abcd")


def test_clean_labels_raise_no_alarm_however_unsure_the_learner():
    for sure in (0.02, 0.3, 3.0):
        _, codes, p = sample(500, 5, 0.0, sure=sure)
        assert len(find_label_issues(np.arange(500), codes, p).rows) <= 2


def test_the_only_label_of_a_class_is_not_judged():
    p = np.full((9, 3), 1e-6)
    p[:, 0] = 1.0
    codes = np.array([0] * 8 + [2])
    found = find_label_issues(np.arange(9), codes, p)
    assert len(found.rows) == 0
    assert found.chances[-1] == 0.0


def test_nothing_to_compare_gives_an_empty_list():
    for codes, p in [([0, 1], np.eye(2)), ([], np.zeros((0, 2))), ([0, 0], np.ones((2, 1)))]:
        found = find_label_issues(np.arange(len(codes)), codes, p)
        assert len(found.rows) == 0
        assert (found.rate, found.chances.sum()) == (0.0, 0.0)


@given(st.integers(0, 100))
def test_the_order_of_rows_and_the_names_of_classes_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    _, codes, p = sample(60, 4, 0.1, sure=0.05, seed=seed)
    order, names = rng.permutation(60), rng.permutation(4)
    renamed = np.empty_like(p)
    renamed[:, names] = p
    one = find_label_issues(np.arange(60), codes, p)
    two = find_label_issues(order, names[codes][order], renamed[order])
    assert_allclose(two.chances, one.chances[order], atol=1e-9)
    assert sorted(two.rows) == sorted(one.rows)


def test_the_fit_is_the_best_on_its_grid():
    _, codes, p = sample(200, 3, 0.1)
    temperature, rate = fit_noise(codes, p, 3.0)

    def gain(T, e):
        q = np.maximum(p, 1e-6) ** (1 / T)
        own = (q / q.sum(axis=1, keepdims=True))[np.arange(200), codes]
        likely = np.log((1 - e) * own + e / 2 * (1 - own)).sum()
        return likely - np.log(T) ** 2 / 2 + 3 * np.log(1 - e)

    best = gain(temperature, rate)
    for factor in (0.7, 1.4):
        assert gain(temperature * factor, rate) < best
        assert gain(temperature, rate * factor) < best


def test_flipped_labels_of_two_clouds_are_found_by_leaving_them_out():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 2))
    points[150:, 0] += 5
    y = np.where(np.arange(300) % 5 == 0, np.arange(300) >= 150, -1)
    flipped = [20, 90, 200]
    y[flipped] = 1 - y[flipped]
    model = GraphRegularizedClassifier(gamma="auto").fit(points, y)
    left = model._left_out()
    held_out = np.maximum(left.scores, 0)
    held_out /= held_out.sum(axis=1, keepdims=True)
    found = find_label_issues(left.rows, left.targets.argmax(axis=1), held_out)
    assert sorted(found.rows) == flipped


def test_a_learner_that_knows_nothing_calls_no_label_wrong():
    listed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        codes, p = (
            rng.integers(0, 2, 20),
            rng.dirichlet(np.full(2, 0.3), 20),
        )  # sure of nothing true
        found = find_label_issues(np.arange(20), codes, p)
        listed += len(found.rows)
        if not found.beside.is_better:
            assert "do not tell the classes apart" in found.reason
            assert f"{found.beside.n_right} of {found.beside.n_held_out} held-out" in found.reason
    assert listed <= 0.01 * 40 * 20


def test_the_list_is_expected_to_be_mostly_wrong_labels():
    _, codes, p = sample(400, 4, 0.1, sure=0.3)
    found = find_label_issues(np.arange(400), codes, p)
    assert (1 - found.scores).mean() <= 0.25
    assert found.reason == ""


def test_a_learner_that_misses_nothing_else_is_believed_on_little_evidence():
    codes = np.arange(40) % 2
    p = np.where(codes[:, None] == [0, 1], 0.97, 0.03)
    codes[[7, 20, 33]] = 1 - codes[[7, 20, 33]]
    assert sorted(find_label_issues(np.arange(40), codes, p).rows) == [7, 20, 33]
    p[:6] = [[0.45, 0.55], [0.55, 0.45]] * 3  # and six misses of its own
    assert len(find_label_issues(np.arange(40), codes, p).rows) == 0


@pytest.mark.parametrize("name", ["digits", "moons"])
def test_most_flipped_labels_are_found_and_few_right_ones_listed(name):
    rng = np.random.default_rng(0)
    if name == "digits":
        data = load_dataset("digits")
        points, truth = data.points[:600], data.targets[:600]
    else:
        data = two_moons(400, noise=0.1, random_state=0)
        points, truth = data.points, data.targets
    listed = hits = n_wrong = n_clean = 0
    for share in (0.0, 0.05):
        rows = rng.choice(len(truth), 200, replace=False)
        wrong = rng.choice(rows, round(share * 200), replace=False)
        y = np.full(len(truth), -1)
        y[rows] = truth[rows]
        y[wrong] = (truth[wrong] + 1) % (truth.max() + 1)
        left = GraphRegularizedClassifier(gamma="auto").fit(points, y)._left_out()
        p = np.maximum(left.scores, 0)
        p /= p.sum(axis=1, keepdims=True)
        found = find_label_issues(left.rows, left.targets.argmax(axis=1), p)
        if share == 0:
            n_clean = len(found.rows)
            continue
        listed, n_wrong = len(found.rows), len(wrong)
        hits = len(set(found.rows.tolist()) & set(wrong.tolist()))
    assert n_clean <= 1
    assert hits >= 0.8 * n_wrong
    assert hits >= 0.8 * listed


@pytest.mark.parametrize(
    ("rows", "codes", "p", "words"),
    [
        ([0], [0, 1], np.eye(2), "shapes"),
        ([0, 1], [0, 2], np.eye(2), "from 0 to 1"),
        ([0, 1], [0, 1], -np.eye(2), "not negative"),
        ([0, 1], [0, 1], np.full((2, 2), np.nan), "finite"),
    ],
)
def test_unusable_input_is_refused(rows, codes, p, words):
    with pytest.raises(InvalidInputError, match=words):
        find_label_issues(rows, codes, p)
