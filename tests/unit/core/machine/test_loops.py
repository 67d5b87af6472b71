"""Each compiled loop against its twin, in both precisions and at widths that end mid-vector."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import random_array

from beltrami.core.machine import _loops

PRECISIONS = [(np.float32, 2e-5), (np.float64, 1e-12)]
WIDTHS = [1, 3, 8, 17]


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("beta", [0.0, -1.0])
def test_chebyshev_step_is_its_twin(
    dtype: type[np.floating], tolerance: float, width: int, beta: float
) -> None:
    rng = np.random.default_rng(width)
    weights = random_array((60, 60), density=0.12, rng=rng, dtype=np.float64).tocsr()
    arrays = weights.indptr, weights.indices, weights.data.astype(dtype)
    diagonal = rng.normal(size=60).astype(dtype)
    x, out = rng.normal(size=(2, 60, width)).astype(dtype)
    step = dtype(1.5), dtype(beta), dtype(0.25)
    expected = _loops.chebyshev_step_reference(*arrays, diagonal, x, out, *step)
    _loops.chebyshev_step(*arrays, diagonal, x, out, *step)
    assert out.dtype == dtype
    assert_allclose(out, expected, rtol=tolerance, atol=tolerance)


def test_chebyshev_step_with_beta_zero_does_not_read_what_was_there() -> None:
    weights = random_array((5, 5), density=0.5, rng=0).tocsr()
    out = np.full((5, 2), np.nan)
    arrays = weights.indptr, weights.indices, weights.data, np.ones(5)
    _loops.chebyshev_step(*arrays, np.ones((5, 2)), out, 1.0, 0.0, 0.0)
    assert np.isfinite(out).all()


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
@pytest.mark.parametrize("width", WIDTHS)
def test_conjugate_gradient_steps_are_their_twins(
    dtype: type[np.floating], tolerance: float, width: int
) -> None:
    rng = np.random.default_rng(width)
    x, residual, direction, image = rng.normal(size=(4, 40, width)).astype(dtype)
    alpha = rng.normal(size=width).astype(dtype)
    moved, left = _loops.advance_reference(x, residual, direction, image, alpha)
    turned = _loops.redirect_reference(direction, residual, alpha)
    _loops.redirect(direction.copy(), residual, alpha)
    fresh = direction.copy()
    _loops.redirect(fresh, residual, alpha)
    _loops.advance(x, residual, direction, image, alpha)
    assert_allclose(x, moved, rtol=tolerance, atol=tolerance)
    assert_allclose(residual, left, rtol=tolerance, atol=tolerance)
    assert_allclose(fresh, turned, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [1, 4096, 9000])
def test_column_dots_are_summed_in_float64_whatever_the_precision(
    dtype: type[np.floating], rows: int
) -> None:
    left, right = np.random.default_rng(0).normal(1, 1, size=(2, rows, 3)).astype(dtype)
    dots = _loops.column_dots(left, right)
    assert dots.dtype == np.float64
    # 1e-12 for float32 too: products and sums are both taken in float64.
    assert_allclose(dots, _loops.column_dots_reference(left, right), rtol=1e-12)
