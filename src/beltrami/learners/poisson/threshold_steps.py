"""Threshold steps: a partition is diffused a little, sharpened, and judged by its cut."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from beltrami.core.backend import NumpyBackend, SplitMatrix
from beltrami.core.progress import track
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.graph.model import Graph
from beltrami.operators.laplacian import inverse_power
from beltrami.solvers.ordering import cache_order

STEPS = (1, 2, 3, 5, 8, 12, 20)
"""Numbers of diffusion steps that are tried, shortest first."""

_PATIENCE = 2  # numbers of steps tried after the best
_ROUNDS = 20  # thresholds at most
_FEW_CHANGES = 1e-3
"""Share of nodes below which a further threshold is not worth its price."""


@dataclass(frozen=True, slots=True, eq=False)
class Refinement:
    """A partition after threshold steps.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Class of each node.
    scores : ndarray of shape (n, k)
        The diffused partition before the last threshold: away from labels, what share of each
        node's walk ends in each class.
    cut : float
        Normalised cut of the partition.
    n_steps : int
        Diffusion steps between thresholds.
    n_rounds : int
        Thresholds taken.
    """

    codes: NDArray[np.intp]
    scores: FloatMatrix
    cut: float
    n_steps: int
    n_rounds: int


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """The random walk of a graph, in an order that is kind to the cache.

    Attributes
    ----------
    matrix : SplitMatrix
        Rows of D^-1 W in float32, with an empty diagonal; of use to products only.
    weights : csr_array of shape (n, n)
        W in the same order.
    degrees : ndarray of shape (n,)
        Its row sums.
    order, place : ndarray of shape (n,)
        Which node stands where, and where each node stands.
    """

    matrix: SplitMatrix
    weights: csr_array[Any]
    degrees: FloatVector
    order: IndexVector
    place: IndexVector

    @classmethod
    def of(cls, graph: Graph) -> "Walk":
        """Take the walk of a graph."""
        order = cache_order(graph.weights)
        weights = graph.weights[order][:, order]
        weights.sort_indices()
        degrees = np.asarray(weights.sum(axis=1), dtype=np.float64).ravel()
        rows = csr_array(diags_array(inverse_power(degrees, 1.0)) @ weights).astype(np.float32)
        empty = np.zeros(len(degrees), dtype=np.float32)
        return cls(SplitMatrix(empty, rows), weights, degrees, order, np.argsort(order))

    def diffuse(self, block: FloatMatrix, source: FloatMatrix, n_steps: int) -> FloatMatrix:
        """Return a block, (n, k), after some steps of u <- D^-1 W u + source."""
        backend, out = NumpyBackend(), np.empty_like(block)
        for _ in range(n_steps):
            np.copyto(out, source)
            backend.chebyshev_step(self.matrix, block, out, alpha=-1.0, beta=1.0, center=0.0)
            block, out = out, block
        return block

    def normalized_cut(self, codes: NDArray[np.intp], n_classes: int) -> float:
        r"""Return the normalised cut :math:`\sum_a \mathrm{cut}(A_a) / \mathrm{vol}(A_a)`.

        A class without a node counts as one, the worst.
        """
        starts = np.repeat(codes, np.diff(self.weights.indptr))
        inside = starts == codes[self.weights.indices]
        kept = np.bincount(starts[inside], self.weights.data[inside], minlength=n_classes)
        volumes = np.bincount(codes, self.degrees, minlength=n_classes)
        shares = np.divide(kept, volumes, out=np.zeros(n_classes), where=volumes > 0)
        return float(n_classes - shares.sum())

    def threshold_steps(
        self, start: NDArray[np.intp], source: FloatMatrix, fixed: IndexVector, n_steps: int
    ) -> Refinement:
        """Diffuse the partition and take the largest class, until hardly a node changes.

        The partition `start`, in the walk's order, is kept at the `fixed` nodes.
        """
        codes, n_classes = start, source.shape[1]
        unit = np.eye(n_classes, dtype=np.float32)
        scores, rounds = unit[codes], 0
        while rounds < _ROUNDS:
            rounds += 1
            scores = self.diffuse(unit[codes], source, n_steps)
            new_codes = scores.argmax(axis=1)
            new_codes[fixed] = start[fixed]
            changed = float((new_codes != codes).mean())
            codes = new_codes
            if changed < _FEW_CHANGES:
                break
        return Refinement(codes, scores, self.normalized_cut(codes, n_classes), n_steps, rounds)

    def refine(
        self, start: NDArray[np.intp], source: FloatMatrix, fixed: IndexVector
    ) -> Refinement:
        """Try several numbers of steps and keep the partition with the smallest cut.

        Too few steps leave the ragged edges of the first partition; too many let large classes
        swallow small ones. The normalised cut sees both.
        """
        n_classes = source.shape[1]
        unit = np.eye(n_classes, dtype=np.float32)
        first = self.normalized_cut(start, n_classes)
        best, worse, codes = Refinement(start, unit[start], first, 0, 0), 0, start
        with track("threshold steps", total=len(STEPS)) as advance:
            for n_steps in STEPS:
                # From where the shorter runs ended: as good in the trials, in fewer rounds.
                candidate = self.threshold_steps(codes, source, fixed, n_steps)
                codes = candidate.codes
                if candidate.cut < best.cut:
                    best, worse = candidate, 0
                else:
                    worse += 1
                advance(1)
                if worse == _PATIENCE:
                    break
        return best


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
