"""The progress line at 60,000 rows: `beltrami label` in a terminal, written down with times.

Two marks: no second without an update, and from a third of the run on the time left is within a
factor of two of the truth, or within two seconds of it. With --stages, what each stage takes beside
what the table of `front_door/deciding/forecast.py` says: the numbers to renew it by.

Run: python -m benchmarks.front_door.progress
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beltrami.core.telling.progress import ProgressEvent, job, listen
from beltrami.core.telling.stages import FIT, Stage
from beltrami.front_door.deciding.forecast import Forecast
from beltrami.labelling.intake import take_in
from beltrami.labelling.main_job import label_rows
from beltrami.labelling.options import LearningOptions
from benchmarks.common.command import RESULTS
from benchmarks.common.pages import write_results
from benchmarks.common.recording import Recording, record
from benchmarks.front_door.scale import N_CLASSES, N_COLUMNS, PER_CLASS, write_problem

STEM = "front_door_progress"
LONGEST_PAUSE, MOST_OFF, CLOSE_S, JUDGED_FROM = 1.0, 2.0, 2.0, 1 / 3


def judge(shown: Recording) -> dict[str, Any]:
    """Return how the line kept its marks."""
    end, off, missed = shown.seconds, [], []
    judged = [(when, said) for when, said in shown.left() if when >= JUDGED_FROM * end]
    for when, said in judged:
        true = end - when
        factor = max(said / max(true, 1e-9), true / max(said, 1e-9))
        off.append(factor)
        if factor > MOST_OFF and abs(said - true) > CLOSE_S:
            missed.append((round(when, 1), said, round(true, 1)))
    n_silent = sum(
        1 for when, line in shown.updates if when >= JUDGED_FROM * end and " left" not in line
    )
    return {
        "seconds": round(end, 1),
        "updates": len(shown.updates),
        "first_update_s": round(shown.updates[0][0], 2),
        "longest_pause_s": round(shown.longest_pause, 2),
        "judged": len(judged),
        "without_time_left": n_silent,
        "missed": missed,
        "median_factor": round(sorted(off)[len(off) // 2], 2) if off else None,
    }


def render(record_: Mapping[str, Any]) -> str:
    """Return the page."""
    found = record_["line"]
    is_live = found["longest_pause_s"] <= LONGEST_PAUSE
    is_honest = not found["missed"] and not found["without_time_left"] and found["judged"]
    lines = [
        "# The progress line",
        "",
        f"`beltrami label` on {record_['n']:,} rows of {N_COLUMNS} columns, {N_CLASSES} classes "
        f"with {PER_CLASS} labels each, in a pseudo-terminal: {found['seconds']} s; load of the "
        f"machine {record_['load']} before and {record_['load_after']} after, on "
        f"{record_['processors']} processors. Everything it showed is in `{STEM}.txt`.",
        "",
        "| mark | found | kept |",
        "| --- | --- | --- |",
        f"| first update | {found['first_update_s']} s | |",
        f"| no second without an update | longest pause {found['longest_pause_s']} s, "
        f"{found['updates']} updates | {'yes' if is_live else 'NO'} |",
        f"| time left within a factor of two (or two seconds) from a third on | "
        f"{len(found['missed'])} of {found['judged']} off, median factor "
        f"{found['median_factor']} | {'yes' if is_honest else 'NO'} |",
    ]
    if found["missed"]:
        lines += ["", "Off (second, said, true): " + str(found["missed"][:20])]
    return "\n".join(lines) + "\n"


def stages(n: int) -> None:
    """Print what each stage and each learner takes, beside the forecast."""
    events: list[tuple[ProgressEvent, float]] = []

    def note(event: ProgressEvent) -> None:
        events.append((event, time.process_time()))

    plan = (Stage.START, Stage.READ, *FIT, Stage.ASK, Stage.WRITE, Stage.MAP, Stage.PAGE)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "sheets.parquet"
        write_problem(source, n)
        with listen(note), job(*plan):
            found = label_rows(take_in(str(source)), LearningOptions())
            found.write(Path(folder) / "labels.csv")
            found.report(Path(folder) / "page.html")
    costs = Forecast(n, N_COLUMNS, N_CLASSES * PER_CLASS, N_CLASSES).costs()
    begins = {}
    for event, cpu in events:
        begins.setdefault(event.title, (event.elapsed_s, cpu))
    times = [*begins.values(), (events[-1][0].elapsed_s, events[-1][1])]
    print(f"{'':40}   took    cpu   said")
    for (title, (wall, cpu)), (end, cpu_end) in zip(begins.items(), times[1:], strict=True):
        said = sum(costs.get(title, {}).values())
        print(f"{title:40} {end - wall:6.2f} {cpu_end - cpu:6.2f} {said:6.2f}")
    for one in found.learner.report_.members:
        said = costs[Stage.LEARN].get(one.title, 0.0)
        print(f"  {one.title:38} {one.seconds:6.2f}        {said:6.2f}")


def main(arguments: list[str] | None = None) -> None:
    """Record one run, judge it, and write the recording and the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--stages", action="store_true", help="Print the stages and stop.")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    if asked.stages:
        stages(asked.rows)
        return
    with tempfile.TemporaryDirectory() as folder:
        write_problem(Path(folder) / "sheets.parquet", asked.rows)
        load = os.getloadavg()[0]
        command = [sys.executable, "-m", "beltrami.cli", "label", "sheets.parquet", "--no-cache"]
        shown = record(command, Path(folder))
    if shown.code:
        raise SystemExit(shown.text)
    facts = {
        "python": platform.python_version(),
        "n": asked.rows,
        "processors": os.cpu_count(),
        "load": round(load, 1),
        "load_after": round(os.getloadavg()[0], 1),
        "line": judge(shown),
    }
    write_results(asked.out, STEM, facts, render(facts))
    (asked.out / f"{STEM}.txt").write_text(shown.page(), encoding="utf-8")
    print(json.dumps(facts, indent=2))


if __name__ == "__main__":
    main()
