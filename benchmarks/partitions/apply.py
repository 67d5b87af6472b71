"""How fast a kept labeller answers new rows on one core: whole, by stage, and from file to file.

    python -m benchmarks.partitions.apply --representatives 10000 50000 100000

Each labeller is fitted to curved clusters (or to MNIST), kept in a file, and read by a process of
its own that does nothing but answer. Rates are of processor seconds: the machine may be shared.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import beltrami as bt
from beltrami.core.machine.threads import thread_limit
from beltrami.front_door.answering.arrival import Arrival
from beltrami.front_door.kept.labeller import KeptLabeller
from beltrami.graph.search import open_space
from beltrami.partitions.answers.answering import AnswerTask, KeptAnswerer
from beltrami.partitions.reading.layout import agree
from beltrami.partitions.reading.sources import find_partitions
from beltrami.partitions.representing.covering import local_scales
from beltrami.partitions.representing.nearby import Standing, nearest_places
from beltrami.tables import TableOptions
from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances
from benchmarks.common.pages import table, versions_line, write_results
from benchmarks.partitions.made import made_part

STEM = "partitions_apply"
_COLUMNS, _LABELS = 64, 200
_SAMPLE, _NEAREST = 2000, 10
"""New rows on which recall is measured, and their neighbours."""
_COMPARED = 8192
"""New rows that are compared with all representatives, which takes long."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--representatives", type=int, nargs="+", default=[10_000, 50_000, 100_000])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--mnist", type=int, nargs="*", default=[50_000])
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--answer", type=Path, help="what a process of its own does")
    arguments = parser.parse_args()
    if arguments.answer:
        print(json.dumps(answer(arguments.answer)))
        return
    asked = [("curved clusters", n) for n in arguments.representatives]
    asked += [("MNIST", n) for n in arguments.mnist]
    lines = []
    for name, n in asked:
        with tempfile.TemporaryDirectory() as folder:
            lines.append(
                {"data": name, "representatives": n} | _line(Path(folder), name, n, arguments.rows)
            )
        print(lines[-1], flush=True)
    record = {"circumstances": circumstances(), "columns": _COLUMNS, "lines": lines}
    write_results(arguments.out, STEM, record, render(record))


def _line(folder: Path, name: str, n: int, n_rows: int) -> dict[str, Any]:
    """Fit, keep, and let another process answer."""
    points, codes, new, truth = _data(name, n, n_rows)
    labels = np.where(np.arange(n) < _LABELS, codes, -1)
    began = time.perf_counter()
    learner = bt.ManifoldClassifier(random_state=0).fit(points, labels)
    kept = KeptLabeller.of_many(learner, np.ones(n, np.int64))  # as a job on partitions keeps it
    path = kept.save(folder / "labeller.beltrami")
    facts = {"fit_s": time.perf_counter() - began, "file_mb": path.stat().st_size / 1e6}
    np.savez(folder / "new.npz", new=new, truth=truth)
    columns = {f"x{place:02d}": new[:, place] for place in range(new.shape[1])}
    kinds = pa.array(np.full(len(new), None, object), pa.string())
    (folder / "in").mkdir()
    pq.write_table(pa.table({**columns, "kind": kinds}), folder / "in" / "0.parquet")
    command = [sys.executable, "-m", "benchmarks.partitions.apply", "--answer", str(folder)]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return facts | json.loads(told) | _coverage(points, new)


def _data(name: str, n: int, n_rows: int) -> tuple[Any, Any, Any, Any]:
    """Return rows to learn from and new ones, with their classes."""
    if name != "MNIST":
        new = made_part(1, n_rows, n_columns=_COLUMNS)
        return (*made_part(0, n, n_columns=_COLUMNS), *new)
    mnist = bt.load_dataset("mnist")
    points = bt.principal_components(mnist.points, _COLUMNS).astype(np.float32)
    order = np.random.default_rng(0).permutation(len(points))
    points, codes = points[order], np.asarray(mnist.targets)[order]
    return points[:n], codes[:n], points[n : n + n_rows], codes[n : n + n_rows]


def answer(folder: Path) -> dict[str, Any]:
    """Read a labeller and answer new rows, on one thread."""
    kept = bt.load(folder / "labeller.beltrami")
    with np.load(folder / "new.npz") as held:
        new, truth = held["new"], held["truth"]
    with thread_limit(1):
        kept.judge(new[:1000])  # compiled, divided
        whole, verdict = _timed(lambda: kept.judge(new))
        by_stage = _stages(kept, new)
        peak = peak_mib()
        by_file = _partition(kept, folder)
        anchors = kept.answerer.anchors
        sample = kept.answerer.preparation.project(kept.answerer.preparation.rescale(new[:_SAMPLE]))
        found = anchors.look_around(sample).distances[:, :_NEAREST]
        last = open_space(anchors.points, anchors.metric).nearest(sample, _NEAREST)[1][:, -1:]
    return {
        "rows": len(new),
        "rows_per_s": len(new) / whole,
        "stages_us": {name: 1e6 * seconds / len(new) for name, seconds in by_stage.items()},
        "file_to_file_per_s": len(new) / by_file,
        "recall": float((found <= last * (1 + 1e-9)).mean()),
        "heard": kept.answerer.mixture.heard,
        "error": float((verdict.codes != truth).mean()),
        "unlike": float(verdict.unlike.mean()),
        "peak_mib": peak,
    }


