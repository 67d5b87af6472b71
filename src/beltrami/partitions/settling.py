"""Where representatives settle: each at the mean of the rows it stands for.

A few rows drawn from many are noisy: each lies off the shape of the data by the noise of one row.
The mean of the rows that are nearest to it lies closer. Then rows bear witness who belongs
together. Sums are of whole numbers, so that the order in which partitions come changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from beltrami.core.progress import enter_stage
from beltrami.core.stages import Stage
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector
from beltrami.partitions.layout import Layout
from beltrami.partitions.looking import looked_at
from beltrami.partitions.model import Partition, Survey
from beltrami.partitions.nearby import SEARCHED, Arranged
from beltrami.partitions.passes import Passes
from beltrami.partitions.representatives import Representatives
from beltrami.partitions.rows import key_limit
from beltrami.partitions.witnessing import Witnesses, WitnessTask
from beltrami.partitions.yardstick import Yardstick

_ROWS_EACH = 64
"""Rows that are looked at for each representative, about, where there are more."""

_UNIT = 2.0**24
"""Parts of a column's spread that are counted."""
_FARTHEST = 2.0**40
"""Parts that one row counts at most, so that sums of billions stay exact."""


@dataclass(frozen=True, slots=True, eq=False)
class Residuals:
    """How rows lie beside the representatives that stand for them, summed.

    Attributes
    ----------
    counts : ndarray of shape (m,)
        Rows of each representative.
    sums : ndarray of shape (m, d)
        How far these lie from it, in parts of the spread of each column.
    """

    counts: NDArray[np.int64]
    sums: NDArray[np.int64]

    @classmethod
    def none(cls, n_representatives: int, n_columns: int) -> "Residuals":
        """Return those of no rows."""
        sums = np.zeros((n_representatives, n_columns), np.int64)
        return cls(np.zeros(n_representatives, np.int64), sums)

    def add(self, part: "PartResiduals") -> None:
        """Count the rows of a partition, in place."""
        self.counts[part.places] += part.counts
        self.sums[part.places] += part.sums

    def settle(self, points: FloatMatrix, spread: FloatVector, is_fixed: BoolVector) -> FloatMatrix:
        """Return points moved to the means of their rows, but for those that are fixed."""
        steps = self.sums / np.maximum(self.counts, 1)[:, None] * (spread / _UNIT)
        steps[is_fixed] = 0.0
        moved: FloatMatrix = (points + steps).astype(points.dtype)
        return moved


@dataclass(frozen=True, slots=True, eq=False)
class PartResiduals:
    """The same of one partition: representatives that have rows there, and no others.

    Attributes
    ----------
    places : ndarray of shape (t,)
        Which representatives these are.
    counts, sums : ndarray of shape (t,), (t, d)
        As in `Residuals`.
    """

    places: NDArray[np.intp]
    counts: NDArray[np.int64]
    sums: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SettleTask:
    """What a worker needs to know to sum the rows of a partition by who stands for them.

    Attributes
    ----------
    layout : Layout
        How partitions are read.
    fill : ndarray of shape (d,)
        What stands where a number is missing.
    spread : ndarray of shape (d,)
        Of the columns.
    yardstick : Yardstick
        How far rows are apart.
    points : ndarray of shape (m, d)
        The representatives.
    arranged : Arranged
        The same, where they stand.
    seed, limit : int
        Rows whose key is below are looked at.
    """

    layout: Layout
    fill: FloatVector
    spread: FloatVector
    yardstick: Yardstick
    points: FloatMatrix
    arranged: Arranged
    seed: int
    limit: int

    def __call__(self, partition: Partition, _: None = None) -> PartResiduals:
        """Look at the rows of one partition."""
        found = Residuals.none(*self.points.shape)
        scale = np.divide(_UNIT, self.spread, out=np.zeros_like(self.spread), where=self.spread > 0)
        for points in looked_at(partition, self.layout, self.fill, self.seed, self.limit):
            near = self.arranged.near(self.yardstick.place(points), 1, SEARCHED)[:, 0]
            own = near[near >= 0]
            parts = (points[near >= 0].astype(np.float64) - self.points[own]) * scale
            whole = np.rint(np.clip(parts, -_FARTHEST, _FARTHEST)).astype(np.int64)
            shape = (len(self.points), len(own))
            ones = np.ones(len(own), np.int64)
            gather = csr_array((ones, (own, np.arange(len(own)))), shape=shape)
            found.counts[:] += np.bincount(own, minlength=len(self.points))
            found.sums[:] += np.asarray(gather @ whole)
        held = np.flatnonzero(found.counts)
        return PartResiduals(held, found.counts[held], found.sums[held])


def settle(
    chosen: Representatives,
    partitions: Sequence[Partition],
    passes: Passes,
    layout: Layout,
    survey: Survey,
    seed: int,
) -> Representatives:
    """Return representatives at the means of their rows, with the rows between them.

    Those with a label stay where they are. Where all rows learn, nothing is to be done.
    """
    m = len(chosen.points)
    if m >= survey.total:
        return chosen
    failed = {one.name for one in passes.failures}
    ahead = [(one, n) for one, n in zip(partitions, survey.n_rows, strict=True) if n]
    ahead = [(one, n) for one, n in ahead if one.name not in failed]
    wanted = min(_ROWS_EACH * m, survey.total)
    n_rows = [n * wanted // survey.total for _, n in ahead]
    limit = int(key_limit(wanted, survey.total))
    fill, spread = survey.moments.mean, survey.moments.spread
    yardstick = Yardstick.by(survey.moments, is_standard=chosen.is_standard)
    arranged = Arranged.of(yardstick.place(chosen.points))
    residuals = Residuals.none(*chosen.points.shape)
    enter_stage(Stage.SETTLE)
    passes.over(
        Stage.SETTLE,
        SettleTask(layout, fill, spread, yardstick, chosen.points, arranged, seed, limit),
        [one for one, _ in ahead],
        n_rows=n_rows,
        on_result=lambda _, found: residuals.add(found),
    )
    is_given = np.asarray(chosen.labels != np.array(None), dtype=bool)
    points = residuals.settle(chosen.points, spread, is_given)
    moved = Arranged.of(yardstick.place(points))
    witnesses = Witnesses(np.zeros(m, np.int64))
    enter_stage(Stage.WITNESS)
    passes.over(
        Stage.WITNESS,
        WitnessTask(layout, fill, yardstick, moved, seed, limit),
        [one for one, _ in ahead],
        n_rows=n_rows,
        on_result=lambda _, found: witnesses.add(found),
    )
    return replace(chosen, points=points, witnesses=witnesses.matrix(), masses=witnesses.masses)
