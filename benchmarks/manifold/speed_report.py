"""Results: one JSON file that keeps every round and run, and one page made from it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.pages import (
    growth_exponent,
    growth_in_words,
    load_record,
    table,
    write_results,
)
from benchmarks.manifold.child import NEIGHBORS
from benchmarks.manifold.clouds import N_CLASSES, N_COMPONENTS, N_DIMENSIONS, NOISE
from benchmarks.manifold.exact import LABELS, LAMBDA1, LAMBDA2, PER_CLASS, SIZE

STEM = "manifold_speed"
GIB = 2**30 / 1e6  # in megabytes
FASTER, MNIST_S, MNIST_GIB, POINTS_WORSE, SHEETS_GIB, EXPONENT = 5.0, 180.0, 4.0, 0.5, 8.0, 1.2
"""What is asked: ratio, seconds, memory, points of test error, memory, growth."""


def load(folder: Path) -> dict[str, Any]:
    """Return the record written before, or an empty one."""
    return load_record(folder, STEM, runs={}, marks=[])


def save(
    folder: Path,
    facts: Mapping[str, Any],
    name: str,
    found: Mapping[str, Any],
    order: Sequence[str],
) -> None:
    """Replace one run, keep the others, and write both files whole."""
    stamp = {"commit": facts["commit"], "date": facts["date"]}
    runs = load(folder)["runs"] | {name: {**found, **stamp}}
    places = {key: place for place, key in enumerate(order)}
    runs = dict(sorted(runs.items(), key=lambda pair: places.get(pair[0], len(places))))
    record = {"circumstances": facts, "runs": runs, "marks": marks(runs)}
    write_results(folder, STEM, record, render(record))


def marks(runs: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what was asked, what was found, and whether it holds."""
    verdicts = []
    for one in _of(runs, "contest"):
        if one["ours_s"] and one["peer"] == PER_CLASS:
            about = f"{one['task']}, {one['problem']}: times faster than {PER_CLASS}"
            verdicts.append(_mark(about, "at least", FASTER, float(np.median(_ratios(one)))))
    exact = next(iter(_of(runs, "exact")), None)
    for one in _of(runs, "mnist"):
        about = f"{one['loss']}, {one['n']} images"
        verdicts.append(
            _mark(f"{about}: seconds with the graph", "at most", MNIST_S, _whole_s(one))
        )
        verdicts.append(_mark(f"{about}: peak GiB", "at most", MNIST_GIB, one["peak_mb"] / GIB))
        if exact:
            worse = one["test_error"] - exact["test_errors"][one["loss"]]
            about = f"{about}: points of test error above exact on {exact['n']}"
            verdicts.append(_mark(about, "at most", POINTS_WORSE, worse))
    sheets = _of(runs, "sheets")
    largest = max((one["n"] for one in sheets), default=0)
    for one in sheets:
        if one["n"] == largest:
            about = f"{one['loss']}, {largest} points of sheets: peak GiB"
            verdicts.append(_mark(about, "at most", SHEETS_GIB, one["peak_mb"] / GIB))
    for about, times in _growth(sheets).items():
        if len(times) > 1:
            verdicts.append(
                _mark(f"growth, {about}", "at most", EXPONENT, round(growth_exponent(times), 2))
            )
    return verdicts


def summary(run: Mapping[str, Any]) -> str:
    """Return one line about one run."""
    if run["kind"] == "failure":
        return f"FAILED: {run['note']}"
    if run["kind"] == "contest":
        if not run["ours_s"]:
            return run["note"]
        return f"ours {np.median(run['ours_s']):.3g} s, ratio {np.median(_ratios(run)):.3g}"
    if run["kind"] == "exact":
        errors = (f"{name} {error:.2f} %" for name, error in run["test_errors"].items())
        return f"{len(run['tried'])} settings; test error " + ", ".join(errors)
    return (
        f"graph {run['graph_s']:.1f} s, fit {run['fit_s']:.1f} s, "
        f"peak {run['peak_mb'] / GIB:.2f} GiB, test error {run['test_error']:.2f} %"
    )


