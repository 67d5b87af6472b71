"""MNIST as eight partitions with ten labels per class, beside all of it in memory.

python -m benchmarks.partitions.mnist --draws 10 --representatives 10000
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import beltrami as bt
from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances
from benchmarks.common.pages import table, versions_line, write_results

STEM = "partitions_mnist"
_PARTS, _PER_CLASS, _COLUMNS = 8, 10, 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--representatives", type=int, nargs="+", default=[10_000])
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    mnist = bt.load_dataset("mnist")
    points = bt.principal_components(mnist.points, _COLUMNS).astype(np.float32)
    targets = np.asarray(mnist.targets)
    lines = []
    for draw in range(arguments.draws):
        given = _given(targets, draw)
        began = time.perf_counter()
        learner = bt.ManifoldClassifier(unlabeled=float("nan"), random_state=0)
        learner.fit(points, given)
        is_asked = given == np.array(None)
        whole = float((learner.transduction_ != targets)[is_asked].mean())
        line = {"draw": draw, "whole": whole, "whole_s": time.perf_counter() - began, "parts": []}
        for most in arguments.representatives:
            line["parts"].append(_by_parts(points, targets, given, most))
            print(line, flush=True)
        lines.append(line)
    record = {"circumstances": circumstances(), "per_class": _PER_CLASS, "lines": lines}
    write_results(arguments.out, STEM, record, render(record))


def _given(targets: np.ndarray, draw: int) -> np.ndarray:
    """Return ten labels of each class, None elsewhere."""
    rng = np.random.default_rng(draw)
    given = np.full(len(targets), None, dtype=object)
    for kind in np.unique(targets):
        given[rng.choice(np.flatnonzero(targets == kind), _PER_CLASS, replace=False)] = kind
    return given


def _by_parts(points: np.ndarray, targets: np.ndarray, given: np.ndarray, most: int) -> dict:
    """Label eight partitions, and count the errors."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "in", Path(folder) / "out"
        source.mkdir()
        for part, rows in enumerate(np.array_split(np.arange(len(targets)), _PARTS)):
            labels = pa.array([None if one is None else int(one) for one in given[rows]])
            vectors = pa.FixedSizeListArray.from_arrays(points[rows].ravel(), _COLUMNS)
            whole = pa.table({"v": vectors.cast(pa.list_(pa.float32())), "digit": labels})
            pq.write_table(whole, source / f"{part}.parquet")
        began = time.perf_counter()
        found = bt.label_partitions(source, "digit", out=out, n_representatives=most)
        spent = time.perf_counter() - began
        guess = np.concatenate(
            [pq.read_table(path).column("guess").to_numpy() for path in found.written]
        )
        with np.load(out / "_beltrami" / "representatives.npz") as held:
            sizes = np.cumsum([0, *(len(one) for one in np.array_split(guess, _PARTS))])
            learned = sizes[held["parts"]] + held["rows"]
    is_wrong, is_asked = guess != targets, given == np.array(None)
    is_learned = np.zeros(len(guess), dtype=bool)
    is_learned[learned] = True
    return {
        "representatives": found.coverage.n_representatives,
        "error": float(is_wrong[is_asked].mean()),
        "error_of_representatives": float(is_wrong[is_asked & is_learned].mean()),
        "share": found.coverage.share,
        "seconds": spent,
    }


def render(record: dict) -> str:
    """Return the page."""
    header = ("draw", "all in memory", "rows that learn", "partitions", "errors of those rows",
              "points more", "covered")  # fmt: skip
    lines = [
        (
            str(line["draw"]),
            f"{line['whole']:.2%}",
            f"{one['representatives']:,}",
            f"{one['error']:.2%}",
            f"{one['error_of_representatives']:.2%}",
            f"{100 * (one['error'] - line['whole']):.2f}",
            f"{one['share']:.2%}",
        )
        for line in record["lines"]
        for one in line["parts"]
    ]
    more = [one["error"] - line["whole"] for line in record["lines"] for one in line["parts"]]
    spread = f", standard deviation {100 * np.std(more, ddof=1):.2f}" if len(more) > 1 else ""
    return (
        "# MNIST in eight partitions\n\n"
        f"70,000 rows of {_COLUMNS} principal components, {record['per_class']} labels per class: "
        "errors on rows without a label, beside those of the front door on all rows in memory.\n\n"
        f"{table(header, lines)}\n"
        f"In the mean {100 * np.mean(more):.2f} points more wrong than in memory{spread}.\n\n"
        f"{versions_line(record['circumstances'])}\n"
    )


if __name__ == "__main__":
    main()
