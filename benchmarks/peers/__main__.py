"""``python -m benchmarks.peers``: hold the contests and write the table."""

import argparse
import importlib.util
import os
import re
import time
import traceback
from pathlib import Path

_HERE = Path(__file__).resolve().parents[1]
_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip


def main() -> None:
    """Hold the contests asked for; results are written after each."""
    asked = _arguments()
    for variable in _VARIABLES:  # before any of the libraries that read them is loaded
        os.environ[variable] = str(asked.threads)
    from beltrami.core.errors import DatasetUnavailableError  # noqa: PLC0415
    from benchmarks.peers.contests import contests  # noqa: PLC0415
    from benchmarks.peers.problems import SEED  # noqa: PLC0415
    from benchmarks.peers.report import circumstances, save  # noqa: PLC0415

    every = contests(toy=asked.toy)
    chosen = [contest for contest in every if re.search(asked.only, contest.name, re.IGNORECASE)]
    folder = asked.out or (_HERE / ".cache" / "toy" if asked.toy else _HERE / "results")
    facts = circumstances(SEED)
    print(f"{len(chosen)} contests, {asked.threads} threads for every side, {facts['cpu']}")
    if os.getloadavg()[0] > 1:
        print(f"the machine is busy (load {os.getloadavg()[0]:.1f}): do not publish these times")
    for number, contest in enumerate(chosen, 1):
        start = time.perf_counter()
        print(f"[{number}/{len(chosen)}] {contest.name}", flush=True)
        if contest.needs and importlib.util.find_spec(contest.needs) is None:
            print(f"    skipped: {contest.needs} is not installed")
            continue
        try:
            row = _outcome(contest, asked)
        except DatasetUnavailableError:
            print("    skipped: its data set is not here; name the folder in BELTRAMI_DATA")
            continue
        save(folder, facts, [row], [one.name for one in every])
        print(f"    {_summary(row)}   ({time.perf_counter() - start:.0f} s)", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    parser.add_argument("--toy", action="store_true", help="small problems, no data set needed")
    parser.add_argument("--only", default="", metavar="PATTERN", help="regular expression on names")
    parser.add_argument("--rounds", type=int, default=7, help="most rounds of a contest")
    parser.add_argument("--minutes", type=float, default=5.0, help="most minutes of its rounds")
    parser.add_argument("--threads", type=int, default=cores, help="for every side")
    parser.add_argument("--no-memory", action="store_true", help="clocks only")
    parser.add_argument("--out", type=Path, help="where contests.json and contests.md go")
    return parser.parse_args()


def _outcome(contest, asked):
    """Hold one contest; a failure of either side becomes a row that says so."""
    from beltrami.core.errors import DatasetUnavailableError  # noqa: PLC0415
    from benchmarks.peers.contest import NotComparable, blank_row, hold  # noqa: PLC0415
    from benchmarks.peers.memory import peak_mb  # noqa: PLC0415

    try:
        row = hold(contest, contest.problem(), asked.rounds, 60 * asked.minutes)
        if not (asked.no_memory or contest.growth):
            tell = {"toy": asked.toy, "settings": row.settings}
            row.ours_mb = peak_mb(contest.name, "ours", **tell)
            row.peer_mb = peak_mb(contest.name, "peer", **tell) if contest.peer else None
    except DatasetUnavailableError:
        raise
    except NotComparable as verdict:
        return blank_row(contest, f"NOT COMPARABLE: {verdict}")
    except Exception as error:  # noqa: BLE001 - the other contests go on
        traceback.print_exc()
        return blank_row(contest, f"FAILED: {type(error).__name__}")
    return row


def _summary(row) -> str:
    import numpy as np  # noqa: PLC0415

    if not row.ours_s:
        return row.note
    text = f"ours {np.median(row.ours_s):.3g} s"
    if row.peer_s:
        text += f", peer {np.median(row.peer_s):.3g} s, ratio {np.median(row.ratios):.3g}"
    return f"{text}; {row.note}" if row.note else text


if __name__ == "__main__":
    main()
