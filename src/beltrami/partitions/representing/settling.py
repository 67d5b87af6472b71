"""Where representatives settle: each at the mean of the rows it stands for.

A few rows drawn from many are noisy: each lies off the shape of the data by the noise of one row.
The mean of the rows that are nearest to it lies closer. Rows that it does not cover do not move it:
nobody stands for these, and they are to be seen as strange. Then rows bear witness who belongs
together. Sums are of whole numbers, so that the order in which partitions come changes nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import Stage
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector
from beltrami.partitions.crews.passes import Passes
from beltrami.partitions.model import Partition, Survey
from beltrami.partitions.reading.layout import Layout
from beltrami.partitions.reading.looking import looked_at
from beltrami.partitions.representing.covering import local_scales
from beltrami.partitions.representing.nearby import SEARCHED, Arranged, Standing
from beltrami.partitions.representing.representatives import Representatives
from beltrami.partitions.representing.witnessing import Witnesses, WitnessTask
from beltrami.partitions.representing.yardstick import Yardstick
from beltrami.partitions.rows import key_limit

_MOVES = 2
"""Times that representatives move to the means of their rows, which then may be others."""
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
        Rows that each representative covers, of those it is nearest to.
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
    standing : Standing
        The same, where they stand and how far around them is theirs.
    seed, limit : int
        Rows whose key is below are looked at.
    """

    layout: Layout
    fill: FloatVector
    spread: FloatVector
    yardstick: Yardstick
    points: FloatMatrix
    standing: Standing
    seed: int
    limit: int

    def __call__(self, partition: Partition, _: None = None) -> PartResiduals:
        """Look at the rows of one partition."""
        found = Residuals.none(*self.points.shape)
        scale = np.divide(_UNIT, self.spread, out=np.zeros_like(self.spread), where=self.spread > 0)
        for rows in looked_at(partition, self.layout, self.fill, self.seed, self.limit):
            points, own = self._covered(rows)
            parts = (points.astype(np.float64) - self.points[own]) * scale
            whole = np.rint(np.clip(parts, -_FARTHEST, _FARTHEST)).astype(np.int64)
            held: Any = slice(None)
            group, n_held = own, len(self.points)
            if len(own) < n_held:  # a sum for each representative would be larger than the batch
                held, group = np.unique(own, return_inverse=True)
                n_held = len(held)
            ones = np.ones(len(own), np.int64)
            gather = csr_array((ones, (group, np.arange(len(own)))), shape=(n_held, len(own)))
            found.counts[held] += np.bincount(group, minlength=n_held)
            found.sums[held] += np.asarray(gather @ whole)
        some = np.flatnonzero(found.counts)
        return PartResiduals(some, found.counts[some], found.sums[some])

    def _covered(self, rows: FloatMatrix) -> tuple[FloatMatrix, NDArray[np.int64]]:
        """Return the rows that somebody stands for, and who that is."""
        places = self.yardstick.place(rows)
        near = self.standing.arranged.near(places, 1, SEARCHED)[:, 0]
        found = np.flatnonzero(near >= 0)
        found = found[self.standing.covers(places[found], near[found])]
        return rows[found], near[found]


@dataclass(frozen=True, slots=True, eq=False)
class Settling:
    """How representatives settle among the rows of all partitions.

    Attributes
    ----------
    partitions : tuple of Partition
        Those that could be read so far and hold rows.
    n_rows : tuple of int
        Rows of each that are looked at.
    passes : Passes
        What goes over them.
    layout : Layout
        How they are read.
    survey : Survey
        What is known of all rows.
    seed, limit : int
        Rows whose key is below are looked at.
    """

    partitions: tuple[Partition, ...]
    n_rows: tuple[int, ...]
    passes: Passes
    layout: Layout
    survey: Survey
    seed: int
    limit: int

    @classmethod
    def of(
        cls,
        n_representatives: int,
        partitions: Sequence[Partition],
        passes: Passes,
        layout: Layout,
        survey: Survey,
        seed: int,
    ) -> "Settling":
        """Decide which rows are looked at: all, or some for each representative."""
        wanted = min(_ROWS_EACH * n_representatives, survey.total)
        failed = {one.name for one in passes.failures}
        pairs = zip(partitions, survey.n_rows, strict=True)
        ahead = [(one, n * wanted // survey.total) for one, n in pairs if n]
        ahead = [pair for pair in ahead if pair[0].name not in failed]
        limit = int(key_limit(wanted, survey.total))
        alive, n_rows = tuple(one for one, _ in ahead), tuple(n for _, n in ahead)
        return cls(alive, n_rows, passes, layout, survey, seed, limit)

    def settle(self, chosen: Representatives) -> Representatives:
        """Return representatives at the means of their rows, with the rows between them."""
        is_given = np.asarray(chosen.labels != np.array(None), dtype=bool)
        points, yardstick = chosen.points, chosen.yardstick
        enter_stage(Stage.SETTLE)
        scales = local_scales(yardstick.place(points))
        for _ in range(_MOVES):
            residuals = self._residuals(points, yardstick, scales)
            points = residuals.settle(points, self.survey.moments.spread, is_given)
        enter_stage(Stage.WITNESS)
        witnesses = self._witnesses(points, yardstick)
        return replace(chosen, points=points, witnesses=witnesses.matrix(), masses=witnesses.masses)

    def _residuals(
        self, points: FloatMatrix, yardstick: Yardstick, scales: FloatVector
    ) -> Residuals:
        found = Residuals.none(*points.shape)
        moments, standing = self.survey.moments, Standing.of(yardstick.place(points), scales)
        task = SettleTask(
            self.layout,
            moments.mean,
            moments.spread,
            yardstick,
            points,
            standing,
            self.seed,
            self.limit,
        )
        self._over(Stage.SETTLE, task, found.add)
        return found

    def _witnesses(self, points: FloatMatrix, yardstick: Yardstick) -> Witnesses:
        found = Witnesses(np.zeros(len(points), np.int64))
        arranged = Arranged.of(yardstick.place(points))
        fill = self.survey.moments.mean
        task = WitnessTask(self.layout, fill, yardstick, arranged, self.seed, self.limit)
        self._over(Stage.WITNESS, task, found.add)
        return found

    def _over(self, title: str, task: Any, add: Callable[[Any], None]) -> None:
        self.passes.over(
            title,
            task,
            self.partitions,
            n_rows=self.n_rows,
            on_result=lambda _, found: add(found),
        )


def settle(
    chosen: Representatives,
    partitions: Sequence[Partition],
    passes: Passes,
    layout: Layout,
    survey: Survey,
    seed: int,
) -> Representatives:
    """Return representatives that have settled; where all rows learn, they are what they were.

    Those with a label stay where they are.
    """
    m = len(chosen.points)
    if m >= survey.total:
        return chosen
    return Settling.of(m, partitions, passes, layout, survey, seed).settle(chosen)
