"""Threshold steps in a basis: a partition is diffused a little, and the largest class is taken."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector
from beltrami.learners.poisson.flow import FlowSpace

MOST_STEPS = 10
_FEW_CHANGES = 1e-3
"""Share of nodes below which a further threshold is not worth its price."""
_REFRESH = 4
"""Where more than one node in so many changed, sums over classes are made afresh."""
_LEAST_SCORE = 1e-3
"""Of a class at a node, where classes are weighed: diffusion in a basis can fall below zero."""
_SIZE_ROUNDS, _FIRST_ROUNDS = 6, 20  # of the weights, at each step and at the first
_MOST_SCALE = 4.0  # that a weight changes by in a round
_COUNTED = 20_000
"""Nodes by which sizes are counted while weights are sought."""


@dataclass(frozen=True, slots=True, eq=False)
class Diffusion:
    r"""Diffusion for a time tau, :math:`e^{-\tau D^{-1} L}`, in a space of functions.

    Attributes
    ----------
    space : FlowSpace
        The space. Its pieces keep their means, since next to nothing leaves them in that time.
    damping : ndarray of shape (p,)
        exp(-tau values), in float32.
    degrees : ndarray of shape (n,)
        In float32.
    tau : float
        The time, in steps of the random walk.
    """

    space: FlowSpace
    damping: NDArray[np.float32]
    degrees: NDArray[np.float32]
    tau: float

    @classmethod
    def of(cls, space: FlowSpace, tau: float) -> "Diffusion":
        """Prepare the diffusion for a time."""
        damping = np.exp(-tau * space.values).astype(np.float32)
        return cls(space, damping, space.degrees.astype(np.float32), tau)

    def take(self, nodes: BoolVector) -> "Diffusion":
        """Return the diffusion on some whole components."""
        if nodes.all():
            return self
        return Diffusion(self.space.take(nodes), self.damping, self.degrees[nodes], self.tau)

    def coefficients(self, codes: NDArray[np.intp], n_classes: int) -> NDArray[np.float32]:
        """Return the basis times D times the indicators of the classes, (p, k)."""
        one_hot = np.zeros((len(codes), n_classes), dtype=np.float32)
        one_hot[np.arange(len(codes)), codes] = self.degrees
        return np.asarray(self.space.functions.T @ one_hot)

    def moved(
        self, coefficients: NDArray[np.float32], old: NDArray[np.intp], new: NDArray[np.intp]
    ) -> NDArray[np.float32]:
        """Return the coefficients of a new partition, from those of an old one."""
        changed = np.flatnonzero(old != new)
        if _REFRESH * len(changed) > len(new):
            return self.coefficients(new, coefficients.shape[1])
        place = np.arange(len(changed))
        change = np.zeros((len(changed), coefficients.shape[1]), dtype=np.float32)
        change[place, new[changed]] = self.degrees[changed]
        change[place, old[changed]] = -self.degrees[changed]
        return np.asarray(coefficients + self.space.functions[changed].T @ change)

    def scores(
        self, coefficients: NDArray[np.float32], codes: NDArray[np.intp]
    ) -> NDArray[np.float32]:
        """Return the diffused indicators, (n, k): what share of each node's walk ends where."""
        space, n_classes = self.space, coefficients.shape[1]
        n_pieces = len(space.volumes)
        sums = np.bincount(
            space.piece * n_classes + codes, space.degrees, minlength=n_pieces * n_classes
        ).reshape(n_pieces, n_classes)
        means = sums / np.where(space.volumes > 0, space.volumes, 1.0)[:, None]
        scores = space.functions @ (self.damping[:, None] * coefficients)
        scores += means.astype(np.float32)[space.piece] if n_pieces > 1 else means.astype("f4")
        return np.asarray(scores)


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """A partition after threshold steps.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Class of each node.
    scores : ndarray of shape (n, k)
        What the last threshold was taken of; empty where there was none.
    n_rounds : int
        Thresholds taken.
    """

    codes: NDArray[np.intp]
    scores: FloatMatrix
    n_rounds: int


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """Nodes whose class is known.

    Attributes
    ----------
    rows : ndarray of shape (l,)
        Which nodes.
    codes : ndarray of shape (l,)
        Their classes.
    n_classes : int
        k.
    """

    rows: IndexVector
    codes: NDArray[np.intp]
    n_classes: int

    def put_back(self, codes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Set the known classes, in place."""
        codes[self.rows] = self.codes
        return codes


def threshold_steps(
    diffusion: Diffusion,
    start: NDArray[np.intp],
    fixed: Fixed,
    shares: FloatVector | None = None,
    *,
    most: int = MOST_STEPS,
) -> Partition:
    """Diffuse the partition and take the largest class, until hardly a node changes.

    With `shares`, (k,), each class's scores are multiplied by one positive weight, found anew at
    every step, under which the classes come near these shares of the nodes.
    """
    codes, n_classes = fixed.put_back(start.copy()), fixed.n_classes
    coefficients = diffusion.coefficients(codes, n_classes)
    weights = np.ones(n_classes, dtype=np.float32)
    scores, rounds, changed = np.zeros((0, n_classes), dtype=np.float32), 0, len(codes)
    while rounds < most and changed >= _FEW_CHANGES * len(codes):
        scores = diffusion.scores(coefficients, codes)
        if shares is not None:
            np.maximum(scores, _LEAST_SCORE, out=scores)
            weights = size_weights(scores, shares, weights, first=rounds == 0)
            scores *= weights
        new = fixed.put_back(scores.argmax(axis=1))
        coefficients = diffusion.moved(coefficients, codes, new)
        changed = int((new != codes).sum())
        codes, rounds = new, rounds + 1
    return Partition(codes, scores, rounds)


def size_weights(
    scores: NDArray[np.float32],
    shares: FloatVector,
    weights: NDArray[np.float32],
    *,
    first: bool,
) -> NDArray[np.float32]:
    """Return one weight per class under which the largest weighted score gives these shares.

    Multiplicative rounds from earlier weights, counted on nodes at even distances: a class too
    small gains, one too large loses.
    """
    some = scores[:: max(1, len(scores) // _COUNTED)]
    for _ in range(_FIRST_ROUNDS if first else _SIZE_ROUNDS):
        sizes = np.bincount((some * weights).argmax(axis=1), minlength=len(shares))
        ratio = shares * len(some) / np.maximum(sizes, 0.5)
        weights = weights * np.sqrt(np.clip(ratio, 1 / _MOST_SCALE, _MOST_SCALE))
        weights = (weights / weights.max()).astype(np.float32)
    return weights


_OFFSET_ROUNDS = 60


def matched_offsets(scores: FloatMatrix, shares: FloatVector) -> FloatVector:
    """Return what to add to the classes' scores so that their sizes come near given shares.

    Offsets rise for classes that are too small and fall for those too large, by ever smaller
    steps in units of a typical lead of the first class over the second.
    """
    n, n_classes = scores.shape
    top = np.partition(scores, n_classes - 2, axis=1)[:, -2:]
    unit = float(np.median(top[:, 1] - top[:, 0])) or 1.0
    offsets = np.zeros(n_classes)
    for step in range(_OFFSET_ROUNDS):
        sizes = np.bincount((scores + offsets).argmax(axis=1), minlength=n_classes) / n
        gap = np.log(shares) - np.log(np.maximum(sizes, 0.5 / n))
        offsets += unit * gap / (1 + step / 4)
        if np.abs(gap).max() < 0.02:
            break
    return np.asarray(offsets - offsets.mean())
