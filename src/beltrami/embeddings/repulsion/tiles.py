"""Repulsion of a spread embedding: near pairs one by one, far ones from samples.

Where the embedding is many kernel widths wide, most pairs repel each other by next to nothing.
Points are put in an order in which 128 consecutive ones, a tile, lie close together. Pairs of tiles
whose bounds come within reach are computed in full; of every other tile a few members stand for
all, and tiles beyond a horizon are left out.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix, IndexVector
from beltrami.core.validation import check_count
from beltrami.embeddings.repulsion import _loops
from beltrami.embeddings.repulsion._loops import TILE
from beltrami.embeddings.repulsion.exact import ExactRepulsion
from beltrami.embeddings.repulsion.pairs import (
    SCALE,
    Normalizers,
    TilePairs,
    Tiles,
    checked_embedding,
    chunk_bounds,
    pair_forces,
    pair_normalizers,
)

_HORIZON = 20.0  # in squared distance, beyond the reach: a factor of 2e-9
_LOW = -55.0  # log z under which a row is computed apart
_FLOAT32_RADIUS = 1e3  # from its tile's centre, beyond which a point is computed apart
_FLOAT32_SPAN = 1e15


class Plan(NamedTuple):
    """What is kept between evaluations, until it is refreshed."""

    order: IndexVector
    """Rows in the order in which they fill the tiles."""

    members: IndexMatrix
    """(n_tiles, samples): positions in this order of the members that stand for a tile."""

    sizes: FloatVector
    """Points that each of them stands for."""

    floors: FloatVector
    """Smallest log z in each tile when the plan was made."""


@dataclass(frozen=True)
class TiledRepulsion:
    """Near tiles in full, far tiles from samples of their members.

    Call `refresh` first, and again when the embedding has moved much: results stay right, but
    an old order makes them slow and an old sample is seen again and again. The force is the
    gradient of log z only up to the errors of sampling and of float32.

    Attributes
    ----------
    far_threshold : float
        A pair of tiles is computed in full unless e_ij < exp(-far_threshold) z_i for all its
        pairs (by bounds, and by z at the last refresh). Infinite: all pairs in full.
    n_samples : int
        Members that stand for a far tile, at most 64.
    seed : int
        Of the samples.
    dtype : str
        "float32" or "float64", of the arithmetic inside a pair of tiles; sums are in float64.
    plan : Plan or None
        Made by `refresh`.
    """

    far_threshold: float = 10.0
    n_samples: int = 2
    seed: int = 0
    dtype: str = "float32"
    plan: Plan | None = None

    def __post_init__(self) -> None:
        if not self.far_threshold > 0:
            raise InvalidInputError(f"far_threshold={self.far_threshold!r} must be positive.")
        if check_count(self.n_samples, name="n_samples") > TILE // 2:
            raise InvalidInputError(f"n_samples={self.n_samples} exceeds {TILE // 2}.")

    def refresh(self, embedding: FloatMatrix) -> "TiledRepulsion":
        """Return one that orders the points anew, draws new samples, and measures z."""
        Y = checked_embedding(embedding)
        rng = np.random.default_rng(self.seed)
        order = tile_order(Y)
        starts = np.arange(0, len(Y), TILE)
        counts = np.minimum(TILE, len(Y) - starts)
        positions = np.argsort(rng.random((len(starts), TILE)), axis=1)
        if counts[-1] < TILE:  # members of the short tile come first
            positions[-1] = np.argsort(rng.random(TILE) + (np.arange(TILE) >= counts[-1]))
        n_samples = min(self.n_samples, int(counts.min()))
        members = starts[:, None] + positions[:, :n_samples]
        plan = Plan(order, members, counts / n_samples, np.zeros(len(starts)))
        trial = replace(self, plan=plan)
        if not np.isfinite(self.far_threshold):
            return replace(trial, seed=self.seed + 1)
        log_z = np.maximum(trial.log_normalizers(Y)[order], _LOW)
        floors = np.minimum.reduceat(log_z, starts)
        return replace(trial, plan=plan._replace(floors=floors), seed=self.seed + 1)

    def log_normalizers(self, embedding: FloatMatrix) -> FloatVector:
        """Return log z alone."""
        Y = checked_embedding(embedding)
        if np.ptp(Y, axis=0).max() > _FLOAT32_SPAN:
            return ExactRepulsion().log_normalizers(Y)
        plan = self._plan(Y)
        scene = self._scene(Y[plan.order], plan)
        return _put_back(_normalizers(scene, plan).log_z, plan.order)

    def __call__(self, embedding: FloatMatrix) -> tuple[FloatVector, FloatMatrix]:
        """Return log z and the force."""
        Y = checked_embedding(embedding)
        if np.ptp(Y, axis=0).max() > _FLOAT32_SPAN:
            return ExactRepulsion()(Y)
        plan = self._plan(Y)
        scene = self._scene(Y[plan.order], plan)
        normalizers = _normalizers(scene, plan)
        force, _ = pair_forces(scene.tiles, scene.pairs, normalizers.inverse)
        n, d = scene.points.shape
        far = _far_sums(scene, plan, normalizers.inverse, want_forces=True)
        force += far.transpose(0, 2, 1).reshape(-1, scene.tiles.n_axes)[:n, :d] / SCALE
        normalizers.add_lone_forces(scene.points, force)
        return _put_back(normalizers.log_z, plan.order), _put_back(force, plan.order)

    def _plan(self, Y: FloatMatrix) -> Plan:
        plan = self.plan or self.refresh(Y).plan
        if plan is None or len(plan.order) != len(Y):
            raise InvalidInputError(
                f"The tiles were ordered for another number of points than {len(Y)}; call "
                "refresh with this embedding."
            )
        return plan

    def _scene(self, points: FloatMatrix, plan: Plan) -> "_Scene":
        """Cut ordered points into tiles, bound them and see which come within reach."""
        n = len(points)
        starts = np.arange(0, n, TILE)
        lengths = np.diff(np.append(starts, n))
        some = starts[:, None] + (lengths[:, None] * np.arange(8)) // 8
        centres = np.median(points[some], axis=1)
        offsets = points - np.repeat(centres, lengths, axis=0)
        radii = np.sqrt(np.einsum("ij,ij->i", offsets, offsets))
        bounds = (
            np.minimum.reduceat(points, starts),
            np.maximum.reduceat(points, starts),
            centres,
            np.maximum.reduceat(radii, starts),
        )
        tiles = Tiles.of(points, centres, np.dtype(self.dtype))
        reaches = np.maximum(self.far_threshold - plan.floors, 1.0)
        first, partners = _loops.near_partners(*bounds, reaches)
        pairs = TilePairs(first, partners, chunk_bounds(first, tiles.n_axes))
        lone = np.where(self.dtype == "float32", radii > _FLOAT32_RADIUS, False)
        return _Scene(points, tiles, pairs, bounds, reaches, lone)


class _Scene(NamedTuple):
    """One embedding in tiles, with their bounds and the pairs that are near."""

    points: FloatMatrix
    tiles: Tiles
    pairs: TilePairs
    bounds: tuple[FloatMatrix, FloatMatrix, FloatMatrix, FloatVector]
    reaches: FloatVector
    lone: NDArray[np.bool_]


def tile_order(Y: FloatMatrix) -> IndexVector:
    """Order points so that tiles of consecutive ones are compact.

    Sets are halved across their principal axis until a tile is left; every tile but the last is
    full.
    """
    order = np.arange(len(Y))
    pending = [(0, len(Y))]
    while pending:
        first, last = pending.pop()
        if last - first <= TILE:
            continue
        rows = order[first:last]
        points = Y[rows] - Y[rows].mean(axis=0)
        points /= max(np.abs(points).max(), np.finfo(float).tiny)  # squares stay finite
        axis = np.linalg.eigh(points.T @ points)[1][:, -1]
        half = TILE * (-(-(last - first) // TILE) // 2)
        order[first:last] = rows[np.argpartition(points @ axis, half)]
        pending += [(first, first + half), (first + half, last)]
    return order


def _normalizers(scene: _Scene, plan: Plan) -> Normalizers:
    n = len(scene.points)
    z = pair_normalizers(scene.tiles, scene.pairs)
    z += _far_sums(scene, plan, np.zeros(n), want_forces=False)[:, 0].ravel()[:n]
    return Normalizers.of(scene.points, z, scene.lone | (z < np.exp(_LOW)))


def _far_sums(
    scene: _Scene, plan: Plan, inverse: FloatVector, *, want_forces: bool
) -> NDArray[Any]:
    """Return sums over the samples of far tiles, in tiles."""
    tiles = scene.tiles
    n, _ = tiles.shape
    if not np.isfinite(scene.reaches).all():
        return np.zeros_like(tiles.values, dtype=np.float64)
    padded = np.zeros((tiles.n_tiles, TILE), dtype=tiles.values.dtype)
    padded.ravel()[:n] = inverse
    owners, places = np.divmod(plan.members, TILE)
    samples = np.concatenate(
        [tiles.values[owners, :, places].transpose(0, 2, 1), padded[owners, places][:, None, :]],
        axis=1,
    )
    sums: NDArray[Any] = _loops.far_sums(
        tiles.values,
        tiles.centres,
        tiles.counts,
        padded,
        np.ascontiguousarray(samples),
        plan.sizes,
        scene.bounds,
        scene.reaches,
        _HORIZON,
        want_forces,
    )
    return sums


def _put_back(values: NDArray[Any], order: IndexVector) -> NDArray[Any]:
    """Put ordered rows back where they came from."""
    out = np.empty_like(values)
    out[order] = values
    return out