def render(record: Mapping[str, Any]) -> str:
    """Return the page: marks first, then the exact path, the large runs, and growth."""
    runs = record["runs"]
    if not runs:
        return "# Manifold regularisation: speed\n\nNothing was run.\n"
    parts = [_head(record["circumstances"]), "## Marks\n\n" + _marks(record["marks"])]
    if _of(runs, "contest"):
        parts.append(_contests(_of(runs, "contest")))
    if _of(runs, "mnist") or _of(runs, "exact"):
        parts.append(_mnist(_of(runs, "mnist"), _of(runs, "exact")))
    if _of(runs, "sheets"):
        parts.append(_sheets(_of(runs, "sheets")))
    failed = {name: one for name, one in runs.items() if one["kind"] == "failure"}
    if failed:
        lines = [f"- {name}: {one['note']}\n" for name, one in failed.items()]
        parts.append("## Failed\n\n" + "".join(lines))
    return "\n".join(parts)


def _head(facts: Mapping[str, Any]) -> str:
    versions = ", ".join(
        f"{name} {facts['versions'][name]}" for name in ("numpy", "scipy", "scikit-learn")
    )
    return (
        "# Manifold regularisation: speed\n\n"
        f"{facts['cpu']}, {facts['cores']} cores, {facts['threads']} threads for every side; "
        f"Python {facts['python']}, {versions}; last run {facts['date']} at commit "
        f"{facts['commit']}; every round and the commit of each run are in {STEM}.json. Made by "
        "`python -m benchmarks.manifold.speed`.\n\n"
        "LapRLS is `LaplacianRLSClassifier`, LapSVM is `LaplacianSVC`.\n\n"
        "How cost grows: the exact path is one factorisation of n x n numbers, n^3, for all "
        "classes and both losses, and n^2 memory. With m landmarks it is n m^2 + m^3 time and "
        "n + m^2 memory, linear in n, after the graph; labels cost l^3 on top, whatever n is. "
        "The tables below measure it.\n"
    )


def _marks(verdicts: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        [
            one["about"],
            f"{one['how']} {one['asked']:g}",
            f"{one['found']:.3g}",
            "held" if one["held"] else "MISSED",
        ]
        for one in verdicts
    ]
    return table(["mark", "asked", "found", ""], lines)


