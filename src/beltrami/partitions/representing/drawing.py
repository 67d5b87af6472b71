"""The sample: rows enter by partitions, all that have a label and some drawn by their names leave.

Which rows are drawn depends on the seed, their partition's name and their place in it alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.partitions.model import Partition
from beltrami.partitions.reading.layout import Layout
from beltrami.partitions.reading.survey import batch_rows, given_labels
from beltrami.partitions.rows import Keys, row_keys
from beltrami.tables import TableOptions


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Rows of one partition, or of all, that may stand for others.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Their places in the partition.
    keys : ndarray of shape (m,)
        By which they are drawn: the smallest are.
    points : ndarray of shape (m, d)
        Their features.
    labels : ndarray of shape (m,)
        Their labels, None where there is none.
    parts : ndarray of shape (m,)
        Places of their partitions among all; 0 as long as there is one.
    """

    rows: NDArray[np.int64]
    keys: Keys
    points: FloatMatrix
    labels: NDArray[Any]
    parts: NDArray[np.int64]

    @property
    def is_given(self) -> NDArray[np.bool_]:
        """Whether each has a label."""
        return np.asarray(self.labels != np.array(None), dtype=bool)

    def take(self, places: Any) -> "Drawn":
        """Return some of them."""
        return Drawn(
            self.rows[places],
            self.keys[places],
            self.points[places],
            self.labels[places],
            self.parts[places],
        )

    @classmethod
    def joined(cls, parts: Sequence["Drawn"]) -> "Drawn":
        """Return those of several, in their order."""
        return cls(
            np.concatenate([one.rows for one in parts]),
            np.concatenate([one.keys for one in parts]),
            np.concatenate([one.points for one in parts]),
            np.concatenate([one.labels for one in parts]),
            np.concatenate([one.parts for one in parts]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class DrawTask:
    """What a worker needs to know to draw rows of a partition.

    Attributes
    ----------
    layout : Layout
        How partitions are read.
    options : TableOptions
        For the labels.
    fill : ndarray of shape (d,)
        What stands where a number is missing.
    seed : int
        Of the draw.
    limit : int
        Rows whose key is below are drawn.
    """

    layout: Layout
    options: TableOptions
    fill: FloatVector
    seed: int
    limit: int

    def __call__(self, partition: Partition, _: None = None) -> Drawn:
        """Return the labelled rows of one partition, and those drawn."""
        layout, start = self.layout, 0
        d = layout.n_columns
        empty = np.zeros(0, np.int64)
        no_points = np.zeros((0, d), layout.dtype)
        parts = [Drawn(empty, empty.astype(np.uint64), no_points, _objects(0), empty)]
        for batch in partition.batches(layout.types, batch_rows(d)):
            keys = row_keys(self.seed, partition.name, start, batch.num_rows)
            labels = given_labels(batch, layout, self.options, partition.name, start)
            is_wanted = (keys < np.uint64(self.limit)) | (labels != np.array(None))
            places = np.flatnonzero(is_wanted)
            if places.size:
                chosen = batch.take(places)
                points = layout.points(chosen, self.fill)
                own = np.zeros(len(places), np.int64)
                parts.append(Drawn(places + start, keys[places], points, labels[places], own))
            start += batch.num_rows
        return Drawn.joined(parts)


def _objects(n: int) -> NDArray[Any]:
    return np.full(n, None, dtype=object)


def settle_draw(drawn: Drawn, wanted: int) -> tuple[Drawn, Drawn]:
    """Return the rows that stay in their order, and the others by their keys.

    Those with a label stay, and as many others as are wanted.
    """
    is_given = drawn.is_given
    others = np.flatnonzero(~is_given)
    by_key = others[np.argsort(drawn.keys[others], kind="stable")]
    stay = np.sort(np.concatenate([np.flatnonzero(is_given), by_key[:wanted]]))
    return drawn.take(stay), drawn.take(by_key[wanted:])
