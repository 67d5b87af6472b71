"""Partitions made on the fly: curved clusters in 32 columns, a few rows labelled.

Partition p of a set depends on the seed and on p alone, so truth is made again rather than stored.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N_COLUMNS, N_CLASSES, N_PARTS = 32, 10, 64
NOISE = 0.6
N_LABELS = 200
_BENDS = 6


def made_part(
    part: int, n_rows: int, seed: int = 0, *, n_columns: int = N_COLUMNS, noise: float = NOISE
) -> tuple[Any, Any]:
    """Return points of one partition, float32, and their classes.

    Each class is a curve: harmonics of one angle around a centre of its own, with noise.
    """
    shape = np.random.default_rng(seed)
    centers = shape.normal(scale=2.0, size=(N_CLASSES, n_columns))
    bends = shape.normal(scale=1.2, size=(N_CLASSES, _BENDS, n_columns))
    rng = np.random.default_rng([seed, part])
    classes = rng.integers(0, N_CLASSES, n_rows)
    angle = rng.uniform(0, 2 * np.pi, n_rows)
    waves = [f(k * angle) / k for k in range(1, _BENDS // 2 + 1) for f in (np.sin, np.cos)]
    points = centers[classes] + rng.normal(scale=noise, size=(n_rows, n_columns))
    for place, wave in enumerate(waves):
        points += wave[:, None] * bends[classes, place]
    return points.astype(np.float32), classes


def write_made(
    folder: Path,
    n_rows: int,
    *,
    n_parts: int = N_PARTS,
    n_labels: int = N_LABELS,
    noise: float = NOISE,
) -> None:
    """Write a set, with labels in the first rows of the first partition."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in range(n_parts):
        points, classes = made_part(part, n_rows // n_parts, noise=noise)
        kinds = np.full(len(classes), None, dtype=object)
        if part == 0:
            kinds[:n_labels] = [f"c{kind}" for kind in classes[:n_labels]]
        columns = {f"x{place:02d}": points[:, place] for place in range(N_COLUMNS)}
        table = pa.table({**columns, "kind": pa.array(kinds, pa.string())})
        pq.write_table(table, folder / f"part-{part:03d}.parquet", row_group_size=65536)


def error_of(
    out: Path,
    n_rows: int,
    *,
    n_parts: int = N_PARTS,
    first: int | None = None,
    noise: float = NOISE,
) -> float:
    """Return the share of rows whose guess is wrong, over all partitions.

    - `first`: of each partition only so many rows.
    """
    wrong = total = 0
    for part in range(n_parts):
        guess = pq.read_table(out / f"part-{part:03d}.parquet", columns=["guess"]).column("guess")
        _, classes = made_part(part, n_rows // n_parts, noise=noise)
        codes = np.array([int(one[1:]) for one in guess.slice(0, first).to_pylist()])
        classes = classes[:first]
        wrong += int((codes != classes).sum())
        total += len(classes)
    return wrong / total
