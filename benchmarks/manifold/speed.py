"""``python -m benchmarks.manifold.speed``: seconds and memory of the Laplacian machines."""

import argparse
import re
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.common.command import add_threads, contest_parser, results_folder
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.threads import set_threads

LOSSES = ("LapRLS", "LapSVM")
SIZES = (50_000, 100_000, 200_000, 400_000, 1_000_000)
_TOY_SIZES = (400, 800)


def main(arguments: list[str] | None = None) -> None:
    """Hold the contests asked for; results are written after each."""
    asked = _arguments(arguments)
    set_threads(asked.threads)  # before any of the libraries that read it is loaded
    from beltrami.core.errors import DatasetUnavailableError  # noqa: PLC0415
    from benchmarks.manifold import speed_report as report  # noqa: PLC0415

    folder = results_folder(asked.out, toy=asked.toy)
    facts = circumstances()
    every = plan(toy=asked.toy, rounds=asked.rounds, minutes=asked.minutes)
    chosen = [name for name in every if re.search(asked.only, name, re.IGNORECASE)]
    warn_if_busy()
    for number, name in enumerate(chosen, 1):
        start = time.perf_counter()
        print(f"[{number}/{len(chosen)}] {name}", flush=True)
        try:
            run = every[name]()
        except DatasetUnavailableError:
            print("    skipped: its data set is not here; name the folder in BELTRAMI_DATA")
            continue
        except Exception as error:  # noqa: BLE001 - the others go on, and the page says so
            traceback.print_exc()
            run = {"kind": "failure", "note": f"{type(error).__name__}: {str(error)[-300:]}"}
        report.save(folder, facts, name, run, list(every))
        print(f"    {report.summary(run)}   ({time.perf_counter() - start:.0f} s)", flush=True)
    print(report.render(report.load(folder)))
    print(f"written: {report.STEM}.json and {report.STEM}.md", flush=True)


def plan(*, toy: bool, rounds: int, minutes: float) -> dict[str, Callable[[], dict[str, Any]]]:
    """Return every measurement under its name, in the order of the page."""
    from benchmarks.manifold import child  # noqa: PLC0415
    from benchmarks.manifold.exact import contests  # noqa: PLC0415

    runs: dict[str, Callable[[], dict[str, Any]]] = {
        contest.name: partial(_contest, contest, rounds, 60 * minutes)
        for contest in contests(toy=toy)
    }
    for loss in LOSSES:
        runs[f"landmarks on MNIST, {loss}"] = partial(_run, child, "mnist", loss=loss, toy=toy)
    runs["exact on a part of MNIST"] = partial(_run, child, "exact", toy=toy)
    sizes = _TOY_SIZES if toy else SIZES
    for n in sizes:
        for loss in LOSSES if n == sizes[-1] else LOSSES[:1]:
            name = f"landmarks on {n} points of sheets, {loss}"
            runs[name] = partial(_run, child, "sheets", loss=loss, n=n, toy=toy)
    return runs


def _contest(contest: Any, rounds: int, budget_s: float) -> dict[str, Any]:
    """Compare the answers of both sides, then time them in turn."""
    from dataclasses import asdict  # noqa: PLC0415

    from benchmarks.peers.contest import NotComparable, blank_row, hold  # noqa: PLC0415

    try:
        row = hold(contest, contest.problem(), rounds, budget_s)
    except NotComparable as verdict:
        row = blank_row(contest, f"NOT COMPARABLE: {verdict}")
    return {"kind": "contest"} | asdict(row)


def _run(child: Any, task: str, **settings: Any) -> dict[str, Any]:
    return {"kind": task} | child.run(task, **settings)


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = contest_parser("manifold.speed", __doc__)
    parser.add_argument("--toy", action="store_true", help="small problems, no data set needed")
    parser.add_argument("--only", default="", metavar="PATTERN", help="regular expression on names")
    parser.add_argument("--rounds", type=int, default=7, help="most rounds of a contest")
    parser.add_argument("--minutes", type=float, default=5.0, help="most minutes of its rounds")
    add_threads(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
