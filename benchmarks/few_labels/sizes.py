"""``python -m benchmarks.few_labels.sizes``: Poisson learning without class sizes and with them.

Every method gets the default graph of `PoissonClassifier` and the same draws. Rows called "before"
are those of another source tree: run ``python -m benchmarks.few_labels.sizes --before`` once with
that tree first in PYTHONPATH. Each row is written as soon as a number of labels is done, and a run
goes on where the last one ended.
"""

import argparse
import csv
import os
import re
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.command import add_threads, contest_parser, results_folder
from benchmarks.common.pages import load_record, table, write_results
from benchmarks.common.threads import set_threads

STEM = "few_labels_sizes"
PER_CLASS = (1, 2, 5, 10)
TABLES = (
    "magic", "penbased", "twonorm", "mushroom", "optdigits", "texture", "page-blocks0", "phoneme",
    "banana", "chess",
)  # fmt: skip
"""The ten tables of most rows in the folder of tables; all columns one-hot or standardised."""
NAMES = ("mnist", "imbalanced", "usps", "digits", "isolet", "phoneme", "coil20", "newsgroups20")

Fit = Callable[[Any, np.ndarray, np.ndarray], np.ndarray]
NOW, BEFORE, PLAIN = "PoissonClassifier()", "PoissonClassifier(), before", "plain Poisson"
GIVEN, PEER = "PoissonClassifier(priors=true)", "graphlearning PoissonMBO, true sizes"


def main(arguments: list[str] | None = None) -> None:
    """Run what the record lacks, and write it after every number of labels."""
    asked = _arguments(arguments)
    set_threads(asked.threads)  # before any of the libraries that read it is loaded
    folder = results_folder(asked.out, toy=False)
    for name in (*NAMES, *(f"table {one}" for one in TABLES)):
        if re.search(asked.problems, name):
            for count in map(int, asked.labels.split(",")):
                _one_cell(name, count, asked, folder)
    print(f"written: {STEM}.json and {STEM}.md", flush=True)


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = contest_parser("few_labels.sizes", __doc__)
    parser.add_argument("--problems", default="", metavar="PATTERN", help="regular expression")
    parser.add_argument("--labels", default=",".join(map(str, PER_CLASS)), help="per class")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--peer-draws", type=int, default=5, help="of the slow peer; 0 for none")
    parser.add_argument("--before", action="store_true", help="call our row that of before")
    parser.add_argument("--only", default="", metavar="PATTERN", help="methods")
    add_threads(parser)
    return parser.parse_args(arguments)


def _one_cell(name: str, count: int, asked: argparse.Namespace, folder: Path) -> None:
    """Run all methods that lack draws at one number of labels."""
    from benchmarks.common.draws import labelled_rows  # noqa: PLC0415
    from benchmarks.common.facts import circumstances  # noqa: PLC0415

    learners = {BEFORE: _ours()} if asked.before else _learners()
    missing = {}
    for title in learners:
        wanted = asked.peer_draws if title == PEER else asked.draws
        have = len(_cell(load_record(folder, STEM, problems={}), name, title, count))
        if re.search(asked.only, title) and have < wanted:
            missing[title] = range(have, wanted)
    if not missing:
        return
    graph, targets = problem(name)
    if np.bincount(targets).min() < 2 * count:
        return
    for title, draws in missing.items():
        right, start = [], time.perf_counter()
        for draw in draws:
            rows = labelled_rows(targets, count, draw)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = learners[title](graph, targets, rows)
            except ImportError:
                break
            hidden = np.setdiff1d(np.arange(len(targets)), rows)
            right.append(round(100 * float((found == targets)[hidden].mean()), 3))
        if not right:
            continue
        record = load_record(folder, STEM, problems={})  # anew: another run may have written
        about = record["problems"].setdefault(name, {"rows": {}})
        about |= {"n": len(targets), "class_sizes": np.bincount(targets).tolist()}
        cells = about["rows"].setdefault(title, {})
        cells[str(count)] = [*cells.get(str(count), []), *right]
        record["circumstances"] = circumstances()
        write_results(folder, STEM, record, render(record), indent=None)
        seconds = (time.perf_counter() - start) / len(right)
        said = f"{name}, {count} per class, {title}: {np.mean(right):.2f}  ({seconds:.1f} s)"
        print(said, flush=True)


def _learners() -> dict[str, Fit]:
    return {NOW: _ours(), PLAIN: _ours(n_steps=0), GIVEN: _ours(is_told=True), PEER: _mbo}


_MODELS: dict[Any, Any] = {}


