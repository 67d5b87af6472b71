"""Regularisation reduced to the labelled nodes: any strength, and leave-one-out, from one solve."""

from dataclasses import dataclass

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.learners.leave_one_out import mean_of_others
from beltrami.learners.model import Labeled
from beltrami.learners.regularized.smoother import Smoother

_RANK = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class LabelKernel:
    r"""The problem reduced to the labelled nodes, ready for every strength of the penalty.

    With K the inverse of S at the labelled nodes and Z the indicators of their components, the
    minimiser is :math:`f = S^{+} J^\top a + Z c`, where with :math:`\alpha = \gamma \sum w`

    .. math:: (K + \alpha W^{-1}) a + Z c = y, \qquad Z^\top a = 0.

    One eigendecomposition outside the span of Z serves all alpha. For the heat operator Z is
    empty and the mean of the labels of each component is taken off instead.

    Attributes
    ----------
    vectors : ndarray of shape (l, r)
        Eigenvectors of the weighted kernel outside the constants.
    values : ndarray of shape (r,)
        Its eigenvalues.
    roots : ndarray of shape (l,)
        Roots of the weights.
    """

    vectors: FloatMatrix
    values: FloatVector
    roots: FloatVector

    @classmethod
    def of(cls, kernel: FloatMatrix, constants: FloatMatrix, weights: FloatVector) -> "LabelKernel":
        """Decompose the kernel K, (l, l), outside the constants.

        `constants` is Z at the labelled nodes, (l, c), without a column for the heat operator.
        """
        roots = np.sqrt(weights)
        scaled = roots[:, None] * ((kernel + kernel.T) / 2) * roots
        outside = _complement(roots[:, None] * constants)
        values, rotation = np.linalg.eigh(outside.T @ scaled @ outside)
        return cls(outside @ rotation, np.maximum(values, 0.0), roots)

    def inverse(self, alpha: float) -> FloatVector:
        """Return 1 / (values + alpha), zero in directions that have neither."""
        sums = self.values + alpha
        least = _RANK * float(self.values.max(initial=0.0))
        return np.asarray(np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > least))

    def multipliers(self, targets: FloatMatrix, alpha: float) -> FloatMatrix:
        """Return a, one column per target."""
        along = self.vectors.T @ (self.roots[:, None] * targets)
        inner = self.vectors @ (along * self.inverse(alpha)[:, None])
        return np.asarray(self.roots[:, None] * inner)

    def operator(self, alpha: float) -> FloatMatrix:
        """Return the (l, l) matrix that turns targets into a."""
        half = self.roots[:, None] * self.vectors
        return np.asarray((half * self.inverse(alpha)) @ half.T)

    def held_out_residuals(self, targets: FloatMatrix, alpha: float) -> FloatMatrix:
        r"""Return the exact leave-one-out residuals, :math:`a_i / B_{ii}` with B the operator.

        The strength alpha stays as it is when a label is left out. NaN at the only label of a
        component, of which the others say nothing.
        """
        multipliers = self.multipliers(targets, alpha)
        half = self.roots[:, None] * self.vectors
        diagonal = half**2 @ self.inverse(alpha)
        known = diagonal > _RANK * max(float(diagonal.max(initial=0.0)), 1e-300)
        residuals = np.full(targets.shape, np.nan)
        residuals[known] = multipliers[known] / diagonal[known, None]
        return residuals


def _complement(matrix: FloatMatrix) -> FloatMatrix:
    """Return orthonormal columns that span what is orthogonal to those of a matrix."""
    if matrix.shape[1] == 0:
        return np.eye(matrix.shape[0])
    Q, _ = np.linalg.qr(matrix, mode="complete")
    return Q[:, matrix.shape[1] :]


