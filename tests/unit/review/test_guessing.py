"""Held-out answers beside always saying the most frequent class."""

import numpy as np
import pytest

from beltrami.review.guessing import beside_guessing


def test_the_counts_are_those_of_the_labels():
    found = beside_guessing(np.array([0, 0, 0, 1, 2]), np.array([0, 0, 1, 1, 1]))
    assert (found.n_held_out, found.n_right, found.usual, found.n_usual) == (5, 3, 0, 3)


def test_the_chance_is_the_binomial_tail():
    given = np.repeat([0, 1], 5)
    found = beside_guessing(given, np.where(np.arange(10) == 0, 1, given))  # 9 of 10
    assert found.chance == pytest.approx(11 / 1024)
    assert found.is_better


def test_none_wrong_is_enough_however_few():
    assert beside_guessing(np.array([0, 1]), np.array([0, 1])).is_better
    assert not beside_guessing(np.array([1, 1]), np.array([1, 1])).is_better  # one class only


def test_nothing_held_out_is_not_better():
    assert not beside_guessing(np.zeros(0, dtype=int), np.zeros(0, dtype=int)).is_better


def test_coins_are_rarely_called_better():
    rng = np.random.default_rng(0)
    calls = [
        beside_guessing(rng.integers(0, 2, 20), rng.integers(0, 2, 20)).is_better
        for _ in range(400)
    ]
    assert np.mean(calls) <= 0.05
