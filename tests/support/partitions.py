"""Small tables in partitions, for tests of the room that labels them."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


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