@dataclass(frozen=True, slots=True, eq=False)
class KernelFit:
    """The minimiser for any strength of the penalty, through the columns of the labels.

    Attributes
    ----------
    columns : ndarray of shape (n, l)
        The inverse of S at the labelled nodes.
    indicators : ndarray of shape (l, c)
        Components of the labelled nodes.
    spread : ndarray of shape (n, c)
        The same at all nodes; zero rows where no label reaches.
    kernel : LabelKernel
        The problem at the labelled nodes.
    labeled : Labeled
        The labels.
    has_constants : bool
        Whether constants are free of charge (L^q) or means are taken off first (heat).
    """

    columns: FloatMatrix
    indicators: FloatMatrix
    spread: FloatMatrix
    kernel: LabelKernel
    labeled: Labeled
    has_constants: bool

    @classmethod
    def of(cls, smoother: Smoother, labeled: Labeled) -> "KernelFit":
        """Solve for the columns and decompose."""
        columns = smoother.columns(labeled)
        components, member = np.unique(smoother.membership[labeled.rows], return_inverse=True)
        indicators = np.eye(len(components))[member]
        spread = (smoother.membership[:, None] == components).astype(np.float64)
        free = indicators if smoother.power else indicators[:, :0]
        kernel = LabelKernel.of(columns[labeled.rows], free, labeled.weights)
        return cls(columns, indicators, spread, kernel, labeled, smoother.power > 0)

    def _means(self) -> FloatMatrix:
        """Return the (c, l) matrix that takes weighted means over components."""
        weighted = self.indicators.T * self.labeled.weights
        return np.asarray(weighted / weighted.sum(axis=1, keepdims=True))

    def parts(self, targets: FloatMatrix, alpha: float) -> tuple[FloatMatrix, FloatMatrix]:
        """Return multipliers (l, k) of the columns and constants (c, k) of the components."""
        means = self._means()
        if not self.has_constants:
            constants = means @ targets
            centred = targets - self.indicators @ constants
            return self.kernel.multipliers(centred, alpha), constants
        multipliers = self.kernel.multipliers(targets, alpha)
        rest = targets - self.columns[self.labeled.rows] @ multipliers
        rest -= alpha * multipliers / self.labeled.weights[:, None]
        return multipliers, means @ rest

    def values(self, targets: FloatMatrix, alpha: float) -> FloatMatrix:
        """Return the minimiser at all nodes, (n, k)."""
        multipliers, constants = self.parts(targets, alpha)
        return np.asarray(self.columns @ multipliers + self.spread @ constants)

    def influence(self, alpha: float) -> FloatMatrix:
        """Return the (n, l) matrix of how much each label moves each node."""
        return self.values(np.eye(len(self.labeled.rows)), alpha)

    def shifts(self, residuals: FloatVector, alpha: float) -> FloatMatrix:
        """Return how much the values at all nodes fall when each label is left out.

        Without label i the fit is that with the label moved onto what the others predict, down by
        its residual. Where means are taken off first, the mean changes, too. Returns (n, l).
        """
        if self.has_constants:
            return self.influence(alpha) * residuals
        weights, means = self.labeled.weights, self._means()
        operator = self.columns @ self.kernel.operator(alpha)
        rest = self.indicators @ (self.indicators.T @ weights) - weights
        centred = (self.labeled.targets - self.indicators @ (means @ self.labeled.targets))[:, 0]
        down = np.divide(weights * centred, rest, out=residuals.copy(), where=rest > 0)
        room = self.spread - operator @ self.indicators
        return np.asarray(operator * residuals + room @ (self.indicators.T * down))

    def held_out(self, alpha: float) -> FloatMatrix:
        """Return what each label is predicted to be by the others, (l, k), exactly.

        The only label of a component, of which the others say nothing, is given their mean.
        """
        targets = self.labeled.targets
        predictions: FloatMatrix
        if self.has_constants:
            predictions = np.asarray(targets - self.kernel.held_out_residuals(targets, alpha))
        else:
            predictions = self._held_out_around_means(alpha)
        return np.where(np.isnan(predictions), mean_of_others(self.labeled), predictions)

    def _held_out_around_means(self, alpha: float) -> FloatMatrix:
        """Leave one out where the mean that is taken off changes with it."""
        targets, weights = self.labeled.targets, self.labeled.weights
        operator = self.kernel.operator(alpha)
        ratio = operator / np.diagonal(operator)[:, None]
        np.fill_diagonal(ratio, 0.0)
        together = self.indicators @ self.indicators.T * weights
        np.fill_diagonal(together, 0.0)
        totals = together.sum(axis=1, keepdims=True)
        means = np.full(targets.shape, np.nan)
        np.divide(together @ targets, totals, out=means, where=totals > 0)
        same = self.indicators @ self.indicators.T
        # Labels of other components keep their own means, which do not change.
        steady = self.indicators @ (self._means() @ targets)
        outside = ratio * (1 - same)
        inside = ratio * same
        return np.asarray(
            means
            - inside @ targets
            + inside.sum(axis=1, keepdims=True) * means
            - outside @ (targets - steady)
        )
