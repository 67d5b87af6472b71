"""How far off answers are around each row, from the held-out residuals of labels that are like it.

The sizes of these residuals and the slow functions on the graph at the labelled rows enter; the
half-widths that jackknife+ asks for leave, one for each row and label.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.review.reach import find_damping, likeness, unit_rows

_PSEUDO_LABELS = 2.0
"""Labels of average residual that every row is like; 1 to 4 came out the same there."""

_POWERS = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0])
"""Powers of the local mean that are tried: 0 leaves all widths alike, and more than 1 gives back
the contrast that averaging took away."""

_LEAST = 1e-6
"""Share of the mean residual below which no local mean is let fall."""

_BLOCK = 200
"""Labels that are compared with all others at once."""


@dataclass(frozen=True, slots=True, eq=False)
class RowScales:
    r"""The scale of residuals at any row, without each label in turn.

    Two rows are alike by the cosine of their heat kernels, :math:`k(x, y) = \max(0, \cos)` with
    :math:`\cos` that of the vectors :math:`e^{-t \lambda_j / 2} e_j`. With :math:`g_j` the size of
    the held-out residual of label j and :math:`\bar g_{-i}` the mean of all but label i,

    .. math:: s_{-i}(x) = \frac{\sum_{j \ne i} k(x, x_j) g_j + a \bar g_{-i}}
              {\sum_{j \ne i} k(x, x_j) + a},

    and the scale is :math:`s_{-i}(x)^{p_i}` with a power that the labels but i agree on.

    Attributes
    ----------
    sizes : ndarray of shape (l,)
        Sizes of held-out residuals.
    damping : ndarray of shape (q,)
        What each function counts.
    places : ndarray of shape (l, q)
        The labelled rows by damped functions, of length one.
    powers : ndarray of shape (l,)
        The power without each label.
    own : ndarray of shape (l,)
        Logarithm of the local mean at each label without it.
    """

    sizes: FloatVector
    damping: FloatVector
    places: FloatMatrix
    powers: FloatVector
    own: FloatVector

    @classmethod
    def of(cls, sizes: FloatVector, functions: FloatMatrix, values: FloatVector) -> Self:
        """Learn the scale from at least two labels, with functions there, (l, q), and eigenvalues.

        Cost: l^2 q, and no more memory than l times the rows that are asked about at once.
        """
        damping = find_damping(functions, values)
        places = unit_rows(functions * damping)
        own = np.empty(len(sizes))
        for start in range(0, len(sizes), _BLOCK):
            rows = slice(start, start + _BLOCK)
            means = local_log_means(likeness(places[rows], places), sizes)
            own[rows] = means[np.arange(len(means)), start + np.arange(len(means))]
        return cls(sizes, damping, places, choose_powers(sizes, own), own)

    def half_widths(self, functions: FloatMatrix) -> FloatMatrix:
        """Return how far each label's residual reaches at rows with these functions, (m, l)."""
        alike = likeness(unit_rows(functions * self.damping), self.places)
        rise = local_log_means(alike, self.sizes) - self.own
        widths: FloatMatrix = self.sizes * np.exp(self.powers * rise)
        return widths


def local_log_means(alike: FloatMatrix, sizes: FloatVector) -> FloatMatrix:
    """Return the logarithm of the mean size around rows, (m, l), without each label in turn.

    `alike`, (m, l), says how much each row is like each label, from 0 to 1. Sizes count in units of
    their mean, so the logarithms are free of scale, and are all zero where no size is above zero.
    """
    mean = float(sizes.mean())
    if mean <= 0:
        return np.zeros(alike.shape)
    units = sizes / mean
    others = (units.sum() - units) / (len(units) - 1)
    sums = (alike @ units)[:, None] - alike * units + _PSEUDO_LABELS * others
    counts = alike.sum(axis=1, keepdims=True) - alike + _PSEUDO_LABELS
    logs: FloatMatrix = np.log(np.maximum(sums / counts, _LEAST))
    return logs


def choose_powers(sizes: FloatVector, own: FloatVector) -> FloatVector:
    r"""Return for each label the power of the local mean that the other labels agree on.

    Residuals are taken as exponential with mean :math:`c s_{-i}(x_i)^p`, c by likelihood. The
    powers tried are averaged by their likelihood without the label times :math:`e^{-p}`, by which
    few labels lean to even widths.
    """
    if not sizes.any():
        return np.zeros(len(sizes))
    logs = _POWERS[:, None] * (own - own.mean())
    scaled = sizes * np.exp(-logs)
    level = scaled.mean(axis=1, keepdims=True)
    losses = logs + np.log(level) + scaled / level
    others = losses.sum(axis=1, keepdims=True) - losses + _POWERS[:, None]
    chances = np.exp(others.min(axis=0) - others)
    powers: FloatVector = _POWERS @ chances / chances.sum(axis=0)
    return powers
