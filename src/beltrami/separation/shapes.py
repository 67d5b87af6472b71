"""Local covariances: how the data lie around a point, and how many neighbours that takes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.memory import require_memory
from beltrami.core.machine.threads import serial_blas
from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix, IndexVector
from beltrami.separation.dimension import intrinsic_dimension, participation
from beltrami.separation.model import LocalShapes, Neighborhoods

MOST_DIRECTIONS = 10
"""Directions kept of a covariance; the variance of the others becomes the noise level."""

FEWEST_NEIGHBORS = 4

_SHARE = 0.2  # a neighbourhood may have 20 % more directions than the flattest and be smaller
_RESOLVED = 1e-10  # variances below this share of the widest are lost in rounding
_SAMPLE = 300  # points on which sizes are tried
_LARGEST = 2000  # size tried
_BLOCK_ENTRIES = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Spectra:
    """Sample covariances, not smoothed.

    Attributes
    ----------
    directions : ndarray of shape (s, r, d)
        Orthonormal rows, widest first.
    variances : ndarray of shape (s, r)
        Along them.
    discarded : ndarray of shape (s,)
        Mean variance in all other directions.
    """

    directions: FloatMatrix
    variances: FloatMatrix
    discarded: FloatVector

    def noise(self, share: float) -> float:
        r"""Return the noise level of all: never zero.

        The larger of a share of the typical variance,
        :math:`tr \Sigma^2 / tr \Sigma` on average over points, and the mean variance that the kept
        directions leave out: without the second, distances saturate in many dimensions.
        """
        total = self.variances.sum(axis=1)
        wide = total > 0
        if not wide.any():
            return 1.0  # every neighbourhood is one point: all shapes are equal at any level
        typical = float(np.mean((self.variances[wide] ** 2).sum(axis=1) / total[wide]))
        return max(share * typical, float(self.discarded.mean()))

    def smooth(self, noise: float) -> LocalShapes:
        """Return the covariances plus `noise` times the identity, more where that would drown."""
        level = np.maximum(noise, _RESOLVED * self.variances[:, 0])
        return LocalShapes(self.directions, self.variances + level[:, None], level)


def local_spectra(points: FloatMatrix, lists: IndexMatrix) -> Spectra:
    r"""Return the covariances of lists of neighbours.

    .. math:: \Sigma_x = \frac{1}{q - 1} \sum_j (x_j - \mu_x)(x_j - \mu_x)^\top

    over the q neighbours of x ([Zhu09]_, "Local Covariance Matrix"), of which the widest
    `MOST_DIRECTIONS` directions are kept. With q at most d the centred block of neighbours is
    decomposed instead, so a covariance of any q in any d costs O(q d min(q, d)). A row of `lists`,
    (s, q), holds the neighbours of one point.
    """
    (s, q), d = lists.shape, points.shape[1]
    rank = min(MOST_DIRECTIONS, q - 1, d)
    require_memory(
        8.0 * s * rank * d,
        what=f"{rank} directions of the shapes around {s} points in {d} dimensions",
        instead="Reduce the dimensions first, for example with PCA.",
    )
    directions, variances = np.empty((s, rank, d)), np.empty((s, rank))
    discarded = np.empty(s)
    step = max(1, _BLOCK_ENTRIES // (q * d + d * d))
    with serial_blas(), track("local shapes", total=s) as advance:
        for start in range(0, s, step):
            rows = slice(start, start + step)
            block = _decompose(points, lists[rows], rank)
            directions[rows], variances[rows], discarded[rows] = block
            advance(len(lists[rows]))
    return Spectra(directions, variances, discarded)


def _decompose(
    points: FloatMatrix, lists: IndexMatrix, rank: int
) -> tuple[FloatMatrix, FloatMatrix, FloatVector]:
    """Return directions, variances along them and mean variance elsewhere, of a block of lists."""
    block = points[lists].astype(np.float64)
    block -= block.mean(axis=1, keepdims=True)
    _, q, d = block.shape
    total = np.einsum("sqd,sqd->s", block, block) / (q - 1)
    if q > d:
        values, vectors = np.linalg.eigh(block.transpose(0, 2, 1) @ block)
        directions = vectors[:, :, ::-1][:, :, :rank].transpose(0, 2, 1)
    else:
        values, vectors = np.linalg.eigh(block @ block.transpose(0, 2, 1))
        tops = vectors[:, :, ::-1][:, :, :rank]
        # Rows of no length, of rank-deficient blocks, are completed to an orthonormal set.
        directions = np.linalg.qr(block.transpose(0, 2, 1) @ tops)[0].transpose(0, 2, 1)
    variances = np.maximum(values[:, ::-1][:, :rank], 0.0) / (q - 1)
    rest = np.maximum(total - variances.sum(axis=1), 0.0)
    return directions, variances, rest / max(d - rank, 1)


def choose_neighborhoods(
    space: Any, points: FloatMatrix, n_neighbors: int | str, rng: np.random.Generator
) -> Neighborhoods:
    """Choose how many neighbours make a local covariance, or check the number given.

    The slides take [log n]. That is right without noise, where the smallest neighbourhood is the
    flattest; with noise it shrinks below the noise as points become many, and every shape turns
    into a ball. So sizes log n, 2 log n, 4 log n and so on are tried on a sample, and the smallest
    is taken whose covariances have at most 20 % more directions (`participation`) than those of
    the flattest size: small enough to see a crossing, large enough to see through the noise.
    """
    n = points.shape[0]
    if n_neighbors != "auto":
        return Neighborhoods(checked_size(n_neighbors, n), {})
    if n <= FEWEST_NEIGHBORS + 1:
        return Neighborhoods(n - 1, {})
    sample = rng.choice(n, size=min(_SAMPLE, n), replace=False)
    largest = max(min(n // 8, _LARGEST), min(FEWEST_NEIGHBORS, n - 1))
    lists, distances = neighbors_of(space, points, sample, max(largest, min(12, n - 1)))
    directions = intrinsic_dimension(distances[:, :12])
    smallest = max(int(np.ceil(np.log(n))), int(2 * directions) + 2, FEWEST_NEIGHBORS)
    sizes = [min(smallest, largest)]
    while 2 * sizes[-1] <= largest:
        sizes.append(2 * sizes[-1])
    tried = {size: _mean_participation(points, lists[:, :size]) for size in sizes}
    enough = (1 + _SHARE) * min(tried.values())
    return Neighborhoods(next(size for size in sizes if tried[size] <= enough), tried)


def _mean_participation(points: FloatMatrix, lists: IndexMatrix) -> float:
    """Return the mean number of directions, above the noise that all other directions have."""
    spectra = local_spectra(points, lists)
    above = np.maximum(spectra.variances - spectra.discarded[:, None], 0.0)
    return float(participation(above, lists.shape[1]).mean())


def checked_size(n_neighbors: Any, n_points: int) -> int:
    """Return a number of neighbours that covariances can be made of, or say what is wrong."""
    is_count = isinstance(n_neighbors, int | np.integer) and not isinstance(n_neighbors, bool)
    if not is_count or n_neighbors < 2:
        raise InvalidInputError(
            f"n_neighbors={n_neighbors!r} must be a whole number of at least 2, or 'auto': a "
            "covariance needs two points."
        )
    if n_neighbors >= n_points:
        raise InvalidInputError(
            f"n_neighbors={n_neighbors} neighbours of each point need more points than that, and "
            f"X has {n_points}. Ask for at most {n_points - 1}, or 'auto'."
        )
    return int(n_neighbors)


def neighbors_of(
    space: Any, points: FloatMatrix, rows: IndexVector, k: int
) -> tuple[IndexMatrix, FloatMatrix]:
    """Return the k nearest other points of some of the points, and their distances, (s, k)."""
    nearest, distances = space.nearest(points[rows], k + 1)
    is_self = nearest == np.asarray(rows)[:, None]
    is_self[~is_self.any(axis=1), -1] = True  # a point with more than k twins: drop the last
    shape = (len(rows), k)
    return nearest[~is_self].reshape(shape), distances[~is_self].reshape(shape)
