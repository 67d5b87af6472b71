"""The penalty for roughness along the data: S, a scaled power of a graph Laplacian.

The graph enters; a symmetric operator that is applied to blocks of functions leaves. The form
f'Sf is the second penalty of manifold regularisation.
"""

from dataclasses import dataclass

import numpy as np

from beltrami.core.backend import NumpyBackend, SplitMatrix
from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.core.validation import check_choice, check_count
from beltrami.graph.model import Graph
from beltrami.operators.laplacian import KINDS, inverse_power, split_laplacian

SCALES = ("n2", "weights", "none")


@dataclass(frozen=True, slots=True, eq=False)
class Roughness:
    r"""The operator :math:`S = s L (D^{-1} L)^{p-1}`, with D the identity or the degrees.

    Attributes
    ----------
    matrix : SplitMatrix
        L, as diagonal minus weights.
    power : int
        p.
    factor : float
        s.
    measure : ndarray of shape (n,)
        The diagonal of D.
    """

    matrix: SplitMatrix
    power: int
    factor: float
    measure: FloatVector

    @classmethod
    def of(cls, graph: Graph, *, laplacian: str, power: int, scale: str) -> "Roughness":
        """Read the options of an estimator.

        - `laplacian`: which one: L = D - W, whose power is L^p; the same with the random walk's own
          inner product between its powers, L (D^-1 L)^(p - 1), which charges constants nothing and
          grows with the weights only as L does; or D^-1/2 L D^-1/2, whose power charges constants.
        - `scale`: what the power is divided by: the squared number of points, the sum of all
          weights w_ij, or nothing.
        """
        check_choice(laplacian, KINDS, name="laplacian")
        check_choice(scale, SCALES, name="scale")
        divisor = 1.0
        if scale == "n2":
            divisor = float(graph.n_nodes) ** 2
        elif scale == "weights":
            divisor = float(graph.weights.sum())
            if divisor <= 0:
                raise InvalidInputError(
                    "scale='weights' divides by the sum of the graph's weights, and that is zero: "
                    "the graph has no edge. Join more neighbours, or take scale='n2'."
                )
        matrix = split_laplacian(graph, "normalized" if laplacian == "normalized" else KINDS[0])
        measure = graph.degrees if laplacian == "random_walk" else np.ones(graph.n_nodes)
        return cls(matrix, check_count(power, name="power"), 1.0 / divisor, measure)

    @property
    def n_rows(self) -> int:
        """Number of points."""
        return self.matrix.n_rows

    @property
    def typical(self) -> float:
        """Size of S, cheaply: its diagonal if L were its own diagonal, on average."""
        inverse = inverse_power(self.measure, 1.0)
        steps = self.matrix.diagonal * (self.matrix.diagonal * inverse) ** (self.power - 1)
        size = float(np.mean(steps)) * self.factor
        return size if size > 0 else self.factor

    def apply(self, block: FloatMatrix) -> FloatMatrix:
        """Return S times a block of functions.

        Shapes: `block` (n, k); returns (n, k).
        """
        backend, x = NumpyBackend(), np.ascontiguousarray(block)
        matrix = backend.matrix(self.matrix, x.dtype)
        inverse = inverse_power(self.measure, 1.0).astype(x.dtype)
        for step in range(self.power):
            out = np.empty_like(x)
            backend.product(matrix, x, out)
            if step < self.power - 1:
                out *= inverse[:, None]
            x = out
        x *= x.dtype.type(self.factor)
        return x
