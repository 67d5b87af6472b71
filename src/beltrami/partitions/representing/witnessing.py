"""Who lies between two representatives: rows bear witness, pairs and counts leave.

A row is a witness of the pairs that its nearest representative forms with the next two.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from beltrami.core.types import CsrMatrix, FloatVector
from beltrami.partitions.model import Partition
from beltrami.partitions.reading.layout import Layout
from beltrami.partitions.reading.looking import looked_at
from beltrami.partitions.representing.nearby import SEARCHED, Arranged
from beltrami.partitions.representing.yardstick import Yardstick

_NEAREST = 3
_HELD = 2**22  # pairs that wait to be added up


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of representatives, how many rows lie between them, and how many each stands for.

    Attributes
    ----------
    keys : ndarray of shape (p,)
        Lower place times the number of representatives, plus the higher one; ascending.
    counts : ndarray of shape (p,)
        Rows between the two.
    places, masses : ndarray of shape (t,)
        Representatives that have rows, ascending, and how many.
    """

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    places: NDArray[np.int64]
    masses: NDArray[np.int64]


@dataclass(slots=True, eq=False)
class Witnesses:
    """What the rows of all partitions say; whole numbers, so that their order changes nothing.

    Attributes
    ----------
    masses : ndarray of shape (m,)
        Rows that each representative stands for.
    """

    masses: NDArray[np.int64]
    _keys: list[NDArray[np.int64]] = field(default_factory=list)
    _counts: list[NDArray[np.int64]] = field(default_factory=list)
    _n_held: int = 0

    def add(self, part: Pairs) -> None:
        """Count what the rows of a partition say."""
        self.masses[part.places] += part.masses
        self._keys.append(part.keys)
        self._counts.append(part.counts)
        self._n_held += len(part.keys)
        if self._n_held > _HELD:
            self._add_up()

    def matrix(self) -> CsrMatrix:
        """Return how many rows lie between two representatives, symmetric."""
        self._add_up()
        m = len(self.masses)
        low, high = np.divmod(self._keys[0], m)
        upper = coo_array((self._counts[0].astype(np.float64), (low, high)), shape=(m, m))
        both: CsrMatrix = csr_array(upper + upper.T)
        both.sort_indices()
        return both

    def _add_up(self) -> None:
        keys = np.concatenate([np.zeros(0, np.int64), *self._keys])
        counts = np.concatenate([np.zeros(0, np.int64), *self._counts])
        kept, which = np.unique(keys, return_inverse=True)
        added = np.zeros(len(kept), np.int64)
        np.add.at(added, which, counts)
        self._keys, self._counts, self._n_held = [kept], [added], len(kept)


@dataclass(frozen=True, slots=True, eq=False)
class WitnessTask:
    """What a worker needs to know to ask the rows of a partition.

    Attributes
    ----------
    layout : Layout
        How partitions are read.
    fill : ndarray of shape (d,)
        What stands where a number is missing.
    yardstick : Yardstick
        How far rows are apart.
    arranged : Arranged
        The representatives.
    seed, limit : int
        Rows whose key is below are asked.
    """

    layout: Layout
    fill: FloatVector
    yardstick: Yardstick
    arranged: Arranged
    seed: int
    limit: int

    def __call__(self, partition: Partition, _: None = None) -> Pairs:
        """Ask the rows of one partition."""
        m = len(self.arranged.places)
        masses = np.zeros(m, np.int64)
        asked: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
        for points in looked_at(partition, self.layout, self.fill, self.seed, self.limit):
            k = min(_NEAREST, m)
            nearest = self.arranged.near(self.yardstick.place(points), k, SEARCHED)
            nearest = nearest[(nearest >= 0).all(axis=1)]
            masses += np.bincount(nearest[:, 0], minlength=m)
            first, others = np.repeat(nearest[:, 0], k - 1), nearest[:, 1:].ravel()
            asked.append(np.minimum(first, others) * m + np.maximum(first, others))
        keys, counts = np.unique(np.concatenate(asked), return_counts=True)
        held = np.flatnonzero(masses)
        return Pairs(keys, counts.astype(np.int64), held, masses[held])
