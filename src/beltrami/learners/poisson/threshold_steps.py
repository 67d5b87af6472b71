"""Threshold steps in a basis: a partition is diffused a little, and the largest class is taken."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector
from beltrami.learners.base import first_classes
from beltrami.learners.poisson.flow import FlowSpace

MOST_STEPS = 10
_FEW_CHANGES = 1e-3
"""Share of nodes below which a further threshold is not worth its price."""
_REFRESH = 4
"""Where more than one node in so many changed, sums over classes are made afresh."""
LEAST_SCORE = 1e-3
"""Of a class at a node, where classes are weighed: diffusion in a basis can fall below zero."""
_SIZE_ROUNDS, _FIRST_ROUNDS = 6, 20  # of the weights, at each step and at the first
_MOST_SCALE = 4.0  # that a weight changes by in a round
_COUNTED = 20_000
"""Nodes by which sizes are counted while weights are sought."""


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """All that diffusion sees of a partition.

    Attributes
    ----------
    coefficients : ndarray of shape (p, k)
        The basis times D times the indicators of the classes.
    pieces : ndarray of shape (m, k)
        Sum of the degrees of each class in each piece.
    """

    coefficients: NDArray[np.float32]
    pieces: FloatMatrix


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

    def thin(self, nodes: IndexVector) -> "Diffusion":
        """Return the diffusion between some nodes, which stand for all."""
        space = self.space.thin(nodes)
        if space is self.space:
            return self
        return Diffusion(space, self.damping, space.degrees.astype(np.float32), self.tau)

    def moments(self, codes: NDArray[np.intp], n_classes: int) -> Moments:
        """Return what diffusion sees of a partition."""
        one_hot = np.zeros((len(codes), n_classes), dtype=np.float32)
        one_hot[np.arange(len(codes)), codes] = self.degrees
        return Moments(self.space.functions.T @ one_hot, self._pieces(codes, n_classes))

    def moved(self, moments: Moments, old: NDArray[np.intp], new: NDArray[np.intp]) -> Moments:
        """Return the moments of a new partition, from those of an old one."""
        changed, k = np.flatnonzero(old != new), moments.coefficients.shape[1]
        if not len(changed):
            return moments
        if _REFRESH * len(changed) > len(new):
            return self.moments(new, k)
        place = np.arange(len(changed))
        change = np.zeros((len(changed), k), dtype=np.float32)
        change[place, new[changed]] = self.degrees[changed]
        change[place, old[changed]] = -self.degrees[changed]
        coefficients = moments.coefficients + self.space.functions[changed].T @ change
        return Moments(coefficients, self._pieces(new, k))

    def _pieces(self, codes: NDArray[np.intp], n_classes: int) -> FloatMatrix:
        n_pieces = len(self.space.volumes)
        places = self.space.piece * n_classes + codes
        sums = np.bincount(places, self.space.degrees, minlength=n_pieces * n_classes)
        return np.asarray(sums.reshape(n_pieces, n_classes), dtype=np.float64)

    def scores(self, moments: Moments) -> NDArray[np.float32]:
        """Return the diffused indicators, (n, k): what share of each node's walk ends where."""
        scores = self.space.functions @ (self.damping[:, None] * moments.coefficients)
        means = self._piece_means(moments).astype(np.float32)
        scores += means[self.space.piece] if len(means) > 1 else means
        return np.asarray(scores)

    def scores_without(
        self, moments: Moments, rows: IndexVector, codes: NDArray[np.intp]
    ) -> FloatMatrix:
        """Return the scores of some nodes, (l, k), their own parts in their classes left out."""
        functions, space = self.space.functions[rows].astype(np.float64), self.space
        scores = functions @ (self.damping[:, None] * moments.coefficients.astype(np.float64))
        scores += self._piece_means(moments)[space.piece[rows]]
        returns = (functions**2) @ self.damping + 1 / space.volumes[space.piece[rows]]
        scores[np.arange(len(rows)), codes] -= space.degrees[rows] * returns
        return np.asarray(scores)

    def exchange(self, moments: Moments) -> FloatMatrix:
        """Return what weight walks between any two classes, (k, k); row sums are their volumes."""
        slow = moments.coefficients.astype(np.float64)
        between = slow.T @ (self.damping[:, None] * slow)
        return np.asarray(between + moments.pieces.T @ self._piece_means(moments))

    def _piece_means(self, moments: Moments) -> FloatMatrix:
        volumes = self.space.volumes
        return np.asarray(moments.pieces / np.where(volumes > 0, volumes, 1.0)[:, None])


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

    def among(self, nodes: IndexVector) -> "Fixed":
        """Return the same in the numbers of some nodes, sorted and these among them."""
        return Fixed(np.searchsorted(nodes, self.rows), self.codes, self.n_classes)


def threshold_steps(
    diffusion: Diffusion,
    start: NDArray[np.intp],
    fixed: Fixed,
    shares: FloatVector | None = None,
    *,
    most: int = MOST_STEPS,
) -> NDArray[np.intp]:
    """Diffuse the partition and take the largest class, until hardly a node changes.

    With `shares`, (k,), each class's scores are multiplied by one positive weight, found anew at
    every step, under which the classes come near these shares of the nodes.
    """
    codes, n_classes = fixed.put_back(start.copy()), fixed.n_classes
    moments = diffusion.moments(codes, n_classes)
    weights: NDArray[np.float32] | None = None
    rounds, changed = 0, len(codes)
    while rounds < most and changed >= _FEW_CHANGES * len(codes):
        scores = diffusion.scores(moments)
        if shares is not None:
            weights = size_weights(scores, shares, weights)
            scores = weighed(scores, weights)
        new = fixed.put_back(first_classes(scores))
        moments = diffusion.moved(moments, codes, new)
        changed = int((new != codes).sum())
        codes, rounds = new, rounds + 1
    return codes


def weighed(
    scores: NDArray[np.float32], weights: NDArray[np.float32] | None
) -> NDArray[np.float32]:
    """Return the scores, (n, k), times the weights of the classes, (k,), where there are any."""
    return scores if weights is None else np.maximum(scores, LEAST_SCORE) * weights


def size_weights(
    scores: NDArray[np.float32],
    shares: FloatVector,
    weights: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Return one weight per class under which the largest weighted score gives these shares.

    Multiplicative rounds from earlier weights, where there are any, counted on a sample of the
    nodes: a class too small gains, one too large loses.
    """
    rounds = _FIRST_ROUNDS if weights is None else _SIZE_ROUNDS
    weights = np.ones(len(shares), dtype=np.float32) if weights is None else weights
    some = scores if len(scores) <= _COUNTED else scores[sample_of(len(scores), _COUNTED)]
    some = np.maximum(some, LEAST_SCORE)
    for _ in range(rounds):
        sizes = np.bincount(first_classes(some * weights), minlength=len(shares))
        ratio = shares * len(some) / np.maximum(sizes, 0.5)
        weights = weights * np.sqrt(np.clip(ratio, 1 / _MOST_SCALE, _MOST_SCALE))
        weights = (weights / weights.max()).astype(np.float32)
    return weights


def sample_of(n: int, most: int) -> IndexVector:
    """Return so many of n numbers at random, the same ones each time, sorted; or all of them."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(n).choice(n, most, replace=False, shuffle=False))


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
