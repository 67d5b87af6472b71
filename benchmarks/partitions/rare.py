"""Rare classes, one row in 10,000 each: how many of their rows are near one that learns.

    python -m benchmarks.partitions.rare --rows 1000000

Beside the share of rare rows that are covered stands the share that the sample alone covers: the
same job with `coverage=0`, which adds nothing. One row of each rare class is labelled.
"""

import argparse
import tempfile
from pathlib import Path

import faiss
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import beltrami as bt
from benchmarks.partitions.made import N_COLUMNS, made_part

_RARE, _PARTS, _LABELS = 5, 16, 200
_IN = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--representatives", type=int, default=10_000)
    parser.add_argument("--distance", type=float, default=6.0, help="of rare centres, in spreads")
    arguments = parser.parse_args()
    n_part = arguments.rows // _PARTS
    rng = np.random.default_rng(5)
    centers = rng.normal(size=(_RARE, N_COLUMNS))
    centers *= arguments.distance * 3.0 / np.linalg.norm(centers, axis=1, keepdims=True)
    truth, rare_points = [], []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in"
        source.mkdir()
        for part in range(_PARTS):
            points, classes = made_part(part, n_part)
            names = np.array([f"c{one}" for one in classes], dtype=object)
            rows = rng.choice(n_part, size=(_RARE, n_part // _IN), replace=False)
            for kind in range(_RARE):
                noise = rng.normal(scale=0.6, size=(rows.shape[1], N_COLUMNS))
                points[rows[kind]] = centers[kind] + noise
                names[rows[kind]] = f"rare {kind}"
            given = np.full(n_part, None, dtype=object)
            if part == 0:
                given[:_LABELS] = names[:_LABELS]
            columns = {f"x{place:02d}": points[:, place] for place in range(N_COLUMNS)}
            table = pa.table({**columns, "kind": pa.array(given, pa.string())})
            pq.write_table(table, source / f"{part:02d}.parquet", row_group_size=65536)
            truth.append(names)
            rare_points.append(points[rows.ravel()])
        for share in (0.0, 0.9999):
            found = bt.label_partitions(
                source,
                "kind",
                out=Path(folder) / f"out-{share}",
                n_representatives=arguments.representatives,
                coverage=share,
                method="poisson",
            )
            stand = found.labeller.answerer.anchors.points
            near = _near(np.concatenate(rare_points), stand)
            print(f"coverage={share}: {found.coverage}; rare rows near one that learns: {near:.1%}")


def _near(rare: np.ndarray, learned: np.ndarray) -> float:
    """Return the share of rare rows that a row that learned lies within the noise of a class."""
    squares, _ = faiss.knn(rare.astype(np.float32), np.ascontiguousarray(learned, np.float32), 1)
    within = 0.6 * np.sqrt(2 * N_COLUMNS) * 1.3  # of two rows of one class, with some to spare
    return float((np.sqrt(squares[:, 0]) < within).mean())


if __name__ == "__main__":
    main()
