"""Probabilities of classes: who leads, beside the plain way to say it."""

import numpy as np
import pytest

from beltrami.learners.base import first_classes, leaders
from beltrami.learners.base._loops import lead_rows_reference


@pytest.mark.parametrize("k", [1, 2, 3, 11])
@pytest.mark.parametrize("order", ["C", "F"])
def test_leaders_are_those_of_sorted_rows(k: int, order: str) -> None:
    # Few values, so that rows have ties.
    shares = np.array(
        np.random.default_rng(k).integers(0, 4, (400, k)), dtype=np.float32, order=order
    )
    codes, largest, second = leaders(shares)
    ranked = np.sort(shares, axis=1)[:, ::-1]
    np.testing.assert_array_equal(codes, shares.argmax(axis=1))
    np.testing.assert_array_equal(largest, ranked[:, 0])
    np.testing.assert_array_equal(second, ranked[:, 1] if k > 1 else np.zeros(400))


def test_the_first_class_of_negative_scores_is_found_over_many_blocks() -> None:
    scores = -np.random.default_rng(0).integers(0, 5, (120_000, 4)).astype(np.float64)
    np.testing.assert_array_equal(first_classes(scores), scores.argmax(axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_compiled_search_for_leaders_is_its_twin(dtype: type, k: int) -> None:
    rng = np.random.default_rng(k)
    shares = np.round(rng.random((300, 2 * k)), 1).astype(dtype)[::2, ::2]  # strided, with ties
    codes, (largest, second) = np.empty(150, dtype=np.int64), np.empty((2, 150), dtype=dtype)
    lead_rows_reference(shares, codes, largest, second)
    for found, expected in zip(leaders(shares), (codes, largest, second), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_leaders_of_an_array_that_may_not_be_written_are_found() -> None:
    shares = np.random.default_rng(0).random((50, 3))
    expected = shares.argmax(axis=1)
    shares.flags.writeable = False
    np.testing.assert_array_equal(leaders(shares)[0], expected)
