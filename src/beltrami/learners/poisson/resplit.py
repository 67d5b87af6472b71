"""Two classes split anew: another border between them, of the same sizes, with a smaller cut.

Threshold steps move a border by a little at a time. Where labels sit oddly, the border between two
classes can run across both clusters, and no small move mends that.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.threads import serial_blas
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector
from beltrami.learners.poisson.cuts import conductances
from beltrami.learners.poisson.threshold_steps import Diffusion, Fixed, threshold_steps

_DIRECTIONS = 3
"""Directions of slowest diffusion within the two classes that are tried as normals of a border."""
_STEPS = 4  # threshold steps of the two classes alone
_STEPS_AFTER = 3  # of all classes, free or under given sizes
_SWEEPS = 3
_WORTH = 0.97
"""A new border must bring the cut below this share of what it was."""


def split_pairs_anew(
    diffusion: Diffusion,
    codes: NDArray[np.intp],
    fixed: Fixed,
    flow: NDArray[np.float32],
    shares: FloatVector | None = None,
) -> NDArray[np.intp]:
    """Return the partition with new borders between classes, wherever one makes the cut smaller.

    The cut is that of the diffusion: what share of each class leaves it in its time. Pairs of
    classes are tried in the order of the weight between them in shares of the smaller, at most as
    many as there are classes, and again while one of the two has changed since. Steps after a new
    border are free, or under given sizes, (k,).
    """
    with serial_blas():  # small products: threads would only wait
        return _split_pairs(diffusion, codes, fixed, flow, shares)


def _split_pairs(
    diffusion: Diffusion,
    codes: NDArray[np.intp],
    fixed: Fixed,
    flow: NDArray[np.float32],
    shares: FloatVector | None,
) -> NDArray[np.intp]:
    between = diffusion.exchange(diffusion.moments(codes, fixed.n_classes))
    tried: set[tuple[int, int]] = set()
    for _ in range(_SWEEPS):
        n_tried = len(tried)
        for pair in _closest_pairs(between):
            if pair in tried:
                continue
            tried.add(pair)
            found = _new_border(diffusion, codes, fixed, flow, pair)
            if found is None:
                continue
            moved = threshold_steps(diffusion, found, fixed, shares, most=_STEPS_AFTER)
            there = diffusion.exchange(diffusion.moments(moved, fixed.n_classes))
            if conductances(there).sum() < _WORTH * conductances(between).sum():
                codes, between = moved, there
                tried = {other for other in tried if not set(other) & set(pair)} | {pair}
                n_tried = -1
        if len(tried) == n_tried:
            break
    return codes


def _closest_pairs(between: FloatMatrix) -> list[tuple[int, int]]:
    """Return pairs of classes, those first that share most of the smaller one's volume."""
    volumes = between.sum(axis=1)
    first, second = np.triu_indices(len(between), 1)
    smaller = np.maximum(np.minimum(volumes[first], volumes[second]), np.finfo(np.float64).tiny)
    order = np.argsort(-between[first, second] / smaller, kind="stable")[: len(between)]
    return [(int(first[one]), int(second[one])) for one in order]


def _new_border(
    diffusion: Diffusion,
    codes: NDArray[np.intp],
    fixed: Fixed,
    flow: NDArray[np.float32],
    pair: tuple[int, int],
) -> NDArray[np.intp] | None:
    """Return the partition with the best other border between two classes, None for no better."""
    one, other = pair
    inside = np.flatnonzero((codes == one) | (codes == other))
    is_one = codes[inside] == one
    count = int(is_one.sum())
    if not 0 < count < len(inside):
        return None
    part = _Part.of(diffusion, inside)
    best, found = _WORTH * part.cut(is_one), None
    known = np.full(len(codes), -1)
    known[fixed.rows] = fixed.codes
    votes = np.where(known[inside] == one, 1, np.where(known[inside] == other, -1, 0))
    lead = flow[inside, one] - flow[inside, other]
    for side in part.other_sides(count):
        if not _fits(side, votes, lead, part.masses):
            continue
        cut = part.cut(side)
        if cut < best:
            best, found = cut, side
    if found is None:
        return None
    moved = codes.copy()
    moved[inside] = np.where(found, one, other)
    return fixed.put_back(moved)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Two classes alone.

    Attributes
    ----------
    points : ndarray of shape (m, p)
        The basis at their nodes, each function in proportion to the root of what is left of it.
    masses : ndarray of shape (m,)
        Their degrees.
    piece : ndarray of shape (m,)
        Which piece they lie in.
    volumes : ndarray
        Of all pieces.
    """

    points: NDArray[np.float32]
    masses: NDArray[np.float32]
    piece: IndexVector
    volumes: FloatVector

    @classmethod
    def of(cls, diffusion: Diffusion, inside: IndexVector) -> "_Part":
        space = diffusion.space
        points = space.functions[inside] * np.sqrt(diffusion.damping)
        return cls(points, diffusion.degrees[inside], space.piece[inside], space.volumes)

    def cut(self, side: BoolVector) -> float:
        """Return what shares of both sides walk out of them, added."""
        return self._leaving(side) + self._leaving(~side)

    def _leaving(self, side: BoolVector) -> float:
        masses = self.masses[side]
        slow = masses @ self.points[side]
        sums = np.bincount(self.piece[side], masses, minlength=len(self.volumes))
        stays = float(slow @ slow) + float(sums @ (sums / np.where(sums > 0, self.volumes, 1.0)))
        return 1.0 - stays / max(float(sums.sum()), np.finfo(np.float64).tiny)

    def other_sides(self, count: int) -> list[BoolVector]:
        """Return borders across the directions of slowest diffusion, both ways, sizes kept."""
        points, masses = self.points, self.masses
        centred = points - (masses @ points) / masses.sum()
        spread = (centred.T @ (masses[:, None] * centred)).astype(np.float64)
        directions = np.linalg.eigh(spread)[1][:, ::-1][:, :_DIRECTIONS].astype(np.float32)
        along = centred @ directions
        sides = [_largest(one, count) for one in (*along.T, *-along.T)]
        for _ in range(_STEPS):
            signed = np.stack([np.where(side, masses, -masses) for side in sides], axis=1)
            diffused = points @ (points.T @ signed)
            moved = [_largest(one, count) for one in diffused.T]
            if all(map(np.array_equal, moved, sides)):
                break
            sides = moved
        return sides


def _largest(values: NDArray[Any], count: int) -> BoolVector:
    """Mark the nodes of largest value, so many of them; ties may add a few."""
    place = len(values) - count
    return np.asarray(values >= np.partition(values, place)[place])


def _fits(
    side: BoolVector,
    votes: NDArray[np.int64],
    lead: NDArray[np.float32],
    degrees: NDArray[np.float32],
) -> bool:
    """Say whether labels speak for this way round; where they are silent, the flow does."""
    ahead = int(votes[side].sum() - votes[~side].sum())
    if ahead != 0:
        return ahead > 0
    here, there = degrees[side], degrees[~side]
    return bool(
        here @ lead[side] * there.sum() >= there @ lead[~side] * here.sum()
    )  # means, without a division by what may be nothing
