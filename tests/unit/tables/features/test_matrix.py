from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from beltrami.core.errors import BeltramiError, InvalidInputError
from beltrami.core.machine import memory
from beltrami.tables import Features, Roles, TableOptions, feature_matrix, guess_roles, read_table

BIG = 70_000  # more rows than one block


def features(source: Any, *, impute: bool = False, **options: Any) -> Features:
    table = read_table(source)
    roles = guess_roles(table, TableOptions(min_classes=0, **options))
    return feature_matrix(table, roles, impute=impute)


def test_numbers_are_kept_as_given() -> None:
    found = features({"a": [1.5, 2.5, -3.0], "b": [1, 5, 2], "c": [True, False, True]})
    assert found.points.tolist() == [[1.5, 1, 1], [2.5, 5, 0], [-3, 2, 1]]
    assert found.points.dtype == np.float64
    assert found.names == ("a", "b", "c")
    assert (found.metric, found.has_units) == ("euclidean", True)
    assert str(found) == "features: 3 rows x 3 float64 columns, euclidean distance"
    assert found.notes == ()


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        (["float32", "float32"], np.float32),
        (["float32", "int16", "uint8", "bool", "float16"], np.float32),
        (["float32", "float64"], np.float64),
        (["float32", "int32"], np.float64),
        (["int8"], np.float32),
    ],
)
def test_float32_is_kept_where_nothing_is_lost(kinds: list[str], wanted: type) -> None:
    columns = {f"{kind}{i}": np.arange(3).astype(kind) ** 2 for i, kind in enumerate(kinds)}
    columns = {name: np.array([1, 0, 1], values.dtype) for name, values in columns.items()}
    found = features(columns)
    assert found.points.dtype == wanted
    assert found.points.tolist() == [[v] * len(kinds) for v in (1, 0, 1)]


def test_many_rows_in_chunks_come_out_in_order() -> None:
    values = np.random.default_rng(0).normal(size=(BIG, 3)).astype(np.float32)
    chunked = {
        f"c{i}": pa.chunked_array([values[:5000, i], values[5000:40_000, i], values[40_000:, i]])
        for i in range(3)
    }
    found = features(pa.table(chunked))
    assert np.array_equal(found.points, values)
    assert found.points.flags.c_contiguous


def test_float_matrix_is_not_copied_and_integers_become_floats(tmp_path: Path) -> None:
    matrix = np.random.default_rng(0).normal(size=(5, 2))
    assert features(matrix).points is matrix
    np.save(tmp_path / "m.npy", matrix.astype(np.float32))
    assert isinstance(features(tmp_path / "m.npy").points, np.memmap)
    small = features(np.array([[1, 2], [3, 4]], dtype=np.uint8)).points
    assert small.dtype == np.float32
    assert small.tolist() == [[1, 2], [3, 4]]
    assert features(np.eye(2, dtype=">f8")).points.dtype.isnative
    assert features(np.asfortranarray(np.eye(3))).points.flags.c_contiguous


def test_vectors_become_rows() -> None:
    rows = np.random.default_rng(0).normal(size=(BIG, 2)).astype(np.float32)
    flat = pa.array(rows.ravel())
    fixed = pa.FixedSizeListArray.from_arrays(flat, 2)
    for column in (
        fixed,
        fixed.cast(pa.list_(pa.float32())),
        fixed.cast(pa.large_list(pa.float32())),
    ):
        halves = pa.chunked_array([column[:100], column[100:]])
        found = features(pa.table({"v": halves}))
        assert found.points.dtype == np.float32
        assert np.array_equal(found.points, rows)
    assert found.names == ("v[0]", "v[1]")
    arrays = pl.DataFrame({"v": pl.Series([[1.0, 2.0], [3.0, 4.0]], dtype=pl.Array(pl.Float64, 2))})
    assert features(arrays).points.tolist() == [[1, 2], [3, 4]]


def test_vectors_of_unequal_length_or_missing_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="row 1 has 3 numbers, and the first list 2"):
        features({"v": [[1.0, 2], [1, 2, 3]]})
    with pytest.raises(InvalidInputError, match=r"'v\[0\]': 1 in row 1"):
        features({"v": [[1.0, 2], None, [3, 4]]})
    assert features({"v": [[1.0, 2], None, [3, 4]]}, impute=True).points[1].tolist() == [2, 3]
    with pytest.raises(InvalidInputError, match="one length"):
        features(pa.table({"v": pa.array([[], []], pa.list_(pa.float64()))}))


def test_categories_stand_beside_standardised_numbers() -> None:
    found = features({"x": [1.0, 5.0, 1.0, 5.0], "c": ["u", "u", "v", "v"]})
    assert found.points.tolist() == [[-1, 1, 0], [1, 1, 0], [-1, 0, 1], [1, 0, 1]]
    assert found.names == ("x", "c=u", "c=v")
    assert not found.has_units
    assert any("standardised" in line for line in found.notes)


