"""Principal components, the first step of the digit experiments.

Points enter, dense or sparse, and their coordinates along the directions of largest variance
leave, in the dtype that came. Sums run in float64 over blocks of rows.
"""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import eigh

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.memory import require_memory
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector, Points
from beltrami.core.validation import check_count, check_points

_BLOCK_ENTRIES = 2**22  # 32 MiB of float64 at a time


def principal_components(
    points: Points, n_components: int = 100, *, center: bool = True
) -> FloatMatrix:
    r"""Project the points on their directions of largest variance.

    With the rows of X centred, the directions v are the leading eigenvectors of

    .. math:: C = \sum_i (x_i - \mu)(x_i - \mu)^\top,

    and the result is :math:`(x_i - \mu)^\top v_j`. Belkin (2003), Section 3.8.1, projects MNIST on
    100 of them. The smaller of C and the matrix of inner products of the points is formed, so the
    cost is O(n d min(n, d) + min(n, d)^3), and the answer is the same to rounding. The sign of a
    direction is chosen such that its entry of largest absolute value is positive, so that it does
    not depend on the machine. Sparse points are centred implicitly and never made dense.

    Parameters
    ----------
    points : ndarray or csr_array of shape (n, d)
        The data.
    n_components : int, default=100
        How many directions, at most min(n, d).
    center : bool, default=True
        Subtract the mean first; without it the directions are those of the raw second moments.

    Returns
    -------
    ndarray of shape (n, n_components)
        The coordinates, by decreasing variance; float32 for float32 points, else float64.

    Raises
    ------
    InvalidInputError
        When there are fewer than `n_components` rows or columns.
    MemoryBudgetError
        When the matrix of products does not fit the memory budget.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import principal_components
    >>> principal_components(np.array([[0.0, 0.0], [3.0, 4.0]]), 1)
    array([[-2.5],
           [ 2.5]])
    """
    points = check_points(points, name="points")
    n, d = points.shape
    smaller = min(n, d)
    n_components = check_count(n_components, name="n_components")
    if n_components > smaller:
        raise InvalidInputError(
            f"n_components={n_components} is more than {n} points in {d} dimensions have; ask for "
            f"at most {smaller}."
        )
    require_memory(
        16.0 * smaller**2,
        what=f"the {smaller} x {smaller} matrix of products and its copy",
        instead="Keep fewer columns (the most frequent words) or take a sample of the points.",
    )
    mean = _mean(points) if center else np.zeros(d)
    project = _by_covariance if d <= n else _by_inner_products
    return project(points, mean, n_components).astype(points.dtype, copy=False)


def _blocks(points: Points) -> Iterator[slice]:
    n, d = points.shape
    height = max(1, _BLOCK_ENTRIES // d)
    return (slice(start, min(start + height, n)) for start in range(0, n, height))


def _mean(points: Points) -> FloatVector:
    total = sum(np.asarray(points[rows].sum(axis=0, dtype=np.float64)) for rows in _blocks(points))
    mean: FloatVector = np.asarray(total, dtype=np.float64).ravel() / points.shape[0]
    return mean


def _by_covariance(points: Points, mean: FloatVector, n_components: int) -> FloatMatrix:
    directions = _leading(_covariance(points, mean), n_components)
    directions = directions * _signs(directions)
    coordinates = np.empty((points.shape[0], n_components), dtype=np.float64)
    for rows in _blocks(points):
        block = points[rows].astype(np.float64)
        coordinates[rows] = block @ directions - mean @ directions
    return coordinates


def _covariance(points: Points, mean: FloatVector) -> FloatMatrix:
    n, d = points.shape
    if not isinstance(points, np.ndarray):
        wide: CsrMatrix = points.astype(np.float64)
        dense: FloatMatrix = (wide.T @ wide).toarray() - n * np.outer(mean, mean)
        return dense
    total = np.zeros((d, d), dtype=np.float64)
    for rows in _blocks(points):
        block = points[rows] - mean
        total += block.T @ block
    return total


def _by_inner_products(points: Points, mean: FloatVector, n_components: int) -> FloatMatrix:
    """Project through the n x n inner products, for fewer points than dimensions."""
    wide = points.astype(np.float64)
    if isinstance(wide, np.ndarray):
        products = (wide - mean) @ (wide - mean).T
    else:
        along = wide @ mean
        products = (wide @ wide.T).toarray() - along[:, None] - along + mean @ mean
    vectors = _leading(products, n_components)
    # The directions, each scaled by its singular value, which does not change its sign.
    directions = wide.T @ vectors - np.outer(mean, vectors.sum(axis=0))
    variances = np.einsum("ij,ij->j", vectors, products @ vectors)
    scale: FloatVector = np.sqrt(np.maximum(variances, 0.0)) * _signs(directions)
    return vectors * scale


def _leading(products: FloatMatrix, n_components: int) -> FloatMatrix:
    size = products.shape[0]
    _, vectors = eigh(products, subset_by_index=(size - n_components, size - 1))
    return np.asarray(vectors[:, ::-1], dtype=np.float64)


def _signs(directions: FloatMatrix) -> FloatVector:
    largest = np.abs(directions).argmax(axis=0)
    return np.where(directions[largest, np.arange(directions.shape[1])] < 0, -1.0, 1.0)
