"""The few primitives that a device must supply, so that the mathematics is written once.

Iterative solvers take a `Backend` and blocks that it made; everything else they do is ordinary
array arithmetic. `NumpyBackend` runs compiled loops on the processor, and NumPy on few rows. A
device's backend (`torch_backend.py`) supplies the same methods over its own arrays and needs no
second copy of any algorithm. Which one computes is chosen in `device.py`.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array

from beltrami.core.machine import few_rows
from beltrami.core.machine.threads import map_ranges
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector

ROW_CHUNK = 16384
"""Rows whose products are summed in the blocks' precision, before float64."""

_TURN_ROWS = 8192  # rows turned at once in place, so that no second copy of the block is held


@dataclass(frozen=True, slots=True)
class SplitMatrix:
    """A symmetric matrix A = diag(d) - W, held as its two parts.

    Laplacians, shifted Laplacians and their normalised forms all have this shape, and keeping the
    diagonal apart saves an entry per row and makes spectral shifts free.

    Attributes
    ----------
    diagonal : ndarray of shape (n,)
        d.
    weights : csr_array of shape (n, n)
        W: symmetric, empty diagonal.
    known_bound : float
        No eigenvalue is larger; infinity where nothing is known beyond the entries.
    """

    diagonal: FloatVector
    weights: CsrMatrix
    known_bound: float = np.inf

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.diagonal.size)

    def astype(self, dtype: DTypeLike) -> "SplitMatrix":
        """Return the same matrix in another precision, sharing the index arrays."""
        weights: CsrMatrix = csr_array(self.weights.astype(dtype, copy=False))
        return SplitMatrix(self.diagonal.astype(dtype, copy=False), weights, self.known_bound)

    def permute(self, order: NDArray[np.intp]) -> "SplitMatrix":
        """Return the matrix with rows and columns taken in `order`, a permutation."""
        weights: CsrMatrix = self.weights[order][:, order]
        weights.sort_indices()
        diagonal = np.ascontiguousarray(self.diagonal[order])
        return SplitMatrix(diagonal, weights, self.known_bound)


@dataclass(frozen=True, slots=True, eq=False)
class GroundedLaplacian:
    """The matrix L + G of a graph with edges to ground.

    Attributes
    ----------
    weights : csr_array of shape (m, m)
        W: symmetric, empty diagonal.
    ground : ndarray of shape (m,)
        G: weight of each node's edge to ground.
    """

    weights: CsrMatrix
    ground: FloatVector

    @property
    def diagonal(self) -> FloatVector:
        """Degrees, edges to ground included."""
        return np.asarray(self.weights.sum(axis=1), dtype=np.float64).ravel() + self.ground

    def permute(self, order: NDArray[np.intp]) -> "GroundedLaplacian":
        """Return the matrix with the nodes taken in `order`, a permutation."""
        weights: CsrMatrix = self.weights[order][:, order]
        weights.sort_indices()
        return GroundedLaplacian(weights, np.ascontiguousarray(self.ground[order]))


