"""Values with gaps: numbers are read, everything else is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import DataConversionWarning

from beltrami.core.errors import InvalidInputError, NotNumericError
from beltrami.data.labels import encode_values

NAN = float("nan")


@pytest.mark.parametrize(
    "y",
    [
        [1.5, None, -1, NAN],
        np.array([1.5, pd.NA, -1, ""], dtype=object),
        np.array([1.5, NAN, -1, NAN], dtype=np.float32),
        pd.Series([1.5, None, -1, None], dtype="Float64"),
        pl.Series([1.5, None, -1, None]),
    ],
    ids=["list", "objects", "float32", "pandas", "polars"],
)
def test_values_are_read_with_gaps_and_minus_one_is_a_value(y):
    values, rows = encode_values(y, 4)
    assert values.dtype == np.float64
    assert_array_equal(values, [1.5, NAN, -1, NAN])
    assert rows.tolist() == [0, 2]


def test_whole_numbers_and_booleans_are_values():
    for y in (np.array([3, -1]), np.array([3, -1], dtype=np.int8), pd.Series([3, -1])):
        assert encode_values(y, 2)[0].tolist() == [3, -1]
    assert encode_values(np.array([True, False]), 2)[0].tolist() == [1, 0]


@pytest.mark.parametrize(
    "y",
    [
        np.array(["1.5", "2"]),
        ["1.5", "2"],
        ["a", 1.0],
        [b"1", None],
        np.array([1j, 2.0]),
        [1j, 2.0],
        np.array(["2020", "2021"], dtype="M8[D]"),
        np.array([1, 2], dtype="m8[s]"),
        [[1], [2, 3]],
    ],
    ids=["numerals", "list", "text", "bytes", "complex", "complexes", "dates", "times", "lists"],
)
def test_values_that_are_no_numbers_are_refused(y):
    with pytest.raises(NotNumericError, match="y must hold numbers"):
        encode_values(y, 2)


def test_values_refuse_infinity_wrong_lengths_and_nothing_at_all():
    with pytest.raises(InvalidInputError, match="infinity"):
        encode_values([1.0, np.inf], 2)
    with pytest.raises(InvalidInputError, match="3 rows and 2"):
        encode_values([1.0, 2.0], 3)
    with pytest.raises(InvalidInputError, match="all 2 rows are NaN"):
        encode_values([None, NAN], 2)
    with pytest.warns(DataConversionWarning):
        assert encode_values([[1.0], [None]], 2)[1].tolist() == [0]