def peak_mib() -> float:
    """Return the most that this process has held; what started it does not count."""
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (line,) = (one for one in status if one.startswith("VmHWM:"))
    return int(line.split()[1]) / 2**10


def _timed(work: Any) -> tuple[float, Any]:
    """Return the processor seconds of some work, and what came of it."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def _stages(kept: Any, new: Any) -> dict[str, float]:
    """Return the processor seconds of each stage of answering."""
    answerer, spent = kept.answerer, {}

    def add(name: str, work: Any) -> Any:
        seconds, result = _timed(work)
        spent[name] = spent.get(name, 0.0) + seconds
        return result

    preparation = answerer.preparation
    for start in range(0, len(new), answerer.n_together):
        block = new[start : start + answerer.n_together]
        plain = add("preparing", lambda block=block: preparation.rescale(block))
        projected = add("preparing", lambda plain=plain: preparation.project(plain))
        near = add("neighbours", lambda p=projected: answerer.anchors.look_around(p))
        add("edges", lambda near=near: answerer.anchors.weigh(near))
        tie = answerer.anchors.tie(projected)
        arrival = Arrival(plain, projected, tie, answerer.is_reached)
        logits = {
            name: add(name, lambda n=name, a=arrival: answerer.voices[n].logits(a))
            for name in answerer.mixture.heard
        }
        scores = add("mixture", lambda logits=logits: answerer.mixture.answer(logits))
        if answerer.distilled is not None:
            asked = (projected, scores, answerer.has_label)
            add("distilled", lambda a=asked: answerer.distilled.answer(*a))
    return spent


def _partition(kept: Any, folder: Path) -> float:
    """Return the processor seconds from a partition to its file of answers."""
    (partition,) = find_partitions(folder / "in")
    options = TableOptions(label="kind")
    heads = [(partition.name, partition.head(1000))]
    layout = agree([partition], [partition.schema()], heads, options)
    answerer = KeptAnswerer(kept, layout, np.zeros(layout.n_columns))
    task = AnswerTask(answerer, layout, options, folder / "out", "parquet")
    return _timed(lambda: task(partition, 0))[0]


def _coverage(points: Any, new: Any) -> dict[str, float]:
    """Return rows a second that are found covered or not, beside looking at all."""
    rows = np.ascontiguousarray(new, np.float32)
    with thread_limit(1):
        standing = Standing.of(np.ascontiguousarray(points, np.float32), local_scales(points))
        standing.ratios(rows[:1000])
        seconds, (ratios, _) = _timed(lambda: standing.ratios(rows))
        of_all = _timed(lambda: nearest_places(rows[:_COMPARED], standing.arranged.places, 1))[0]
    return {
        "cover_per_s": len(rows) / seconds,
        "cover_by_all_per_s": len(rows[:_COMPARED]) / of_all,
        "covered": float((ratios <= 1).mean()),
    }


def render(record: dict[str, Any]) -> str:
    """Return the page."""
    lines = record["lines"]
    header = ("data", "representatives", "rows a second", "file to file", "recall of 10 nearest",
              "file, MB", "peak, MiB", "wrong", "unlike")  # fmt: skip
    answered = [
        (one["data"], f"{one['representatives']:,}", f"{one['rows_per_s']:,.0f}",
         f"{one['file_to_file_per_s']:,.0f}", f"{one['recall']:.4f}", f"{one['file_mb']:.1f}",
         f"{one['peak_mib']:,.0f}", f"{one['error']:.2%}", f"{one['unlike']:.2%}")
        for one in lines
    ]  # fmt: skip
    stages = list(dict.fromkeys(name for one in lines for name in one["stages_us"]))
    spent = [
        (one["data"], f"{one['representatives']:,}",
         *(f"{one['stages_us'][name]:.1f}" if name in one["stages_us"] else "-" for name in stages))
        for one in lines
    ]  # fmt: skip
    covered = [
        (one["data"], f"{one['representatives']:,}", f"{one['cover_per_s']:,.0f}",
         f"{one['cover_by_all_per_s']:,.0f}", f"{one['covered']:.2%}")
        for one in lines
    ]  # fmt: skip
    return (
        "# Answering new rows by a kept labeller\n\n"
        f'{record["columns"]} columns of float32, {_LABELS} labels, ten classes, `method="auto"`; '
        "one thread, rates of processor seconds. MNIST is in principal components.\n\n"
        f"{table(header, answered)}\n"
        "Microseconds a row, by stage:\n\n"
        f"{table(('data', 'representatives', *stages), spent)}\n"
        "Rows a second whose coverage is found, beside a search of all representatives:\n\n"
        f"{table(('data', 'representatives', 'cells first', 'all', 'covered'), covered)}\n"
        f"{versions_line(record['circumstances'])}\n"
    )


if __name__ == "__main__":
    main()
