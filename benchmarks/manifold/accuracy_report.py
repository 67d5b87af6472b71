"""Results: one JSON file that keeps every split, and one page made from it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from beltrami_papers.baselines.support_vectors import FOLDS, MOST_LEFT_OUT
from benchmarks.common.facts import SEED
from benchmarks.common.pages import load_record, table, write_results
from benchmarks.manifold.published import ASKED, BOOK, JOURNAL, PRINTED
from benchmarks.manifold.rivals import COSTS, NEIGHBORS, VOTERS, WIDTHS
from benchmarks.manifold.samples import COIL_PER_CLASS, SETS, Sample

STEM = "manifold_accuracy"
MACHINES = ("LapRLS", "LapSVM")


def load(folder: Path) -> dict[str, Any]:
    """Return the record written before, or an empty one."""
    return load_record(folder, STEM, cells=[], marks=[])


def save(
    folder: Path,
    facts: Mapping[str, Any],
    data: Sample,
    labels: int,
    found: Mapping[str, Mapping[str, Any]],
) -> None:
    """Replace the row of one set and number of labels, keep the others, write both files whole."""
    fresh = {
        "set": data.name,
        "labels": labels,
        "n": data.size,
        "n_features": int(data.points.shape[1]),
        "n_classes": len(np.unique(data.targets)),
        "is_text": data.is_text,
        "splits": "drawn" if data.is_drawn else "published",
        "learners": found,
        "commit": facts["commit"],
        "date": facts["date"],
    }
    kept = [one for one in load(folder)["cells"] if (one["set"], one["labels"]) != _key(fresh)]
    places = {name: place for place, name in enumerate(SETS)}
    cells = sorted(
        [*kept, fresh], key=lambda one: (places.get(one["set"], len(places)), one["labels"])
    )
    record = {"circumstances": facts, "cells": cells, "marks": marks(cells)}
    write_results(folder, STEM, record, render(record))


def marks(cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what was asked, what was found, and whether it holds."""
    verdicts = []
    for cell in cells:
        most = ASKED.get(_key(cell))
        for name in MACHINES if most is not None else ():
            mean = float(np.mean(cell["learners"][name]["errors"]))
            about = {"set": cell["set"], "labels": cell["labels"], "learner": name}
            verdicts.append(about | {"most": most, "mean": mean, "held": bool(mean <= most)})
    return verdicts


def summary(name: str, labels: int, records: Mapping[str, Mapping[str, Any]]) -> str:
    """Return one line: the mean error of each learner."""
    means = (f"{key} {np.mean(record['errors']):.1f}" for key, record in records.items())
    return f"{name} {labels}: " + ", ".join(means)


def render(record: Mapping[str, Any]) -> str:
    """Return the page: how it was run, the table, the marks, what the machines chose."""
    if not record["cells"]:
        return "# Manifold regularisation: accuracy\n\nNothing was run.\n"
    parts = [_head(record), _errors(record["cells"])]
    if record["marks"]:
        parts.append("## Marks\n\n" + _marks(record["marks"]))
    parts.append("## What leave-one-out chose\n\n" + _choices(record["cells"]))
    return "\n".join(parts)


