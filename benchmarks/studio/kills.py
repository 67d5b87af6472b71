"""Kill the studio while people label, and look whether anything that was acknowledged is lost.

`beltrami studio` runs on a small table, three people label, mark and take back by HTTP as fast as
they are answered, and SIGKILL comes at a random moment: one time in five while it starts, else
while they are at it. The project is opened again: every event that was acknowledged must be in it
under its number, with its rows and label; the next studio goes on from there, over and over.

    python -m benchmarks.studio.kills --kills 200
"""

import argparse
import hashlib
import http.client
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beltrami.core.errors import BeltramiError
from beltrami.project import Event, open_project
from beltrami.tables import TableOptions
from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances
from benchmarks.common.pages import table, versions_line, write_results

STEM = "studio_kills"
USERS = ("ann", "ben", "cat")
_ROWS = 300
_PATIENCE_S = 120.0
_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)")


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """What the studio said is saved."""

    number: int
    user: str
    kind: str
    rows: tuple[int, ...] = ()
    label: str | None = None

    def is_in(self, events: list[Event]) -> bool:
        """Return whether a project holds it."""
        if self.number > len(events):
            return False
        event = events[self.number - 1]
        said = (event.number, event.user, event.kind, event.rows)
        if said != (self.number, self.user, self.kind, self.rows):
            return False
        return self.kind != "label" or set(event.body.labels) == {self.label}


@dataclass
class Trail:
    """What one project has gone through."""

    folder: Path
    digest: str
    acknowledged: list[Acknowledged] = field(default_factory=list)
    n_unsaid: int = 0
    reopened_s: list[float] = field(default_factory=list)
    moments: list[str] = field(default_factory=list)
    faults: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, folder: Path) -> "Trail":
        """Return the beginning, for data that are there."""
        return cls(folder, hashlib.sha256((folder / "data.csv").read_bytes()).hexdigest())

    @property
    def source(self) -> Path:
        """The data."""
        return self.folder / "data.csv"


