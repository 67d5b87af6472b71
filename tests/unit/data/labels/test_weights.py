"""Weights of labels: those of labelled rows are returned, wrong ones refused."""

import numpy as np
import pandas as pd
import pytest

from beltrami.core.errors import InvalidInputError
from beltrami.data.labels import checked_weights

NAN = float("nan")
ROWS = np.array([0, 2])


def test_weights_of_labelled_rows_are_returned():
    assert checked_weights(None, 3, ROWS).tolist() == [1, 1]
    assert checked_weights(2, 3, ROWS).tolist() == [1, 1]  # ratios alone count
    assert checked_weights([1, NAN, 0], 3, ROWS).tolist() == [1, 0]
    assert checked_weights(pd.Series([1, -5, 3]), 3, ROWS).tolist() == [0.5, 1.5]
    assert checked_weights([1, 2, 3], 3, ROWS).dtype == np.float64


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, -1], "1 of 2 labelled rows"),
        ([NAN, 1, -1], "2 of 2 labelled rows"),
        ([1, 1, np.inf], "1 of 2 labelled rows"),
        (-1, "2 of 2"),
        ([0, 1, 0], "zero at all 2 labelled rows"),
        (0, "zero at all"),
        ([1, 1], r"sample_weight.shape == \(2,\), expected \(3,\)"),
        ([[1], [1], [1]], r"\(3, 1\)"),
    ],
)
def test_wrong_weights_are_refused(weights, message):
    with pytest.raises(InvalidInputError, match=message):
        checked_weights(weights, 3, ROWS)