def test_missing_numbers_become_medians_and_are_marked_beside() -> None:
    columns = {"id": list("abcd"), "x": [1.0, None, 3.0, np.inf], "z": [1.0, 2.0, np.nan, 5.0]}
    found = features(columns)
    assert found.names == ("x", "z", "x was missing", "z was missing")
    filled = np.array([[1, 1], [2, 2], [3, 2], [2, 5]], dtype=float)
    scaled = (filled - filled.mean(axis=0)) / filled.std(axis=0)
    assert found.points[:, :2] == pytest.approx(scaled)
    assert found.points[:, 2:].tolist() == [[0, 0], [1, 0], [0, 1], [1, 0]]
    assert not found.has_units
    assert any(line.startswith("'x': 2 of 4 cells hold nothing") for line in found.notes)
    assert "they take the median, 2, and a column marks them" in found.notes[-1]


def test_gaps_of_columns_in_one_unit_keep_their_proportions() -> None:
    found = features({"p0": [1.0, 2.0, None, 4.0], "p1": [2.0, 1.0, None, 7.0]})
    assert found.names == ("p0", "p1", "p0 was missing (and 1 more)")
    filled = np.array([[1, 2], [2, 1], [2, 2], [4, 7]], dtype=float)
    spread = np.sqrt(filled.var(axis=0).mean())
    assert found.points[:, :2] == pytest.approx(filled / spread)
    assert found.points[:, 2].tolist() == [0, 0, 1, 0]


def test_a_column_that_is_mostly_empty_is_used_and_told() -> None:
    lines = features({"x": [1.0, 2.0, 4.0] + 5 * [None], "z": range(8)}, numbers="z").notes
    assert any("'x': 5 of 8 cells, more than half, hold nothing" in line for line in lines)


def test_a_hole_in_a_matrix_is_named_by_row_and_column() -> None:
    table = read_table(
        {"id": list("abc")}, TableOptions(embeddings=np.array([[1, 2], [np.nan, 3], [4, np.inf]]))
    )
    with pytest.raises(
        InvalidInputError,
        match=r"2 cell\(s\) in 2 column\(s\).*'x0': 1 in row 1 \(id 'b'\).*broken file.*--impute",
    ):
        feature_matrix(table, guess_roles(table, TableOptions(min_classes=0)))


def test_imputing_never_writes_to_what_was_given() -> None:
    matrix = np.array([[1.0, np.nan], [3.0, 4.0], [5.0, 6.0]])
    before = matrix.copy()
    with pytest.raises(InvalidInputError, match="'x1': 1 in row 0"):
        features(matrix)
    assert features(matrix, impute=True).points[0, 1] == 5.0
    assert np.array_equal(matrix, before, equal_nan=True)


def test_missing_categories_and_texts_are_no_fault_and_told() -> None:
    categories = {"c": ["u", "v", None, "u", "v", "missing", "missing"]}
    found = features(categories)
    assert found.points[2].tolist() == [0, 0, 0, 1]
    assert found.points.sum() == 7
    assert any("'c': 1 of 7 cells" in line and "'missing'" in line for line in found.notes)
    texts = {"t": ["one red house there", None, "two blue cars here", "a b c d"]}
    found = features(texts)
    assert found.points.shape[0] == 4
    assert any("'t': 1 of 4 cells" in line for line in found.notes)


def test_none_in_a_column_of_words_is_a_word() -> None:
    found = features({"children": ["None", "one", "two", "None", "one", "two", "", "two"]})
    assert found.names == (
        "children=None",
        "children=one",
        "children=two",
        "children=missing",
    )
    assert found.points.sum(axis=0).tolist() == [2, 2, 3, 1]


def test_words_for_nothing_among_numbers_are_gaps_and_told(tmp_path: Path) -> None:
    cells = ["1.5", "NA", "2", "NA", "?", "7"]
    (tmp_path / "t.csv").write_text("age\n" + "\n".join(cells) + "\n")
    for source in (tmp_path / "t.csv", {"age": cells}, pl.DataFrame({"age": cells})):
        found = features(source)
        assert found.names == ("age", "age was missing")
        assert found.points[:, 1].tolist() == [0, 1, 0, 1, 1, 0]
        assert "column 'age': 2 cell(s) hold 'NA' and count as missing" in found.notes
        assert "column 'age': 1 cell(s) hold '?' and count as missing" in found.notes


