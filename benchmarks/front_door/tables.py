"""Results: one JSON file that keeps every draw, and one page of tables made from it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks.common.journal import Row
from benchmarks.common.pages import table, versions_line, write_results
from benchmarks.front_door.methods import COVERAGE, FRONT_DOOR, TRIED, entrants
from benchmarks.front_door.problems import PROBLEMS

STEM = "front_door_accuracy"
OURS, ALONE = "ours: ", "labels alone: "
MOST_WORSE, MOST_ECE, MOST_OFF = 2.0, 0.05, 3.0
"""Marks: points behind the best supervised baseline, calibration error, points off coverage."""
ENOUGH = 5
"""Labels per class from which coverage is judged: two classes need nine labels for it."""

_LISTED = ("draw", "error", "seconds", "ece", "confidence", "coverage", "set_size", "chosen")

Cell = dict[str, list[Any]]
Means = dict[tuple[str, int], dict[str, float]]


def write(
    folder: Path, facts: Mapping[str, Any], rows: Iterable[Row], draws: Sequence[int]
) -> None:
    """Write the record of these draws and the page made from it."""
    record = collect(facts, rows, draws)
    write_results(folder, STEM, record, render(record), indent=None)


def collect(facts: Mapping[str, Any], rows: Iterable[Row], draws: Sequence[int]) -> dict[str, Any]:
    """Return the rows by problem, method and labels per class, draw by draw."""
    problems: dict[str, Any] = {}
    for row in sorted(rows, key=lambda one: one["draw"]):
        if row["draw"] not in draws:
            continue
        about = problems.setdefault(row["problem"], {"methods": {}})
        about |= {"n": row["n"], "classes": row["classes"]}
        cells = about["methods"].setdefault(row["method"], {})
        cell = cells.setdefault(str(row["labels"]), {})
        if "failed" in row:
            cell.setdefault("failed", []).append(row["failed"])
            continue
        for name in _LISTED:
            if name in row:
                cell.setdefault(name, []).append(row[name])
        cell["prepare_s"] = row.get("prepare_s", 0.0)
        cell["code"] = row["code"]
        for name, error in row.get("tried", {}).items():
            cells = about["methods"].setdefault(TRIED + name, {})
            cell = cells.setdefault(str(row["labels"]), {})
            cell.setdefault("draw", []).append(row["draw"])
            cell.setdefault("error", []).append(error)
    return {
        "circumstances": dict(facts),
        "first_draw": min(draws),
        "draws": len(draws),
        "problems": problems,
    }


def render(record: Mapping[str, Any]) -> str:
    """Return the page: marks and summary, what the front door lost, then a table per problem."""
    means = cell_means(record)
    parts = [_head(record), _marks(record, means), _summary(means), _calibration(record)]
    parts += [_worse_than_supervised(means), _lost_to_single(means), _choices(record)]
    parts += [_by_candidate(means)]
    known = {name: place for place, name in enumerate(PROBLEMS)}
    names = sorted(record["problems"], key=lambda name: known.get(name, len(known)))
    parts += [_problem(name, record["problems"][name], record["draws"]) for name in names]
    return "\n".join(filter(None, parts))


def cell_means(record: Mapping[str, Any]) -> Means:
    """Return the mean error of every method in every cell, a problem at a number of labels."""
    means: Means = {}
    for problem, about in record["problems"].items():
        for method, cells in about["methods"].items():
            for labels, cell in cells.items():
                if cell.get("error"):
                    cell_mean = means.setdefault((problem, int(labels)), {})
                    cell_mean[method] = float(np.mean(cell["error"]))
    return dict(sorted(means.items()))


def mean_ranks(means: Means) -> dict[str, tuple[float, float, int]]:
    """Return for each method its mean rank, mean error and number of cells; ties share a rank.

    What the front door tried on its way takes no part.
    """
    ranks: dict[str, list[float]] = {}
    errors: dict[str, list[float]] = {}
    for cell in means.values():
        names = [name for name in cell if not name.startswith(TRIED)]
        # Rounded as shown, so that twins tie.
        places = rankdata([round(cell[name], 2) for name in names])
        for name, place in zip(names, places, strict=True):
            ranks.setdefault(name, []).append(float(place))
            errors.setdefault(name, []).append(cell[name])
    return {
        name: (float(np.mean(ranks[name])), float(np.mean(errors[name])), len(ranks[name]))
        for name in ranks
    }


def behind(means: Means, side: str) -> list[tuple[str, int, float, str, float]]:
    """Return each cell's problem, labels, the front door's error, the best of a side and its."""
    losses = []
    for (problem, labels), cell in means.items():
        rivals = {name: error for name, error in cell.items() if name.startswith(side)}
        if FRONT_DOOR in cell and rivals:
            best = min(rivals, key=lambda name: rivals[name])
            losses.append((problem, labels, cell[FRONT_DOOR], best, rivals[best]))
    return sorted(losses, key=lambda row: row[4] - row[2])


def _head(record: Mapping[str, Any]) -> str:
    facts, first = record["circumstances"], record["first_draw"]
    return (
        "# The front door beside single methods and peers\n\n"
        f"{facts['cpu']}, {facts['threads']} threads; Python {facts['python']}, "
        f"{versions_line(facts)}; last run {facts['date']} at commit {facts['commit']}; every draw "
        f"is in {STEM}.json. Made by `python -m benchmarks.front_door.accuracy`.\n\n"
        "Percent of unlabelled rows classified wrongly. Labels are drawn uniformly at random "
        "within each class, the same for every method (numpy default_rng((0, labels per class, "
        f"draw)), draws {first} to {first + record['draws'] - 1}); no method is told the sizes of "
        "the classes. The front door is `ManifoldClassifier()` with no argument on the data as "
        'loaded. Rows "ours" are single methods with their defaults on their default graph, '
        "texts on rows of length one by angle, machines there with the cosine kernel; "
        "graphlearning gets the same 10-NN graph, LabelSpreading its own ten-neighbour lists. "
        "Logistic regression has scikit-learn's default C; scaled means StandardScaler, on the "
        "labelled rows alone where nothing else is said, and of texts there is no scaling. "
        "Methods that keep a graph are fitted once for each problem and get every draw by "
        "`fit_labels`; seconds are of the processor, those before the first draw apart, and LapSVM "
        "takes the deformed kernels that LapRLS made.\n"
    )


def _marks(record: Mapping[str, Any], means: Means) -> str:
    ranks = mean_ranks(means)
    if FRONT_DOOR not in ranks:
        return ""
    first = min(ranks, key=lambda name: ranks[name][0])
    worse = [row for row in behind(means, ALONE) if row[2] - row[4] > MOST_WORSE]
    lines = [
        ["best mean rank", f"{ranks[FRONT_DOOR][0]:.2f}; best is {first} {ranks[first][0]:.2f}",
         _verdict(first == FRONT_DOOR)],
        [f"at most {MOST_WORSE:g} points behind the best of labels alone, every cell",
         f"{len(worse)} of {ranks[FRONT_DOOR][2]} cells further behind", _verdict(not worse)],
    ]  # fmt: skip
    ece = _averages(record, FRONT_DOOR, "ece").get(10)
    if ece is not None:
        title = f"calibration error at 10 labels per class below {MOST_ECE:g}"
        lines.append([title, f"{ece:.3f}", _verdict(ece < MOST_ECE)])
    coverage = _averages(record, FRONT_DOOR, "coverage")
    if coverage:
        over_all = float(np.mean(list(coverage.values())))
        # Two classes with fewer labels than that have too few for a set that is not whole.
        enough = [share for count, share in coverage.items() if count >= ENOUGH] or [over_all]
        mean = float(np.mean(enough))
        title = (
            f"coverage within {MOST_OFF:g} points of {100 * COVERAGE:g}, {ENOUGH} labels or more"
        )
        shares = f"{mean:.1f}; over all cells {over_all:.1f}"
        lines.append([title, shares, _verdict(abs(mean - 100 * COVERAGE) <= MOST_OFF)])
    return "## Marks\n\n" + table(["mark", "found", ""], lines)


def _verdict(is_held: bool) -> str:
    return "held" if is_held else "MISSED"


def _summary(means: Means) -> str:
    ranks = mean_ranks(means)
    order = sorted(ranks, key=lambda name: ranks[name][0])
    lines = []
    for name in order:
        rank, error, cells = ranks[name]
        lines.append([name, f"{rank:.2f}", f"{error:.2f}", str(cells)])
    text = (
        "\nMean over cells, a cell being a problem at a number of labels; ranks among the methods "
        "that have the cell, equal errors share one. A mean over fewer cells is not comparable.\n"
    )
    header = ["method", "mean rank", "mean error", "cells"]
    return "## Summary\n\n" + table(header, lines) + text


def _calibration(record: Mapping[str, Any]) -> str:
    names = sorted({name for about in record["problems"].values() for name in about["methods"]})
    names = [name for name in _sort_methods(names) if _averages(record, name, "ece")]
    counts = _counts(record)
    if not names:
        return ""
    lines = []
    for name in names:
        ece, sure = _averages(record, name, "ece"), _averages(record, name, "confidence")
        lines.append([name, *(_pair(ece.get(count), sure.get(count)) for count in counts)])
    text = (
        "## Calibration\n\nExpected calibration error on the unlabelled rows (15 bins of equal "
        "width on the highest probability) and, in brackets, mean confidence, by labels per "
        "class; means over problems.\n\n"
    )
    text += table(["method", *map(str, counts)], lines)
    coverage = _averages(record, FRONT_DOOR, "coverage")
    if coverage:
        sizes = _averages(record, FRONT_DOOR, "set_size")
        cells = [f"{coverage[count]:.1f} ({sizes[count]:.2f})" for count in coverage]
        text += f"\nPercent of rows whose set at {COVERAGE:g} holds the truth (classes in a set):\n"
        text += "\n" + table(["labels per class", *map(str, coverage)], [["front-door", *cells]])
    return text


def _pair(value: float | None, other: float | None) -> str:
    return "-" if value is None or other is None else f"{value:.3f} ({other:.2f})"


def _averages(record: Mapping[str, Any], method: str, measure: str) -> dict[int, float]:
    """Return a measure by labels per class, the mean over problems of means over draws."""
    means: dict[int, list[float]] = {}
    for about in record["problems"].values():
        for labels, cell in about["methods"].get(method, {}).items():
            if cell.get(measure):
                means.setdefault(int(labels), []).append(float(np.mean(cell[measure])))
    return {labels: float(np.mean(means[labels])) for labels in sorted(means)}


def _worse_than_supervised(means: Means) -> str:
    rows = [row for row in behind(means, ALONE) if row[2] - row[4] > MOST_WORSE]
    if not any(FRONT_DOOR in cell for cell in means.values()):
        return ""
    title = f"## More than {MOST_WORSE:g} points behind the best of labels alone\n\n"
    return title + (_losses(rows) if rows else "Nowhere.\n")


def _lost_to_single(means: Means) -> str:
    cells = behind(means, OURS)
    if not cells:
        return ""
    rows = [row for row in cells if row[2] > row[4]]
    loss = float(np.mean([row[2] - row[4] for row in cells]))
    text = (
        f"## Behind the best single method of ours\n\nIn {len(rows)} of {len(cells)} cells; the "
        f"mean of front door less the best, which is known only afterwards, is {loss:+.2f} "
        "points.\n\n"
    )
    return text + _losses(rows)


def _losses(rows: Sequence[tuple[str, int, float, str, float]]) -> str:
    lines = [
        [problem, str(labels), f"{door:.2f}", best, f"{error:.2f}", f"{door - error:+.2f}"]
        for problem, labels, door, best, error in rows
    ]
    return table(["problem", "labels", FRONT_DOOR, "best", "its error", "behind by"], lines)


def _choices(record: Mapping[str, Any]) -> str:
    counts: dict[int, Counter[str]] = {}
    for about in record["problems"].values():
        for labels, cell in about["methods"].get(FRONT_DOOR, {}).items():
            counts.setdefault(int(labels), Counter()).update(cell.get("chosen", []))
    names = sorted({name for one in counts.values() for name in one})
    if not names:
        return ""
    lines = [[name, *(str(counts[key][name]) for key in sorted(counts))] for name in names]
    header = ["chosen", *map(str, sorted(counts))]
    return "## What the front door chose, in how many draws\n\n" + table(header, lines)


def _by_candidate(means: Means) -> str:
    errors: dict[str, list[float]] = {}
    for cell in means.values():
        for name, error in cell.items():
            if name.startswith(TRIED):
                errors.setdefault(name, []).append(error)
    if not errors:
        return ""
    lines = [[name, f"{np.mean(one):.2f}", str(len(one))] for name, one in errors.items()]
    lines.sort(key=lambda line: float(line[1]))
    title = "## What the front door tried, each as the only choice\n\n"
    return title + table(["method", "mean error", "cells"], lines)


def _problem(name: str, about: Mapping[str, Any], draws: int) -> str:
    methods = about["methods"]
    counts = sorted({int(key) for cells in methods.values() for key in cells})
    best = {count: _best(methods, str(count)) for count in counts}
    lines = []
    for method in _sort_methods(methods):
        cells = methods[method]
        shown = [_error(cells.get(str(count), {}), best[count], draws) for count in counts]
        times = [one for cell in cells.values() for one in cell.get("seconds", [])]
        ready = max((cell.get("prepare_s", 0.0) for cell in cells.values()), default=0.0)
        clock = "-" if method.startswith(TRIED) or not times else f"{np.median(times):.2g}"
        failed = [why for cell in cells.values() for why in cell.get("failed", [])]
        note = f"failed in {len(failed)} draws: {failed[0]}" if failed else ""
        lines.append([method, *shown, clock, f"{ready:.2g}" if ready else "-", note])
    header = ["method", *map(str, counts), "s per draw", "s before", "note"]
    text = PROBLEMS.get(name, "a toy")
    return (
        f"## {name}\n\n{text}: {about['n']:,} points in {about['classes']} classes. Mean over "
        f"{draws} draws, or over as many as the cell says, and their standard deviation.\n\n"
        + table(header, lines)
    )


def _best(methods: Mapping[str, Any], key: str) -> float | None:
    cells = [cells.get(key, {}) for name, cells in methods.items() if not name.startswith(TRIED)]
    return min(
        (round(np.mean(cell["error"]), 1) for cell in cells if cell.get("error")), default=None
    )


def _error(cell: Mapping[str, Any], best: float | None, draws: int) -> str:
    values = cell.get("error", [])
    if not values:
        return "-"
    mean = round(float(np.mean(values)), 1)
    text = f"**{mean:.1f}**" if mean == best else f"{mean:.1f}"
    text += f" ({np.std(values, ddof=1):.1f})" if len(values) > 1 else ""
    return text if len(values) == draws else f"{text} of {len(values)}"


def _sort_methods(names: Iterable[str]) -> list[str]:
    order = {one.name: place for place, one in enumerate(entrants())}
    return sorted(names, key=lambda name: (order.get(name, len(order)), name))


def _counts(record: Mapping[str, Any]) -> list[int]:
    every = [cells for about in record["problems"].values() for cells in about["methods"].values()]
    return sorted({int(key) for cells in every for key in cells})
