"""Classes with gaps: every type is read, every mistake is named."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.exceptions import DataConversionWarning

from beltrami.core.errors import AmbiguousLabelsWarning, InvalidInputError
from beltrami.data.labels import (
    decode_labels,
    encode_labels,
    encode_values,
    is_continuous,
    labeled_mask,
)

NAN = float("nan")
MIXED_GAPS = np.array(["a", "b", None, NAN, pd.NA, "", "a", np.float32("nan")], dtype=object)


def is_same(one, other) -> bool:
    if isinstance(one, float) and isinstance(other, float) and np.isnan(one):
        return bool(np.isnan(other))
    return one is other or one == other


# name: y, classes, codes, marker
READ = {
    "ints": (np.array([3, 10, -1, 3]), [3, 10], [0, 1, -1, 0], -1),
    "int8": (np.array([3, 10, -1, 3], dtype=np.int8), [3, 10], [0, 1, -1, 0], -1),
    "list of ints": ([7, -1, 0], [0, 7], [1, -1, 0], -1),
    "ints with None": ([7, None, 0, None], [0, 7], [1, -1, 0, -1], -1),
    "negative ints": (np.array([-5, -1, -2, 4]), [-5, -2, 4], [0, -1, 1, 2], -1),
    "unsigned": (np.array([1, 0, 255], dtype=np.uint8), [0, 1, 255], [1, 0, 2], None),
    "bools": (np.array([True, False, True]), [False, True], [1, 0, 1], None),
    "bools with None": ([True, None, False], [False, True], [1, -1, 0], None),
    "strings": (np.array(["b", "", "abc", "b"]), ["abc", "b"], [1, -1, 0, 1], ""),
    "strings and gaps of every kind": (MIXED_GAPS, ["a", "b"], [0, 1, -1, -1, -1, -1, 0, -1], ""),
    "strings and -1": (["b", -1, "a", -1.0], ["a", "b"], [1, -1, 0, -1], ""),
    "text of -1": (["b", "-1", "b"], ["-1", "b"], [1, 0, 1], ""),
    "bytes": (np.array([b"b", b"", b"a"]), [b"a", b"b"], [1, -1, 0], None),
    "whole floats": (np.array([2.0, NAN, 0.0, NAN]), [0, 2], [1, -1, 0, -1], NAN),
    "list of whole floats": ([2.0, None, 0, NAN], [0, 2], [1, -1, 0, -1], NAN),
    "pandas ints": (pd.Series([4, -1, 2], index=[9, 7, 5]), [2, 4], [1, -1, 0], -1),
    "pandas Int64": (pd.Series([4, None, 2], dtype="Int64"), [2, 4], [1, -1, 0], -1),
    "pandas boolean": (pd.Series([True, None, False], dtype="boolean"), [0, 1], [1, -1, 0], None),
    "pandas string": (pd.Series(["b", None, "a"], dtype="string"), ["a", "b"], [1, -1, 0], ""),
    "pandas objects": (pd.Series(["b", None, "a"], dtype=object), ["a", "b"], [1, -1, 0], ""),
    "categorical": (pd.Categorical(["b", None, "a"]), ["a", "b"], [1, -1, 0], ""),
    "categorical series": (
        pd.Series(["b", None, "a"], dtype=pd.CategoricalDtype(["c", "b", "a"])),
        ["a", "b"],
        [1, -1, 0],
        "",
    ),
    "polars ints": (pl.Series([4, None, 2]), [2, 4], [1, -1, 0], -1),
    "categorical ints": (pd.Categorical([4, None, 2]), [2, 4], [1, -1, 0], -1),
    "series of categories": (pd.Series([4, None, 2], dtype="category"), [2, 4], [1, -1, 0], -1),
    "masked ints": (np.ma.array([4, 9, 2], mask=[0, 1, 0]), [2, 4], [1, -1, 0], -1),
    "masked -1": (np.ma.array([4, -1, 2, 2], mask=[0, 1, 0, 1]), [2, 4], [1, -1, 0, -1], -1),
    "masked texts": (np.ma.array(["b", "c", "a"], mask=[0, 1, 0]), ["a", "b"], [1, -1, 0], ""),
    "nothing masked": (np.ma.array([4, -1, 2]), [2, 4], [1, -1, 0], -1),
    "polars strings": (pl.Series(["b", None, "a"]), ["a", "b"], [1, -1, 0], ""),
    "polars bools": (pl.Series([True, None, False]), [0, 1], [1, -1, 0], None),
    "tuple": (("b", None, "a"), ["a", "b"], [1, -1, 0], ""),
}


@pytest.mark.filterwarnings("ignore::beltrami.core.errors.AmbiguousLabelsWarning")
@pytest.mark.parametrize("name", READ)
def test_labels_of_every_type_are_read(name):
    y, classes, codes, marker = READ[name]
    labels = encode_labels(y, len(y))
    assert labels.classes.tolist() == classes
    assert labels.codes.tolist() == codes
    assert is_same(labels.marker, marker)
    assert labels.classes.dtype.kind != "O"
    rows = np.flatnonzero(np.array(codes) >= 0)
    assert_array_equal(labels.rows, rows)
    assert_array_equal(labels.one_hot(), np.eye(len(classes))[np.array(codes)[rows]])


def test_classes_keep_the_type_of_the_labels():
    assert encode_labels(np.array([1, 2], dtype=np.int8), 2).classes.dtype == np.int8
    assert encode_labels([1, None, 2], 3).classes.dtype == np.int64
    assert encode_labels([True, None, False], 3).classes.dtype == np.bool_
    assert encode_labels(["long name", "b"], 2).classes.dtype == np.dtype("<U9")


@pytest.mark.filterwarnings("ignore::beltrami.core.errors.AmbiguousLabelsWarning")
@given(
    st.sampled_from(
        [
            (st.integers(0, 5), -1),
            (st.booleans(), None),
            (st.sampled_from(["a", "bb", "c c"]), ""),
            (st.sampled_from([-3.0, 0.0, 8.0]), None),
        ]
    ).flatmap(lambda kind: st.lists(kind[0], min_size=2, unique=True).map(lambda v: [*v, kind[1]]))
)
def test_reading_and_writing_labels_gives_them_back(y):
    *present, _ = y
    labels = encode_labels([*y, *y], 2 * len(y))
    again = decode_labels(labels.codes, labels.classes, labels.marker).tolist()
    gaps = [again.pop(), again.pop(len(present))]
    assert again == [*present, *present]
    assert all(is_same(gap, labels.marker) for gap in gaps)
    full = decode_labels(labels.codes[labels.rows], labels.classes, labels.marker)
    assert full.dtype == labels.classes.dtype


@pytest.mark.parametrize(
    ("classes", "marker", "dtype"),
    [
        (np.array([1, 2]), -1, np.int64),
        (np.array([1, 2], dtype=np.int8), -1, np.int8),
        (np.array([1, 2], dtype=np.int8), -999, np.int16),
        (np.array([1, 2]), np.int64(0), np.int64),
        (np.array([1, 2]), NAN, object),
        (np.array([1, 2]), None, object),
        (np.array([1, 2]), "none", object),
        (np.array([1.0, 2.0]), NAN, np.float64),
        (np.array([1.0, 2.0]), 0, np.float64),
        (np.array(["a", "bb"]), "", "<U2"),
        (np.array(["a", "bb"]), "unknown", "<U7"),
        (np.array(["a", "bb"]), None, object),
        (np.array(["a", "bb"]), -1, object),
        (np.array([False, True]), None, object),
        (np.array([False, True]), -1, object),
        (np.array([1, 2], dtype=np.uint8), None, object),
    ],
)
def test_a_marker_is_written_whole_and_in_the_type_of_the_classes_where_it_fits(
    classes, marker, dtype
):
    found = decode_labels(np.array([1, -1, 0]), classes, marker)
    assert found.dtype == dtype
    assert [found[0], found[2]] == [classes[1], classes[0]]
    assert is_same(found[1], marker)


# --- markers -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "told"),
    [
        ([-1, 0, 1] * 4, "-1 in 4 of 12 rows beside"),
        (np.array([-1.0, 0.0, 1.0] * 4), "-1 in 4 of 12 rows"),
        ([-2, -1, 0, 1, 2] * 2, "-1 in 2 of 10 rows"),
        (["-1", "a", "b"], "the text '-1' counts as a class"),
        (np.array(["nan", "a", "b", "nan"]), r"'nan' counts as a class \(2 of 4 rows\)"),
        (["<NA>", "a", "", "a"], "'<NA>' counts as a class"),
    ],
)
def test_a_label_that_may_be_a_gap_and_a_gap_that_may_be_a_label_are_told(y, told):
    with pytest.warns(AmbiguousLabelsWarning, match=told):
        encode_labels(y, len(y))
    marker = "" if isinstance(y[1], str) else -1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode_labels(y, len(y), unlabeled=marker)  # what the user says is believed
        encode_labels(y, len(y), classes=np.unique(y))


@pytest.mark.parametrize(
    "y",
    [
        [-1] * 8 + [0, 1] * 3,
        [-1, 0, 1, 2] * 4,
        [-1, -1, -1, -2, 3],
        [0, 1, None] * 4,
        np.ma.array([0, 1, 2] * 4, mask=[0, 0, 1] * 4),
        ["a", "b", ""],
    ],
)
def test_the_usual_gaps_are_taken_without_a_word(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode_labels(y, len(y))


def test_masked_values_are_unlabelled():
    values, rows = encode_values(np.ma.array([1.5, 9.0, 3.0], mask=[0, 1, 0]), 3)
    assert rows.tolist() == [0, 2]
    assert values[rows].tolist() == [1.5, 3.0]


def test_unlabeled_none_makes_minus_one_a_class():
    for y in (np.array([-1, 1, 1]), [-1, 1, 1], np.array([-1.0, 1.0, 1.0])):
        labels = encode_labels(y, 3, unlabeled=None)
        assert labels.classes.tolist() == [-1, 1]
        assert labels.codes.tolist() == [0, 1, 1]
    assert encode_labels([-1, 1, 1], 3, unlabeled=None).marker is None
    assert encode_labels([2, 1, 1], 3, unlabeled=None).marker == -1
    with pytest.raises(InvalidInputError, match="1 of 3 rows in y have none"):
        encode_labels(["a", None, "b"], 3, unlabeled=None)


@pytest.mark.parametrize(
    ("y", "marker", "classes"),
    [
        (np.array([0, -1, 4, 0]), 0, [-1, 4]),
        ([0, -1, 4, None], 0, [-1, 4]),
        (np.array([0, -1, 4, pd.NA], dtype=object), 0, [-1, 4]),
        (pd.Series([0, -1, 4, None], dtype="Int64"), 0, [-1, 4]),
        (np.array(["unknown", "a", "b", "unknown"]), "unknown", ["a", "b"]),
        (["unknown", "a", "b", None], "unknown", ["a", "b"]),
        (pd.Series([None, "a", "b", "unknown"], dtype="string"), "unknown", ["a", "b"]),
        ([-1, "a", "b", -1], -1, ["a", "b"]),
        (np.array([NAN, -1, 4, NAN]), NAN, [-1, 4]),
        ([None, -1, 4, None], NAN, [-1, 4]),
        (np.array([-9.0, -1, 4, NAN]), -9, [-1, 4]),
    ],
)
def test_a_marker_of_ones_own_is_the_only_one_besides_nothing(y, marker, classes):
    labels = encode_labels(y, 4, unlabeled=marker)
    assert labels.classes.tolist() == classes
    assert labels.codes.tolist() == [-1, 0, 1, -1]
    assert labels.marker is marker


def test_a_marker_of_another_type_marks_nothing():
    labels = encode_labels(np.array(["a", "b"]), 2, unlabeled=0)
    assert labels.codes.tolist() == [0, 1]


# --- declared classes --------------------------------------------------------


@pytest.mark.parametrize(
    "classes",
    [
        ["c", "a", "b"],
        np.array(["a", "b", "c"], dtype=object),
        {"a", "b", "c"},
        pd.Index(list("cab")),
    ],
    ids=["list", "objects", "set", "pandas"],
)
def test_declared_classes_may_have_no_label(classes):
    labels = encode_labels(["a", None, "c"], 3, classes=classes)
    assert labels.classes.tolist() == ["a", "b", "c"]
    assert labels.classes.dtype == np.dtype("<U1")
    assert labels.codes.tolist() == [0, -1, 2]
    assert labels.one_hot().tolist() == [[1, 0, 0], [0, 0, 1]]


def test_one_class_is_enough_where_another_is_declared():
    labels = encode_labels([5, -1, 5], 3, classes=[5, 6])
    assert labels.codes.tolist() == [0, -1, 0]
    with pytest.raises(InvalidInputError, match="one class, 5"):
        encode_labels([5, -1, 5], 3, classes=[5])


def test_labels_outside_the_declared_classes_are_named():
    with pytest.raises(InvalidInputError, match=r"y holds \['z'\], which classes=\['a', 'b'\]"):
        encode_labels(["a", "z"], 2, classes=["a", "b"])
    with pytest.raises(InvalidInputError, match="int, str"):
        encode_labels(["a", "b"], 2, classes=["a", "b", 3])


# --- mistakes ----------------------------------------------------------------


def test_a_column_is_read_with_a_warning():
    for y in (np.array([[1], [2], [-1]]), [[1], [2], [-1]], pd.DataFrame({"y": [1, 2, -1]})):
        with pytest.warns(DataConversionWarning, match="column-vector"):
            assert encode_labels(y, 3).codes.tolist() == [0, 1, -1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y"),
        ([1, 2], "3 rows and 2 labels"),
        (np.eye(3), r"shape \(3, 3\)"),
        ("abc", r"shape \(\)"),
        (csr_array(np.eye(3)), "sparse"),
        (["a", 1, None], "types int, str"),
        ([["a"], ["b", "c"], None], "types list"),
        ([1j, 2, None], "types complex, int"),
        (np.array([1j, 2, 3]), "complex128"),
        (np.array(["2020", "2021", "NaT"], dtype="M8[D]"), r"datetime64\[D\]"),
        ([0.5, 1.0, NAN], "continuous"),
        ([1.0, np.inf, NAN], "infinity"),
        ([-1, -1, -1], "no label at all: all 3 rows"),
        ([None, None, None], "no label at all"),
        (np.full(3, NAN), "no label at all"),
        (["a", "a", "a"], "one class, 'a'"),
        (np.array([4, 4, 4]), "one class, 4;"),
    ],
)
def test_mistakes_are_refused_with_a_reason(y, message):
    with pytest.raises(InvalidInputError, match=message):
        encode_labels(y, 3)


@pytest.mark.parametrize("y", [np.array([-1, 1, 1]), [-1, 1, 1], [-1.0, 1.0, 1.0], [1, None, 1]])
def test_one_class_and_gaps_may_be_two_classes_of_which_one_is_minus_one(y):
    with pytest.raises(InvalidInputError, match="pass unlabeled=None"):
        encode_labels(y, 3)


def test_the_advice_on_minus_one_is_given_only_where_it_can_help():
    for y, unlabeled in ((["a", None, "a"], "auto"), ([1, 1, 1], "auto"), ([1, 0, 1], 0)):
        with pytest.raises(InvalidInputError, match="one class") as caught:
            encode_labels(y, 3, unlabeled=unlabeled)
        assert "unlabeled=None" not in str(caught.value)


# --- masks -------------------------------------------------------------------


def test_the_mask_needs_neither_labels_nor_two_classes():
    values, has_label = labeled_mask(["a", None, "a"], 3)
    assert values[has_label].tolist() == ["a", "a"]
    assert has_label.tolist() == [True, False, True]
    assert not labeled_mask([None, None], 2)[1].any()
    assert labeled_mask([-1, 3], 2, unlabeled=None)[1].all()
    with pytest.raises(InvalidInputError, match="1 of 2"):
        labeled_mask([NAN, 3], 2, unlabeled=None)


def test_only_floats_that_are_not_all_whole_are_continuous():
    assert is_continuous(np.array([1.0, 2.5]))
    for labels in (np.array([1.0, -2.0]), np.array([1, 2]), np.array(["1.5"]), np.array([True])):
        assert not is_continuous(labels)


@pytest.mark.parametrize("y", [[-1.0, 0.0, 1.0, np.nan], [-1, 0, 1, None]])
def test_two_markers_among_numbers_are_refused(y) -> None:
    with pytest.raises(InvalidInputError, match="either could mark"):
        encode_labels(y, 4)
    assert encode_labels(y, 4, unlabeled=float("nan")).classes.tolist() == [-1, 0, 1]


@pytest.mark.parametrize("huge", [2**64, -(2**70), 10**400])
def test_whole_numbers_beyond_64_bits_are_refused_with_advice(huge):
    with pytest.raises(InvalidInputError, match=r"does not fit into 64 bits.* give it as a text"):
        encode_labels([1, huge, None, 2], 4)
    assert encode_labels(["1", str(huge), None, "2"], 4).classes.size == 3
