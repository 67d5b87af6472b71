"""Two classes split anew: another border between them, of the same sizes, with a smaller cut.

Threshold steps move a border by a little at a time. Where labels sit oddly, the border between two
classes can run across both clusters, and no small move mends that.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from beltrami.core.threads import serial_blas
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector
from beltrami.learners.poisson.cuts import conductances, cut_matrix
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

    Pairs of classes are tried in the order of the weight between them in shares of the smaller,
    at most as many as there are classes, and again while one of the two has changed since. Steps
    after a new border are free, or under given sizes, (k,).
    """
    with serial_blas():  # small products: threads would only wait
        return _split_pairs(diffusion, codes, fixed, flow)


def _split_pairs(
    diffusion: Diffusion, codes: NDArray[np.intp], fixed: Fixed, flow: NDArray[np.float32]
) -> NDArray[np.intp]:
    weights, k = diffusion.space.weights, fixed.n_classes
    between = cut_matrix(weights, codes, k)
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
            moved = threshold_steps(diffusion, found, fixed, shares, most=_STEPS_AFTER).codes
            there = cut_matrix(weights, moved, k)
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
    degrees = diffusion.space.degrees[inside]
    count = int(is_one.sum())
    if not 0 < count < len(inside):
        return None
    rows = csr_array(diffusion.space.weights[inside])
    best, found = _WORTH * _pair_cut(rows, inside, degrees, is_one, len(codes)), None
    known = np.full(len(codes), -1)
    known[fixed.rows] = fixed.codes
    votes = np.where(known[inside] == one, 1, np.where(known[inside] == other, -1, 0))
    lead = flow[inside, one] - flow[inside, other]
    for side in _other_sides(diffusion, inside, count):
        if not _fits(side, votes, lead, degrees):
            continue
        cut = _pair_cut(rows, inside, degrees, side, len(codes))
        if cut < best:
            best, found = cut, side
    if found is None:
        return None
    moved = codes.copy()
    moved[inside] = np.where(found, one, other)
    return fixed.put_back(moved)


def _other_sides(diffusion: Diffusion, inside: NDArray[np.intp], count: int) -> list[BoolVector]:
    """Return borders across the directions of slowest diffusion, both ways, sizes kept."""
    points = diffusion.space.functions[inside] * np.sqrt(diffusion.damping)
    masses = diffusion.degrees[inside]
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
    side: BoolVector, votes: NDArray[np.int64], lead: NDArray[np.float32], degrees: FloatVector
) -> bool:
    """Say whether labels speak for this way round; where they are silent, the flow does."""
    ahead = int(votes[side].sum() - votes[~side].sum())
    if ahead != 0:
        return ahead > 0
    here, there = degrees[side], degrees[~side]
    return bool(
        here @ lead[side] * there.sum() >= there @ lead[~side] * here.sum()
    )  # means, without a division by what may be nothing


def _pair_cut(
    rows: csr_array[Any],
    inside: NDArray[np.intp],
    degrees: FloatVector,
    side: BoolVector,
    n_nodes: int,
) -> float:
    """Return the sum of the two classes' conductances."""
    place = np.full(n_nodes, -1, dtype=np.int8)
    place[inside] = side
    starts = np.repeat(side.astype(np.int8), np.diff(rows.indptr))
    same = starts == place[rows.indices]
    kept = np.bincount(starts[same], rows.data[same], minlength=2)
    volumes = np.array([degrees[~side].sum(), degrees[side].sum()])
    return float(2 - (kept / np.maximum(volumes, np.finfo(np.float64).tiny)).sum())