def _contests(runs: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for one in runs:
        name = f"{one['task']} on {one['problem']} vs {one['peer']}"
        if not one["ours_s"]:
            lines.append([name, *["-"] * 6, one["note"]])
            continue
        low, middle, high = np.percentile(_ratios(one), [25, 50, 75])
        lines.append(
            [
                name,
                f"{one['gap']:.1e}",
                f"{np.median(one['ours_s']):.3g}",
                f"{np.median(one['peer_s']):.3g}",
                f"**{middle:.3g}** [{low:.3g}, {high:.3g}]",
                f"{one['ours_error']:.2%} / {one['peer_error']:.2%}",
                str(len(one["ours_s"])),
                one["note"],
            ]
        )
    header = ["contest", "gap", "ours s", "peer s", "ratio [quartiles]", "wrong ours/peer"]
    return (
        "## The exact path beside the paper's formulas\n\n"
        f"{SIZE} images of MNIST on their {N_COMPONENTS} principal components, {LABELS} random "
        f"labels, 10 classes, rbf kernel, lambda1 = {LAMBDA1}, lambda2 = {LAMBDA2}, combinatorial "
        "Laplacian of one graph given to both sides; `approximation=\"none\"`. Naive is "
        "`numpy.linalg.solve` of the dense n x n system for each class against the rest, as public "
        "codes have it, with kernel and Laplacian formed once; LapSVM's dual is solved by libsvm "
        "(`SVC(kernel=\"precomputed\")`), which is kind, since public codes use slower ones. With "
        "one factorisation the same code solves for all classes at once. Rounds are interleaved; "
        "the gap is the largest difference of scores over the largest score.\n\n"
        + table([*header, "rounds", "note"], lines)
    )  # fmt: skip


def _mnist(runs: Sequence[Mapping[str, Any]], exact: Sequence[Mapping[str, Any]]) -> str:
    lines = [[_named(one), *_run_cells(one)] for one in runs]
    page = (
        "## Landmarks beside the exact machine\n\n"
        f"The training images of MNIST on {N_COMPONENTS} principal components in float32, random "
        f"labels, `KnnGraph({NEIGHBORS})`, everything else chosen automatically. Each run has a "
        "process of its own; peak memory is that of the whole process, points included. Test "
        "error is on the official test images.\n\n" + table(_RUN_HEADER, lines)
    )
    for one in exact:
        tried = [
            [
                f"{case['setting']['width']:.3g}",
                str(case["setting"]["power"]),
                f"{case['setting']['gamma_a']:.2e}",
                f"{case['setting']['gamma_i']:.2e}",
                f"{case['fit_s']:.1f}",
                f"{100 * case['held_out']:.1f}",
                f"{case['test_error']:.2f}",
            ]
            for case in one["tried"]
        ]
        errors = (f"{name} {error:.2f} %" for name, error in one["test_errors"].items())
        header = ["width", "power", "gamma_a", "gamma_i", "fit s", "left out %", "test error %"]
        page += (
            f"\nExact (`approximation=\"none\"`) on {one['n']} of these images, the same "
            f"{one['labels']} labels among them, at a few settings of LapRLS:\n\n"
            + table(header, tried)
            + "\nTest error at the setting of lowest leave-one-out error, the first of equal ones: "
            + ", ".join(errors)
            + ".\n"
        )  # fmt: skip
    return page


def _sheets(runs: Sequence[Mapping[str, Any]]) -> str:
    lines = [[_named(one), *_run_cells(one)] for one in runs]
    sizes = sorted({one["n"] for one in runs})
    grown = [
        [
            about,
            *(f"{times[n]:.3g} s" if n in times else "-" for n in sizes),
            growth_in_words(times),
        ]
        for about, times in _growth(runs).items()
    ]
    return (
        "## Many points\n\n"
        f"Random points on {N_CLASSES} curved sheets in {N_DIMENSIONS} dimensions, one class each, "
        f"with normal noise of {NOISE} in each; random labels; new points for the test error. "
        "Defaults throughout.\n\n"
        + table(_RUN_HEADER, lines)
        + "\nGrowth of LapRLS, seconds:\n\n"
        + table(["task", *(f"n = {n:,}" for n in sizes), "exponent of n"], grown)
    )


_RUN_HEADER = (
    "run", "labels", "graph s", "fit s", "both s", "peak GiB", "of which graph GiB", "test error %",
    "features", "eigenfunctions among them", "kernel error", "held-out change", "power", "recall",
)  # fmt: skip


def _run_cells(one: Mapping[str, Any]) -> list[str]:
    return [
        str(one["labels"]),
        f"{one['graph_s']:.1f}",
        f"{one['fit_s']:.1f}",
        f"{_whole_s(one):.1f}",
        f"{one['peak_mb'] / GIB:.2f}",
        f"{one['graph_peak_mb'] / GIB:.2f}",
        f"{one['test_error']:.2f}",
        str(one["n_features"] or "exact"),
        str(one["n_eigenfunctions"]),
        f"{one['kernel_error']:.2g}",
        f"{one['held_out_change']:.2g}",
        str(one["chosen"]["power"]),
        "-" if one["recall"] is None else f"{one['recall']:.4f}",
    ]


def _growth(sheets: Sequence[Mapping[str, Any]]) -> dict[str, dict[int, float]]:
    """Return seconds by size, of the fit alone and with the graph."""
    runs = [one for one in sheets if one["loss"] == "LapRLS"]
    return {
        "fit, the graph given": {one["n"]: one["fit_s"] for one in runs},
        "graph and fit": {one["n"]: _whole_s(one) for one in runs},
    }


def _named(one: Mapping[str, Any]) -> str:
    return f"{one['loss']}, n = {one['n']:,}"


def _whole_s(one: Mapping[str, Any]) -> float:
    return float(one["graph_s"] + one["fit_s"])


def _ratios(one: Mapping[str, Any]) -> np.ndarray:
    return np.array(one["peer_s"]) / np.array(one["ours_s"][: len(one["peer_s"])])


def _mark(about: str, how: str, asked: float, found: float) -> dict[str, Any]:
    held = found >= asked if how == "at least" else found <= asked
    return {"about": about, "how": how, "asked": asked, "found": found, "held": bool(held)}


def _of(runs: Mapping[str, Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    return [one for one in runs.values() if one["kind"] == kind]