def _head(record: Mapping[str, Any]) -> str:
    facts = record["circumstances"]
    low, high = NEIGHBORS
    return (
        "# Manifold regularisation: accuracy\n\n"
        f"Last run {facts['date']} at commit {facts['commit']}, scikit-learn "
        f"{facts['versions']['scikit-learn']}; the commit of each row, every split and every "
        f"choice are in {STEM}.json. Made by `python -m benchmarks.manifold.accuracy`.\n\n"
        "Percent of the unlabelled rows classified wrongly: mean over the splits and, in brackets, "
        "their standard deviation; the best mean of a row in bold. Splits are the published ones "
        "where there are any; those of coil20 are lost, and "
        f"{COIL_PER_CLASS} labels per class were drawn, seeds ({SEED}, {COIL_PER_CLASS}, draw). "
        "Nobody is told the sizes of the classes, and no run chooses anything by an unlabelled "
        "row's class; but the defaults of the Laplacian machines were still being settled when the "
        "first runs of this table were known.\n\n"
        "LapRLS and LapSVM are `LaplacianRLSClassifier` and `LaplacianSVC` with their defaults: "
        "both penalties, width and power by exact leave-one-out. The graph is chosen by the same "
        f"loss, `KnnGraph({low})` or `KnnGraph({high})`; the first where labels are too few to "
        f"judge. SVM is scikit-learn's SVC, C among {_in_words(COSTS)} and the width among "
        f"{_in_words(WIDTHS)} times the median distance over the root of two, by leave-one-out up "
        f"to {MOST_LEFT_OUT} labels and {FOLDS} folds above, of equal ones the nearest to C = 100 "
        f"and once that width. k-NN takes k of {_in_words(VOTERS)} by leave-one-out. "
        "Eigenfunctions and GraphRegularized are `EigenfunctionClassifier` and "
        "`GraphRegularizedClassifier` with their defaults. Texts were settled before the first "
        'run: rows of length one, neighbours by angle, `kernel="cosine"`, and for SVM the linear '
        "kernel, which on such rows is the same.\n\n"
        f"The last two columns are printed numbers, **quoted from memory** and not checked: "
        f"{JOURNAL} for the first four sets, {BOOK} for the others. They used their own graphs and "
        "settings; for coil20 also other splits.\n"
    )


def _errors(cells: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(key for cell in cells for key in cell["learners"]))
    header = ["set", "n", "classes", "labels", "splits", *names]
    header += [f"{name}, printed (memory)" for name in MACHINES]
    lines = []
    for cell in cells:
        means = {key: np.mean(one["errors"]) for key, one in cell["learners"].items()}
        best = min(round(float(mean), 1) for mean in means.values())
        drawn = {len(one["errors"]) for one in cell["learners"].values()}
        printed = PRINTED.get(_key(cell), {})
        lines.append(
            [
                cell["set"].removeprefix("sslbook_") + (" (book)" if _is_book(cell) else ""),
                str(cell["n"]),
                str(cell["n_classes"]),
                str(cell["labels"]),
                f"{max(drawn)} {cell['splits']}",
                *(_cell(cell["learners"].get(name), best) for name in names),
                *(f"{printed[name]:.1f}" if name in printed else "-" for name in MACHINES),
            ]
        )
    return table(header, lines)


def _cell(record: Mapping[str, Any] | None, best: float) -> str:
    if not record or not record["errors"]:
        return "-"
    errors = record["errors"]
    mean = round(float(np.mean(errors)), 1)
    spread = f" ({np.std(errors, ddof=1):.1f})" if len(errors) > 1 else ""
    return (f"**{mean:.1f}**" if mean == best else f"{mean:.1f}") + spread


def _marks(verdicts: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        [
            f"{one['set']}, {one['labels']} labels",
            one["learner"],
            f"at most {one['most']:g}",
            f"{one['mean']:.2f}",
            "held" if one["held"] else "MISSED",
        ]
        for one in verdicts
    ]
    return table(["set", "learner", "asked", "found", ""], lines)


def _choices(cells: Sequence[Mapping[str, Any]]) -> str:
    header = ["set", "labels", "learner", f"splits on {NEIGHBORS[1]} neighbours", "powers"]
    header += [f"wrong on {k} neighbours alone" for k in NEIGHBORS]
    return table(header, (_choice(cell, name) for cell in cells for name in MACHINES))


def _choice(cell: Mapping[str, Any], name: str) -> list[str]:
    chosen = cell["learners"][name]["chosen"]
    count = sum(one["n_neighbors"] == NEIGHBORS[1] for one in chosen)
    powers = [one["power"] for one in chosen]
    alone = np.mean([one["errors"] for one in chosen], axis=0)
    return [
        cell["set"],
        str(cell["labels"]),
        name,
        f"{count} of {len(chosen)}",
        ", ".join(f"{p} ({powers.count(p)})" for p in sorted(set(powers))),
        *(f"{mean:.1f}" for mean in alone),
    ]


def _key(cell: Mapping[str, Any]) -> tuple[str, int]:
    return cell["set"], cell["labels"]


def _is_book(cell: Mapping[str, Any]) -> bool:
    return cell["set"].startswith("sslbook_")


def _in_words(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
