"""Results of the defaults: one JSON file that keeps every draw, and one page made from it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.pages import load_record, table, write_results
from benchmarks.manifold.default_cases import DRAWS, ELSEWHERE, MARKS, MOON_SEEDS, PER_CLASS, ROWS

STEM = "manifold_defaults"
MACHINES = ("LapRLS", "LapSVM")


def load(folder: Path) -> dict[str, Any]:
    """Return the record written before, or an empty one."""
    return load_record(folder, STEM, cases={}, marks=[])


def save(
    folder: Path,
    column: str,
    facts: Mapping[str, Any],
    case: Any,
    found: Mapping[str, Mapping[str, Any]],
) -> None:
    """Replace one column of one case, keep the others, write both files whole."""
    record = load(folder)
    known = record["cases"].setdefault(case.name, {"group": case.group})
    known[column] = {"commit": facts["commit"], "date": facts["date"], "learners": dict(found)}
    if column == "now" or not record["circumstances"]:
        record["circumstances"] = dict(facts)
    record["marks"] = marks(record["cases"])
    write_results(folder, STEM, record, render(record))


def marks(found: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what was asked, what was found, and whether it holds."""
    verdicts = []
    for name, most in MARKS.items():
        for learner in MACHINES if "now" in found.get(name, {}) else ():
            mean = _mean(found[name], "now", learner)
            about = {"case": name, "learner": learner, "most": most, "mean": mean}
            verdicts.append(about | {"held": bool(mean <= most)})
    return verdicts


def summary(name: str, found: Mapping[str, Mapping[str, Any]]) -> str:
    """Return one line: the mean error and the seconds of each machine."""
    parts = (
        f"{key} {np.mean(one['errors']):.1f} ({np.sum(one['seconds']):.0f} s)"
        for key, one in found.items()
    )
    return f"{name}: " + ", ".join(parts)


def render(record: Mapping[str, Any]) -> str:
    """Return the page: how it was run, the marks, the sets beside them, all others."""
    found = record["cases"]
    if not found:
        return "# Manifold regularisation by default\n\nNothing was run.\n"
    marked = [name for name in MARKS if name in found]
    shown = [one for one in found if found[one]["group"] == "published" and one not in MARKS]
    parts = [_head(record["circumstances"]), _lines(found, marked), _lines(found, shown)]
    elsewhere = [name for name in ELSEWHERE if f"{name}, {PER_CLASS[0]} per class" in found]
    if elsewhere:
        parts.append("## Elsewhere\n\n" + _elsewhere(found, elsewhere))
    return "\n".join(part for part in parts if part)


def _head(facts: Mapping[str, Any]) -> str:
    return (
        "# Manifold regularisation by default\n\n"
        f"Last run {facts['date']} at commit {facts['commit']}, scikit-learn "
        f"{facts['versions']['scikit-learn']}; the commit of each number, every draw and every "
        f"choice are in {STEM}.json. Made by `python -m benchmarks.manifold.defaults`.\n\n"
        "Percent of the unlabelled rows classified wrongly by `LaplacianRLSClassifier()` and "
        "`LaplacianSVC()` with nothing set: mean over draws and, in brackets, the worst of them. "
        '"Before" is the commit ahead of decision 0031. Two moons have 200 points, one random '
        f"label per class and {MOON_SEEDS} seeds; the other sets of the first tables have their "
        "published splits. Under *Elsewhere* both machines are averaged, on at most "
        f"{ROWS} random rows, over {max(DRAWS.values())} draws of one or two labels per class and "
        f"{min(DRAWS.values())} of more. What was fitted on which sets, and how "
        "that was judged on sets left out, is in "
        "[decision 0031](../../docs/decisions/0031-machines-by-default.md).\n"
    )


def _lines(found: Mapping[str, Any], names: Sequence[str]) -> str:
    lines = []
    for name in names:
        for learner in MACHINES:
            most = MARKS.get(name)
            now = _mean(found[name], "now", learner)
            verdict = "" if most is None else ("held" if now <= most else "MISSED")
            asked = "shown" if most is None else f"at most {most:g}"
            columns = [_cell(found[name], column, learner) for column in ("before", "now")]
            lines.append([name, learner, asked, *columns, verdict, _graphs(found[name], learner)])
    if not lines:
        return ""
    header = ["case", "machine", "asked", "before", "now", "", "neighbours chosen (draws)"]
    return table(header, lines)


def _elsewhere(found: Mapping[str, Any], names: Sequence[str]) -> str:
    header = ["set", *(f"{count} per class" for count in PER_CLASS)]
    lines, pairs = [], []
    for name in names:
        cells = [found.get(f"{name}, {count} per class", {}) for count in PER_CLASS]
        means = [[_both(cell, column) for column in ("before", "now")] for cell in cells]
        lines.append([name, *(f"{was:.1f} → {now:.1f}" for was, now in means)])
        pairs.append(means)
    average = np.mean(np.array(pairs), axis=0)
    lines.append(["**mean**", *(f"{was:.1f} → {now:.1f}" for was, now in average)])
    return table(header, lines)


def _cell(case: Mapping[str, Any], column: str, learner: str) -> str:
    if column not in case:
        return "-"
    errors = case[column]["learners"][learner]["errors"]
    return f"{np.mean(errors):.2f} ({np.max(errors):.1f})"


def _mean(case: Mapping[str, Any], column: str, learner: str) -> float:
    if column not in case:
        return float("nan")
    return float(np.mean(case[column]["learners"][learner]["errors"]))


def _both(case: Mapping[str, Any], column: str) -> float:
    return float(np.mean([_mean(case, column, learner) for learner in MACHINES]))


def _graphs(case: Mapping[str, Any], learner: str) -> str:
    if "now" not in case:
        return "-"
    counts = [one["n_neighbors"] for one in case["now"]["learners"][learner]["chosen"]]
    return ", ".join(f"{k} ({counts.count(k)})" for k in sorted(set(counts)))
