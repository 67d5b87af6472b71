"""``python -m benchmarks.mbed.accuracy``: both modes of Mbed on the LDS and SSL-book sets.

Percent wrong on unlabelled rows, beside the learner that guesses for the practical mode, another
graph learner and the nearest neighbour. This table decided which mode is the default.
"""

import argparse
import re
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.command import add_threads, contest_parser, results_folder
from benchmarks.common.facts import circumstances
from benchmarks.common.pages import load_record, table, write_results
from benchmarks.common.threads import set_threads

STEM = "mbed_accuracy"
MODES = ("Mbed, practical", "Mbed, paper")


def main(arguments: list[str] | None = None) -> None:
    """Run every learner on the splits asked for; the files are written after every cell."""
    asked = _arguments(arguments)
    set_threads(asked.threads)  # before any of the libraries that read it is loaded
    from beltrami.core.errors import DatasetUnavailableError  # noqa: PLC0415
    from benchmarks.manifold.samples import SETS, TOY, sample  # noqa: PLC0415

    folder = results_folder(asked.out, toy=asked.quick)
    for name in [TOY] if asked.quick else SETS:
        try:
            data = sample(name)
        except DatasetUnavailableError:
            print(f"{name} skipped: its data set is not here; name the folder in BELTRAMI_DATA")
            continue
        for labels, splits in sorted(data.splits.items()):
            if re.search(asked.only, f"{name} {labels}", re.IGNORECASE):
                _one_cell(data, labels, splits[: asked.draws], folder)
    print(render(load(folder)))


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = contest_parser("mbed.accuracy", __doc__)
    parser.add_argument("--quick", action="store_true", help="300 digits, no data set needed")
    parser.add_argument("--only", default="", metavar="PATTERN", help='such as "coil20 40"')
    parser.add_argument("--draws", type=int, default=4, help="most splits of a set")
    add_threads(parser)
    return parser.parse_args(arguments)


def _one_cell(data: Any, labels: int, splits: Any, folder: Path) -> None:

    results: dict[str, Any] = {name: {"errors": [], "seconds": []} for name in _learners(data)}
    for number, rows in enumerate(splits):
        for name, learner in _learners(data).items():
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if "random_state" in learner.get_params():
                    learner.set_params(random_state=number)
                answer = learner.fit(data.points, data.labels(rows)).transduction_
            results[name]["errors"].append(data.error(rows, answer))
            results[name]["seconds"].append(time.perf_counter() - start)
    cell = {"set": data.name, "labels": labels, "splits": len(splits), "learners": results}
    save(folder, circumstances(), cell)
    means = ", ".join(f"{name} {_mean(results[name]):.1f}" for name in results)
    print(f"{data.name} {labels}: {means}", flush=True)


def _learners(data: Any) -> dict[str, Any]:
    from beltrami import (  # noqa: PLC0415
        GeodesicNeighborsClassifier,
        GraphRegularizedClassifier,
        KnnGraph,
        Mbed,
        PoissonClassifier,
        PracticalMode,
    )

    metric = "angle" if data.is_text else "euclidean"
    shared = KnnGraph(10, metric=metric, weights="tuned_shared")
    return {
        "Mbed, practical": Mbed(mode=PracticalMode(n_folds=0), metric=metric),
        "Mbed, paper": Mbed(mode="paper"),
        "Poisson": PoissonClassifier(graph=shared),
        "regularised": GraphRegularizedClassifier(graph=KnnGraph(10, metric=metric), gamma="auto"),
        "geodesic 1-NN": GeodesicNeighborsClassifier(graph=KnnGraph(10, metric=metric)),
    }


def load(folder: Path) -> dict[str, Any]:
    """Return the record written before, or an empty one."""
    return load_record(folder, STEM, cells=[])


def save(folder: Path, facts: Mapping[str, Any], cell: Mapping[str, Any]) -> None:
    """Replace one cell, keep the others, and write both files whole."""

    stamped = dict(cell) | {"commit": facts["commit"], "date": facts["date"]}
    others = [c for c in load(folder)["cells"] if _key(c) != _key(cell)]
    record = {"circumstances": dict(facts), "cells": sorted([*others, stamped], key=_key)}
    write_results(folder, STEM, record, render(record))


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""

    cells: Sequence[Mapping[str, Any]] = record["cells"]
    if not cells:
        return "No results yet.\n"
    names = list(cells[0]["learners"])
    lines = [
        [c["set"], str(c["labels"]), str(c["splits"]), *(_entry(c["learners"][n]) for n in names)]
        for c in cells
    ]
    wins = [_mean(c["learners"][MODES[0]]) < _mean(c["learners"][MODES[1]]) for c in cells]
    means = [sum(_mean(c["learners"][n]) for c in cells) / len(cells) for n in names]
    lines.append(["mean", "", "", *(f"{mean:.1f}" for mean in means)])
    return (
        "# Mbed on the LDS and SSL-book sets\n\n"
        "Percent wrong on unlabelled rows, mean (standard deviation) over the first splits. coil20 "
        "has drawn splits. Practical mode takes texts by angle, paper mode by Euclidean distance "
        "of rows of length one, as the paper does. Nothing was chosen by these errors but which "
        "mode is the default.\n\n"
        + table(["set", "labels", "splits", *names], lines)
        + f"\nThe practical mode is ahead in {sum(wins)} of {len(cells)} rows.\n"
    )


def _entry(result: Mapping[str, Any]) -> str:
    errors = result["errors"]
    mean = _mean(result)
    spread = (sum((e - mean) ** 2 for e in errors) / max(len(errors) - 1, 1)) ** 0.5
    return f"{mean:.1f} ({spread:.1f})"


def _mean(result: Mapping[str, Any]) -> float:
    return float(sum(result["errors"]) / len(result["errors"]))


def _key(cell: Mapping[str, Any]) -> tuple[str, int]:
    return cell["set"], cell["labels"]


if __name__ == "__main__":
    main()