NUMBERS = [
    (["1,234", "980", "2,500,000"], [1234, 980, 2_500_000]),
    (["1,234.5", "980", "7.25"], [1234.5, 980, 7.25]),
    (["1.234,5", "980", "7,25"], [1234.5, 980, 7.25]),
    (["3,5", "4", "0,25"], [3.5, 4, 0.25]),
    (["1 234", "980", "12\u00a0345,5"], [1234, 980, 12345.5]),
    (["1'234.5", "980", "2'000"], [1234.5, 980, 2000]),
    (["12%", "7.5 %", "100%"], [12, 7.5, 100]),
    (["$5", "-$1,234.50", "$ 7"], [5, -1234.5, 7]),
    (["5 €", "1.234,50 €", "7€"], [5, 1234.5, 7]),
    (["\u22125", "+3", "1e3"], [-5, 3, 1000]),
]


@pytest.mark.parametrize(("cells", "wanted"), NUMBERS)
def test_numbers_are_read_as_the_whole_column_writes_them(cells, wanted) -> None:
    found = features({"price": cells})
    assert found.points[:, 0].tolist() == wanted
    is_plain = all(cell.lstrip("+\u2212").replace("e", "").isdigit() for cell in cells)
    said = [line for line in found.notes if "is read as numbers" in line]
    assert bool(said) is not is_plain


@pytest.mark.parametrize(
    "cells",
    [
        ["12%", "13", "14%", "15%"],
        ["$5", "€6", "$7", "$8"],
        ["1,5", "2.5", "3,5", "4,5"],
        ["$5", "6", "$7", "$8"],
        ["1 234", "1'234", "12'345", "1 000"],
    ],
)
def test_half_a_column_is_never_read_as_numbers(cells: list[str]) -> None:
    roles = guess_roles(read_table({"c": cells, "x": [1.5, 2, 3, 5]}), TableOptions(min_classes=0))
    assert roles.numeric == ("x",)
    assert "not all written in one way" in roles.ignored["c"]
    repeated = guess_roles(read_table({"c": cells * 3}), TableOptions(min_classes=0))
    assert repeated.categorical == ("c",)


def test_thousands_or_decimals_between_semicolons_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("n;c\n980;a\n990;a\n1.000;b\n1.250;b\n")
    with pytest.raises(
        InvalidInputError, match=r"'n' of t.csv holds '1.000', which may be 1 or 1000.*--decimal"
    ):
        features(tmp_path / "t.csv")
    for decimal, last in ((".", 1.25), (",", 1250)):
        table = read_table(tmp_path / "t.csv", TableOptions(decimal=decimal))
        roles = guess_roles(table, TableOptions(ignore="c", min_classes=0))
        assert feature_matrix(table, roles).points[-1, 0] == last
    assert features(tmp_path / "t.csv", ignore=["n"]).names == ("c=a", "c=b")
    with pytest.raises(InvalidInputError, match="decimal='x'"):
        read_table(tmp_path / "t.csv", TableOptions(decimal="x"))


@pytest.mark.parametrize(("other", "last"), [("2.5", 1.0), ("2,5", 1000)])
def test_other_columns_tell_decimals_from_thousands(other, last, tmp_path: Path) -> None:
    rows = "".join(f"{n};{other}{i}\n" for i, n in enumerate(("980", "990", "1.000")))
    (tmp_path / "t.csv").write_text("n;m\n" + rows)
    table = read_table(tmp_path / "t.csv")
    roles = guess_roles(table, TableOptions(min_classes=0))
    assert feature_matrix(table, roles).points[-1, 0] == last


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_whose_squares_overflow_are_refused_with_the_place(dtype: type) -> None:
    huge = {np.float32: 1e30, np.float64: 1e300}[dtype]
    columns = {"id": ["p", "q"], "x": np.array([1, -huge], dtype), "z": np.array([1, 2], dtype)}
    with pytest.raises(InvalidInputError, match=r"row 1 \(id 'q'\) of dict holds -1e.*in 'x'"):
        features(columns)
    with pytest.raises(InvalidInputError, match="row 1 of array holds"):
        features(np.array([[1, 2], [huge, 3]], dtype), impute=True)


@given(st.floats(0.1, 2.0), st.integers(1, 4))
def test_accepted_numbers_have_finite_distances(size: float, d: int) -> None:
    largest = size * np.sqrt(np.finfo(np.float64).max)
    matrix = np.array([[largest] * d, [-largest] * d])
    try:
        points = features(matrix).points
    except InvalidInputError:
        return
    assert np.isfinite(((points[0] - points[1]) ** 2).sum())


def test_texts_are_weighed_words_of_unit_length() -> None:
    found = features({"body": ["red red red cars run", "blue cars run fast now", "1 2 3 4 5"]})
    assert isinstance(found.points, csr_array)
    assert found.points.dtype == np.float32
    assert found.metric == "angle"
    assert np.asarray(found.points.power(2).sum(axis=1)) == pytest.approx(np.ones(3), abs=1e-6)
    # Sublinear counts: "red" three times weighs 1 + log 3 of a word of equal rarity seen once.
    row = dict(zip(found.names, found.points.toarray()[0], strict=True))
    idf_red, idf_cars = np.log(4 / 2) + 1, np.log(4 / 3) + 1
    assert row["red"] / row["cars"] == pytest.approx((1 + np.log(3)) * idf_red / idf_cars, rel=1e-5)
    # A row without any known word has an angle to the others all the same.
    assert found.names[-1] == "(no words)"
    assert any("1 row(s) hold no known word" in line for line in found.notes)


