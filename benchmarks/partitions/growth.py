"""Pace of each pass, resident peak and certificate, as the rows grow; the exponent of each pass.

python -m benchmarks.partitions.growth --millions 2 5 10 20 --memory 3GiB --beside 1000000
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

import beltrami as bt
from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.pages import table, versions_line, write_results
from benchmarks.partitions.made import N_LABELS, N_PARTS, error_of, made_part, write_made

STEM = "partitions_growth"
_CORES, _ASKED_ROWS = (10, 100, 1000), 1e9
_LOOKED_AT = 64  # rows for each representative, in passes that settle


class Model(NamedTuple):
    """Seconds of n rows on c cores: (each n + settling) / c + alone."""

    each: float  # processor seconds of a row
    settling: float  # processor seconds of the passes that look at some rows only
    alone: float  # seconds in which one process works for all
    off: float  # largest relative difference to the processor seconds that were measured

    def seconds(self, rows: float, cores: int) -> float:
        return (self.each * rows + self.settling) / cores + self.alone


def model_of(runs: list[dict]) -> Model:
    """Fit the model: relative least squares of processor seconds, none of them negative."""
    rows = np.array([run["rows"] for run in runs], float)
    settled = np.array([_LOOKED_AT * run["coverage"]["representatives"] for run in runs], float)
    spent = np.array([_total(run, "processor_seconds") for run in runs])
    terms = np.column_stack([rows, np.minimum(rows, settled)])
    (each, settling), _ = nnls(terms / spent[:, None], np.ones(len(runs)))
    off = float(np.abs(terms @ (each, settling) / spent - 1).max())
    rest = [run["seconds"] - _total(run, "seconds") for run in runs]
    return Model(each, settling * settled[-1], float(np.median(rest)), off)


def _total(run: dict, name: str) -> float:
    """Return the seconds of all passes of a run."""
    return sum(one[name] for one in run["passes"].values())


def peak_bytes(pid: int, seen: dict[int, int]) -> None:
    """Note the high-water mark of each process in a tree."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            seen[pid] = max(seen.get(pid, 0), int(line.split()[1]) * 1024)
    for child in children:
        peak_bytes(int(child), seen)


