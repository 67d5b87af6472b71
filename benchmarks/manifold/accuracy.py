"""``python -m benchmarks.manifold.accuracy``: percent wrong on unlabelled rows, set by set."""

import argparse
import re
import time
import warnings
from pathlib import Path
from typing import Any

from benchmarks.common.command import add_threads, contest_parser, results_folder
from benchmarks.common.facts import circumstances
from benchmarks.common.threads import set_threads


def main(arguments: list[str] | None = None) -> None:
    """Hold the contest asked for; results are written after each number of labels."""
    asked = _arguments(arguments)
    set_threads(asked.threads)  # before any of the libraries that read it is loaded
    from beltrami.core.errors import DatasetUnavailableError  # noqa: PLC0415
    from benchmarks.manifold import accuracy_report as report  # noqa: PLC0415
    from benchmarks.manifold.samples import SETS, TOY  # noqa: PLC0415

    folder = results_folder(asked.out, toy=asked.quick)
    facts = circumstances()
    for name in [TOY] if asked.quick else SETS:
        try:
            _one_set(name, asked, folder, facts)
        except DatasetUnavailableError:
            print(f"{name} skipped: its data set is not here; name the folder in BELTRAMI_DATA")
    print(report.render(report.load(folder)))
    print(f"written: {report.STEM}.json and {report.STEM}.md", flush=True)


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = contest_parser("manifold.accuracy", __doc__)
    parser.add_argument("--quick", action="store_true", help="300 digits, no data set needed")
    parser.add_argument(
        "--only", default="", metavar="PATTERN",
        help='regular expression on names such as "sslbook_digit1 100"; other rows stay',
    )  # fmt: skip
    parser.add_argument("--draws", type=int, help="most splits of a set; all by default")
    add_threads(parser)
    return parser.parse_args(arguments)


def _one_set(name: str, asked: argparse.Namespace, folder: Path, facts: dict[str, Any]) -> None:
    """Run every learner on every split of one set."""
    from benchmarks.manifold import accuracy_report as report  # noqa: PLC0415
    from benchmarks.manifold.rivals import rivals  # noqa: PLC0415
    from benchmarks.manifold.samples import sample  # noqa: PLC0415

    data = sample(name)
    learners = rivals(data)
    for labels, splits in sorted(data.splits.items()):
        if not re.search(asked.only, f"{name} {labels}", re.IGNORECASE):
            continue
        start, records = time.perf_counter(), {key: _blank() for key in learners}
        for rows in splits[: asked.draws]:
            for key, learner in learners.items():
                _one_split(data, learner, rows, records[key])
        report.save(folder, facts, data, labels, records)
        passed = time.perf_counter() - start
        print(f"{report.summary(name, labels, records)}   ({passed:.0f} s)", flush=True)


def _blank() -> dict[str, list[Any]]:
    return {"errors": [], "seconds": [], "chosen": []}


def _one_split(data: Any, learner: Any, rows: Any, record: dict[str, list[Any]]) -> None:
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bridges between components, folds with few of a class
        reply = learner(rows)
    record["seconds"].append(round(time.perf_counter() - start, 4))
    record["errors"].append(round(data.error(rows, reply.predicted), 4))
    record["chosen"].append(dict(reply.chosen))


if __name__ == "__main__":
    main()
