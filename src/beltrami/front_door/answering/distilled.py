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
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.linalg.blas import dsyrk
from scipy.optimize import minimize_scalar

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector, Points
from beltrami.kernel_machines.kernels import RbfKernel
from beltrami.kernel_machines.landmarks import spread_rows
from beltrami.learners.base import softmax

_WIDTH = 1.5
"""Of the kernel, in units of the median distance to the tenth neighbour."""
_STRENGTH = 0.03
_MOST_LANDMARKS = 4096
_ROWS = 1024
"""Rows whose kernels are held together."""
_MOST_HEARD = 2**14
"""Points that it learns from."""
_MOST_TRIED = 2048
"""Points that are left out in turn, to see how sure the function may be."""
_JITTER = 1e-8
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

    def answer(self, points: Points, others: FloatMatrix, known: BoolVector) -> FloatMatrix:
        """Return the probabilities of new points, (m, k), from what others say of them.

        - `known`: which classes have a label.
        """
        values = self.values(points)[:, known].astype(np.float64)
        heard = np.clip(values.max(axis=1, keepdims=True) / _SURE, 0.0, 1.0)
        answers: FloatMatrix = others * (1.0 - heard)
        answers[:, known] += heard * softmax(values, self.temperature)
        return answers

    def values(self, points: Points) -> FloatMatrix:
        """Return the function at points, (m, k), float32."""
        kernel = RbfKernel(self.width)
        n = points.shape[0]
        values = np.empty((n, self.coefficients.shape[1]), dtype=np.float32)
        for start in range(0, n, _ROWS):
            block = np.asarray(points[start : start + _ROWS], dtype=np.float32)
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
    rows : ndarray of shape (q,)
        Some of the points.
    held_out : ndarray of shape (q, k)
        Probabilities that it gives to each of these when that one is left out.
    """

    function: Distilled
    rows: IndexVector
    held_out: FloatMatrix


def distil(
    points: FloatMatrix,
    answers: FloatMatrix,
    masses: NDArray[Any],
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
    weights = masses / masses.mean()
    targets = np.eye(answers.shape[1])[answers.argmax(axis=1)]
    apart = spans[spans > 0]
    width = _WIDTH * (float(np.median(apart)) if apart.size else 1.0)
    chosen = np.sort(spread_rows(n, given, min(_MOST_LANDMARKS, n), seed))
    kernel, landmarks = RbfKernel(width), compact[chosen]
    double = landmarks.astype(np.float64)
    inner = kernel.between(double, double)
    # Its lower half, by columns, as LAPACK takes it.
    normal, right = np.asfortranarray(_STRENGTH * inner), np.zeros((len(chosen), targets.shape[1]))
    heard = np.union1d(chosen, spread_rows(n, given, min(_MOST_HEARD, n), seed))
    roots = np.sqrt(weights)[:, None]
    for start in range(0, len(heard), _ROWS):
        rows = heard[start : start + _ROWS]
        block = kernel.between(compact[rows], landmarks) * roots[rows]
        normal = dsyrk(1.0, block.T, beta=1.0, c=normal, overwrite_c=1, lower=1)
        right += block.T @ (roots[rows] * targets[rows])
    normal[np.diag_indices_from(normal)] += _JITTER * np.trace(normal) / len(normal)
    factor, is_lower = cho_factor(normal, lower=True, overwrite_a=True, check_finite=False)
    coefficients = cho_solve((factor, is_lower), right)
    tried = heard[spread_rows(len(heard), np.zeros(0, np.intp), min(_MOST_TRIED, len(heard)), seed)]
    block = kernel.between(compact[tried], landmarks).astype(np.float64)
    inside = solve_triangular(factor, block.T, lower=True, check_finite=False)
    leverage = np.minimum(weights[tried] * np.einsum("ij,ij->j", inside, inside), 1 - 1e-6)
    own = leverage[:, None]
    values = ((block @ coefficients - own * targets[tried]) / (1 - own))[:, known]
    temperature = _temperature(values, answers[tried][:, known], weights[tried])
    held_out = np.zeros((len(tried), len(known)))
    held_out[:, known] = softmax(values, temperature)
    function = Distilled(landmarks, coefficients.astype(np.float32), width, temperature)
    return Distillation(function, tried, held_out)


def _temperature(values: FloatMatrix, answers: FloatMatrix, weights: FloatVector) -> float:
    """Return the temperature at which values agree best with answers: least cross-entropy."""
    totals = np.maximum(answers.sum(axis=1, keepdims=True), 1e-12)
    wanted = answers / totals * weights[:, None]

    def loss(logarithm: float) -> float:
        shares = softmax(values, float(np.exp(logarithm)))
        return float(-(wanted * np.log(np.maximum(shares, 1e-12))).sum())

    bounds = (np.log(_COLDEST), np.log(_HOTTEST))
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))
