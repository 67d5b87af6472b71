import datetime as dt
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from beltrami.core.errors import InvalidInputError
from beltrami.tables import Roles, TableOptions, feature_matrix, guess_roles, read_table, row_ids

N = 12
TEXTS = [f"some words about subject number{i}" for i in range(N)]
LABEL = ["a", "b", None] * 4


def roles(columns: dict[str, Any], **options: Any) -> Roles:
    return guess_roles(read_table(columns), TableOptions(**options))


@pytest.mark.parametrize("name", ["label", "Labels", "CLASS", "target", "category", "y", " label "])
def test_label_is_found_by_its_name(name: str) -> None:
    assert roles({name: LABEL, "x": range(N)}).label == name


def test_y_is_a_coordinate_beside_a_better_name_or_with_fractions() -> None:
    heights = np.linspace(0, 1, N)
    assert roles({"x": heights, "y": heights, "label": LABEL}).label == "label"
    assert roles({"x": heights, "y": [1.0, 2.0, None] * 4}).label == "y"
    nans = pl.DataFrame({"x": heights, "y": [1.0, 2.0, float("nan")] * 4})
    assert guess_roles(read_table(nans)).label == "y"
    assert roles({"x": heights, "y": ["1.0", "2.0", ""] * 4}).label == "y"
    assert roles({"x": heights, "y": [f"{h:.3f}" for h in heights]}, min_classes=0).numeric
    assert roles({"x": heights, "y": heights}, min_classes=0).numeric == ("x", "y")
    with pytest.raises(InvalidInputError, match="no column is the label"):
        roles({"x": heights, "y": heights})


def test_columns_of_several_types_are_told_apart_from_useless_ones() -> None:
    slip = ["1", "2", "oops", "4", *"12345678"]
    columns = {"label": LABEL, "a": slip, "b": [1, "a"] * 6, "c": [7] * N}
    assert roles(columns).broken == ("a", "b")
    assert roles(columns, ignore=["a", "b"]).broken == ()


def test_label_must_be_clear() -> None:
    with pytest.raises(InvalidInputError, match=r"no column is the label.*'x', 'z'"):
        roles({"x": [1.0, 2.0], "z": [1, 2]})
    two = {"label": LABEL, "class": LABEL, "x": np.arange(N) ** 2}
    with pytest.raises(InvalidInputError, match="2 columns could be the label"):
        roles(two)
    assert roles(two, label="class").label == "class"
    free = roles(two, min_classes=0)
    assert (free.label, free.numeric) == (None, ("x",))
    assert set(free.ignored) == {"label", "class"}
    assert roles(two, ignore=["class"]).label == "label"


@pytest.mark.parametrize("role", ["label", "id", "features", "text", "ignore"])
def test_unknown_column_brings_the_nearest_name(role: str) -> None:
    with pytest.raises(InvalidInputError, match=r"Did you mean 'Category'\? It has 'Category'"):
        roles({"Category": LABEL, "x": range(N)}, **{role: "categry"})


@pytest.mark.parametrize(
    "name", ["id", "UUID", "key", "index", "name", "path", "customer_id", "UserId"]
)
def test_id_is_found_by_name_if_it_names_the_rows(name: str) -> None:
    names = [f"r{i}" for i in range(N)]
    assert roles({name: names, "label": LABEL, "x": np.arange(N) ** 2}).id == name
    assert roles({name: ["r"] * N, "label": LABEL}).id is None
    if name != "id":
        assert roles({name: [None, *names[1:]], "label": LABEL}).id is None
    assert roles({name: np.linspace(0, 1, N), "label": LABEL}).id is None


def test_a_column_called_id_is_meant_where_most_of_it_names_one_row() -> None:
    names = [f"r{i}" for i in range(N)]
    table = {"Id ": [None, *names[1:]], "label": LABEL, "x": np.arange(N) ** 2}
    assert roles(table).id == "Id "
    assert roles(table, ignore=["Id "]).id is None
    assert roles(table, categories=["Id "]).id is None
    with pytest.raises(InvalidInputError, match="1 of 12 ids in column 'Id ' are missing"):
        row_ids(read_table(table), roles(table))


def test_words_that_end_in_id_are_no_ids() -> None:
    names = [f"r{i}" for i in range(N)]
    assert roles({"grid": names, "label": LABEL}).id is None
    assert roles({"name": names, "PassengerId": range(N), "label": LABEL}).id == "PassengerId"
    assert roles({"a_id": names, "b_id": names, "label": LABEL}).id is None


