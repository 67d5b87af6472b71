"""What a kernel machine found: a function of the points, as a sum of kernels or of features.

Coefficients enter; values at points of the fit and at new ones leave.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from beltrami.core.types import FloatMatrix, Points
from beltrami.kernel_machines.features import FeatureMap
from beltrami.kernel_machines.gram import Gram

_BLOCK_BYTES = 2**26


class Expansion(ABC):
    """A function, or k of them, that a kernel machine found."""

    @property
    @abstractmethod
    def of_fit(self) -> FloatMatrix:
        """The values at all points of the fit, (n, k)."""

    @abstractmethod
    def at(self, points: Points) -> FloatMatrix:
        """Return values at new points, (m, k)."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelExpansion(Expansion):
    """A sum of kernels at the points of the fit.

    Attributes
    ----------
    gram : Gram
        The kernel and the points.
    coefficients : ndarray of shape (n, k)
        Of each point; zero at unlabelled ones where the roughness counts nothing.
    of_fit : ndarray of shape (n, k)
        Values at the points of the fit.
    """

    gram: Gram
    coefficients: FloatMatrix
    of_fit: FloatMatrix

    def at(self, points: Points) -> FloatMatrix:
        """Return values at new points, (m, k)."""
        columns = np.flatnonzero(self.coefficients.any(axis=1))
        kept = self.coefficients[columns]
        values = np.zeros((points.shape[0], kept.shape[1]))
        if len(columns) == 0:
            return values
        step = max(1, _BLOCK_BYTES // (8 * len(columns)))
        for start in range(0, len(values), step):
            block = points[start : start + step].astype(np.float64)
            values[start : start + step] = self.gram.at(block, columns) @ kept
        return values


@dataclass(frozen=True, slots=True, eq=False)
class FeatureExpansion(Expansion):
    """A linear function of features.

    Attributes
    ----------
    features : FeatureMap
        The map.
    coefficients : ndarray of shape (m, k)
        One column per function.
    of_fit : ndarray of shape (n, k)
        Values at the points of the fit.
    """

    features: FeatureMap
    coefficients: FloatMatrix
    of_fit: FloatMatrix

    def at(self, points: Points) -> FloatMatrix:
        """Return values at new points, (m, k)."""
        values = np.zeros((points.shape[0], self.coefficients.shape[1]))
        step = max(1, _BLOCK_BYTES // (8 * self.features.n_features))
        for start in range(0, len(values), step):
            block = self.features.of_new(points[start : start + step])
            values[start : start + step] = block @ self.coefficients.astype(block.dtype)
        return values
