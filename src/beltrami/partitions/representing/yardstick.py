"""How far rows are apart: numbers enter as they are stored, places in one space leave."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.moments import Moments
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.partitions.reading.layout import Layout
from beltrami.tables.features.scales import has_units

Places = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Yardstick:
    """A shift and a stretch of each column.

    Attributes
    ----------
    center, stretch : ndarray of shape (d,)
        What is taken off, and what the rest is multiplied by.
    is_standard : bool
        Whether columns are put on one scale, because their units may differ.
    """

    center: FloatVector
    stretch: FloatVector
    is_standard: bool

    @classmethod
    def of(cls, moments: Moments, sample: FloatMatrix, layout: Layout) -> "Yardstick":
        """Choose it by the names of the columns and the spread of all rows."""
        roles = layout.roles
        is_standard = bool(roles.numeric) if roles.vectors else has_units(sample, roles.numeric)
        spread = moments.spread
        stretch = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
        return cls(moments.mean, stretch if is_standard else np.ones_like(spread), is_standard)

    def place(self, points: FloatMatrix) -> Places:
        """Return where rows stand."""
        return np.ascontiguousarray((points - self.center) * self.stretch, dtype=np.float32)