def test_columns_get_the_role_of_their_values() -> None:
    found = roles(
        {
            "label": LABEL,
            "f": np.linspace(0, 1, N),
            "i": np.arange(N) ** 2,
            "b": [True, False] * 6,
            "digits": ["1.5", "2", "-3e2"] * 4,
            "cat": ["red", "green"] * 6,
            "pandas": pd.Categorical(["red", "green"] * 6),
            "zip": ["00123", "00456"] * 6,
        }
    )
    assert found.numeric == ("f", "i", "b", "digits")
    assert found.categorical == ("cat", "pandas", "zip")
    assert found.ignored == {}


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([1.0] * N, "one value only"),
        (["x"] * N, "one value only"),
        ([None] * N, "empty"),
        (np.full(N, np.nan), "empty"),
        ([dt.date(2020, 1, i + 1) for i in range(N)], "date or time"),
        ([f"https://x.y/{i}" for i in range(N)], "every value is different"),
        (range(N), "counts the rows"),
        (["1", "2", "oops", "4", *"12345678"], "such as 'oops' in row 2"),
        ([1, "a"] * 6, r"several types \(int, str\)"),
        ([["a"]] * N, "no numbers"),
        ([{"k": 1}] * N, "no features"),
        ([b"x", b"y"] * 6, "no features"),
    ],
)
def test_useless_columns_are_ignored_with_a_reason(values: Any, reason: str) -> None:
    found = roles({"label": LABEL, "x": np.arange(N) ** 2, "c": values})
    assert re.search(reason, found.ignored["c"])
    assert found.numeric == ("x",)


def test_a_level_among_numbers_is_no_slip() -> None:
    doors = ["2", "3", "4", "5more"] * 3
    found = roles({"label": LABEL, "x": np.arange(N) ** 2, "doors": doors})
    assert found.categorical == ("doors",)


def test_texts_are_used_alone_beside_few_others() -> None:
    few = {"label": LABEL, "body": TEXTS, "x": np.arange(N) ** 2}
    found = roles(few)
    assert (found.text, found.numeric) == (("body",), ())
    assert "texts are used alone" in found.ignored["x"]
    both = roles(few, features=["body", "x"])
    assert (both.text, both.numeric) == (("body",), ("x",))
    many = roles({**few, **{f"c{i}": np.arange(N) ** 2 for i in range(4)}})
    assert (many.text, len(many.numeric)) == ((), 5)
    assert "without texts" in many.ignored["body"]


def test_vectors_and_matrix_are_used_alone_unless_asked() -> None:
    columns = {"label": LABEL, "x": np.arange(N) ** 2, "v": list(np.eye(N)), "w": list(np.eye(N))}
    found = roles(columns)
    assert (found.vectors, found.numeric) == (("v",), ())
    assert "'v' are used alone" in found.ignored["w"]
    table = read_table(columns, TableOptions(embeddings=np.eye(N)))
    assert guess_roles(table).uses_matrix
    assert guess_roles(table).vectors == ()
    named = guess_roles(table, TableOptions(features=["x", "w"]))
    assert (named.uses_matrix, named.numeric, named.vectors) == (False, ("x",), ("w",))


def test_named_features_overrule_the_guess() -> None:
    columns = {"label": LABEL, "n": range(N), "url": [f"u/{i}" for i in range(N)], "x": range(N)}
    found = roles(columns, features=["n"])
    assert found.numeric == ("n",)
    assert "not among" in found.ignored["x"]
    assert roles(columns, text="url").text == ("url",)
    with pytest.raises(InvalidInputError, match="'c' cannot be a feature: it is empty"):
        roles({"label": LABEL, "c": [None] * N}, features=["c"])
    with pytest.raises(InvalidInputError, match="no texts"):
        roles(columns, text=["n"])


def test_a_column_is_of_the_kind_that_the_user_says() -> None:
    columns = {
        "label": LABEL,
        "code": [10, 20, 30] * 4,
        "count": range(N),
        "zip": ["007", "008", "NA"] * 4,
        "x": np.arange(N) ** 2,
        "many": [f"u{i}" for i in range(N)],
    }
    found = roles(columns, categories=["code", "many"], numbers=["count", "zip"])
    assert (found.categorical, found.numeric) == (("code", "many"), ("count", "zip", "x"))
    assert roles(columns).numeric == ("code", "x")
    matrix = feature_matrix(read_table(columns), found)
    assert matrix.names[:3] == ("count", "zip", "x")
    assert "code=10" in matrix.names
    assert "many=u7" in matrix.names
    alone = roles(columns, features=["x"], categories="code")
    assert (alone.numeric, alone.categorical) == (("x",), ("code",))


