import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from beltrami.core.errors import InvalidInputError
from beltrami.tables import TableOptions, guess_roles, label_column, read_table, row_ids


def labels(values: Any, **options: Any) -> tuple[list[Any], list[str]]:
    table = read_table({"label": values, "x": np.arange(len(values)) ** 2})
    found = label_column(table, guess_roles(table), TableOptions(**options))
    return found.values.tolist(), list(found.notes)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (["a", "b", None, "", "  ", "a"], ["a", "b", None, None, None, "a"]),
        ([1.0, 2.0, None, float("nan")], [1, 2, None, None]),
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


def test_minus_one_beside_empty_cells_is_a_class_and_is_named() -> None:
    for values in ([0, 1, -1, None], ["0", "1", "-1", ""], [0.0, 1.0, -1.0, np.nan]):
        found, warnings = labels(values)
        assert [str(one) for one in found] == ["0", "1", "-1", "None"]
        assert len(warnings) == 1
        assert "-1" in warnings[0]
        assert "counts as a class (1 rows)" in warnings[0]


@pytest.mark.parametrize("values", [[0, 1, -1], ["a", "-1", "b"], [0.0, -1.0, 1.0], ["-1.0", "1"]])
def test_minus_one_in_a_column_without_gaps_is_refused_with_both_ways_out(values: Any) -> None:
    with pytest.raises(InvalidInputError, match=r'1 of \d rows hold -1.*unlabeled=.*unlabeled=""'):
        labels(values)
    told = next(str(one) for one in values if str(one).startswith("-1"))
    marked = told.removesuffix(".0") if isinstance(values[0], float) else told
    assert labels(values, unlabeled=marked, min_classes=1)[0].count(None) == 1
    assert labels(values, unlabeled="")[0].count(None) == 0


def test_a_marker_that_no_row_holds_is_told() -> None:
    assert labels(["a", "b"], unlabeled="?")[1] == ["no row of column 'label' holds the marker '?'"]
    assert labels(["nan", "b", None], unlabeled=float("nan"))[0] == ["nan", "b", None]


@pytest.mark.parametrize(
    ("values", "options", "line"),
    [
        (["a", "b", "", None], {}, "labels: 2 given, 2 rows without one (2 empty cells)"),
        (["a", "b", "?", None], {"unlabeled": "?"}, "(1 empty cell, 1 marked '?')"),
        (["a", "b", "?"], {"unlabeled": "?"}, "labels: 2 given, 1 row without one (1 marked '?')"),
        (["a", "b"], {}, "labels: 2 given, no row without one"),
    ],
)
def test_what_counts_as_a_gap_is_told(values: Any, options: Any, line: str) -> None:
    table = read_table({"label": values, "x": np.arange(len(values)) ** 2})
    assert label_column(table, guess_roles(table), TableOptions(**options)).line.endswith(line)


def test_further_marker_is_compared_as_written() -> None:
    assert labels(["a", "?!", "b"], unlabeled="?!")[0] == ["a", None, "b"]
    assert labels([0, 1, 2], unlabeled="0")[0] == [None, 1, 2]
    assert labels([0, 1, 2], unlabeled=0)[0] == [None, 1, 2]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["Cat", "cat ", "dog"], ["'Cat', 'cat '", "2 classes"]),
        (["a  b", "A B", "c"], ["differ only by case, by spaces"]),
        (["1", "1.0", "2.0"], ["'1', '1.0'", "2 classes"]),
        (["1.50", "1.5", "x", "x"], ["'1.5', '1.50'", "2 classes"]),
        (["none", "b"], ["'none' counts as a class (1 rows)", "--unlabeled 'none'"]),
        (["?", "b"], ["'?' counts as a class (1 rows)", "unlabeled='?'"]),
        (["grey", "grey", "grey", "gray"], ["'gray' (1 rows) is one letter off 'grey' (3 rows)"]),
        (["1", "2", "cat"], ["mixes numbers such as '1' and words such as 'cat'"]),
        ([f"c{i}" for i in range(30)], ["30 classes for 30 labels"]),
    ],
)
def test_likely_slips_are_said_and_nothing_is_merged(values: list[str], words: list[str]) -> None:
    found, warnings = labels(values)
    assert found == values
    assert sum(all(word in warning for word in words) for warning in warnings) == 1
    assert len(warnings) == 1 or "mixes numbers" in warnings[-1]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([None, "", " "], "holds no label: all 3 rows"),
        ([-1, -1], "2 of 2 rows hold -1"),
        (["a", "a", None], "all 2 labels in column 'label' are of one class, 'a'"),
        ([f"0.{i}5" for i in range(9)], "not whole, such as 0.05.*ManifoldRegressor"),
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
        label_column(table, guess_roles(table, TableOptions(min_classes=0)))


def ids(columns: dict[str, Any], **options: Any) -> list[Any]:
    table = read_table(columns)
    return row_ids(table, guess_roles(table, TableOptions(min_classes=0, **options))).tolist()


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
