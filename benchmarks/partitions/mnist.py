"""MNIST as eight partitions with ten labels per class, beside all of it in memory.

python -m benchmarks.partitions.mnist --draws 3 --representatives 10000
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import beltrami as bt

_PARTS, _PER_CLASS, _COLUMNS = 8, 10, 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--representatives", type=int, default=10_000)
    arguments = parser.parse_args()
    mnist = bt.load_dataset("mnist")
    points = bt.principal_components(mnist.points, _COLUMNS).astype(np.float32)
    targets = np.asarray(mnist.targets)
    for draw in range(arguments.draws):
        rng = np.random.default_rng(draw)
        given = np.full(len(targets), None, dtype=object)
        for kind in np.unique(targets):
            rows = rng.choice(np.flatnonzero(targets == kind), _PER_CLASS, replace=False)
            given[rows] = kind
        is_given = given != np.array(None)
        began = time.perf_counter()
        learner = bt.ManifoldClassifier(unlabeled=float("nan"), random_state=0)
        learner.fit(points, given)
        whole = (learner.transduction_ != targets)[~is_given].mean()
        spent = time.perf_counter() - began
        with tempfile.TemporaryDirectory() as folder:
            source, out = Path(folder) / "in", Path(folder) / "out"
            source.mkdir()
            for part, rows in enumerate(np.array_split(np.arange(len(targets)), _PARTS)):
                labels = pa.array([None if one is None else int(one) for one in given[rows]])
                vectors = pa.FixedSizeListArray.from_arrays(points[rows].ravel(), _COLUMNS)
                table = pa.table({"v": vectors.cast(pa.list_(pa.float32())), "digit": labels})
                pq.write_table(table, source / f"{part}.parquet")
            began = time.perf_counter()
            found = bt.label_partitions(
                source, "digit", out=out, n_representatives=arguments.representatives
            )
            parts = time.perf_counter() - began
            guess = np.concatenate(
                [pq.read_table(path).column("guess").to_numpy() for path in found.written]
            )
        error = (guess != targets)[~is_given].mean()
        print(
            f"draw {draw}: in memory {whole:.2%} ({spent:.0f} s), partitions {error:.2%} "
            f"({parts:.0f} s); {found.coverage}",
            flush=True,
        )


if __name__ == "__main__":
    main()
