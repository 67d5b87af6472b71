"""Sums over pairs of points, tile by tile: what exact and tiled repulsion share.

Points go in, in an order; normalizers and forces over the listed pairs of tiles come out.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector
from beltrami.embeddings.repulsion import _loops, _row_loops
from beltrami.embeddings.repulsion._loops import TILE

SCALE = float(np.sqrt(np.log2(np.e)))
"""The loops take points times this, since they compute powers of two."""

_MOST_CHUNKS = 16
_CHUNK_NUMBERS = 2**25  # in all the chunks' shares of a force together: a quarter GiB


def checked_embedding(embedding: FloatMatrix) -> NDArray[np.float64]:
    """Return the embedding in float64 by rows, or say what is wrong with its shape."""
    Y = np.ascontiguousarray(embedding, dtype=np.float64)
    if Y.ndim != 2 or Y.shape[0] < 2 or Y.shape[1] < 1:
        raise InvalidInputError(
            f"An embedding of shape {Y.shape} has no pairs; two points in at least one dimension "
            "are needed."
        )
    return Y


def middle(Y: FloatMatrix) -> FloatVector:
    """Return a point among the points, which no outlier can carry away.

    Differences of coordinates are rounded relative to the distance from it.
    """
    center: FloatVector = np.median(Y[:: max(1, len(Y) // 64)], axis=0)
    return center


class Tiles(NamedTuple):
    """Points cut into tiles of `TILE` consecutive rows, as the compiled loops read them."""

    values: NDArray[np.floating[Any]]
    """(n_tiles, d or d + 1, TILE): coordinates less the tile's centre, scaled, padded by zeros."""

    centres: NDArray[np.float64]
    """(n_tiles, d or d + 1): scaled; zero unless they were given."""

    counts: IndexVector
    """Points in each tile; only the last may have fewer than `TILE`."""

    shape: tuple[int, int]
    """Shape of the points."""

    @classmethod
    def of(
        cls, points: FloatMatrix, centres: FloatMatrix | None = None, dtype: DTypeLike = np.float64
    ) -> "Tiles":
        """Cut points, which should have their origin among them, into tiles."""
        n, d = points.shape
        n_tiles, n_axes = -(-n // TILE), d + d % 2
        padded = np.zeros((n_tiles * TILE, n_axes))
        padded[:n, :d] = points
        blocks = padded.reshape(n_tiles, TILE, n_axes)
        middles = np.zeros((n_tiles, n_axes))
        if centres is not None:
            middles[:, :d] = centres
            blocks -= middles[:, None, :]
        values = np.ascontiguousarray(blocks.transpose(0, 2, 1) * SCALE, dtype=dtype)
        counts = np.full(n_tiles, TILE)
        counts[-1] = n - (n_tiles - 1) * TILE
        return cls(values, middles * SCALE, counts, (n, d))

    @property
    def n_tiles(self) -> int:
        """Number of tiles."""
        return len(self.counts)

    @property
    def n_axes(self) -> int:
        """Number of coordinates, made even."""
        return int(self.values.shape[1])


class TilePairs(NamedTuple):
    """Which pairs of tiles meet, each in one order, and how they are shared out."""

    starts: IndexVector
    partners: IndexVector
    chunks: IndexVector
    """Bounds of the ranges of tiles that are worked off one after the other by one thread."""


def all_pairs(n_tiles: int, n_axes: int) -> TilePairs:
    """Pair every tile with itself and every other, with equal work for each.

    Tile I meets the half of the ring of tiles that follows it.
    """
    steps = np.arange(n_tiles // 2 + 1)
    lengths = np.full(n_tiles, len(steps))
    if n_tiles % 2 == 0:
        lengths[n_tiles // 2 :] -= 1  # opposite tiles meet once
    starts = np.concatenate([[0], np.cumsum(lengths)])
    owners = np.repeat(np.arange(n_tiles), lengths)
    partners = (owners + np.arange(starts[-1]) - starts[owners]) % n_tiles
    return TilePairs(starts, partners, chunk_bounds(starts, n_axes))


def chunk_bounds(starts: IndexVector, n_axes: int) -> IndexVector:
    """Cut the tiles into ranges of about equal numbers of pairs.

    How many depends on the size of the problem only, never on the number of threads, since the
    order of additions follows from it. Returns the (n_chunks + 1) bounds.
    """
    n_tiles = len(starts) - 1
    affordable = max(4, _CHUNK_NUMBERS // (n_tiles * n_axes * TILE))
    n_chunks = min(_MOST_CHUNKS, affordable, -(-n_tiles // 2))
    shares = np.linspace(0, starts[-1], n_chunks + 1)
    return np.append(np.searchsorted(starts, shares[:-1]), n_tiles)


def pair_normalizers(tiles: Tiles, pairs: TilePairs) -> NDArray[np.float64]:
    """Return z: the kernel summed over the listed pairs of tiles."""
    parts = _loops.tile_normalizers(tiles.values, tiles.centres, tiles.counts, *pairs)
    z: NDArray[np.float64] = parts.sum(axis=0).ravel()[: tiles.shape[0]]
    return z


def pair_forces(
    tiles: Tiles,
    pairs: TilePairs,
    inverse: FloatVector,
    mutual: FloatMatrix | None = None,
) -> tuple[NDArray[np.float64], float]:
    """Sum e_ij (1/z_i + 1/z_j)(y_i - y_j) over the listed pairs of tiles.

    `inverse` is 1/z. Symmetric attractions `mutual`, (n, n), are subtracted from the weights of
    y_i - y_j; their energy is returned beside the force.
    """
    n, d = tiles.shape
    padded = np.zeros(tiles.n_tiles * TILE, dtype=tiles.values.dtype)
    padded[:n] = inverse
    if mutual is None:
        mutual = np.empty((0, 0))
    parts, energies = _loops.tile_forces(
        tiles.values, tiles.centres, tiles.counts, padded.reshape(-1, TILE), mutual, *pairs
    )
    sums = _loops.add_up(parts)
    force = sums.transpose(0, 2, 1).reshape(-1, tiles.n_axes)[:n, :d] / SCALE
    return force, float(energies.sum()) / SCALE**2


def lone_normalizers(
    Y: FloatMatrix, rows: IndexVector
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, for the given rows, the smallest squared distance and the sum of exp(that - d_ij)."""
    nearest, totals = _row_loops.lone_normalizers(np.ascontiguousarray(Y), rows)
    return nearest, totals


class Normalizers(NamedTuple):
    """log z of every row, with those rows apart that have no neighbour within reach."""

    log_z: NDArray[np.float64]
    inverse: NDArray[np.float64]
    """1/z, and zero for the rows apart."""

    rows: IndexVector
    """The rows apart: their exponents are taken relative to their nearest neighbour's."""

    nearest: NDArray[np.float64]
    totals: NDArray[np.float64]

    @classmethod
    def of(cls, Y: FloatMatrix, z: FloatVector, lone: BoolVector) -> "Normalizers":
        """Take logarithms and inverses, and compute the rows apart (`lone`) anew."""
        rows = np.flatnonzero(lone)
        if not rows.size:
            return cls(np.log(z), 1 / z, rows, np.empty(0), np.empty(0))
        nearest, totals = lone_normalizers(Y, rows)
        safe = np.where(lone, 1.0, z)
        log_z, inverse = np.log(safe), np.where(lone, 0.0, 1 / safe)
        log_z[rows] = np.log(totals) - nearest
        return cls(log_z, inverse, rows, nearest, totals)

    def add_lone_forces(self, Y: FloatMatrix, force: FloatMatrix) -> None:
        """Add to the force, in place, what the rows apart contribute at both ends."""
        if self.rows.size:
            _row_loops.lone_forces(Y, self.rows, self.nearest, self.totals, force)
