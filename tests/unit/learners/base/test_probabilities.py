"""Probabilities of classes: who leads, beside the plain way to say it."""

import numpy as np
import pytest

from beltrami.learners.base import first_classes, leaders


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
