"""Results: one JSON file that keeps every draw, and one page of tables made from it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.facts import SEED, circumstances, package_version
from benchmarks.common.pages import load_record, table, versions_line, write_results
from benchmarks.few_labels.contest import Row
from benchmarks.few_labels.problems import NEIGHBORS, PROBLEMS, FewLabels

_PEERS = ("graphlearning", "scikit-network")
STEM = "few_labels"


def contest_facts() -> dict[str, Any]:
    """Say where and with what the contest runs; no name of a machine, no path."""
    facts = circumstances()
    shown = ("numpy", "scipy", "scikit-learn", "numba", "faiss-cpu")
    versions = {name: facts["versions"][name] for name in shown}
    facts["versions"] = versions | {name: package_version(name) for name in _PEERS}
    facts["draws"] = f"numpy default_rng(({SEED}, labels per class, draw)), draws from 0"
    return facts


def load(folder: Path) -> dict[str, Any]:
    """Return the record written before, or an empty one."""
    return load_record(folder, STEM, problems={}, latency={}, skipped={})


def save_rows(
    folder: Path,
    facts: Mapping[str, Any],
    problem: FewLabels,
    rows: Mapping[str, Row],
    *,
    clock: bool = False,
) -> None:
    """Replace these rows of one problem, keep all others, and write both files whole.

    With `clock` only seconds and memory are replaced, where there is a row already.
    """
    record = load(folder)
    sizes = np.bincount(problem.targets).tolist()
    about = {"n": problem.size, "class_sizes": sizes, "graph_s": problem.graph_s}
    before = record["problems"].get(problem.name, {})
    about["lists_s"] = problem.lists_s or before.get("lists_s")
    stamp = {"commit": facts["commit"], "date": facts["date"]}
    fresh = {name: row.as_json() | stamp for name, row in rows.items()}
    if clock:
        kept = before.get("rows", {})
        fresh = {
            name: _with_clock_of(kept[name], row) for name, row in fresh.items() if name in kept
        }
    record["problems"][problem.name] = about | {"rows": {**before.get("rows", {}), **fresh}}
    write(folder, record | {"circumstances": facts})


def _with_clock_of(kept: dict[str, Any], fresh: dict[str, Any]) -> dict[str, Any]:
    """Return a row kept from before with the seconds and the memory of a fresh one."""
    seconds = [one for cell in fresh["cells"].values() for one in cell["seconds"]]
    clock = {"clock_s": seconds, "clock_commit": fresh["commit"]}
    clock |= {key: fresh[key] for key in ("peak_mb", "first_fit_s") if fresh[key] is not None}
    return kept | clock


def save_latency(folder: Path, facts: Mapping[str, Any], latency: Mapping[str, Any]) -> None:
    """Replace the record of ``fit_labels``."""
    stamp = {"commit": facts["commit"], "date": facts["date"]}
    write(folder, load(folder) | {"circumstances": facts, "latency": {**latency, **stamp}})


def save_skipped(folder: Path, facts: Mapping[str, Any], skipped: Mapping[str, str]) -> None:
    """Keep which methods could not run in the last run, and why."""
    write(folder, load(folder) | {"circumstances": facts, "skipped": dict(skipped)})


def write(folder: Path, record: Mapping[str, Any]) -> None:
    """Write the record and the page made from it."""
    write_results(folder, STEM, record, render(record))


def render(record: Mapping[str, Any]) -> str:
    """Return the page: how it was run, a table per problem, and the latency of new labels."""
    places = {name: place for place, name in enumerate(PROBLEMS)}
    named = sorted(record["problems"].items(), key=lambda pair: places.get(pair[0], len(places)))
    parts = [_head(record["circumstances"])]
    parts += [_section(name, about) for name, about in named]
    if record["latency"]:
        parts.append(_latency(record["latency"]))
    if record["skipped"]:
        lines = [f"- {name}: {why}" for name, why in record["skipped"].items()]
        parts.append("## Skipped in the last run\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def _head(facts: Mapping[str, Any]) -> str:
    return (
        "# Few labels\n\n"
        f"{facts['cpu']}, {facts['cores']} cores, {facts['threads']} threads for every method; "
        f"Python {facts['python']}, {versions_line(facts)}; "
        f"last run {facts['date']} at commit {facts['commit']}; the commit of each row and every "
        f"draw are in {STEM}.json. Made by `python -m benchmarks.few_labels`.\n\n"
        "Percent of the unlabelled points classified rightly: mean over the draws and, in "
        "brackets, their standard deviation; the best mean of a column in bold. Columns 1 to 10 "
        "are labels per class, drawn uniformly at random within each class, the same draws for "
        f"every method ({facts['draws']}). No method is told the sizes of the classes. All graph "
        f"methods get the same graph, `KnnGraph({NEIGHBORS})` with self-tuning weights; "
        "LabelSpreading makes its own directed 0/1 lists of the same ten neighbours, itself one "
        'of them; the rows "labels alone" see only the labelled points.\n\n'
        "Seconds are of one fit without the making of the graph, the median over all draws of the "
        "run, or of a second, shorter run on a quiet machine (`--clock`), the methods taking turns "
        "within a draw. Peak MB is the memory that one fit adds, in a process "
        'of its own. "20 (7 timed)" means that the time allowed ended after 7 full fits in some '
        "column and the other draws were learned by `fit_labels` on the last of them.\n"
    )


def _section(name: str, about: Mapping[str, Any]) -> str:
    rows = [Row.from_json(row) for row in _sort_rows(about["rows"])]
    counts = sorted({int(key) for row in rows for key in row.cells})
    best = {count: _best(rows, str(count)) for count in counts}
    header = ["method", *map(str, counts), "s per fit", "peak MB", "draws", "note"]
    lines = [_line(row, counts, best) for row in rows]
    sizes, searched = about["class_sizes"], about["lists_s"]
    lists = f", the lists of LabelSpreading {searched:.2g} s" if searched else ""
    return (
        f"## {name}\n\n{PROBLEMS.get(name, 'a toy')}: {about['n']:,} points in {len(sizes)} "
        f"classes of {min(sizes)} to {max(sizes)}; the graph took {about['graph_s']:.2g} s"
        f"{lists}.\n\n" + table(header, lines)
    )


def _sort_rows(rows: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    from benchmarks.few_labels.methods import methods  # noqa: PLC0415 - names only

    order = {method.name: place for place, method in enumerate(methods())}
    return sorted(rows.values(), key=lambda row: order.get(row["method"], len(order)))


def _best(rows: Sequence[Row], key: str) -> float | None:
    means = [_mean(row, key) for row in rows]
    return max((mean for mean in means if mean is not None), default=None)


def _mean(row: Row, key: str) -> float | None:
    cell = row.cells.get(key)
    return round(float(np.mean(cell.accuracy)), 1) if cell and cell.accuracy else None


def _line(row: Row, counts: Sequence[int], best: Mapping[int, float | None]) -> list[str]:
    seconds = row.clock_s or [one for cell in row.cells.values() for one in cell.seconds]
    return [
        row.method,
        *(_accuracy(row, str(count), best[count]) for count in counts),
        f"{np.median(seconds):.3g}" if seconds else "-",
        "-" if row.peak_mb is None else f"{row.peak_mb:.0f}",
        _draws(row),
        _note(row),
    ]


def _accuracy(row: Row, key: str, best: float | None) -> str:
    mean = _mean(row, key)
    if mean is None:
        return "-"
    values = row.cells[key].accuracy
    spread = f" ({np.std(values, ddof=1):.1f})" if len(values) > 1 else ""
    return f"**{mean:.1f}**{spread}" if mean == best else f"{mean:.1f}{spread}"


def _draws(row: Row) -> str:
    drawn = [len(cell.accuracy) for cell in row.cells.values()] or [0]
    timed = min((len(cell.seconds) for cell in row.cells.values()), default=0)
    timed = max(timed, min(drawn)) if row.clock_s else timed
    text = str(min(drawn)) if min(drawn) == max(drawn) else f"{min(drawn)} to {max(drawn)}"
    return text if timed >= min(drawn) else f"{text} ({timed} timed)"


def _note(row: Row) -> str:
    fits = sum(len(cell.accuracy) for cell in row.cells.values())
    kinds = sorted({name for cell in row.cells.values() for name in cell.warned})
    warned = {name: sum(cell.warned.get(name, 0) for cell in row.cells.values()) for name in kinds}
    parts = [row.failed, row.note]
    if row.first_fit_s is not None:
        parts.append(f"first fit with its graph {row.first_fit_s:.2g} s")
    parts += [f"{name} in {count} of {fits} fits" for name, count in warned.items()]
    return "; ".join(filter(None, parts))


def _latency(record: Mapping[str, Any]) -> str:
    middle = float(np.median(record["fit_labels_ms"]))
    return (
        "## New labels on a fitted model\n\n"
        f"`{record['model']}` on {record['problem']} ({record['n']:,} points), {record['labels']} "
        f"labels, the graph given: a full fit takes {record['full_fit_s']:.3g} s, `fit_labels` "
        f"{middle:.3g} ms (median of {len(record['fit_labels_ms'])} calls with other labels each, "
        f"after a warm-up; {min(record['fit_labels_ms']):.3g} to "
        f"{max(record['fit_labels_ms']):.3g} ms), a ratio of "
        f"{1e3 * record['full_fit_s'] / middle:.0f}. Accuracy {np.mean(record['accuracy']):.1f} "
        f"percent. {record['date']}, commit {record['commit']}.\n"
    )
