"""``python -m benchmarks.few_labels``: hold the contest and write the tables."""

import argparse
import gc
import re
import time

from benchmarks.common.command import add_threads, contest_parser, results_folder
from benchmarks.common.facts import warn_if_busy
from benchmarks.common.threads import set_threads

_WEIGHED = ("mnist", "usps", "toy")  # problems on which memory is measured


def main(arguments: list[str] | None = None) -> None:
    """Hold the contest asked for; results are written after each number of labels."""
    asked = _arguments(arguments)
    set_threads(asked.threads)  # before any of the libraries that read it is loaded
    from beltrami.core.errors import DatasetUnavailableError  # noqa: PLC0415
    from benchmarks.few_labels import report  # noqa: PLC0415
    from benchmarks.few_labels.methods import methods  # noqa: PLC0415
    from benchmarks.few_labels.problems import PROBLEMS  # noqa: PLC0415

    folder = results_folder(asked.out, toy=asked.toy)
    facts = report.contest_facts()
    asked_for = [one for one in methods() if re.search(asked.only, one.name, re.IGNORECASE)]
    skipped = {one.name: why for one in asked_for if (why := one.missing())}
    for name, why in skipped.items():
        print(f"skipped: {name}: {why}")
    chosen = [one for one in asked_for if one.name not in skipped]
    warn_if_busy()
    named = ["toy"] if asked.toy else list(PROBLEMS)
    for name in named:
        if not re.search(asked.problems, name, re.IGNORECASE):
            continue
        try:
            _one_problem(name, chosen, asked, folder, facts)
        except DatasetUnavailableError:
            print(f"{name} skipped: its data set is not here; name the folder in BELTRAMI_DATA")
    report.save_skipped(folder, facts, skipped)
    print(f"written: {report.STEM}.json and {report.STEM}.md", flush=True)


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = contest_parser("few_labels", __doc__)
    parser.add_argument("--toy", action="store_true", help="400 digits, 2 draws, 1 and 2 labels")
    parser.add_argument(
        "--only", default="", metavar="PATTERN",
        help='regular expression on names such as "peer: graphlearning Poisson"; other rows stay',
    )  # fmt: skip
    parser.add_argument("--problems", default="", metavar="PATTERN", help="the same for problems")
    parser.add_argument("--draws", type=int, help="draws of labels; 20, for the toy 2")
    parser.add_argument(
        "--minutes", type=float, default=2.0, help="most minutes of a method at one label count"
    )
    parser.add_argument(
        "--clock", action="store_true", help="keep the accuracies, replace seconds and memory"
    )
    add_threads(parser)
    parser.add_argument("--no-memory", action="store_true", help="clocks only")
    return parser.parse_args(arguments)


def _one_problem(name, chosen, asked, folder, facts) -> None:
    """Run the methods on one problem, then weigh them, then time ``fit_labels``."""
    from benchmarks.few_labels import report  # noqa: PLC0415
    from benchmarks.few_labels.contest import PER_CLASS, hold, warm_up  # noqa: PLC0415
    from benchmarks.few_labels.problems import problem  # noqa: PLC0415

    toy, full = problem("toy"), problem(name)
    print(f"{name}: {full.size} points, {len(chosen)} methods", flush=True)
    for method in chosen:
        try:
            warm_up(toy, method)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the clocks will tell
            print(f"    {method.name} fails on the toy: {type(error).__name__}: {error}")
    gc.freeze()  # what the libraries hold needs no collecting before every fit
    start, rows = time.perf_counter(), {}
    plan = {"per_class": (1, 2) if asked.toy else PER_CLASS, "budget_s": 60 * asked.minutes}
    plan["draws"] = asked.draws or (2 if asked.toy else 20)
    if chosen:
        for rows in hold(full, chosen, **plan):
            report.save_rows(folder, facts, full, rows, clock=asked.clock)
            done = list(next(iter(rows.values())).cells)[-1]
            print(f"    {done} per class   ({time.perf_counter() - start:.0f} s)", flush=True)
    if name in _WEIGHED and not asked.no_memory:
        _weigh(full, rows, folder, facts, clock=asked.clock)
    if name in ("mnist", "toy"):
        _time_new_labels(full, toy, asked, folder, facts)


def _weigh(full, rows, folder, facts, *, clock) -> None:
    from benchmarks.few_labels import report  # noqa: PLC0415
    from benchmarks.few_labels.memory import peak_mb  # noqa: PLC0415

    for row in rows.values():
        if row.failed:
            continue
        try:
            row.peak_mb = peak_mb(full.name, row.method)
        except RuntimeError as error:
            print(f"    {error}")
    report.save_rows(folder, facts, full, rows, clock=clock)
    print("    memory measured", flush=True)


def _time_new_labels(full, toy, asked, folder, facts) -> None:
    import beltrami  # noqa: PLC0415
    from benchmarks.few_labels import latency, report  # noqa: PLC0415

    if not re.search(asked.only, latency.NAME, re.IGNORECASE):
        return
    try:
        getattr(beltrami, latency.NEEDS)
    except (AttributeError, ImportError):
        print(f"skipped: {latency.NAME}: beltrami has no {latency.NEEDS} yet")
        return
    latency.measure(toy, 20)  # compilers and imports
    report.save_latency(folder, facts, latency.measure(full, 20 if asked.toy else 200))


if __name__ == "__main__":
    main()