def _ours(*, is_told: bool = False, **settings: Any) -> Fit:
    """Ours; the graph and what rests on it are kept between draws."""

    def fit(graph: Any, targets: np.ndarray, rows: np.ndarray) -> np.ndarray:
        from beltrami import PoissonClassifier  # noqa: PLC0415

        labels = np.full(len(targets), -1)
        labels[rows] = targets[rows]
        key = (id(graph), is_told, *settings.items())
        if key in _MODELS:
            return np.asarray(_MODELS[key].fit_labels(labels).transduction_)
        told = {"priors": np.bincount(targets) / len(targets)} if is_told else {}
        model = PoissonClassifier(graph=graph, **told, **settings)
        _MODELS.clear()
        _MODELS[key] = model.fit(np.zeros((len(targets), 1)), labels)
        return np.asarray(model.transduction_)

    return fit


def _mbo(graph: Any, targets: np.ndarray, rows: np.ndarray) -> np.ndarray:
    import graphlearning  # noqa: PLC0415 - optional
    from scipy.sparse import csr_matrix  # noqa: PLC0415

    priors = np.bincount(targets) / len(targets)
    model = graphlearning.ssl.poisson_mbo(csr_matrix(graph.weights), priors)
    return np.asarray(model.fit_predict(rows, targets[rows]))


_PROBLEMS: dict[str, tuple[Any, np.ndarray]] = {}


def problem(name: str) -> tuple[Any, np.ndarray]:
    """Return the default graph of `PoissonClassifier` for a set, and its classes."""
    from beltrami import KnnGraph  # noqa: PLC0415
    from benchmarks.few_labels.problems import timed_graph  # noqa: PLC0415

    if name not in _PROBLEMS:
        points, targets, metric = _points(name)
        recipe = KnnGraph(10, weights="tuned_shared", metric=metric)
        graph = timed_graph(f"few-labels-sizes-{name.replace(' ', '-')}", points, recipe)[0]
        _PROBLEMS.clear()
        _PROBLEMS[name] = graph, np.unique(targets, return_inverse=True)[1]
    return _PROBLEMS[name]


def _points(name: str) -> tuple[Any, np.ndarray, str]:
    from sklearn.preprocessing import normalize  # noqa: PLC0415

    from benchmarks.common.cache import from_cache  # noqa: PLC0415
    from benchmarks.few_labels import problems  # noqa: PLC0415
    from benchmarks.front_door.problems import _newsgroups  # noqa: PLC0415

    if name.startswith("table "):
        return *read_table(name.removeprefix("table ")), "euclidean"
    if name == "newsgroups20":
        cloud = from_cache("front-door-newsgroups20", 19_997, _newsgroups)
        return normalize(cloud["points"]), cloud["targets"], "angle"
    cloud = problems._SOURCES[name]()
    return cloud["points"], cloud["targets"], "euclidean"


def read_table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a table's features, words one-hot and all columns standardised, and its classes."""
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    with (Path(os.environ["BELTRAMI_DATA"]) / "tables" / f"{name}.csv").open(
        encoding="utf-8"
    ) as file:
        rows = list(csv.reader(file))[1:]
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    parts = []
    for column in columns[:-1]:
        try:
            parts.append(column.astype(np.float64)[:, None])
        except ValueError:
            parts.append((column[:, None] == np.unique(column)).astype(np.float64))
    return StandardScaler().fit_transform(np.hstack(parts)), columns[-1]


def _cell(record: Mapping[str, Any], name: str, title: str, count: int) -> list[float]:
    return record["problems"].get(name, {}).get("rows", {}).get(title, {}).get(str(count), [])


def render(record: Mapping[str, Any]) -> str:
    """Return the page: one table, a line per problem and method."""
    facts, lines = record["circumstances"], []
    for name, about in record["problems"].items():
        for title in (BEFORE, NOW, PLAIN, GIVEN, PEER):
            cells = about["rows"].get(title, {})
            if cells:
                lines.append([name, title, *(_shown(cells.get(str(one))) for one in PER_CLASS)])
    return (
        "# Few labels, without class sizes and with them\n\n"
        "Percent of the unlabelled rows classified rightly: mean over draws, standard deviation, "
        "number of draws; columns are labels per class. All methods get the default graph of "
        "`PoissonClassifier` and the same draws. Class sizes are told to the two lines that say so "
        f"and to no other. Made by `python -m benchmarks.few_labels.sizes` ({facts['cpu']}, Python "
        f"{facts['python']}, {facts['date']}, commit {facts['commit']}); every draw is in "
        f"{STEM}.json.\n\n" + table(["set", "method", *map(str, PER_CLASS)], lines)
    )


def _shown(values: list[float] | None) -> str:
    if not values:
        return "-"
    spread = f" ({np.std(values, ddof=1):.1f})" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{spread}, {len(values)}"


if __name__ == "__main__":
    main()
