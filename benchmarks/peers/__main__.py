"""``python -m benchmarks.peers``: hold the contests and write the table."""

import argparse
import importlib.util
import re
import time
import traceback

from benchmarks.common.command import add_threads, contest_parser, results_folder
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.threads import set_threads


def main() -> None:
    """Hold the contests asked for; results are written after each."""
    asked = _arguments()
    set_threads(asked.threads)  # before any of the libraries that read it is loaded
    from beltrami.core.errors import DatasetUnavailableError  # noqa: PLC0415
    from benchmarks.peers.contests import contests  # noqa: PLC0415
    from benchmarks.peers.report import save  # noqa: PLC0415

    every = contests(toy=asked.toy)
    chosen = [contest for contest in every if re.search(asked.only, contest.name, re.IGNORECASE)]
    folder = results_folder(asked.out, toy=asked.toy)
    facts = circumstances()
    print(f"{len(chosen)} contests, {asked.threads} threads for every side, {facts['cpu']}")
    warn_if_busy()
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
    parser = contest_parser("peers", __doc__)
    parser.add_argument("--toy", action="store_true", help="small problems, no data set needed")
    parser.add_argument("--only", default="", metavar="PATTERN", help="regular expression on names")
    parser.add_argument("--rounds", type=int, default=7, help="most rounds of a contest")
    parser.add_argument("--minutes", type=float, default=5.0, help="most minutes of its rounds")
    add_threads(parser)
    parser.add_argument("--no-memory", action="store_true", help="clocks only")
    return parser.parse_args()


def _outcome(contest, asked):
    """Hold one contest; a failure of either side becomes a row that says so."""
    from beltrami.core.errors import DatasetUnavailableError  # noqa: PLC0415
    from benchmarks.peers.contest import NotComparable, blank_row, hold  # noqa: PLC0415
    from benchmarks.peers.memory import peak_mb  # noqa: PLC0415

    try:
        row = hold(contest, contest.problem(), asked.rounds, 60 * asked.minutes)
        if not (asked.no_memory or contest.growth):
            how = {"toy": asked.toy, "settings": row.settings}
            row.ours_mb = peak_mb(contest.name, "ours", **how)
            row.peer_mb = peak_mb(contest.name, "peer", **how) if contest.peer else None
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