def run(source: Path, out: Path, *options: str) -> dict[str, object]:
    """Label a folder by the command line, and watch what the process holds."""
    command = [sys.executable, "-m", "beltrami", "label", str(source), "--label", "kind"]
    command += ["-o", str(out), "--json", *options]
    began, seen = time.perf_counter(), {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            peak_bytes(process.pid, seen)
            time.sleep(0.1)
        text = process.stdout.read() if process.stdout else ""
    summary = json.loads(text)
    summary["seconds"] = time.perf_counter() - began
    summary["peak_gib"] = sum(seen.values()) / 2**30
    return summary


def in_memory(n_rows: int, n_beside: int, noise: float) -> dict[str, float]:
    """Return the errors of the front door on the first rows of every partition, in memory."""
    each = n_beside // N_PARTS
    parts = [made_part(part, n_rows // N_PARTS, noise=noise) for part in range(N_PARTS)]
    points = np.concatenate([points[:each] for points, _ in parts])
    classes = np.concatenate([classes[:each] for _, classes in parts])
    del parts
    labels = np.where(np.arange(len(classes)) < N_LABELS, classes, -1)
    began = time.perf_counter()
    learner = bt.ManifoldClassifier(random_state=0).fit(points, labels)
    wrong = float((learner.transduction_ != classes)[N_LABELS:].mean())
    return {"rows": len(classes), "error": wrong, "seconds": time.perf_counter() - began}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--millions", type=float, nargs="+", default=[0.5, 1, 2])
    parser.add_argument("--memory", default="3GiB")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--noise", type=float, default=3.0)
    parser.add_argument("--beside", type=int, default=0, help="rows to label in memory, too")
    parser.add_argument("--work", type=Path, default=Path("out/partitions"))
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--options", nargs="*", default=[])
    asked = parser.parse_args()
    warn_if_busy()
    record = {
        "circumstances": circumstances(),
        "memory": asked.memory,
        "jobs": int(asked.jobs),
        "noise": asked.noise,
        "runs": [],
    }
    for millions in asked.millions:
        n_rows = int(millions * 1e6) // N_PARTS * N_PARTS
        source, out = asked.work / "in", asked.work / "out"
        for folder in (source, out):
            shutil.rmtree(folder, ignore_errors=True)
        write_made(source, n_rows, noise=asked.noise)
        options = ["--memory", asked.memory, "--jobs", asked.jobs, *asked.options]
        found = run(source, out, *options)
        found["error"] = error_of(out, n_rows, noise=asked.noise)
        kept = ("seconds", "peak_gib", "error", "coverage", "passes", "failures")
        line = {"rows": n_rows} | {name: found[name] for name in kept}
        if asked.beside and millions == asked.millions[-1]:
            first = asked.beside // N_PARTS
            line["error_beside"] = error_of(out, n_rows, first=first, noise=asked.noise)
            line["in_memory"] = in_memory(n_rows, asked.beside, asked.noise)
        print(json.dumps(line), flush=True)
        record["runs"].append(line)
        write_results(asked.out, STEM, record, render(record))


def render(record: dict) -> str:
    """Return the page."""
    runs = record["runs"]
    names = [name for name in runs[-1]["passes"] if not name.startswith("reading")]
    sizes = tuple(f"{run['rows'] / 1e6:g} million" for run in runs)
    paces = [
        (name, *(f"{run['passes'][name]['rows'] / 1e6:,.2f}" for run in runs), *_paces(runs, name))
        for name in names
    ]
    spent = [
        (
            name,
            *(f"{run['passes'][name]['processor_seconds']:,.1f}" for run in runs),
            _power([run["rows"] for run in runs], _busy(runs, name)),
        )
        for name in names
    ]
    total = [sum(_busy([run], name)[0] for name in names) for run in runs]
    power = _power([run["rows"] for run in runs], total)
    spent.append(("all passes", *(f"{one:,.1f}" for one in total), power))
    wholes = [
        ("seconds, whole", *(f"{run['seconds']:,.0f}" for run in runs)),
        ("resident peak, GiB", *(f"{run['peak_gib']:.2f}" for run in runs)),
        ("wrong, all rows", *(f"{100 * run['error']:.2f}%" for run in runs)),
        ("covered", *(f"{100 * run['coverage']['share']:.4f}%" for run in runs)),
        ("representatives", *(f"{run['coverage']['representatives']:,}" for run in runs)),
        ("farthest, scales", *(f"{run['coverage']['largest_distance']:.2f}" for run in runs)),
    ]
    last, beside, billion = runs[-1], "", ""
    if len(runs) > 2:
        billion = _billion(model_of(runs))
    if "in_memory" in last:
        own = last["in_memory"]
        beside = (
            f"Of {own['rows']:,} of the {last['rows']:,} rows {100 * last['error_beside']:.2f} % "
            f"are labelled wrong; labelled by themselves in memory, {100 * own['error']:.2f} %.\n\n"
        )
    each = "rows a second of a core, at most rows"
    return (
        "# Partitions: growth with the rows\n\n"
        f"32 columns of float32 in {N_PARTS} parquet partitions, {N_LABELS} labels of ten classes, "
        f"`--memory {record['memory']} --jobs {record['jobs']}`, by the command line.\n\n"
        "Processor seconds of each pass, by all threads, and how they grow: the slope of seconds "
        "over rows, both in logarithms. Passes that settle representatives look at 64 rows for "
        "each, or at all where there are fewer.\n\n"
        f"{table(('pass', *sizes, 'grows as rows to the'), spent)}\n"
        "Millions of rows that each pass went over, rounds added up, and its pace at most rows: "
        "by processor seconds of one core, and by the clock with all jobs.\n\n"
        f"{table(('pass', *sizes, each, 'by the clock'), paces)}\n"
        f"{table(('the whole', *sizes), wholes)}\n{beside}{billion}"
        f"{versions_line(record['circumstances'])}\n"
    )


def _billion(model: Model) -> str:
    """Return the section on a billion rows."""
    lines = [(f"{cores:,}", _in_words(model.seconds(_ASKED_ROWS, cores))) for cores in _CORES]
    facts = (
        ("microseconds of a core for each row", f"{1e6 * model.each:.0f}"),
        ("seconds of a core to settle representatives", f"{model.settling:.0f}"),
        ("seconds alone: fit, merges, start", f"{model.alone:.0f}"),
        ("most that the model is off a measured size", f"{100 * model.off:.0f}%"),
    )
    return (
        "## A billion rows, by a model\n\n"
        "Fitted to the processor seconds above, by relative least squares; arithmetic on one "
        "machine's rates, not a measurement of a cluster.\n\n"
        f"{table(('term', 'fitted'), facts)}\n{table(('cores', 'a billion rows'), lines)}\n"
    )


def _in_words(seconds: float) -> str:
    """Return a time as hours or minutes."""
    return f"{seconds / 3600:.1f} hours" if seconds >= 3600 else f"{seconds / 60:.1f} minutes"


def _busy(runs: list[dict], name: str) -> list[float]:
    """Return the processor seconds of a pass in each run."""
    return [run["passes"][name]["processor_seconds"] for run in runs]


def _paces(runs: list[dict], name: str) -> tuple[str, str]:
    """Return the rows a second of a pass in the last run, of one core and by the clock."""
    last = runs[-1]["passes"][name]
    spent = (last["processor_seconds"], last["seconds"])
    return f"{last['rows'] / spent[0]:,.0f}", f"{last['rows'] / spent[1]:,.0f}"


def _power(rows: list[int], seconds: list[float]) -> str:
    """Return the slope of seconds over rows, both in logarithms."""
    if len(rows) < 2:
        return ""
    return f"{np.polyfit(np.log(rows), np.log(seconds), 1)[0]:.2f}"


if __name__ == "__main__":
    main()