def test_more_than_fifty_categories_are_fine_when_asked_for() -> None:
    table = read_table({"c": [f"u{i % 60}" for i in range(100)], "x": np.arange(100.0) ** 2})
    assert guess_roles(table, TableOptions(min_classes=0)).categorical == ()
    chosen = guess_roles(table, TableOptions(categories="c", min_classes=0))
    assert len(feature_matrix(table, chosen).names) == 61


def test_named_columns_join_texts_and_vectors() -> None:
    columns = {"label": LABEL, "body": TEXTS, "x": np.arange(N) ** 2, "z": np.arange(N) ** 2}
    found = roles(columns, categories=["x"])
    assert (found.text, found.categorical, found.numeric) == (("body",), ("x",), ())
    found = roles({"label": LABEL, "v": list(np.eye(N)), "x": np.arange(N) ** 2}, numbers=["x"])
    assert (found.vectors, found.numeric) == (("v",), ("x",))
    options = TableOptions(embeddings=np.eye(N), categories="x")
    with pytest.raises(InvalidInputError, match="'x' cannot stand beside the embeddings"):
        guess_roles(read_table(columns, options), options)


@pytest.mark.parametrize(
    ("values", "options", "reason"),
    [
        (["1", "2", "three", "4"] * 3, {"numbers": "c"}, "row 2 holds 'three'"),
        (["12%", "NA", "13", "14%"] * 3, {"numbers": "c"}, "row 2 holds '13'"),
        ([dt.date(2020, 1, 1)] * N, {"numbers": "c"}, "it holds date32"),
        ([None] * N, {"categories": "c"}, "it is empty"),
        ([[1.0]] * N, {"categories": "c"}, "it holds list"),
        ([""] * N, {"numbers": "c"}, "it is empty"),
        (np.full(N, np.nan), {"numbers": "c"}, "it is empty"),
    ],
)
def test_columns_that_are_not_what_the_user_says_are_refused(values, options, reason) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        roles({"label": LABEL, "x": range(N), "c": values}, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"categories": ["x"], "numbers": ["x"]},
        {"categories": ["x"], "text": ["x"]},
        {"categories": ["label"], "label": "label"},
        {"numbers": ["x"], "id": "x"},
        {"numbers": ["x"], "ignore": ["x"]},
        {"label": "x", "features": ["x"]},
        {"label": "x", "id": "x"},
        {"label": "x", "ignore": "x"},
        {"id": "x", "ignore": ["x"], "label": "label"},
        {"features": ["x"], "ignore": ["x"]},
    ],
)
def test_one_column_has_one_role(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="at once"):
        roles({"x": range(N), "label": LABEL, "z": range(N)}, **options)


def test_roles_are_printed_in_few_lines() -> None:
    columns = {f"c{i}": np.arange(N) ** 2 for i in range(30)} | {
        f"k{i}": [1] * N for i in range(30)
    }
    lines = roles({**columns, "label": LABEL}).lines()
    assert lines[:2] == ["label: label", "id: row numbers, from 0"]
    assert "numeric (30): c0, c1" in lines[2]
    assert "22 more" in lines[2]
    assert lines[3] == "ignored: k0, because it has one value only, 1"
    assert lines[-1] == "ignored: 22 more"
    matrix = guess_roles(read_table(np.eye(3)), TableOptions(min_classes=0)).lines()
    assert matrix[-1] == "features: the rows of the matrix"


def test_table_without_features_says_why() -> None:
    table = read_table({"label": LABEL, "c": [1] * N})
    with pytest.raises(InvalidInputError, match=r"no column of dict.*c \(it has one value only"):
        feature_matrix(table, guess_roles(table))


def test_a_column_that_could_name_the_rows_says_by_which_option_it_does() -> None:
    columns = {"customer": [f"c{i}x" for i in range(N)], "x": np.arange(N) ** 2, "label": LABEL}
    line = "ignored: customer, because every value is different; `--id customer` names rows by it"
    assert line in roles(columns).lines()
    assert roles(columns, id="customer").id == "customer"
    gap = columns | {"customer": [None, *columns["customer"][1:]]}
    assert "names rows" not in roles(gap).ignored["customer"]
    assert "names rows" not in roles(columns | {"id": range(5, 5 + N)}).ignored["customer"]
