import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from beltrami.core.errors import InvalidInputError
from beltrami.data.tables import guess_roles, label_column, read_table, row_ids


def labels(values: Any, **options: Any) -> tuple[list[Any], list[str]]:
    table = read_table({"label": values, "x": np.arange(len(values)) ** 2})
    found, warnings = label_column(table, guess_roles(table), **options)
    return found.tolist(), warnings


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (["a", "b", None, "", "  ", "a"], ["a", "b", None, None, None, "a"]),
        ([0, 1, -1, 1], [0, 1, None, 1]),
        ([1.0, 2.0, None, float("nan")], [1, 2, None, None]),
        ([1.0, -1.0, 2.0], [1, None, 2]),
        ([True, False, None], [True, False, None]),
        (pd.Categorical(["u", None, "v"]), ["u", None, "v"]),
        (pd.Series([1, None, 2], dtype="Int8"), [1, None, 2]),
        (pl.Series(["u", None, "v"], dtype=pl.Categorical).to_arrow(), ["u", None, "v"]),
        (
            [dt.date(2020, 1, 2), None, dt.date(2020, 1, 3)],
            ["2020-01-02", None, "2020-01-03"],
        ),
    ],
)
def test_labels_of_every_type_keep_their_gaps(values: Any, wanted: list[Any]) -> None:
    found, warnings = labels(values)
    assert found == wanted
    assert [type(value) for value in found] == [type(value) for value in wanted]
    assert warnings == []


def test_further_marker_is_compared_as_written() -> None:
    assert labels(["a", "?!", "b"], unlabeled="?!")[0] == ["a", None, "b"]
    assert labels([0, 1, 2], unlabeled="0")[0] == [None, 1, 2]
    assert labels([0, 1, 2], unlabeled=0)[0] == [None, 1, 2]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["Cat", "cat ", "dog"], ["'Cat', 'cat '", "2 classes"]),
        (["a  b", "A B", "c"], ["differ only by case or spaces"]),
        (["-1", "2", "3"], ["'-1' is a text"]),
        (["1", "2", "cat"], ["mixes numbers such as '1' and words such as 'cat'"]),
        ([f"c{i}" for i in range(30)], ["30 classes for 30 labels"]),
    ],
)
def test_likely_slips_are_said_and_nothing_is_merged(values: list[str], words: list[str]) -> None:
    found, warnings = labels(values)
    assert found == values
    assert len(warnings) == 1
    assert all(word in warnings[0] for word in words)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([None, "", " "], "holds no label: all 3 rows"),
        ([-1, -1], "holds no label"),
        (["a", "a", None], "all 2 labels in column 'label' are of one class, 'a'"),
        ([-1, 1, 1], "2 rows hold -1|1 rows hold -1"),
        ([0.5, 1.0], "not whole, such as 0.5"),
        ([float("inf"), 1.0], "not whole"),
        ([1, "a", None], r"several types \(int, str\)"),
        ([2.0**70, 1.0, None], "too large to be told apart"),
        (["a", "b\0", None], r"1 label\(s\) in column .* null character, in rows 1"),
        ([[1], [2]], "neither labels nor ids"),
    ],
)
def test_columns_that_are_no_classes_are_refused(values: list[Any], reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        labels(values)


def test_fewer_classes_can_be_allowed() -> None:
    assert labels([None, ""], min_classes=0)[0] == [None, None]
    assert labels(["a", ""], min_classes=1)[0] == ["a", None]
    table = read_table(np.eye(2))
    with pytest.raises(InvalidInputError, match="no label column"):
        label_column(table, guess_roles(table, require_label=False))


def ids(columns: dict[str, Any], **options: Any) -> list[Any]:
    table = read_table(columns)
    return row_ids(table, guess_roles(table, require_label=False, **options)).tolist()


def test_ids_are_values_or_row_numbers() -> None:
    assert ids({"id": ["a", "b"]}) == ["a", "b"]
    assert ids({"id": [5, 3]}) == [5, 3]
    assert ids({"x": [0.5, 0.5]}) == [0, 1]
    assert ids({"d": [dt.date(2020, 1, 2)]}, id="d") == ["2020-01-02"]


def test_ids_that_do_not_name_the_rows_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"2 id\(s\) in column 'k' occur more.*'a', 'b'"):
        ids({"k": ["a", "b", "a", "b", "c"]}, id="k")
    with pytest.raises(InvalidInputError, match="1 of 2 ids in column 'k' are missing, in rows 1"):
        ids({"k": ["a", None]}, id="k")
