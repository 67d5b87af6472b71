"""What an assignment is, and the bounds that it keeps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, IndexVector


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """A cluster for every point, of least total cost within the bounds.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Cluster of each point.
    cost : float
        Sum of the costs of the points in their clusters.
    n_moves : int
        How many times a point was moved after the start.
    prices : ndarray of shape (n_groups, k)
        Dual variables: every label is a cluster of least cost minus price, to rounding. A price
        is above zero only where a lower bound holds the size up, below zero only where an upper
        bound holds it down. The next, similar problem starts from them.
    """

    labels: NDArray[np.int32]
    cost: float
    n_moves: int
    prices: FloatMatrix


@dataclass(frozen=True, slots=True, eq=False)
class SizeBounds:
    """How many points of each group each cluster may have; checked to be possible.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_groups, k)
        Bounds, both included.
    groups : ndarray of shape (n,) or None
        Group of each point, 0 to n_groups - 1; None where there is one group.
    """

    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    groups: IndexVector | None

    @classmethod
    def of(
        cls,
        lower: Any,
        upper: Any,
        groups: Any,
        *,
        n_points: int,
        n_clusters: int,
        names: Sequence[object] | None = None,
    ) -> "SizeBounds":
        """Read bounds: numbers, or arrays of shape (k,) or (n_groups, k); `upper` may be None.

        `groups` are integers from 0, called by `names` in an error.
        """
        codes = None if groups is None else _checked_groups(groups, n_points)
        n_groups = _number_of_groups(codes, lower, upper)
        shape = (n_groups, n_clusters)
        floor = checked_counts(lower, shape, name="lower")
        ceiling = checked_counts(n_points if upper is None else upper, shape, name="upper")
        bounds = cls(floor, np.minimum(ceiling, n_points), codes)
        populations = np.bincount(bounds.codes(n_points), minlength=n_groups)
        _require_possible(floor, ceiling, populations, names or range(n_groups))
        return bounds

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return int(self.lower.shape[1])

    def codes(self, n_points: int) -> IndexVector:
        """Return the group of each of `n_points` points, zeros where there is one group."""
        return np.zeros(n_points, dtype=np.intp) if self.groups is None else self.groups

    def draw_sample(
        self, n_points: int, size: int, rng: np.random.Generator
    ) -> tuple[IndexVector, "SizeBounds"]:
        """Draw a sample with the same share of every group, and scale the bounds to it.

        The scaled bounds are rounded outwards, so that they can be met as those of the whole can.
        Up to one point more than `size` is drawn for each group.
        """
        codes = self.codes(n_points)
        populations = np.bincount(codes, minlength=len(self.lower))
        quotas = -(-size * populations // n_points)
        shuffled = rng.permutation(n_points)
        shuffled = shuffled[np.argsort(codes[shuffled], kind="stable")]
        firsts = np.cumsum(populations) - populations
        place = np.arange(n_points) - np.repeat(firsts, populations)
        rows = np.sort(shuffled[place < quotas[codes[shuffled]]])
        share = (quotas / np.maximum(populations, 1))[:, None]
        scaled = SizeBounds(
            np.floor(self.lower * share).astype(np.int64),
            np.ceil(self.upper * share).astype(np.int64),
            None if self.groups is None else codes[rows],
        )
        return rows, scaled


def _checked_groups(groups: Any, n_points: int) -> IndexVector:
    codes = np.asarray(groups)
    if codes.shape != (n_points,) or codes.dtype.kind not in "iu":
        raise InvalidInputError(
            f"groups must hold one integer per point, shape ({n_points},), and has shape "
            f"{codes.shape} and dtype {codes.dtype}. Number other values first, for example with "
            "numpy.unique(groups, return_inverse=True)."
        )
    if codes.size and codes.min() < 0:
        raise InvalidInputError(
            f"groups are numbered from 0, and {int((codes < 0).sum())} point(s) have a negative "
            "number; give them a group of their own."
        )
    return codes.astype(np.intp)


def _number_of_groups(codes: IndexVector | None, lower: Any, upper: Any) -> int:
    in_points = 1 if codes is None or codes.size == 0 else int(codes.max()) + 1
    in_bounds = [len(bound) for bound in map(np.asarray, (lower, upper)) if bound.ndim == 2]
    return max([in_points, *in_bounds])


def checked_counts(bound: Any, shape: tuple[int, ...], *, name: str) -> NDArray[np.int64]:
    """Return a bound as whole numbers, broadcast to a shape, or say what is wrong with it."""
    counts = np.asarray(bound)
    is_whole = counts.dtype.kind in "iu" or (
        counts.dtype.kind == "f" and bool((counts == np.floor(counts)).all())
    )
    if not is_whole or (counts.size and counts.min() < 0):
        raise InvalidInputError(f"{name}={bound!r} must hold whole numbers of at least 0.")
    try:
        full = np.broadcast_to(counts, shape)
    except ValueError:
        raise InvalidInputError(
            f"{name} has shape {counts.shape}; {shape[-1]} clusters need one number or "
            f"{shape[-1]} numbers, or an array of shape {shape}."
        ) from None
    capped: NDArray[np.int64] = np.minimum(full, np.iinfo(np.int32).max).astype(np.int64)
    return capped


def _require_possible(
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    populations: NDArray[Any],
    names: Sequence[object],
) -> None:
    crossed = np.argwhere(lower > upper)
    if crossed.size:
        group, cluster = map(int, crossed[0])
        raise InvalidInputError(
            f"cluster {cluster} must have at least {lower[group, cluster]} and at most "
            f"{upper[group, cluster]} points of group {names[group]!r}, which no number is. Lower "
            "the first or raise the second."
        )
    floor, ceiling = lower.sum(axis=1), upper.sum(axis=1)
    for group in np.flatnonzero((floor > populations) | (populations > ceiling)).tolist():
        remedy = (
            "Lower the lower bounds, or use fewer clusters."
            if floor[group] > populations[group]
            else "Raise the upper bounds, or use more clusters."
        )
        raise InvalidInputError(
            f"no assignment meets the bounds: group {names[group]!r} has {populations[group]} "
            f"point(s), its lower bounds sum to {floor[group]} and its upper bounds to "
            f"{ceiling[group]}. {remedy}"
        )
