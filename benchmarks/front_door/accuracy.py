"""``python -m benchmarks.front_door.accuracy``: the front door beside single methods and peers."""

import argparse
import gc
import re
import time
from pathlib import Path

from benchmarks.common.command import CACHE, RESULTS, add_threads, contest_parser
from benchmarks.common.journal import RowJournal
from benchmarks.common.threads import set_threads

_TOY_LABELS, _TOY_DRAWS = (1, 2), 2


def main(arguments: list[str] | None = None) -> None:
    """Hold the contest asked for; every row is journalled, the page written after each problem."""
    asked = _arguments(arguments)
    set_threads(asked.threads)  # before any of the libraries that read it is loaded
    from beltrami.core.errors import DatasetUnavailableError  # noqa: PLC0415
    from benchmarks.few_labels.report import contest_facts  # noqa: PLC0415
    from benchmarks.front_door import tables  # noqa: PLC0415
    from benchmarks.front_door.contest import PER_CLASS, Plan, hold  # noqa: PLC0415
    from benchmarks.front_door.methods import entrants  # noqa: PLC0415
    from benchmarks.front_door.problems import PROBLEMS, TOY, problem  # noqa: PLC0415

    is_published = not (asked.toy or asked.first_draw)
    folder = asked.out or (RESULTS if is_published else CACHE / "front_door")
    journal = RowJournal(asked.journal or CACHE / "front_door" / "accuracy.jsonl")
    asked_for = [one for one in entrants() if re.search(asked.only_methods, one.name)]
    skipped = {one.name: why for one in asked_for if (why := one.missing())}
    for name, why in skipped.items():
        print(f"skipped: {name}: {why}")
    chosen = [one for one in asked_for if one.name not in skipped]
    draws = range(asked.first_draw, asked.first_draw + asked.draws)
    per_class = asked.labels or (_TOY_LABELS if asked.toy else PER_CLASS)
    plan = Plan(per_class, draws, 60 * asked.minutes, asked.code, asked.again)
    for name in [TOY] if asked.toy else PROBLEMS:
        if asked.tables or not re.search(asked.problems, name):
            continue
        gc.collect()  # the models of the last problem
        start = time.perf_counter()
        try:
            task = problem(name)
            print(f"{name}: {task.size} points, {len(chosen)} methods", flush=True)
            hold(task, chosen, plan, journal)
        except DatasetUnavailableError:
            print(f"{name} skipped: its data set is not here; name the folder in BELTRAMI_DATA")
            continue
        tables.write(folder, contest_facts(), journal.rows(), draws)
        print(f"    {time.perf_counter() - start:.0f} s", flush=True)
    tables.write(folder, contest_facts(), journal.rows(), draws)
    print(f"written: {tables.STEM}.json and {tables.STEM}.md", flush=True)


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = contest_parser("front_door.accuracy", __doc__)
    parser.add_argument("--toy", action="store_true", help="400 digits, 2 draws, 1 and 2 labels")
    parser.add_argument(
        "--only-methods", default="", metavar="PATTERN",
        help='regular expression on names such as "front-door" or "ours: Poisson"; others stay',
    )  # fmt: skip
    parser.add_argument("--problems", default="", metavar="PATTERN", help="the same for problems")
    parser.add_argument("--labels", type=int, nargs="+", help="labels per class; 1 2 5 10")
    parser.add_argument("--draws", type=int, help="draws of labels; 10, for the toy 2")
    parser.add_argument(
        "--first-draw", type=int, default=0,
        help="number of the first draw; 100, say, for choices that draws 0 to 9 must not see",
    )  # fmt: skip
    parser.add_argument(
        "--minutes", type=float, default=4.0, help="most minutes of a method at one label count"
    )
    parser.add_argument("--again", action="store_true", help="measure rows that are there already")
    parser.add_argument("--code", default="1", help="version of the code, free text: part of a key")
    parser.add_argument("--tables", action="store_true", help="only write the page again")
    parser.add_argument("--journal", type=Path, help="the file of all rows; resumed where it is")
    add_threads(parser)
    asked = parser.parse_args(arguments)
    asked.draws = asked.draws or (_TOY_DRAWS if asked.toy else 10)
    return asked


if __name__ == "__main__":
    main()
