"""Short walks on the graph itself: the last touch to a partition, labels' sources kept in.

Diffusion in a basis sees no detail. A few steps of the random walk do, and a label then speaks for
its neighbours.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from beltrami.core.machine.backend import NumpyBackend, SplitMatrix
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector
from beltrami.learners.base import first_classes
from beltrami.learners.poisson.threshold_steps import Fixed, size_weights, weighed
from beltrami.operators.laplacian import inverse_power

STEPS = 5
"""Steps of the walk between thresholds."""
_ROUNDS = 8  # thresholds at most
_FEW_CHANGES = 1e-3
"""Share of nodes below which a further threshold is not worth its price."""
_MOST_SOURCE = 1e6
"""Of a source in shares of its node's degree: hardly any weight may tie a label to the rest."""


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """The random walk of a graph.

    Attributes
    ----------
    steps : SplitMatrix
        Rows of D^-1 W in float32, with an empty diagonal; of use to products only.
    weights : csr_array of shape (n, n)
        W, in any unit.
    degrees : ndarray of shape (n,)
        Its row sums, in units of the heaviest edge.
    """

    steps: SplitMatrix
    weights: csr_array[Any]
    degrees: FloatVector

    @classmethod
    def of(cls, weights: csr_array[Any]) -> "Walk":
        """Take the walk of a graph by its weights."""
        unit = float(weights.data.max(initial=0.0)) or 1.0
        degrees = np.asarray(weights.sum(axis=1), dtype=np.float64).ravel()
        shares = np.repeat(inverse_power(degrees, 1.0), np.diff(weights.indptr))
        shares *= weights.data
        entries = shares.astype(np.float32), weights.indices, weights.indptr
        rows = csr_array(entries, shape=weights.shape)
        empty = np.zeros(len(degrees), dtype=np.float32)
        return cls(SplitMatrix(empty, rows), weights, degrees / unit)

    def take(self, nodes: BoolVector) -> "Walk":
        """Return the walk on some whole components."""
        if nodes.all():
            return self
        rows = csr_array(self.steps.weights[nodes][:, nodes])
        steps = SplitMatrix(self.steps.diagonal[nodes], rows)
        return Walk(steps, csr_array(self.weights[nodes][:, nodes]), self.degrees[nodes])

    def diffuse(self, block: NDArray[np.float32], source: NDArray[np.float32]) -> Any:
        """Return a block, (n, k), after some steps of u <- D^-1 W u + source."""
        backend, block, out = NumpyBackend(), block.copy(), np.empty_like(block)
        for _ in range(STEPS):
            np.copyto(out, source)
            backend.chebyshev_step(self.steps, block, out, alpha=-1.0, beta=1.0, center=0.0)
            block, out = out, block
        return block

    def refine(
        self,
        codes: NDArray[np.intp],
        sources: FloatMatrix,
        fixed: Fixed,
        shares: FloatVector | None = None,
    ) -> NDArray[np.intp]:
        """Return the partition after thresholds between walks, until hardly a node changes.

        `sources`, (l, k), are those of the fixed nodes; `shares`, (k,), are sizes to keep to.
        """
        unit = np.eye(fixed.n_classes, dtype=np.float32)
        weights: NDArray[np.float32] | None = None
        at_labels = sources / np.where(self.degrees > 0, self.degrees, 1.0)[fixed.rows, None]
        source = np.zeros((len(codes), fixed.n_classes), dtype=np.float32)
        source[fixed.rows] = np.clip(at_labels, -_MOST_SOURCE, _MOST_SOURCE)
        rounds, changed = 0, len(codes)
        while rounds < _ROUNDS and changed >= _FEW_CHANGES * len(codes):
            scores = self.diffuse(unit[codes], source)
            if shares is not None:
                weights = size_weights(scores, shares, weights)
                scores = weighed(scores, weights)
            new = fixed.put_back(first_classes(scores))
            changed, rounds, codes = int((new != codes).sum()), rounds + 1, new
        return codes
