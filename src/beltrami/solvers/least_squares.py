"""Least squares of a few labelled rows on the leading columns of a basis, for many sizes at once.

Rows of a basis and targets enter; coefficients, and exact leave-one-out predictions for every
number of columns, leave. One orthogonal factorisation serves them all and the normal equations are
never formed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector

_DEPENDENT = 1e-10
"""A column is dependent when this share of its length, or less, is new."""

_ALONE = 1e-9
"""A row whose leverage is this near to one is fitted by itself alone."""


class HeldOut(NamedTuple):
    """Leave-one-out predictions of a linear fit.

    Attributes
    ----------
    values : ndarray of shape (l, k)
        What each row is predicted to be by the others.
    is_predicted : ndarray of shape (l,)
        False where a row alone decides a direction (leverage one), so that the others cannot
        predict it and the value there has no meaning.
    """

    values: FloatMatrix
    is_predicted: BoolVector


@dataclass(frozen=True, slots=True, eq=False)
class NestedFactor:
    """Orthonormal columns that span the leading columns of a matrix, one size after the other.

    Attributes
    ----------
    Q : ndarray of shape (l, p)
        Column j is orthogonal to those before it and spans with them the first j + 1 columns of
        the matrix; zero where column j of the matrix adds nothing.
    R : ndarray of shape (p, p)
        Upper triangle with matrix = Q R.
    """

    Q: FloatMatrix
    R: FloatMatrix

    def leading(self, size: int) -> "NestedFactor":
        """Return the factor of the first `size` columns."""
        return NestedFactor(self.Q[:, :size], self.R[:size, :size])

    def operator(self) -> FloatMatrix:
        """Return the (p, l) matrix that turns targets into least-squares coefficients.

        Dependent columns have rows of zeros.
        """
        return self._solve_triangle(self.Q.T)

    def coefficients(self, targets: FloatMatrix) -> FloatMatrix:
        """Return the least-squares coefficients of each column of targets, zero where dependent."""
        return self._solve_triangle(self.Q.T @ targets)

    def _solve_triangle(self, right: FloatMatrix) -> FloatMatrix:
        """Solve R x = right over the independent columns."""
        kept = np.flatnonzero(np.diagonal(self.R))
        solution = np.zeros((self.R.shape[0], right.shape[1]))
        triangle = self.R[np.ix_(kept, kept)]
        solution[kept] = solve_triangular(triangle, right[kept], check_finite=False)
        return solution

    def held_out(self, targets: FloatMatrix) -> Iterator[HeldOut]:
        r"""Yield, for one column, two, and so on, what each row is predicted to be by the others.

        Without row i the prediction there is :math:`y_i - (y_i - \hat y_i) / (1 - h_{ii})` with
        the leverage :math:`h_{ii} = \sum_{j \le p} Q_{ij}^2`: no fit is repeated. Cost: O(l k) for
        each size.
        """
        fitted, leverages = np.zeros(targets.shape), np.zeros(len(targets))
        for column in self.Q.T:
            fitted += column[:, None] * (column @ targets)
            leverages += column**2
            yield held_out_values(targets, fitted, leverages)


def nested_factor(matrix: FloatMatrix) -> NestedFactor:
    """Factorise a matrix so that its leading columns can be used in any number.

    Blocked Householder reflections where all columns are independent; where some are not, a
    column-by-column orthogonalisation that drops them.
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    rows, columns = matrix.shape
    if rows >= columns:
        Q, R = qr(matrix, mode="economic", check_finite=False)
        if _is_independent(R):
            return NestedFactor(Q, R)
    return _careful_factor(matrix)


def _is_independent(R: FloatMatrix) -> bool:
    """Say whether every column brings something new, by the triangle of the factorisation."""
    return bool((np.abs(np.diagonal(R)) > _DEPENDENT * np.linalg.norm(R, axis=0)).all())


def _careful_factor(matrix: FloatMatrix) -> NestedFactor:
    """Orthogonalise column by column, with zeros in Q for dependent ones."""
    rows, columns = matrix.shape
    Q, R = np.zeros((rows, columns)), np.zeros((columns, columns))
    for j in range(columns):
        rest = matrix[:, j].copy()
        for _ in range(2):  # once is not enough to be orthogonal to rounding
            along = Q[:, :j].T @ rest
            rest -= Q[:, :j] @ along
            R[:j, j] += along
        size = float(np.linalg.norm(rest))
        if size > _DEPENDENT * float(np.linalg.norm(matrix[:, j])):
            R[j, j], Q[:, j] = size, rest / size
    return NestedFactor(Q, R)


