import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

from beltrami.core.errors import BeltramiError, InvalidInputError, NotNumericError
from beltrami.core.validation import check_choice, check_count, check_points, check_positive


def test_float32_stays_and_every_other_number_becomes_float64() -> None:
    assert check_points(np.ones((2, 3), np.float32)).dtype == np.float32
    assert check_points(csr_array(np.eye(2, dtype=np.float32))).dtype == np.float32
    for dtype in (np.float16, np.int8, np.uint64, np.bool_, np.float64, np.longdouble):
        assert check_points(np.ones((2, 3), dtype)).dtype == np.float64
    assert check_points([[1, 2], [3, 4]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert check_points(csr_array(np.eye(2, dtype=np.int64))).dtype == np.float64


def test_columns_first_arrays_become_rows_first_with_the_same_entries() -> None:
    given = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    checked = check_points(given)
    assert checked.flags.c_contiguous
    assert (checked == given).all()


def test_frames_of_numbers_are_read_and_frames_of_words_are_refused() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    assert check_points(frame).tolist() == [[1.0, 0.5], [2.0, 1.5]]
    with pytest.raises(NotNumericError, match=r"X must hold numbers.*OneHotEncoder"):
        check_points(frame.assign(c=["red", "blue"]))


def test_objects_that_are_numbers_are_read_one_by_one() -> None:
    assert check_points(np.array([[1, 2.5]], dtype=object)).tolist() == [[1.0, 2.5]]
    with pytest.raises(InvalidInputError, match="1 NaN"):
        check_points([[None, 1.0]])


@pytest.mark.parametrize(
    "bad",
    [
        [["1.0", "2.0"]],
        [["a", "b"]],
        [[b"1"]],
        np.array([["2020-01-01"]], dtype="M8[D]"),
        [[1.0, 2.0], [3.0]],
        [[{}]],
    ],
)
def test_what_is_not_numbers_in_rows_of_one_length_is_refused(bad: object) -> None:
    with pytest.raises(NotNumericError, match="must hold numbers in rows of one length"):
        check_points(bad)


@pytest.mark.parametrize("shape", [(), (3,), (2, 2, 2)])
def test_other_than_two_dimensions_are_refused_with_their_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInputError, match=r"2-dimensional.*Reshape your data"):
        check_points(np.ones(shape))


def test_one_dimensional_sparse_arrays_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"2-dimensional.*\(3,\)"):
        check_points(coo_array(np.ones(3)))


def test_complex_numbers_are_refused_dense_and_sparse() -> None:
    for bad in (np.ones((2, 2), complex), csr_array(np.ones((2, 2), complex))):
        with pytest.raises(InvalidInputError, match="Complex data not supported"):
            check_points(bad)


def test_nan_and_infinity_are_counted_and_their_first_row_is_named() -> None:
    points = np.ones((5, 2))
    points[3] = np.nan, np.inf
    points[4, 0] = -np.inf
    with pytest.raises(InvalidInputError, match=r"1 NaN and 2 infinite.*first at row 3"):
        check_points(points)
    with pytest.raises(InvalidInputError, match=r"the new points.*1 NaN and 2 infinite.*at row 3"):
        check_points(csr_array(points), name="the new points")


def test_sparse_with_nan_names_the_row_and_not_the_stored_value() -> None:
    matrix = csr_array(([1.0, 1.0, np.nan], ([0, 0, 6], [0, 1, 2])), shape=(9, 3))
    with pytest.raises(InvalidInputError, match="first at row 6"):
        check_points(matrix)


def test_large_finite_numbers_whose_sum_overflows_are_accepted() -> None:
    assert check_points(np.full((4, 2), 1e308)).shape == (4, 2)
    assert check_points(np.full((4, 2), 3e38, np.float32)).shape == (4, 2)


def test_sparse_duplicates_are_summed_without_touching_the_original() -> None:
    given = csr_matrix((np.ones(3), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    assert check_points(given).toarray().tolist() == [[0, 2], [1, 0]]
    assert given.nnz == 3


def test_no_rows_and_no_columns_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"0 feature\(s\)"):
        check_points(np.empty((3, 0)))
    with pytest.raises(InvalidInputError, match=r"0 sample\(s\)"):
        check_points(np.empty((0, 3)))


def test_an_unknown_choice_lists_the_known_ones() -> None:
    assert check_choice("b", ("a", "b"), name="kind") == "b"
    for bad in ("c", None, 1, ["a"]):
        with pytest.raises(InvalidInputError, match=r"kind=.*choose one of 'a', 'b'"):
            check_choice(bad, ("a", "b"), name="kind")


def test_counts_are_integers_of_at_least_the_minimum() -> None:
    assert check_count(np.int32(3), name="k") == 3
    assert check_count(0, name="k", minimum=0) == 0
    with pytest.raises(InvalidInputError, match="k=0 must be at least 1"):
        check_count(0, name="k")
    for bad in (2.0, True, "3", None):
        with pytest.raises(InvalidInputError, match="must be an integer of at least 1"):
            check_count(bad, name="k")


def test_positive_numbers_are_finite_and_above_zero() -> None:
    assert check_positive(np.float32(0.5), name="t") == 0.5
    for bad in (0, -1.0, np.inf, np.nan, True, "1", None, 1j):
        with pytest.raises(InvalidInputError, match=r"t=.*finite number above zero"):
            check_positive(bad, name="t")


def test_not_numeric_is_a_type_error_and_a_value_error_and_ours() -> None:
    assert issubclass(NotNumericError, BeltramiError)
    assert issubclass(NotNumericError, TypeError)
    assert issubclass(NotNumericError, ValueError)
