import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from beltrami.core.machine.backend import NumpyBackend, SplitMatrix
from beltrami.graph.families import ring

BACKEND = NumpyBackend()


def _matrix() -> SplitMatrix:
    return SplitMatrix(np.linspace(1, 2, 12), ring(12, 2).weights, known_bound=9.0)


def _dense(matrix: SplitMatrix) -> np.ndarray:
    return np.diag(matrix.diagonal) - matrix.weights.toarray()


def test_a_block_is_a_row_major_copy_in_the_precision_asked_for() -> None:
    host = np.asfortranarray(np.ones((4, 3)))
    block = BACKEND.block(host, np.float32)
    block[0, 0] = 5
    assert host[0, 0] == 1
    assert block.flags.c_contiguous
    assert block.dtype == np.float32
    assert BACKEND.host(block) is block


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_product_and_step_are_those_of_the_dense_matrix(dtype: type[np.floating]) -> None:
    matrix = BACKEND.matrix(_matrix(), dtype)
    assert matrix.weights.dtype == matrix.diagonal.dtype == dtype
    x, out = np.random.default_rng(0).normal(size=(2, 12, 5)).astype(dtype)
    expected = 2 * (_dense(matrix) - 0.5 * np.eye(12)) @ x - 3 * out
    BACKEND.chebyshev_step(matrix, x, out, alpha=2.0, beta=-3.0, center=0.5)
    assert_allclose(out, expected, rtol=1e-5, atol=1e-5)
    BACKEND.product(matrix, x, out)
    assert_allclose(out, _dense(matrix) @ x, rtol=1e-5, atol=1e-5)


def test_gram_adds_chunks_of_rows() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(70_000, 2)), rng.normal(size=(70_000, 3))
    assert_allclose(BACKEND.gram(left, right), left.T @ right, rtol=1e-10)
    single = BACKEND.gram(left.astype(np.float32), right.astype(np.float32))
    assert single.dtype == np.float64
    assert_allclose(single, left.T @ right, atol=0.05)


def test_rotate_keeps_the_precision_of_the_block() -> None:
    block, turn = np.ones((3, 2), np.float32), np.array([[0.0, 2.0], [1.0, 0.0]])
    rotated = BACKEND.rotate(block, turn)
    assert rotated.dtype == np.float32
    assert_array_equal(rotated, [[1, 2]] * 3)


def test_conjugate_gradient_primitives_work_in_place_column_by_column() -> None:
    x, residual = np.zeros((3, 2)), np.ones((3, 2))
    direction, image = np.full((3, 2), 2.0), np.full((3, 2), 3.0)
    BACKEND.advance(x, residual, direction, image, np.array([1.0, 10.0]))
    assert_array_equal(x, [[2, 20]] * 3)
    assert_array_equal(residual, [[-2, -29]] * 3)
    BACKEND.redirect(direction, residual, np.array([1.0, 0.5]))
    assert_array_equal(direction, [[0, -28]] * 3)
    assert_allclose(BACKEND.column_dots(x, direction), [0, -1680])


def test_smallest_takes_the_first_columns_among_equals() -> None:
    values = np.array([[1.0, 1, 1, 0, 1], [2, 1, 2, 2, 1], [5, 4, 3, 2, 1]])
    found, columns = BACKEND.smallest(values, 3)
    assert_array_equal(found, [[0, 1, 1], [1, 1, 2], [1, 2, 3]])
    assert_array_equal(columns, [[3, 0, 1], [1, 4, 0], [4, 3, 2]])


@pytest.mark.parametrize("k", [1, 7, 49, 50])
def test_smallest_is_a_stable_sort_cut_short(k: int) -> None:
    values = np.random.default_rng(k).integers(0, 9, size=(20, 50)).astype(float)
    order = np.argsort(values, axis=1, kind="stable")[:, :k]
    found, columns = BACKEND.smallest(values, k)
    assert_array_equal(columns, order)
    assert_array_equal(found, np.take_along_axis(values, order, 1))


def test_a_split_matrix_is_permuted_and_cast_with_what_is_known_of_it() -> None:
    matrix, order = _matrix(), np.random.default_rng(0).permutation(12)
    permuted = matrix.permute(order)
    assert_array_equal(_dense(permuted), _dense(matrix)[np.ix_(order, order)])
    assert permuted.weights.has_sorted_indices
    assert permuted.n_rows == 12
    assert permuted.known_bound == matrix.astype(np.float32).known_bound == 9.0
