"""Chebyshev-filtered subspace iteration: many eigenvectors at the speed of matrix products.

A block of vectors is multiplied by a polynomial of the matrix that is large on the wanted end of
the spectrum and small on the rest; Rayleigh-Ritz picks the best vectors of the span; what has
converged is locked; repeat. All work is sparse-times-block and dense products, in float32 until
the residuals ask for more, and it is written once for every backend.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.backend import Backend
from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.solvers.eigen.dense import small_eigh
from beltrami.solvers.eigen.density import eigenvalue_estimate
from beltrami.solvers.eigen.problem import ROUNDING, Eigenpairs, EigenProblem

_MAX_ROUNDS = 60
_DEGREES = (6, 300)  # of the filter, at least and at most
_FEWEST_GUARDS = 8  # columns beyond those wanted, below which lost ones are replaced
_COLUMNS_MULTIPLE = 16  # whole cache lines and vector registers


@dataclass(frozen=True, slots=True)
class _Precision:
    """How far one number format can be driven.

    Attributes
    ----------
    dtype : type
        Of the block and the matrix.
    first_growth : float
        Largest amplification of the lowest eigenvalue by the filter of random columns. The Gram
        matrix of the filtered block has the square of it as condition number.
    growth : float
        The same for a block of Ritz vectors. Locked vectors come back at rounding level and grow
        by it.
    floor : float
        Smallest residual that can be told from rounding, relative to the spectral bound.
    """

    dtype: type[np.floating[Any]]
    first_growth: float
    growth: float
    floor: float


_SINGLE = _Precision(np.float32, first_growth=3e2, growth=1e4, floor=4e-6)
_DOUBLE = _Precision(np.float64, first_growth=1e6, growth=1e9, floor=ROUNDING)


def block_width(count: int) -> int:
    """Return how many columns the method works on to find `count` pairs.

    Guard columns keep the last pairs from converging slowly; the sum is rounded up.
    """
    width = count + max(_COLUMNS_MULTIPLE, count // 8)
    return -(-width // _COLUMNS_MULTIPLE) * _COLUMNS_MULTIPLE


def chebyshev_eigenpairs(
    problem: EigenProblem,
    count: int,
    *,
    tol: float,
    backend: Backend,
    rng: np.random.Generator,
) -> Eigenpairs:
    """Return the lowest `count` pairs outside the null space.

    The nodes should be in a cache-friendly order. A pair is done when its residual is half of `tol`
    times the largest eigenvalue wanted; the caller measures the residuals again. Cost per round:
    ``degree`` products of the matrix with the unconverged columns and three dense products of
    n x m by m x m, m = 1.125 count. Memory: four n x m blocks in float32.
    """
    iteration = _Iteration(problem, count, backend, rng)
    with track("computing eigenvectors", total=count) as advance:
        for _ in range(_MAX_ROUNDS):
            locked_before = iteration.n_locked
            iteration.filter()
            residuals = iteration.rayleigh_ritz()
            iteration.lock(residuals, tol)
            advance(iteration.n_locked - locked_before)
            if iteration.n_locked >= count:
                break
    return iteration.result()


class _Iteration:
    """The state of one run: locked pairs, the active block, and the edge of the filter."""

    def __init__(
        self, problem: EigenProblem, count: int, backend: Backend, rng: np.random.Generator
    ) -> None:
        self.problem, self.count, self.backend, self.rng = problem, count, backend, rng
        self.precision = _SINGLE
        self.matrix = backend.matrix(problem.matrix, np.float32)
        n = problem.matrix.n_rows
        width = min(block_width(count), n - problem.null.n_components)
        start = rng.standard_normal((n, width), dtype=np.float32)
        self.active: Any = backend.block(start, np.float32)
        self.spare: Any = backend.block(start, np.float32)
        self.ritz: FloatVector = np.zeros(width)
        self.locked: list[Any] = []
        self.locked_values: list[float] = []
        self.rounds = 0
        self.is_random = True  # whether the block holds random columns
        # A little past the block: every column is amplified, none is left as noise.
        rank = problem.null.n_components + 1.1 * width
        self.edge = eigenvalue_estimate(self.matrix, n, rank, backend=backend, rng=rng)

    @property
    def n_locked(self) -> int:
        return len(self.locked_values)

    def filter(self) -> None:
        """Apply the scaled Chebyshev polynomial that is small on [edge, bound]."""
        bound = self.problem.bound * (1 + 1e-6)
        edge = min(max(self.edge, 1e-9 * bound), 0.9 * bound)
        center, half = (bound + edge) / 2, (bound - edge) / 2
        degree = self._degree(center / half)
        step = self.backend.chebyshev_step
        # Scaling by the value at the lower end keeps every entry of order one (Zhou et al.).
        sigma = first = -half / center
        step(self.matrix, self.active, self.spare, alpha=sigma / half, beta=0.0, center=center)
        x, y = self.active, self.spare
        for _ in range(degree - 1):
            following = 1 / (2 / first - sigma)
            step(
                self.matrix,
                y,
                x,
                alpha=2 * following / half,
                beta=-sigma * following,
                center=center,
            )
            x, y, sigma = y, x, following
        self.active, self.spare = y, x
        self.rounds += 1

    def _degree(self, lowest: float) -> int:
        """Largest degree whose growth at the lowest eigenvalue the precision can bear."""
        growth = self.precision.first_growth if self.is_random else self.precision.growth
        return int(np.clip(np.arccosh(growth) / np.arccosh(lowest), *_DEGREES))

    def rayleigh_ritz(self) -> FloatVector:
        """Rotate the block to its Ritz vectors, in order, and return their residuals."""
        backend = self.backend
        self._purge()
        backend.product(self.matrix, self.active, self.spare)
        gram = backend.gram(self.active, self.active)
        form = backend.gram(self.active, self.spare)
        rotation, self.ritz = _ritz_rotation(gram, form, self.precision)
        self.active = backend.rotate(self.active, rotation)
        if len(self.ritz) < len(gram):
            self.spare = backend.block(self.active, self.precision.dtype)
        # A second sparse product is cheaper than rotating the first one's result. It becomes
        # A v - theta v, and its norms are the residuals.
        backend.product(self.matrix, self.active, self.spare)
        self.spare -= self.active * backend.vector(self.ritz, self.precision.dtype)
        residuals = np.sqrt(backend.column_dots(self.spare, self.spare))
        self._refill(len(gram) - len(self.ritz))
        return residuals

    def _refill(self, n_lost: int) -> None:
        """Put random columns, without Ritz values yet, in the place of those that were dropped.

        A few lost guard columns are not worth it: random columns make the next filter a gentle one.
        """
        self.is_random = n_lost > 0 and len(self.ritz) < self.count - self.n_locked + _FEWEST_GUARDS
        if not self.is_random:
            return
        fresh = self.rng.standard_normal((self.problem.matrix.n_rows, n_lost))
        fresh /= np.linalg.norm(fresh, axis=0)
        wide = np.hstack([self.backend.host(self.active), fresh])
        self.active = self.backend.block(wide, self.precision.dtype)
        self.spare = self.backend.block(np.zeros_like(wide), self.precision.dtype)

    def _purge(self) -> None:
        """Remove from the block what belongs to null vectors and locked ones; scale the columns."""
        backend = self.backend
        self.problem.null.project_out(self.active, backend)
        for block in self.locked:
            self.active -= backend.rotate(block, backend.gram(block, self.active))
        lengths = np.sqrt(backend.column_dots(self.active, self.active))
        self.active /= backend.vector(np.maximum(lengths, 1e-30), self.precision.dtype)

    def lock(self, residuals: FloatVector, tol: float) -> None:
        """Set aside the lowest converged vectors, move the filter's edge, drop spent columns."""
        missing = self.count - self.n_locked
        # Half of what is asked: the last Rayleigh-Ritz step mixes equal eigenvalues, and the
        # residuals of a mixture add up.
        goal = tol / 2 * min(float(self.ritz[min(missing, len(self.ritz)) - 1]), self.edge)
        target = max(tol / 2 * self._scale(residuals, missing), ROUNDING * self.problem.bound)
        above = np.flatnonzero(residuals[:missing] > target)
        done = int(above[0]) if above.size else min(missing, len(residuals))
        self._move_edge(missing)
        is_worth_it = done == missing or done >= max(8, missing // 5)
        if done and is_worth_it:
            self.locked.append(self.backend.block(self.active[:, :done], self.precision.dtype))
            self.locked_values += self.ritz[:done].tolist()
            self.active = self.backend.block(self.active[:, done:], self.precision.dtype)
            self.spare = self.backend.block(self.spare[:, done:], self.precision.dtype)
            self.ritz = self.ritz[done:]
        if done < missing and goal < self.precision.floor * self.problem.bound:
            self._raise_precision()

    def _scale(self, residuals: FloatVector, missing: int) -> float:
        """Return the largest wanted eigenvalue as far as it is known, from below.

        Ritz values with large residuals are far too high, and a tolerance relative to them would
        lock vectors too early.
        """
        values = self.ritz[:missing]
        near = values[residuals[:missing] <= 0.1 * values]
        known = max(self.locked_values[-1:] + near[-1:].tolist(), default=0.0)
        return min(known, self.edge)

    def _move_edge(self, missing: int) -> None:
        # Ritz values bound eigenvalues from above: the last one, once below the edge, is a tighter
        # edge; a wanted one still above it after two rounds shows that the density's was too low.
        if self.ritz[-1] < self.edge or (
            self.rounds >= 2 and self.ritz[min(missing, len(self.ritz)) - 1] > self.edge
        ):
            self.edge = float(self.ritz[-1])

    def _raise_precision(self) -> None:
        self.precision = _DOUBLE
        self.matrix = self.backend.matrix(self.problem.matrix, np.float64)
        self.active = self.backend.block(self.active, np.float64)
        self.spare = self.backend.block(self.spare, np.float64)
        self.locked = [self.backend.block(block, np.float64) for block in self.locked]

    def result(self) -> Eigenpairs:
        """Return the locked vectors, and the best unlocked ones where the rounds ran out."""
        missing = self.count - self.n_locked
        blocks: list[FloatMatrix] = [self.backend.host(block) for block in self.locked]
        values = np.array(self.locked_values + self.ritz[:missing].tolist())
        if missing:
            blocks.append(self.backend.host(self.active)[:, :missing])
        return Eigenpairs(values, np.hstack(blocks), self.rounds)


def _ritz_rotation(
    gram: NDArray[np.float64], form: NDArray[np.float64], precision: _Precision
) -> tuple[NDArray[np.float64], FloatVector]:
    """Solve the projected problem; return the rotation of the block and the Ritz values.

    The Gram matrix is whitened through its eigenvectors (no QR, so that any array library can do
    it) and directions below rounding are dropped.
    """
    scale = 1 / np.sqrt(np.diag(gram))
    gram = (gram + gram.T) / 2 * np.outer(scale, scale)
    form = (form + form.T) / 2 * np.outer(scale, scale)
    sizes, directions = small_eigh(gram)
    kept = sizes > 50 * np.finfo(precision.dtype).eps * sizes[-1]
    whitening = directions[:, kept] / np.sqrt(sizes[kept])
    values, rotation = small_eigh(whitening.T @ form @ whitening)
    return scale[:, None] * (whitening @ rotation), values