def test_texts_and_numbers_count_half_each() -> None:
    texts = ["red cars run along", "red cars run along now", "blue birds fly away"]
    found = features({"t": texts, "x": [1.0, 5.0, 9.0]}, features=["t", "x"])
    assert np.asarray(found.points.power(2).sum(axis=1))[[0, 2]] == pytest.approx([2, 2], abs=1e-5)
    assert found.names[-1] == "x"


def test_texts_without_words_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="no word"):
        features({"t": ["a b c", "d e f", "g h i"]}, text="t")


def test_numbers_in_texts_are_read() -> None:
    found = features({"t": ["1.5", " +2 ", "-3e2", "4"], "u": [1.0, 2.0, 3.0, 4.5]})
    assert found.points[:, 0].tolist() == [1.5, 2, -300, 4]


def test_numbered_columns_of_like_spread_have_no_units() -> None:
    rng = np.random.default_rng(0)
    alike = {f"p{i}": rng.normal(size=50) for i in range(5)}
    assert not features(alike).has_units
    assert features({**alike, "p5": 1000 * rng.normal(size=50)}).has_units
    assert features({**alike, "height": rng.normal(size=50)}).has_units
    assert features({**alike, "q5": rng.normal(size=50)}).has_units
    assert not features({"x": rng.normal(size=50)}).has_units


def test_matrix_that_does_not_fit_is_refused_with_numbers(monkeypatch) -> None:
    table = read_table({"a": np.arange(1000) ** 2, "b": np.arange(1000) ** 3})
    roles = guess_roles(table, TableOptions(min_classes=0))
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    with pytest.raises(BeltramiError, match="the feature matrix of 1000 x 2 numbers would take"):
        feature_matrix(table, roles)


def test_decimals_and_dictionaries_of_numbers_are_numbers() -> None:
    decimals = pa.array([1, 2, 4], pa.decimal128(5, 2))
    coded = pa.array([3, 5, 3]).dictionary_encode()
    assert features(pa.table({"a": decimals, "b": coded})).points.tolist() == [
        [1, 3],
        [2, 5],
        [4, 3],
    ]


def test_columns_without_numbers_cannot_be_numeric() -> None:
    table = read_table({"a": [1.0, 2.0], "t": ["x", "y"], "d": [[1], [2]]})
    for name, reason in (("t", "row 0 holds 'x', which is none"), ("d", "it holds list")):
        with pytest.raises(InvalidInputError, match=reason):
            feature_matrix(table, Roles(numeric=(name,)))


def test_many_filled_columns_are_summed_up() -> None:
    lines = features({f"c{i}": [1.0, 2.0, None] for i in range(8)} | {"z": [1.0, 5.0, 2.0]}).notes
    assert len(lines) == 7
    assert lines[-1] == "gaps in 3 more columns are filled"


def test_of_vectors_of_zeros_nothing_is_known() -> None:
    vectors = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    for asked in ({"embeddings": vectors}, {"embeddings": "v"}, {}):
        options = TableOptions(min_classes=0, **asked)
        table = read_table({"id": ["a", "b", "c", "d"], "v": list(vectors)}, options)
        found = feature_matrix(table, guess_roles(table, options))
        assert found.is_empty is not None
        assert found.is_empty.tolist() == [False, True, False, True]
        assert any("2 of 4 vectors in" in note and "row 1 (id 'b')" in note for note in found.notes)
    assert features(vectors).is_empty is None  # a matrix may well be of pixels


def test_vectors_that_are_all_zero_are_refused() -> None:
    options = TableOptions(min_classes=0, embeddings=np.zeros((3, 2)))
    table = read_table({"id": ["a", "b", "c"]}, options)
    with pytest.raises(InvalidInputError, match="all 3 vectors in embeddings are zero"):
        feature_matrix(table, guess_roles(table, options))


def test_gaps_in_embeddings_are_said_of_their_file(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.array([[1.0, np.nan], [2.0, 3.0], [1.0, 1.0]]))
    options = TableOptions(min_classes=0, embeddings=tmp_path / "v.npy")
    table = read_table({"id": ["a", "b", "c"]}, options)
    roles = guess_roles(table, options)
    with pytest.raises(InvalidInputError, match=r"of v\.npy are empty or not finite"):
        feature_matrix(table, roles)
    assert feature_matrix(table, roles, impute=True).points[0, 1] == 2.0
