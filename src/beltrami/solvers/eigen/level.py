"""One level of the multilevel solver: a block of vectors, filtered and turned.

Vectors are float32, row by row in an order kind to the cache; what decides (Gram matrices, images,
rotations) is computed in float64 from them, a range of rows at a time, so no second block is held
but the one that the filter needs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from beltrami.core.machine.backend import PROCESSOR, Backend, SplitMatrix
from beltrami.core.machine.device import backend_for, on_device
from beltrami.core.machine.threads import map_ranges
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.solvers.eigen.certificate import residual_norms
from beltrami.solvers.eigen.dense import small_eigh
from beltrami.solvers.eigen.pencil import Pencil
from beltrami.solvers.nullspace import NullSpace

_ROWS = 8192  # of a range
_RANK = 1e-12  # of the largest eigenvalue of the Gram matrix: below it a direction is noise


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The symmetric problem of a pencil in float32, its nodes in a new order.

    Attributes
    ----------
    matrix : SplitMatrix
        M^{-1/2} L M^{-1/2}, float32.
    roots : ndarray of shape (n,)
        Square roots of the masses.
    null : NullSpace
        Null vectors.
    bound : float
        No eigenvalue is larger.
    order : ndarray of shape (n,)
        The node of the pencil that each row stands for.
    """

    matrix: SplitMatrix
    roots: FloatVector
    null: NullSpace
    bound: float
    order: NDArray[np.intp]

    @classmethod
    def of(cls, pencil: Pencil, null: NullSpace, order: NDArray[np.intp]) -> "Level":
        """Arrange a pencil in an order of its nodes."""
        from beltrami.solvers.eigen import _loops

        weights, n = pencil.weights, pencil.n_nodes
        place = np.empty(n, dtype=np.int32)
        place[order] = np.arange(n, dtype=np.int32)
        starts = np.zeros(n + 1, dtype=weights.indptr.dtype)
        np.cumsum(np.diff(weights.indptr)[order], out=starts[1:])
        columns = np.empty(weights.nnz, dtype=np.int32)
        values = np.empty(weights.nnz, dtype=np.float32)
        roots = np.sqrt(pencil.mass)

        def rows(begin: int, stop: int) -> None:
            _loops.arrange(
                weights.indptr, weights.indices, weights.data, order, place, roots, starts,
                columns, values, begin, stop,
            )  # fmt: skip

        map_ranges(rows, n, _ROWS)
        diagonal = (pencil.degrees / pencil.mass)[order].astype(np.float32)
        arranged = csr_array((values, columns, starts), shape=(n, n))
        return cls(
            SplitMatrix(diagonal, arranged),
            roots[order],
            null.permute(order),
            pencil.bound() * (1 + 1e-6),
            order,
        )

    def filter(self, block: FloatMatrix, degree: int, edge: float) -> None:
        """Multiply a block, in place, by the Chebyshev polynomial that is small on [edge, bound].

        It is scaled to one at zero, which keeps every entry of order one.
        """
        products = 2.0 * degree * (self.matrix.weights.nnz + 3 * len(block)) * block.shape[1]
        backend = backend_for(products, 8.0 * block.size + 8.0 * self.matrix.weights.nnz)
        on_device(
            backend,
            lambda device: self._filter_on(device, block, degree, edge),
            step="computing eigenvectors",
        )

    def _filter_on(self, backend: Backend, block: FloatMatrix, degree: int, edge: float) -> None:
        """Filter a block of the host on a device; it is overwritten when all is done."""
        step, matrix = backend.chebyshev_step, backend.matrix(self.matrix, np.float32)
        center, half = (self.bound + edge) / 2, (self.bound - edge) / 2
        sigma = first = -half / center
        x: Any = block if backend is PROCESSOR else backend.block(block, np.float32)
        y = backend.empty(block.shape, np.float32)
        step(matrix, x, y, alpha=sigma / half, beta=0.0, center=center)
        for _ in range(degree - 1):
            following = 1 / (2 / first - sigma)
            alpha, beta = 2 * following / half, -sigma * following
            step(matrix, y, x, alpha=alpha, beta=beta, center=center)
            x, y, sigma = y, x, following
        if y is not block:  # so that no caller holds on to a second block
            np.copyto(block, backend.host(y))

    def degree(self, edge: float, growth: float) -> int:
        """Return the degree by which the lower end of the spectrum outgrows [edge, bound]."""
        ratio = (self.bound + edge) / (self.bound - edge)
        return max(int(np.ceil(np.arccosh(growth) / np.arccosh(ratio))), 2)

    def turn(self, block: FloatMatrix) -> tuple[FloatMatrix, FloatVector]:
        """Turn a block into its Ritz vectors, in place; return them and the Ritz values.

        Directions that the block does not hold are dropped.
        """
        self._project(block)
        gram, form = self._forms(block)
        scale = 1 / np.sqrt(np.maximum(np.diag(gram), np.finfo(np.float64).tiny))
        gram, form = (each * np.outer(scale, scale) for each in (gram, form))
        sizes, directions = small_eigh(gram)
        kept = sizes > _RANK * sizes[-1]
        whitening = directions[:, kept] / np.sqrt(sizes[kept])
        projected = whitening.T @ form @ whitening
        values, rotation = small_eigh((projected + projected.T) / 2)
        turn = scale[:, None] * (whitening @ rotation)

        def rows(begin: int, stop: int) -> None:
            block[begin:stop, : len(values)] = block[begin:stop].astype(np.float64) @ turn

        map_ranges(rows, len(block), _ROWS)
        return np.ascontiguousarray(block[:, : len(values)]), values

    def _project(self, block: FloatMatrix) -> None:
        """Subtract what lies in the null space, in place."""
        coefficients, null = self.null.coefficients(block), self.null

        def rows(begin: int, stop: int) -> None:
            shares = coefficients[null.membership[begin:stop]]
            block[begin:stop] -= null.profile[begin:stop, None].astype(block.dtype) * shares

        map_ranges(rows, len(block), _ROWS)

    def carry(
        self, block: FloatMatrix, parents: NDArray[np.intp], lengths: FloatVector
    ) -> FloatMatrix:
        """Carry vectors of a coarser level here, constant on families by M^{-1/2}.

        `parents` are the rows of the coarser level, `lengths` its square roots of masses.
        """
        carried = np.empty((len(parents), block.shape[1]), dtype=np.float32)

        def rows(begin: int, stop: int) -> None:
            above = parents[begin:stop]
            shares = (self.roots[begin:stop] / lengths[above]).astype(np.float32)
            np.multiply(shares[:, None], block[above], out=carried[begin:stop])

        map_ranges(rows, len(parents), _ROWS)
        return carried

    def _forms(self, block: FloatMatrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return V'V and V'AV, symmetric."""

        def rows(begin: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            own = block[begin:stop].astype(np.float64)
            return own.T @ own, own.T @ self.image(block, begin, stop)

        parts = map_ranges(rows, len(block), _ROWS)
        gram, form = (np.sum([part[k] for part in parts], axis=0) for k in range(2))
        return (gram + gram.T) / 2, (form + form.T) / 2

    def residuals(self, block: FloatMatrix, values: FloatVector) -> FloatVector:
        """Return the norms of A v - lambda v."""
        return residual_norms(self.matrix.weights, self.roots, block, values)

    def image(self, block: FloatMatrix, begin: int, stop: int) -> NDArray[np.float64]:
        """Return rows of A V in float64."""
        from beltrami.solvers.eigen import _loops

        weights, out = self.matrix.weights, np.empty((stop - begin, block.shape[1]))
        _loops.image(
            weights.indptr, weights.indices, weights.data, self.roots, block, out, begin, stop
        )
        return out