def write_data(path: Path) -> None:
    """Write a table of three groups, a few rows of each with a label."""
    chance = random.Random(0)
    lines = ["id,x,y,z,label"]
    for row in range(_ROWS):
        group = row % 3
        x, y, z = (chance.gauss(3.0 * group, 1.0) for _ in range(3))
        lines.append(f"r{row},{x:.4f},{y:.4f},{z:.4f},{'abc'[group] if row < 15 else ''}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _begin(trail: Trail) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "beltrami.cli", "studio", "data.csv", "--no-browser"]
    for user in USERS:
        command += ["--user", user]
    with (trail.folder / "errors.txt").open("w", encoding="utf-8") as errors:
        return subprocess.Popen(
            command,
            cwd=trail.folder,
            env=os.environ | {"BELTRAMI_CACHE": str(trail.folder / "cache")},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )


def _addresses(process: "subprocess.Popen[str]") -> dict[str, tuple[int, str]]:
    """Return port and token of each user, once they are printed; fewer where it was killed."""
    assert process.stdout is not None
    found: dict[str, tuple[int, str]] = {}
    for line in process.stdout:
        if match := _ADDRESS.search(line):
            found[USERS[len(found)]] = int(match[1]), match[2]
        if len(found) == len(USERS):
            break
    return found


def _label(
    user: str, port: int, token: str, seed: int, is_over: threading.Event
) -> list[Acknowledged]:
    """Label as fast as it goes until the studio is gone; return what was acknowledged."""
    chance = random.Random(seed)
    said: list[Acknowledged] = []
    head = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        while not is_over.is_set():
            rows = tuple(chance.sample(range(_ROWS), chance.randint(1, 4)))
            label = chance.choice((*"abcdefgh", None))
            kind = chance.choices(("label", "mark", "undo"), (0.85, 0.05, 0.1))[0]
            path, body = {
                "label": ("/api/labels", {"rows": rows, "label": label}),
                "mark": ("/api/marks", {"rows": rows, "mark": "unsure"}),
                "undo": ("/api/undo", {}),
            }[kind]
            try:
                connection.request("POST", path, json.dumps(body), head)
                answer = connection.getresponse()
                told = json.loads(answer.read())
            except (OSError, http.client.HTTPException, ValueError):
                break  # killed before it had answered
            if answer.status == 200:
                about = (rows, label if kind == "label" else None) if kind != "undo" else ()
                said.append(Acknowledged(told["saved"], user, kind, *about))
            elif answer.status != 409:
                raise RuntimeError(f"{kind} was answered by {answer.status}: {told}")
    return said


def kill_once(trail: Trail, seed: int) -> None:
    """Start a studio, kill it at a random moment, and look at what it leaves."""
    chance = random.Random(seed)
    process = _begin(trail)
    is_over = threading.Event()
    at_start = chance.random() < 0.2
    timer = threading.Timer(chance.uniform(0.0, 6.0) if at_start else _PATIENCE_S, process.kill)
    timer.start()
    try:
        found = _addresses(process)
        has_begun = len(found) == len(USERS)
        with ThreadPoolExecutor(len(USERS)) as pool:
            tasks = [
                pool.submit(_label, user, *place, chance.randrange(2**32), is_over)
                for user, place in found.items()
            ]
            if has_begun:
                time.sleep(chance.uniform(0.0, 3.0))
            process.kill()
            process.wait()
            is_over.set()
            said = [one for task in tasks for one in task.result()]
    finally:
        timer.cancel()
        process.kill()
        process.communicate()
    trail.moments.append("labelling" if has_begun else "starting")
    trail.acknowledged += said
    faults = faults_of(trail)
    if not has_begun and not at_start:
        errors = (trail.folder / "errors.txt").read_text(encoding="utf-8")
        faults.append(f"it did not start: {errors[-600:]}")
    if faults:
        trail.faults.append({"seed": seed, "moment": trail.moments[-1], "faults": faults})


def faults_of(trail: Trail) -> list[str]:
    """Open the project as the next person would; return what is not as it must be."""
    faults = []
    errors = (trail.folder / "errors.txt").read_text(encoding="utf-8")
    if "Traceback" in errors:
        faults.append(f"traceback: {errors[-600:]}")
    if hashlib.sha256(trail.source.read_bytes()).hexdigest() != trail.digest:
        faults.append("the data were changed")
    started = time.monotonic()
    try:
        with closing(open_project(trail.source, TableOptions(min_classes=0), user="ann")) as found:
            events = list(found.events)
    except BeltramiError as error:
        return [*faults, f"the project does not open: {error}"]
    trail.reopened_s.append(time.monotonic() - started)
    lost = [one for one in trail.acknowledged if not one.is_in(events)]
    faults += [f"{len(lost)} acknowledged event(s) lost, such as {lost[0]}"] if lost else []
    numbers = {one.number for one in trail.acknowledged}
    trail.n_unsaid = sum(event.user in USERS and event.number not in numbers for event in events)
    left = sorted(one.name for one in trail.folder.iterdir() if one.is_file())
    if left != ["data.beltrami", "data.csv", "errors.txt"]:
        faults.append(f"files after it was closed: {left}")
    with closing(sqlite3.connect(trail.folder / "data.beltrami")) as connection:
        state = connection.execute("PRAGMA integrity_check").fetchone()[0]
    return faults if state == "ok" else [*faults, f"the file is not whole: {state}"]


def kill_many(n_kills: int, place: Path, *, seed: int = 0, jobs: int = 1) -> dict[str, Any]:
    """Kill many times, some projects beside each other, and return a summary."""
    chance = random.Random(seed)
    trails = []
    for job in range(jobs):
        folder = place / f"project-{job}"
        folder.mkdir(parents=True)
        write_data(folder / "data.csv")
        trails.append(Trail.of(folder))
    seeds = [chance.randrange(2**32) for _ in range(n_kills)]

    def go_through(job: int) -> None:
        for one in seeds[job::jobs]:
            kill_once(trails[job], one)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(go_through, range(jobs)))
    reopened = sorted(one for trail in trails for one in trail.reopened_s)
    moments = [one for trail in trails for one in trail.moments]
    return {
        "circumstances": circumstances(),
        "kills": len(moments),
        "while_starting": moments.count("starting"),
        "while_labelling": moments.count("labelling"),
        "acknowledged": sum(len(trail.acknowledged) for trail in trails),
        "saved_but_not_said": sum(trail.n_unsaid for trail in trails),
        "opened_again_s": {
            "median": round(reopened[len(reopened) // 2], 3),
            "longest": round(reopened[-1], 3),
        },
        "violations": [one for trail in trails for one in trail.faults],
    }


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    rows = [
        ["kills", str(record["kills"])],
        ["of them while it started", str(record["while_starting"])],
        ["of them while people labelled", str(record["while_labelling"])],
        ["events acknowledged", f"{record['acknowledged']:,}"],
        ["saved, and killed before it was said", str(record["saved_but_not_said"])],
        ["opened again, median, s", str(record["opened_again_s"]["median"])],
        ["opened again, longest, s", str(record["opened_again_s"]["longest"])],
        ["acknowledged and lost, projects that do not open, locks that stay", str(
            len(record["violations"])
        )],
    ]  # fmt: skip
    return "\n".join(
        [
            "# The studio, killed while people label",
            "",
            "Three people label by HTTP as fast as they are answered; SIGKILL at random moments; "
            "the same project goes on after each. Every acknowledged event is looked for under its "
            "number, with its rows and label.",
            "",
            table(["", "number"], rows),
            versions_line(record["circumstances"]),
            "",
        ]
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; 1 where something was violated."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="projects beside each other")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--folder", type=Path, help="an empty folder, which is kept")
    asked = parser.parse_args(arguments)
    place = asked.folder or Path(tempfile.mkdtemp(prefix="beltrami-studio-kills-"))
    record = kill_many(asked.kills, place, seed=asked.seed, jobs=asked.jobs)
    write_results(asked.out, STEM, record, render(record))
    print(render(record))
    for one in record["violations"]:
        print(json.dumps(one, indent=1))
    if asked.folder is None and not record["violations"]:
        shutil.rmtree(place)
    return int(bool(record["violations"]))


if __name__ == "__main__":
    sys.exit(main())