class Backend(Protocol):
    """What a device supplies to the iterative solvers.

    Arguments called `dtype` are NumPy's, or the ``dtype`` of a block of the same device.
    """

    @property
    def name(self) -> str:
        """What computes, for a person."""

    @property
    def memory_errors(self) -> tuple[type[Exception], ...]:
        """What is raised where the device's own memory does not suffice."""

    def has_room(self, n_bytes: float) -> bool:
        """Say whether so much of the device's own memory is free."""

    def block(self, host: Any, dtype: Any) -> Any:
        """Copy a host array, or a block of this device, to the device, row-major, in `dtype`."""

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return a block whose entries are not set."""

    def vector(self, host: Any, dtype: Any) -> Any:
        """Return one number per row or column, to be combined with blocks; not to be changed."""

    def host(self, block: Any) -> Any:
        """Return a block as a NumPy array."""

    def matrix(self, matrix: SplitMatrix, dtype: DTypeLike) -> Any:
        """Return the device's own form of a matrix."""

    def chebyshev_step(
        self, matrix: Any, x: Any, out: Any, *, alpha: float, beta: float, center: float
    ) -> None:
        """Overwrite `out` with alpha (A - center I) x + beta out."""

    def product(self, matrix: Any, x: Any, out: Any) -> None:
        """Overwrite `out` with A x."""

    def grounded(self, matrix: GroundedLaplacian) -> Any:
        """Return the device's own form of a grounded Laplacian, in float64."""

    def grounded_product(self, matrix: Any, x: Any, out: Any) -> None:
        """Overwrite `out` with (L + G) x, summed over differences along edges."""

    def sparse_product(self, matrix: Any, x: Any) -> Any:
        """Return a sparse host matrix times a block, in the block's precision."""

    def scale_rows(self, x: Any, factors: Any, out: Any) -> None:
        """Overwrite `out` with x, each row times its own factor, a `vector`."""

    def gram(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Return left' right, summed in float64, on the host."""

    def rotate(self, block: Any, matrix: NDArray[np.float64]) -> Any:
        """Return ``block @ matrix`` in the block's precision."""

    def turn(self, block: Any, matrix: NDArray[np.float64]) -> None:
        """Overwrite a block with ``block @ matrix``, a square matrix, in the block's precision."""

    def column_dots(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Return the inner products of matching columns, on the host."""

    def advance(
        self, x: Any, residual: Any, direction: Any, image: Any, alpha: FloatVector
    ) -> None:
        """Take one conjugate-gradient step in place: x + alpha p and r - alpha A p."""

    def redirect(self, direction: Any, gradient: Any, beta: FloatVector) -> None:
        """Overwrite `direction` with gradient + beta direction."""

    def smallest(self, values: Any, k: int) -> tuple[Any, Any]:
        """Return the `k` smallest entries of each row and their columns, ties by column."""

    def group_minima(self, queries: Any, base: Any, halves: Any, size: int) -> Any:
        """Return the least of |y|^2 / 2 - <x, y> over each `size` points y in a row of the base.

        One row per query x; `halves` holds |y|^2 / 2.
        """


class NumpyBackend:
    """The processor: NumPy and BLAS, with compiled threaded loops where they pay."""

    @property
    def name(self) -> str:
        """What computes, for a person."""
        return "the processor"

    @property
    def memory_errors(self) -> tuple[type[Exception], ...]:
        """None: it has no memory but that of the process."""
        return ()

    def has_room(self, n_bytes: float) -> bool:  # noqa: ARG002
        """Say yes: who allocates has asked `core/machine/memory.py`."""
        return True

    def block(self, host: FloatMatrix, dtype: DTypeLike) -> FloatMatrix:
        """Return a row-major copy of `host`."""
        return np.array(host, dtype=dtype, order="C")

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> FloatMatrix:
        """Return an array whose entries are not set."""
        return np.empty(shape, dtype=dtype)

    def vector(self, host: Any, dtype: DTypeLike) -> NDArray[Any]:
        """Return the numbers in `dtype`."""
        return np.asarray(host, dtype=dtype)

    def host(self, block: FloatMatrix) -> FloatMatrix:
        """Return the block itself."""
        return block

    def matrix(self, matrix: SplitMatrix, dtype: DTypeLike) -> SplitMatrix:
        """Return the matrix in `dtype`."""
        return matrix.astype(dtype)

    def chebyshev_step(
        self,
        matrix: SplitMatrix,
        x: FloatMatrix,
        out: FloatMatrix,
        *,
        alpha: float,
        beta: float,
        center: float,
    ) -> None:
        """Overwrite `out` with alpha (A - center I) x + beta out."""
        weights, kind = matrix.weights, x.dtype.type
        if few_rows.is_small(weights):
            few_rows.chebyshev_step(weights, matrix.diagonal, x, out, alpha, beta, center)
            return
        from beltrami.core.machine import _loops

        _loops.chebyshev_step(
            weights.indptr,
            weights.indices,
            weights.data,
            matrix.diagonal,
            x,
            out,
            kind(alpha),
            kind(beta),
            kind(center),
        )

    def product(self, matrix: SplitMatrix, x: FloatMatrix, out: FloatMatrix) -> None:
        """Overwrite `out` with A x."""
        self.chebyshev_step(matrix, x, out, alpha=1.0, beta=0.0, center=0.0)

    def grounded(self, matrix: GroundedLaplacian) -> GroundedLaplacian:
        """Return the matrix itself."""
        return matrix

    def grounded_product(self, matrix: GroundedLaplacian, x: FloatMatrix, out: FloatMatrix) -> None:
        """Overwrite `out` with (L + G) x, accurate however weak an edge is next to others."""
        weights = matrix.weights
        if few_rows.is_small(weights):
            few_rows.grounded_product(weights, matrix.ground, x, out)
            return
        from beltrami.core.machine import _loops

        _loops.grounded_product(
            weights.indptr, weights.indices, weights.data, matrix.ground, x, out
        )

    def sparse_product(self, matrix: Any, x: FloatMatrix) -> FloatMatrix:
        """Return a sparse matrix times a block, in the block's precision."""
        return np.asarray(matrix.astype(x.dtype, copy=False) @ x)

    def scale_rows(self, x: FloatMatrix, factors: FloatVector, out: FloatMatrix) -> None:
        """Overwrite `out` with x, each row times its own factor."""
        np.multiply(x, factors[:, None], out=out)

    def gram(self, left: FloatMatrix, right: FloatMatrix) -> NDArray[np.float64]:
        """Return left' right: products in the blocks' precision, sums over chunks in float64."""
        total = np.zeros((left.shape[1], right.shape[1]))
        for part in map_ranges(lambda i, j: left[i:j].T @ right[i:j], len(left), ROW_CHUNK):
            total += part
        return total

    def rotate(self, block: FloatMatrix, matrix: NDArray[np.float64]) -> FloatMatrix:
        """Return ``block @ matrix`` in the block's precision."""
        rotated, turn = (
            np.empty((len(block), matrix.shape[1]), block.dtype),
            matrix.astype(block.dtype),
        )
        map_ranges(
            lambda i, j: np.matmul(block[i:j], turn, out=rotated[i:j]), len(block), ROW_CHUNK
        )
        return rotated

    def turn(self, block: FloatMatrix, matrix: NDArray[np.float64]) -> None:
        """Overwrite a block with ``block @ matrix``, some rows at a time."""
        turn = matrix.astype(block.dtype, copy=False)
        for start in range(0, len(block), _TURN_ROWS):
            rows = slice(start, start + _TURN_ROWS)
            block[rows] = block[rows] @ turn

    def column_dots(self, left: FloatMatrix, right: FloatMatrix) -> NDArray[np.float64]:
        """Return the inner products of matching columns."""
        if len(left) <= few_rows.FEW_ROWS:
            return few_rows.column_dots(left, right)
        from beltrami.core.machine import _loops

        dots: NDArray[np.float64] = _loops.column_dots(left, right)
        return dots

    def advance(
        self,
        x: FloatMatrix,
        residual: FloatMatrix,
        direction: FloatMatrix,
        image: FloatMatrix,
        alpha: FloatVector,
    ) -> None:
        """Take one conjugate-gradient step in place."""
        if len(x) <= few_rows.FEW_ROWS:
            few_rows.advance(x, residual, direction, image, alpha.astype(x.dtype))
            return
        from beltrami.core.machine import _loops

        _loops.advance(x, residual, direction, image, alpha.astype(x.dtype))

    def redirect(self, direction: FloatMatrix, gradient: FloatMatrix, beta: FloatVector) -> None:
        """Overwrite `direction` with gradient + beta direction."""
        if len(direction) <= few_rows.FEW_ROWS:
            few_rows.redirect(direction, gradient, beta.astype(direction.dtype))
            return
        from beltrami.core.machine import _loops

        _loops.redirect(direction, gradient, beta.astype(direction.dtype))

    def smallest(self, values: FloatMatrix, k: int) -> tuple[FloatMatrix, NDArray[np.intp]]:
        """Return the `k` smallest entries of each row and their columns, ties by column."""
        if k < values.shape[1]:
            columns = _smallest_columns(values, k)
        else:
            columns = np.broadcast_to(np.arange(values.shape[1]), values.shape)
        chosen = np.take_along_axis(values, columns, axis=1)
        order = np.argsort(chosen, axis=1, kind="stable")
        return np.take_along_axis(chosen, order, axis=1), np.take_along_axis(columns, order, axis=1)

    def group_minima(
        self, queries: FloatMatrix, base: FloatMatrix, halves: FloatVector, size: int
    ) -> FloatMatrix:
        """Return the least of |y|^2 / 2 - <x, y> over each `size` points y in a row of the base."""
        gaps = halves - queries @ base.T
        return np.asarray(gaps.reshape(len(queries), -1, size).min(axis=2))


PROCESSOR = NumpyBackend()
"""What computes where nothing else was asked for; it holds no state."""


def _smallest_columns(values: FloatMatrix, k: int) -> NDArray[np.intp]:
    """Return the columns of the `k` smallest of each row; of equal ones the first."""
    largest = np.partition(values, k - 1, axis=1)[:, k - 1 : k]
    below, level = values < largest, values == largest
    room = k - below.sum(axis=1, keepdims=True)
    chosen = below | (level & (np.cumsum(level, axis=1) <= room))
    return np.nonzero(chosen)[1].reshape(values.shape[0], k)