def held_out_values(targets: FloatMatrix, fitted: FloatMatrix, leverages: FloatVector) -> HeldOut:
    """Turn the fitted values of a linear fit into leave-one-out predictions.

    The leverages are the diagonal of the hat matrix, which turns targets into fitted values.
    """
    room = 1 - leverages
    is_predicted = room > _ALONE
    values = targets - (targets - fitted) / np.where(is_predicted, room, 1.0)[:, None]
    return HeldOut(values, is_predicted)


def nested_least_squares(
    matrix: FloatMatrix, targets: FloatMatrix, sizes: Sequence[int]
) -> list[FloatMatrix]:
    """Return the coefficients of targets on the first p columns, for several sizes p.

    Only the triangle of one factorisation is formed, with the targets as further columns, so that
    50,000 rows and 1000 columns take a second or two.
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    rows, columns = matrix.shape
    (triangle,) = qr(np.hstack([matrix, targets]), mode="r", overwrite_a=True, check_finite=False)
    R, along = triangle[:columns, :columns], triangle[:columns, columns:]
    if rows >= columns and _is_independent(R):
        return [
            np.asarray(solve_triangular(R[:size, :size], along[:size], check_finite=False))
            for size in sizes
        ]
    factor = _careful_factor(matrix)
    return [factor.leading(size).coefficients(targets) for size in sizes]


@dataclass(frozen=True, slots=True, eq=False)
class RidgePath:
    r"""Ridge fits for every strength of the penalty, from one singular value decomposition.

    Minimises :math:`\lVert y - A a \rVert^2 + \alpha \sum_j s_j a_j^2` over a, where columns with
    :math:`s_j = 0` are free. The free columns are fitted by projection, the others after division
    by the roots of their penalties.

    Attributes
    ----------
    free : NestedFactor
        Of the f columns without penalty.
    left : ndarray of shape (l, r)
        Left singular vectors of the penalised part, outside the free columns' span.
    sizes : ndarray of shape (r,)
        Its singular values.
    right : ndarray of shape (p - f, r)
        Its right singular vectors, divided by the roots of the penalties.
    coupling : ndarray of shape (f, p - f)
        Coefficients of the penalised columns on the free ones.
    """

    free: NestedFactor
    left: FloatMatrix
    sizes: FloatVector
    right: FloatMatrix
    coupling: FloatMatrix

    @classmethod
    def of(cls, matrix: FloatMatrix, penalties: FloatVector) -> "RidgePath":
        """Decompose a matrix for all strengths; the penalties s ascend from zero."""
        n_free = int((penalties <= 0).sum())
        free = nested_factor(matrix[:, :n_free])
        roots = np.sqrt(penalties[n_free:])
        along = free.Q.T @ matrix[:, n_free:]
        rest = (matrix[:, n_free:] - free.Q @ along) / roots
        rest -= free.Q @ (free.Q.T @ rest)  # once is not enough, as in `_careful_factor`
        left, sizes, right = np.linalg.svd(rest, full_matrices=False)
        # Against the columns before projection: what the free ones leave may be rounding only.
        kept = sizes > _DEPENDENT * float(np.linalg.norm(matrix[:, n_free:] / roots))
        coupling = free.coefficients(matrix[:, n_free:])
        return cls(free, left[:, kept], sizes[kept], right[kept].T / roots[:, None], coupling)

    def operator(self, alpha: float) -> FloatMatrix:
        """Return the (p, l) matrix that turns targets into coefficients, for one strength.

        Strength zero gives the solution of least penalty among those that fit best.
        """
        damped = self.sizes / (self.sizes**2 + alpha)
        penalised = (self.right * damped) @ self.left.T
        return np.vstack([self.free.operator() - self.coupling @ penalised, penalised])

    def coefficients(self, targets: FloatMatrix, alpha: float) -> FloatMatrix:
        """Return the coefficients of each column of targets, for one strength."""
        damped = self.sizes / (self.sizes**2 + alpha)
        penalised = self.right @ (damped[:, None] * (self.left.T @ targets))
        free = self.free.coefficients(targets) - self.coupling @ penalised
        return np.vstack([free, penalised])

    def held_out(self, targets: FloatMatrix, alpha: float) -> HeldOut:
        """Return what each row is predicted to be by the others, for one strength; exact."""
        shrink = self.sizes**2 / (self.sizes**2 + alpha)
        fitted = self.free.Q @ (self.free.Q.T @ targets)
        fitted += self.left @ (shrink[:, None] * (self.left.T @ targets))
        leverages = (self.free.Q**2).sum(axis=1) + self.left**2 @ shrink
        return held_out_values(targets, fitted, leverages)
