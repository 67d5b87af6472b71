"""``python -m benchmarks.neighbors``: k nearest neighbours at size, all sides in turn.

Each problem is added to the record of earlier runs, so that a run may be of one problem only.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.common.command import add_threads, contest_parser, results_folder
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.pages import growth_in_words, load_record, table, write_results
from benchmarks.common.threads import set_threads

STEM = "neighbors"
PROBLEMS = ("sheets60000", "sheets250000", "sheets1000000", "mnist", "noise60000")
LARGEST = {"brute force": 100_000, "pynndescent": 60_000, "faiss HNSW": 60_000}
WHOLE = 500_000
"""Rows up to which the former search is run on all of them; above, on a tenth, and scaled up."""

ROWS = 4000
"""Rows on which recall is measured; no side knows them."""

FASTER = 3.0
MARKED = "sheets1000000"


def main(arguments: list[str] | None = None) -> None:
    """Time all sides in turn; the files are written after each problem."""
    asked = _arguments(arguments)
    set_threads(asked.threads)  # before any of the libraries that read it is loaded
    warn_if_busy()
    folder = results_folder(asked.out, toy=asked.toy)
    record = load_record(folder, STEM, rows=[])
    record["circumstances"] = circumstances()
    for name in asked.problems:
        for k in asked.neighbors:
            row = contest(name, k, rounds=asked.rounds, sides=asked.sides)
            kept = [one for one in record["rows"] if (one["problem"], one["k"]) != (name, k)]
            record["rows"] = sorted([*kept, row], key=lambda one: (one["k"], one["n"], one["d"]))
            write_results(folder, STEM, record, render(record))
            print(row, flush=True)


def problem(name: str) -> Any:
    """Return the points of a problem."""
    import numpy as np  # noqa: PLC0415

    if name.startswith("sheets"):
        from benchmarks.front_door.scale import sheets  # noqa: PLC0415

        return sheets(int(name.removeprefix("sheets")))[0]
    if name.startswith("noise"):
        n = int(name.removeprefix("noise"))
        return np.random.default_rng(0).normal(size=(n, 64)).astype(np.float32)
    from beltrami.data import load_dataset  # noqa: PLC0415
    from beltrami.front_door.prepare import prepare  # noqa: PLC0415

    points = load_dataset(name).points.astype(np.float32)
    treatment = prepare(points, scale="auto", metric="euclidean")
    return treatment.project(treatment.rescale(points))


def contest(name: str, k: int, *, rounds: int, sides: Sequence[str] | None) -> dict[str, Any]:
    """Time the sides in turn, and measure what each of them finds on rows of our own choice."""
    import numpy as np  # noqa: PLC0415

    from beltrami.graph.search import open_space  # noqa: PLC0415
    from benchmarks.neighbors.sides import (  # noqa: PLC0415
        FORMER,
        SIDES,
        inverted_file_search,
        library,
    )

    points = problem(name)
    n = len(points)
    chosen = sides or [side for side in SIDES if n <= LARGEST.get(side, n)]
    part = np.sort(np.random.default_rng(7).choice(n, n // 10, replace=False))
    rows = np.sort(np.random.default_rng(8).choice(part, min(ROWS, len(part)), replace=False))
    last = open_space(points, "euclidean").nearest(points[rows], k + 1)[1][:, -1:]
    for warm in (library("approximate"), *(SIDES[side] for side in chosen)):
        warm(points[:3000], k)  # compiles
    seconds: dict[str, list[float]] = {side: [] for side in chosen}
    processor: dict[str, list[float]] = {side: [] for side in chosen}
    recall, surely = {}, {}
    for _ in range(rounds):
        for side in chosen:
            clock = Clock()
            if side == FORMER and n > WHOLE:
                search = inverted_file_search(points, k)
                setup, clock = clock, Clock()
                distances = search(part)[np.searchsorted(part, rows)]
                of_part = clock.read()
                taken = setup.read() + (n / len(part) - 1) * of_part
            else:
                distances = SIDES[side](points, k)[rows]
                taken = clock.read()
            seconds[side].append(round(float(taken[0]), 3))
            processor[side].append(round(float(taken[1]), 3))
            # As near as the true last, within the rounding of sides that answer in float32.
            shares = np.mean(distances <= last * (1 + 1e-5), axis=1)
            recall[side] = round(float(shares.mean()), 4)
            error = float(shares.std() / np.sqrt(len(shares)))
            surely[side] = round(recall[side] - 1.645 * error, 4)
    return {
        "problem": name, "n": n, "d": points.shape[1], "k": k,
        "seconds": seconds, "processor_seconds": processor, "recall": recall,
        "recall_at_least": surely,
    }  # fmt: skip


class Clock:
    """Seconds on the wall and of the processors, from its making on."""

    def __init__(self) -> None:
        self._began = self._now()

    def _now(self) -> Any:
        import numpy as np  # noqa: PLC0415

        return np.array([time.perf_counter(), time.process_time()])

    def read(self) -> Any:
        """Return both."""
        return self._now() - self._began


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    from benchmarks.neighbors.sides import FORMER, NOTES, OURS  # noqa: PLC0415

    facts, rows = record["circumstances"], record["rows"]
    lines = [
        [
            row["problem"], f"{row['n']:,} x {row['d']}", str(row["k"]), side,
            f"{median(row['seconds'][side]):.1f}", f"{median(row['processor_seconds'][side]):.1f}",
            f"{row['recall'][side]:.4f}", f"{row['recall_at_least'][side]:.4f}",
            f"{ratio(row, OURS, side, 'seconds'):.2f}",
            f"{ratio(row, OURS, side, 'processor_seconds'):.2f}",
        ]
        for row in rows
        for side in row["seconds"]
    ]  # fmt: skip
    header = (
        "problem", "size", "k", "side", "s", "processor s", "recall", "recall, at least",
        "ours is so many times faster", "in processor time",
    )  # fmt: skip
    marked = [row for row in rows if row["problem"] == MARKED and FORMER in row["seconds"]]
    asked = [
        [
            f"{MARKED}, k = {row['k']}: times faster than the {FORMER}", f"{FASTER:g}",
            f"{ratio(row, OURS, FORMER, 'seconds'):.1f}",
            "yes" if ratio(row, OURS, FORMER, "seconds") >= FASTER else "no",
        ]
        for row in marked
    ]  # fmt: skip
    growth = []
    for k in sorted({row["k"] for row in rows}):
        sizes = {
            kind: {
                row["n"]: median(row[kind][OURS])
                for row in rows
                if row["k"] == k and row["problem"].startswith("sheets")
            }
            for kind in ("seconds", "processor_seconds")
        }
        growth.append(
            [str(k), ", ".join(f"{n:,}" for n in sizes["seconds"])]
            + [growth_in_words(sizes[kind]) for kind in sizes]
        )
    return (
        "# Neighbour search at size\n\n"
        f"{facts['cpu']}, {facts['cores']} cores, {facts['threads']} threads for every side; "
        f"Python {facts['python']}, numba {facts['versions']['numba']}, faiss "
        f"{facts['versions']['faiss-cpu']}; {facts['date']} at commit {facts['commit']}. Medians "
        "over rounds in which the sides take turns; ratios are medians of the rounds' ratios; "
        f"rounds: {_rounds(rows)}. "
        f"Recall is measured on {ROWS} rows that no side knows; it is at least that of the next "
        "column nineteen times in twenty. Compiling is not timed. Other work "
        "ran on the machine: read ratios, and processor time, which that disturbs less. Above "
        f"{WHOLE:,} rows the former search is timed on a tenth of its queries, and scaled up.\n\n"
        + "".join(f"- {side}: {note}\n" for side, note in NOTES.items())
        + "\n"
        + table(header, lines)
        + "\n"
        + table(("asked", "at least", "found", "met"), asked)
        + "\nGrowth of our search on the sheets, as exponents of the number of rows:\n\n"
        + table(("k", "rows", "seconds", "processor seconds"), growth)
    )


def _rounds(rows: Sequence[Mapping[str, Any]]) -> str:
    counts = sorted({len(times) for row in rows for times in row["seconds"].values()})
    return " to ".join(str(count) for count in {counts[0]: 0, counts[-1]: 0})


def ratio(row: Mapping[str, Any], ours: str, other: str, kind: str) -> float:
    """Return how many times longer the other side took, the median over rounds."""
    pairs = zip(row[kind][other], row[kind][ours], strict=True)
    return median(theirs / own for theirs, own in pairs)


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = contest_parser("neighbors", __doc__)
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS))
    parser.add_argument("--neighbors", type=int, nargs="+", default=[10, 30])
    parser.add_argument("--sides", nargs="+", help="all that the size allows, if not given")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, each with every side")
    parser.add_argument("--toy", action="store_true", help="results stay out of the published ones")
    add_threads(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
