"""The NumPy loops for few rows, against the twins that the compiled ones are held to."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, random_array

from beltrami.core.machine import _loops, few_rows
from beltrami.core.machine.backend import GroundedLaplacian, NumpyBackend, SplitMatrix

PRECISIONS = [(np.float32, 2e-5), (np.float64, 1e-12)]


def _weights(n: int = 60, dtype: type[np.floating] = np.float64) -> csr_array:
    half = random_array((n, n), density=0.1, rng=np.random.default_rng(n)).tocsr()
    return csr_array(half + half.T, dtype=dtype)


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
@pytest.mark.parametrize("beta", [0.0, -1.0])
def test_a_step_is_its_twin(dtype: type[np.floating], tolerance: float, beta: float) -> None:
    rng, weights = np.random.default_rng(0), _weights(dtype=dtype)
    diagonal = rng.normal(size=60).astype(dtype)
    x, out = rng.normal(size=(2, 60, 5)).astype(dtype)
    arrays = weights.indptr, weights.indices, weights.data
    expected = _loops.chebyshev_step_reference(*arrays, diagonal, x, out, 1.5, beta, 0.25)
    if beta == 0:
        out[:] = np.nan  # what was there is not read
    few_rows.chebyshev_step(weights, diagonal, x, out, 1.5, beta, 0.25)
    assert out.dtype == dtype
    assert_allclose(out, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("at_once", [1, 300, 2**22])
def test_a_grounded_product_is_its_twin_however_many_columns_go_at_once(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(few_rows, "_AT_ONCE", at_once)
    rng, weights = np.random.default_rng(1), _weights()
    ground, x, out = rng.random(60), rng.normal(size=(60, 7)), np.empty((60, 7))
    few_rows.grounded_product(weights, ground, x, out)
    arrays = weights.indptr, weights.indices, weights.data
    assert_allclose(out, _loops.grounded_product_reference(*arrays, ground, x), atol=1e-12)


def test_a_weak_edge_beside_strong_ones_is_not_swallowed() -> None:
    weights = csr_array(np.array([[0, 1e20, 0], [1e20, 0, 1e-3], [0, 1e-3, 0]]))
    x, out = np.array([[1.0], [1.0], [0.0]]), np.empty((3, 1))
    few_rows.grounded_product(weights, np.zeros(3), x, out)
    assert_allclose(out.ravel(), [0.0, 1e-3, -1e-3])


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
def test_steps_of_conjugate_gradients_are_their_twins(
    dtype: type[np.floating], tolerance: float
) -> None:
    rng = np.random.default_rng(2)
    x, residual, direction, image = rng.normal(size=(4, 40, 3)).astype(dtype)
    alpha = rng.normal(size=3).astype(dtype)
    moved, left = _loops.advance_reference(x, residual, direction, image, alpha)
    turned = _loops.redirect_reference(direction, residual, alpha)
    fresh = direction.copy()
    few_rows.redirect(fresh, residual, alpha)
    few_rows.advance(x, residual, direction, image, alpha)
    for found, expected in [(x, moved), (residual, left), (fresh, turned)]:
        assert found.dtype == dtype
        assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    dots = few_rows.column_dots(x, residual)
    assert dots.dtype == np.float64
    assert_allclose(dots, _loops.column_dots_reference(x, residual), rtol=1e-12)


def test_many_rows_and_many_entries_go_to_the_compiled_loops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weights, x = _weights(), np.random.default_rng(3).normal(size=(60, 2))
    few, many = np.empty_like(x), np.empty_like(x)
    backend, system = NumpyBackend(), GroundedLaplacian(weights, np.ones(60))
    backend.grounded_product(system, x, few)
    step = np.zeros_like(x), np.zeros_like(x)
    matrix = SplitMatrix(np.ones(60), weights)
    backend.product(matrix, x, step[0])
    for name, bound in (("FEW_ROWS", 59), ("_FEW_ENTRIES", 1)):
        with monkeypatch.context() as smaller:
            smaller.setattr(few_rows, name, bound)
            smaller.setattr(few_rows, "grounded_product", None)
            smaller.setattr(few_rows, "chebyshev_step", None)
            backend.grounded_product(system, x, many)
            backend.product(matrix, x, step[1])
        assert_allclose(many, few, atol=1e-12)
        assert_allclose(step[1], step[0], atol=1e-12)
