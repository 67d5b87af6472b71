r"""What the points of a fit say, as one smooth function: for points that stand for many rows each.

Answers carried from a few neighbours are as coarse as the points are far apart. A kernel machine
that learns the answers of all points draws the borders between classes finer than that. It is
ridge regression of the classes :math:`Y` that the points were given, with the rows that each
stands for as weights :math:`w`, on landmarks:

.. math:: \min_a \sum_i w_i |y_i - K_{i \cdot} a|^2 + \lambda a' K_{LL} a .

Its values become probabilities at the temperature at which held-out points agree best with what
was said of them, so that it is as sure as they are. Where it knows nothing it leaves the word to
the others.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.optimize import minimize_scalar

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector
from beltrami.kernel_machines.kernels import RbfKernel
from beltrami.kernel_machines.landmarks import spread_rows
from beltrami.learners.base import softmax

_WIDTH = 1.5
"""Of the kernel, in units of the median distance to the tenth neighbour."""
_STRENGTH = 0.03
_MOST_LANDMARKS = 4096
_ROWS = 1024
"""Rows whose kernels are held together."""
_JITTER = 1e-8
_LEAST_MASS = 0.5
"""Rows that a point stands for at least: itself may have been nearer to another."""
_COLDEST, _HOTTEST = 0.01, 3.0
_SURE = 0.5
"""Largest value from which the function alone is heard."""


@dataclass(frozen=True, slots=True, eq=False)
class Distilled:
    """A smooth function that answers as the points of a fit do.

    Attributes
    ----------
    landmarks : ndarray of shape (s, p), float32
        Where its kernels are centred.
    coefficients : ndarray of shape (s, k), float32
        Of each class.
    width : float
        Of the kernel.
    temperature : float
        At which its values become probabilities.
    """

    landmarks: FloatMatrix
    coefficients: FloatMatrix
    width: float
    temperature: float

    def answer(self, points: FloatMatrix, others: FloatMatrix, known: BoolVector) -> FloatMatrix:
        """Return the probabilities of new points, (m, k), from what others say of them.

        - `known`: which classes have a label.
        """
        values = self.values(points)[:, known].astype(np.float64)
        heard = np.clip(values.max(axis=1, keepdims=True) / _SURE, 0.0, 1.0)
        answers = others * (1.0 - heard)
        answers[:, known] += heard * softmax(values, self.temperature)
        return answers

    def values(self, points: FloatMatrix) -> FloatMatrix:
        """Return the function at points, (m, k), float32."""
        kernel = RbfKernel(self.width)
        values = np.empty((len(points), self.coefficients.shape[1]), dtype=np.float32)
        for start in range(0, len(points), _ROWS):
            block = points[start : start + _ROWS].astype(np.float32, copy=False)
            values[start : start + _ROWS] = (
                kernel.between(block, self.landmarks) @ self.coefficients
            )
        return values


@dataclass(frozen=True, slots=True, eq=False)
class Distillation:
    """What came of distilling.

    Attributes
    ----------
    function : Distilled
        The function.
    held_out : ndarray of shape (n, k)
        Probabilities that it gives to each point when that one is left out.
    """

    function: Distilled
    held_out: FloatMatrix


def distil(
    points: FloatMatrix,
    answers: FloatMatrix,
    masses: FloatVector,
    spans: FloatVector,
    given: IndexVector,
    known: BoolVector,
    seed: int,
) -> Distillation:
    """Learn what points were answered.

    - `points`: (n, p), as the graph sees them; `answers`: their probabilities, (n, k).
    - `masses`: rows that each stands for; zero where it has no say.
    - `spans`: distances to their farthest neighbours.
    - `given`: points with a label, which are landmarks in any case; `known`: classes with a label.
    """
    compact = points.astype(np.float32)
    n = len(points)
    weights = np.where(masses > 0, np.maximum(masses, _LEAST_MASS), 0.0)
    weights /= weights.mean()
    targets = np.eye(answers.shape[1])[answers.argmax(axis=1)]
    apart = spans[spans > 0]
    width = _WIDTH * (float(np.median(apart)) if apart.size else 1.0)
    chosen = np.sort(spread_rows(n, given, min(_MOST_LANDMARKS, n), seed))
    kernel, landmarks = RbfKernel(width), compact[chosen]
    inner = kernel.between(landmarks.astype(np.float64), landmarks.astype(np.float64))
    normal, right = _STRENGTH * inner, np.zeros((len(chosen), targets.shape[1]))
    for rows in _blocks(n):
        block = kernel.between(compact[rows], landmarks).astype(np.float64)
        weighed = block * weights[rows, None]
        normal += weighed.T @ block
        right += weighed.T @ targets[rows]
    normal[np.diag_indices_from(normal)] += _JITTER * np.trace(normal) / len(normal)
    factor, is_lower = cho_factor(normal, lower=True, overwrite_a=True, check_finite=False)
    coefficients = cho_solve((factor, is_lower), right)
    held_out = np.empty_like(targets)
    for rows in _blocks(n):
        block = kernel.between(compact[rows], landmarks).astype(np.float64)
        roots = solve_triangular(factor, block.T, lower=True, check_finite=False)
        leverage = np.minimum(weights[rows] * np.einsum("ij,ij->j", roots, roots), 1 - 1e-6)
        own = leverage[:, None]
        held_out[rows] = (block @ coefficients - own * targets[rows]) / (1 - own)
    held_out = held_out[:, known]
    temperature = _temperature(held_out, answers[:, known], weights)
    shares = np.zeros_like(targets)
    shares[:, known] = softmax(held_out, temperature)
    function = Distilled(landmarks, coefficients.astype(np.float32), width, temperature)
    return Distillation(function, shares)


def _blocks(n: int) -> list[slice]:
    return [slice(start, min(start + _ROWS, n)) for start in range(0, n, _ROWS)]


def _temperature(values: FloatMatrix, answers: FloatMatrix, weights: FloatVector) -> float:
    """Return the temperature at which values agree best with answers: least cross-entropy."""
    totals = np.maximum(answers.sum(axis=1, keepdims=True), 1e-12)
    wanted = answers / totals * weights[:, None]

    def loss(logarithm: float) -> float:
        shares = softmax(values, float(np.exp(logarithm)))
        return float(-(wanted * np.log(np.maximum(shares, 1e-12))).sum())

    bounds = (np.log(_COLDEST), np.log(_HOTTEST))
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))
