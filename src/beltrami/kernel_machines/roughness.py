"""The penalty for roughness along the data: S, a scaled power of a graph Laplacian.

The graph enters; a symmetric operator that is applied to blocks of functions leaves. The form
f'Sf is the second penalty of manifold regularisation. `LaplacianPower` is what a user says of S,
`Roughness` is S on one graph.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.backend import NumpyBackend, SplitMatrix
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.core.validation import check_choice, check_count, is_auto
from beltrami.graph.model import Graph
from beltrami.operators.laplacian import KINDS, inverse_power, split_laplacian

_SCALES = ("n2", "weights", "none")


class LaplacianPower(BaseEstimator):
    r"""What counts as rough along the data: :math:`f^\top S f` with S a scaled power of L.

    For ``smoothness=`` of the Laplacian machines.

    Parameters
    ----------
    power : int or "auto", default="auto"
        p; "auto" tries 1, 2 and, without landmarks, 4. Higher powers leave the slowest functions on
        the data free and forbid the others, which helps where classes are whole clusters. The paper
        [BelkinNiyogi04]_ has 1.
    kind : {"random_walk", "combinatorial", "normalized"}, default="random_walk"
        S is :math:`s L (D^{-1} L)^{p-1}`, which charges constants nothing and grows with the
        weights only as L does; or :math:`s L^p` with L = D - W, which is the paper's for p = 1; or
        powers of the symmetric :math:`D^{-1/2} L D^{-1/2}`, which charges constants.
    scale : {"n2", "weights", "none"}, default="n2"
        s: one over the squared number of points, over the sum of all weights, or one.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import LaplacianPower, LaplacianSVC, two_moons
    >>> moons = two_moons(100, random_state=0)
    >>> y = np.where(np.arange(100) % 10 == 0, moons.targets, -1)
    >>> paper = LaplacianPower(1, kind="combinatorial")
    >>> learner = LaplacianSVC(smoothness=paper).fit(moons.points, y)
    >>> learner.power_
    1
    """

    def __init__(
        self, power: int | str = "auto", *, kind: str = "random_walk", scale: str = "n2"
    ) -> None:
        self.power = power
        self.kind = kind
        self.scale = scale

    def check_parameters(self) -> None:
        """Raise where a parameter makes no sense."""
        if not is_auto(self.power, name="power"):
            check_count(self.power, name="power")
        check_choice(self.kind, KINDS, name="kind")
        check_choice(self.scale, _SCALES, name="scale")

    def on(self, graph: Graph, power: int) -> "Roughness":
        """Return S on a graph.

        Parameters
        ----------
        graph : Graph
            The graph.
        power : int
            p, where the parameter may be "auto".

        Returns
        -------
        Roughness
            The operator.
        """
        self.check_parameters()
        divisor = 1.0
        if self.scale == "n2":
            divisor = float(graph.n_nodes) ** 2
        elif self.scale == "weights":
            divisor = float(graph.weights.sum())
            if divisor <= 0:
                raise InvalidInputError(
                    "scale='weights' divides by the sum of the graph's weights, and that is zero: "
                    "the graph has no edge. Join more neighbours, or take scale='n2'."
                )
        matrix = split_laplacian(graph, "normalized" if self.kind == "normalized" else KINDS[0])
        measure = graph.degrees if self.kind == "random_walk" else np.ones(graph.n_nodes)
        return Roughness(matrix, check_count(power, name="power"), 1.0 / divisor, measure)


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
        """Return S times a block of functions, (n, k)."""
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


def resolve_smoothness(smoothness: object) -> LaplacianPower:
    """Return what a user asked for, checked; None means the defaults."""
    resolved = LaplacianPower() if smoothness is None else smoothness
    if not isinstance(resolved, LaplacianPower):
        raise InvalidInputError(
            f"smoothness={smoothness!r} is not known; give LaplacianPower(...), or None for its "
            "defaults."
        )
    resolved.check_parameters()
    return resolved
