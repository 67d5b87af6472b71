"""Moments of columns beside NumPy's own, far from zero, and in any number of blocks."""

import numpy as np
import pytest

from beltrami.core.machine import moments
from beltrami.core.machine.moments import column_moments
from beltrami.core.machine.threads import thread_limit


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 7, 64, 1000])
def test_moments_are_those_of_numpy(n, dtype, monkeypatch):
    monkeypatch.setattr(moments, "_ENTRIES", 50)
    points = np.random.default_rng(n).normal(size=(n, 5)).astype(dtype)
    mean, spread = column_moments(points)
    np.testing.assert_allclose(mean, points.mean(axis=0, dtype=np.float64), atol=1e-12)
    np.testing.assert_allclose(spread, points.std(axis=0, dtype=np.float64), atol=1e-12)


def test_a_column_far_from_zero_loses_no_digits(monkeypatch):
    monkeypatch.setattr(moments, "_ENTRIES", 30)
    points = 1.6e9 + np.random.default_rng(0).normal(size=(500, 3))
    _, spread = column_moments(points)
    np.testing.assert_allclose(spread, (points - 1.6e9).std(axis=0), rtol=1e-6)


def test_threads_do_not_change_a_bit(monkeypatch):
    monkeypatch.setattr(moments, "_ENTRIES", 100)
    points = np.random.default_rng(1).normal(size=(777, 9)).astype(np.float32)
    with thread_limit(1):
        alone = column_moments(points)
    with thread_limit(2):
        together = column_moments(points)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_no_rows_have_no_spread():
    mean, spread = column_moments(np.empty((0, 3)))
    assert not mean.any()
    assert not spread.any()


def test_overflow_is_left_to_the_caller_to_see():
    _, spread = column_moments(np.array([[1e300], [-1e300]]))
    assert np.isinf(spread).all()
