"""``python -m benchmarks.manifold.defaults``: the Laplacian machines with nothing set at all."""

import argparse
import re
import time
import warnings
from typing import Any

from benchmarks.common.command import add_threads, contest_parser, results_folder
from benchmarks.common.facts import circumstances
from benchmarks.common.threads import set_threads


def main(arguments: list[str] | None = None) -> None:
    """Fit both machines on every case; results are written after each of them."""
    asked = _arguments(arguments)
    set_threads(asked.threads)  # before any of the libraries that read it is loaded
    from benchmarks.manifold import defaults_report as report  # noqa: PLC0415
    from benchmarks.manifold.default_cases import cases  # noqa: PLC0415

    folder = results_folder(asked.out, toy=asked.quick)
    facts = circumstances() | ({"commit": asked.commit} if asked.commit else {})
    for case in cases(is_quick=asked.quick):
        if re.search(asked.only, case.name, re.IGNORECASE):
            found = _one_case(case, asked.draws)
            report.save(folder, asked.column, facts, case, found)
            print(report.summary(case.name, found), flush=True)
    print(report.render(report.load(folder)))
    print(f"written: {report.STEM}.json and {report.STEM}.md", flush=True)


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = contest_parser("manifold.defaults", __doc__)
    parser.add_argument("--quick", action="store_true", help="two moons only, two seeds")
    parser.add_argument(
        "--only", default="", metavar="PATTERN",
        help='regular expression on names such as "g50c, 50 labels"; other rows stay',
    )  # fmt: skip
    parser.add_argument("--draws", type=int, help="most draws of a case; all by default")
    parser.add_argument(
        "--column", choices=("before", "now"), default="now",
        help='"before" with the sources of an older commit first on PYTHONPATH',
    )  # fmt: skip
    parser.add_argument("--commit", help="that commit, where the sources are not this tree's")
    add_threads(parser)
    return parser.parse_args(arguments)


def _one_case(case: Any, most: int | None) -> dict[str, dict[str, list[Any]]]:
    """Return errors, seconds and choices of both machines on every draw of a case."""
    from beltrami import LaplacianRLSClassifier, LaplacianSVC  # noqa: PLC0415

    kept: dict[Any, Any] = {}
    found = {}
    for name, kind in (("LapRLS", LaplacianRLSClassifier), ("LapSVM", LaplacianSVC)):
        machine = keep_kernels(kind, kept)
        record: dict[str, list[Any]] = {"errors": [], "seconds": [], "chosen": []}
        for points, classes, rows in case.draws[:most]:
            _one_draw(machine, points, classes, rows, record)
        found[name] = record
    return found


def _one_draw(kind: type, points: Any, classes: Any, rows: Any, record: dict[str, Any]) -> None:
    from beltrami_papers.preparation import keep_labels  # noqa: PLC0415

    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bridges between components
        learner = kind().fit(points, keep_labels(classes, rows))
    record["seconds"].append(round(time.perf_counter() - start, 3))
    wrong = learner.transduction_ != classes
    wrong[rows] = False
    record["errors"].append(round(100.0 * float(wrong.sum()) / (len(classes) - len(rows)), 4))
    chosen = {"n_neighbors": learner.recipe_.n_neighbors, "power": learner.power_}
    record["chosen"].append(chosen | {"width": learner.width_})


def keep_kernels(kind: type, kept: dict[Any, Any]) -> type:
    """Return a machine that takes the deformed kernels of an earlier fit of the same points.

    Those of one graph are the same whatever the labels and the loss, and most of the work; the
    answers are the same. Kernels by landmarks, which rest on the labels, are not kept.
    """

    def prepare(self: Any, labeled: Any) -> None:
        kind._prepare(self, labeled)
        if self.recipe_ is not None and self._deformations.is_exact:
            key = hash(self.points_.tobytes()), self.recipe_.n_neighbors
            self._deformations = kept.setdefault(key, self._deformations)

    return type(kind.__name__, (kind,), {"_prepare": prepare})


if __name__ == "__main__":
    main()
