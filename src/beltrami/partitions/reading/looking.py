"""Rows of a partition to be looked at: a partition enters, points of some of its rows leave."""

from collections.abc import Iterator

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.partitions.model import Partition
from beltrami.partitions.reading.layout import Layout
from beltrami.partitions.reading.survey import batch_rows
from beltrami.partitions.rows import row_keys


def looked_at(
    partition: Partition, layout: Layout, fill: FloatVector, seed: int, limit: int
) -> Iterator[FloatMatrix]:
    """Yield the points of the rows whose key is below a limit, batch by batch."""
    start = 0
    for batch in partition.batches(layout.features, batch_rows(layout.n_columns)):
        keys = row_keys(seed, partition.name, start, batch.num_rows)
        start += batch.num_rows
        places = np.flatnonzero(keys < np.uint64(limit))
        if places.size:
            yield layout.points(batch.take(places), fill)
