"""Rare classes, one row in 10,000 each: are their rows near one of their own that learns?

    python -m benchmarks.partitions.rare --rows 1000000

Beside the job as it comes stands the same job with `coverage=0`, where a sample alone learns.
Once no row of a rare class has a label, and once one row of each has.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

import beltrami as bt
from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances
from benchmarks.common.pages import table, versions_line, write_results
from benchmarks.partitions.made import N_COLUMNS, made_part

STEM = "partitions_rare"
_RARE, _PARTS, _LABELS = 20, 16, 200
_IN = 10_000
_SPREAD = 0.6
_JOBS = {"covered": bt.label_partitions.__kwdefaults__["coverage"], "a sample alone": 0.0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--representatives", type=int, default=10_000)
    parser.add_argument("--distance", type=float, default=18.0, help="of rare centres from others'")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    record: dict[str, Any] = {
        "circumstances": circumstances(),
        "rows": asked.rows,
        "representatives": asked.representatives,
        "distance": asked.distance,
        "runs": [],
    }
    with tempfile.TemporaryDirectory() as folder:
        for is_labelled in (False, True):
            source = Path(folder) / f"in-{is_labelled}"
            points, names = write_rare(source, asked.rows, asked.distance, is_labelled=is_labelled)
            for job, share in _JOBS.items():
                out = Path(folder) / f"out-{is_labelled}-{share}"
                found = bt.label_partitions(
                    source,
                    "kind",
                    out=out,
                    n_representatives=asked.representatives,
                    coverage=share,
                )
                line = {"job": job, "labelled": is_labelled, "share": found.coverage.share}
                line |= judge(found, points, names, out)
                print(line, flush=True)
                record["runs"].append(line)
    write_results(asked.out, STEM, record, render(record))


def write_rare(
    source: Path, n_rows: int, distance: float, *, is_labelled: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Write partitions in which rare classes lie apart; return all points and classes."""
    source.mkdir()
    n_part = n_rows // _PARTS
    rng = np.random.default_rng(5)
    centers = rng.normal(size=(_RARE, N_COLUMNS))
    centers *= distance / np.linalg.norm(centers, axis=1, keepdims=True)
    held, truth = [], []
    for part in range(_PARTS):
        points, classes = made_part(part, n_part)
        names = np.array([f"c{one}" for one in classes], dtype=object)
        rows = rng.choice(n_part, size=(_RARE, n_part // _IN), replace=False)
        for kind in range(_RARE):
            noise = rng.normal(scale=_SPREAD, size=(rows.shape[1], N_COLUMNS))
            points[rows[kind]] = centers[kind] + noise
            names[rows[kind]] = f"rare {kind}"
        given = np.full(n_part, None, dtype=object)
        if part == 0:
            common = np.flatnonzero([name.startswith("c") for name in names])[:_LABELS]
            chosen = np.concatenate([common, rows[:, 0]]) if is_labelled else common
            given[chosen] = names[chosen]
        columns = {f"x{place:02d}": points[:, place] for place in range(N_COLUMNS)}
        whole = pa.table({**columns, "kind": pa.array(given, pa.string())})
        pq.write_table(whole, source / f"{part:02d}.parquet", row_group_size=65536)
        held.append(points)
        truth.append(names)
    return np.concatenate(held), np.concatenate(truth)


def judge(
    found: bt.PartitionedLabelling, points: NDArray[Any], names: NDArray[Any], out: Path
) -> dict[str, float]:
    """Return the shares of rare rows that are near one of their own, answered right, left alone."""
    is_rare = np.array([name.startswith("rare") for name in names])
    learned = np.array([int(one) for one in found.representatives().columns["id"].to_pylist()])
    stand = np.ascontiguousarray(points[learned], np.float32)
    _, nearest = faiss.knn(np.ascontiguousarray(points[is_rare], np.float32), stand, 1)
    own = names[learned[nearest[:, 0]]] == names[is_rare]
    written = [pq.read_table(path) for path in sorted(out.glob("*.parquet"))]
    answers = pa.concat_tables(written)
    said = answers.column("label").to_numpy(zero_copy_only=False)[is_rare]
    source = answers.column("source").to_numpy(zero_copy_only=False)[is_rare]
    open_rows = source != "human"
    return {
        "rare_rows": int(is_rare.sum()),
        "learn": int(np.isin(np.flatnonzero(is_rare), learned).sum()),
        "near_own": float(own.mean()),
        "classes_met": len(set(names[learned][is_rare[learned]])),
        "right": float((said == names[is_rare])[open_rows].mean()),
        "left": float((source == "abstained").mean()),
    }


def render(record: dict[str, Any]) -> str:
    """Return the page."""
    header = (
        "labels", "who learns", "all rows covered", "rare classes met", "rare rows that learn",
        "rare rows with one of their own nearest", "answered right", "left to the person",
    )  # fmt: skip
    rows = [
        (
            "one of each rare class" if run["labelled"] else "none of rare classes",
            run["job"],
            f"{100 * run['share']:.3f}%",
            f"{run['classes_met']} of {_RARE}",
            f"{run['learn']:,} of {run['rare_rows']:,}",
            f"{100 * run['near_own']:.1f}%",
            f"{100 * run['right']:.1f}%" if run["labelled"] else "",
            f"{100 * run['left']:.1f}%",
        )
        for run in record["runs"]
    ]
    return (
        "# Rare classes in partitions\n\n"
        f"{record['rows']:,} rows in {_PARTS} partitions; {_RARE} classes of one row in {_IN:,} "
        f"each, with centres {record['distance']:g} from the middle of ten common ones; at most "
        f"{record['representatives']:,} rows learn. A sample alone is the same job with "
        "`coverage=0`. Among rows that learn, the nearest to a rare row should be of its class.\n\n"
        f"{table(header, rows)}\n"
        f"{versions_line(record['circumstances'])}\n"
    )


if __name__ == "__main__":
    main()
