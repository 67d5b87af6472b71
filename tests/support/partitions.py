"""Small tables in partitions, for tests of the room that labels them."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from beltrami.partitions.reading.layout import Layout
from beltrami.partitions.representing.yardstick import Yardstick
from beltrami.tables import Roles

EVERY_ROW = 2**64 - 1
"""A limit that the key of no row reaches."""

PLAIN = Yardstick(np.zeros(2), np.ones(2), is_standard=False)
"""Two columns as they are."""


class HeldPartition:
    """Rows of two columns in memory, read a few at a time."""

    def __init__(self, name: str, points: Any) -> None:
        self.name, self._points = name, points

    def batches(self, types: Any, n_rows: int) -> Any:
        """Yield tables of seven rows."""
        for start in range(0, len(self._points), 7):
            rows = self._points[start : start + 7]
            yield pa.table({name: rows[:, place] for place, name in enumerate(types)})


def plain_layout() -> Layout:
    """Return how such rows are read."""
    roles = Roles(id=None, label=None, numeric=("a", "b"))
    types = {"a": pa.float64(), "b": pa.float64()}
    return Layout(roles, types, {"a": 1, "b": 1}, np.dtype(np.float64))


def blobs(n: int = 600, d: int = 3, seed: int = 0) -> tuple[Any, Any]:
    """Return points of three clusters far apart, and their classes."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 3, n)
    return rng.normal(size=(n, d)) + 8 * np.eye(3, d)[classes], classes


def blob_table(n: int = 600, *, n_labels: int = 24, seed: int = 0) -> pa.Table:
    """Return such points as a table with ids and a few labels."""
    points, classes = blobs(n, seed=seed)
    kinds = [f"c{kind}" if row < n_labels else None for row, kind in enumerate(classes)]
    columns = {f"x{place}": column for place, column in enumerate(points.astype(np.float32).T)}
    return pa.table({"id": np.arange(n), **columns, "kind": pa.array(kinds, pa.string())})


def write_parts(folder: Path, table: pa.Table, n_parts: int = 4) -> Path:
    """Write a table as parquet partitions of about one size, and return their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-table.num_rows // n_parts)
    for part in range(n_parts):
        pq.write_table(table.slice(part * size, size), folder / f"part-{part}.parquet")
    return folder


def written(folder: Path) -> dict[str, bytes]:
    """Return the results in a folder, by name."""
    files = sorted(folder.glob("*.parquet")) + sorted(folder.glob("*.csv"))
    return {path.name: path.read_bytes() for path in files}
