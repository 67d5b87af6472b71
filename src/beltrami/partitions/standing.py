"""How many rows each representative stands for: partitions enter, a number for each leaves.

A row counts for the representative that is nearest to it, as rows are compared when these are
chosen. Of very many rows a sample is looked at, drawn with equal chance from all.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.files import atomic_path
from beltrami.core.progress import enter_stage
from beltrami.core.stages import Stage
from beltrami.core.types import FloatVector, IndexVector
from beltrami.partitions.answered import Answered
from beltrami.partitions.covering import nearest_places
from beltrami.partitions.fetching import require_same
from beltrami.partitions.layout import Layout
from beltrami.partitions.manifest import FOLDER
from beltrami.partitions.model import Partition
from beltrami.partitions.rows import key_limit, row_keys
from beltrami.partitions.survey import batch_rows
from beltrami.partitions.yardstick import Places, Yardstick

_WORK = 2e12
"""Multiplications and additions of the search, about a minute of two processors."""
_LEAST, _MOST = 20_000, 1_000_000
_SEED = 1
"""Of the sample; representatives are drawn by others."""

Counted = tuple[int, NDArray[np.int64], NDArray[np.int64]]
"""Rows that were looked at, the representatives nearest to some, and how many these are."""


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """How many rows each representative stands for.

    Attributes
    ----------
    masses : ndarray of shape (m,)
        Rows, itself among them; they sum to all rows.
    n_looked : int
        Rows that were looked at, beside the representatives.
    n_others : int
        Rows that are no representatives.
    """

    masses: FloatVector
    n_looked: int
    n_others: int

    def words(self) -> str:
        """Say what is counted, and from what."""
        how = "all of them were looked at"
        if self.n_looked < self.n_others:
            how = f"estimated from {self.n_looked:,} rows drawn from all with equal chance"
        n_rows = self.n_others + len(self.masses)
        return (
            f"a row settles those of all {n_rows:,} rows whose nearest representative is more "
            f"alike to it than to any label or other question; {how}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class StandTask:
    """What a worker needs to know to find the nearest representative of rows of a partition.

    Attributes
    ----------
    layout : Layout
        How partitions are read.
    yardstick : Yardstick
        How far rows are apart; its centre stands where a number is missing.
    places : ndarray of shape (m, d)
        The representatives.
    limit : int
        Rows whose key is below are looked at.
    """

    layout: Layout
    yardstick: Yardstick
    places: Places
    limit: int

    def __call__(self, partition: Partition, extra: tuple[IndexVector, str]) -> Counted:
        """Return how many rows were looked at, and how many count for each representative.

        - `extra`: rows of the partition that are representatives, which are left out, and what it
          was when it was labelled.
        """
        own, fingerprint = extra
        require_same(partition, fingerprint)
        layout, start, n_looked = self.layout, 0, 0
        counts = np.zeros(len(self.places), dtype=np.int64)
        for batch in partition.batches(layout.features, batch_rows(layout.n_columns)):
            keys = row_keys(_SEED, partition.name, start, batch.num_rows)
            is_wanted = keys <= np.uint64(self.limit)
            inside = own[(own >= start) & (own < start + batch.num_rows)]
            is_wanted[inside - start] = False
            start += batch.num_rows
            wanted = np.flatnonzero(is_wanted)
            if wanted.size:
                points = layout.points(batch.take(wanted), self.yardstick.center)
                nearest = nearest_places(self.yardstick.place(points), self.places)
                counts += np.bincount(nearest, minlength=len(counts))
                n_looked += len(wanted)
        held = np.flatnonzero(counts)
        return n_looked, held, counts[held]


def find_standing(folder: Answered) -> Standing:
    """Return how many rows each representative stands for, counted once and kept beside them."""
    path = folder.out / FOLDER / "standing.npz"
    if path.is_file():
        with np.load(path, allow_pickle=False) as held:
            if str(held["key"]) == folder.key:
                return Standing(held["masses"], int(held["n_looked"]), int(held["n_others"]))
    standing = _count(folder)
    facts: dict[str, Any] = {"n_looked": standing.n_looked, "n_others": standing.n_others}
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez(file, masses=standing.masses, key=np.array(folder.key), **facts)
    return standing


def _count(folder: Answered) -> Standing:
    enter_stage(Stage.STAND)
    chosen = folder.chosen
    m, d = chosen.points.shape
    sizes = list(chosen.partitions.values())
    n_others = sum(sizes) - m
    wanted = int(np.clip(_WORK / (2.0 * m * d), _LEAST, _MOST))
    limit = int(key_limit(wanted, n_others))
    places = chosen.yardstick.place(chosen.points)
    task = StandTask(chosen.layout, chosen.yardstick, places, limit)
    extras = [
        (np.sort(chosen.rows[chosen.parts == place]), folder.fingerprints[one.name])
        for place, one in enumerate(folder.partitions)
    ]
    found = folder.over(Stage.STAND, task, folder.partitions, extras, sizes)
    n_looked = sum(n for n, _, _ in found)
    counts = np.zeros(m)
    for _, held, own in found:
        counts[held] += own
    return Standing(1.0 + counts * (n_others / max(n_looked, 1)), n_looked, n_others)
