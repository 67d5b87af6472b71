"""Writers of a project that are killed at random moments, and what they leave.

``python -m tests.support.killed_writers FOLDER KILLS SEED`` prints what was found as JSON. Each
writer is a fork of this process, so that only one has to load the library; it opens a project,
which every fourth time is a new one, and labels, marks, renames and takes back as fast as it can.
What was saved it says through a pipe.
"""

import json
import os
import random
import signal
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from beltrami.core.errors import BeltramiError
from beltrami.project import Event, open_project
from beltrami.project.locking import lock_file
from beltrami.project.record.state import replay
from beltrami.tables import TableOptions

N = 40
_LONGEST_S = 0.08
_FRESH = 4
OPTIONS = TableOptions(min_classes=0)


def write_data(path: Path) -> None:
    """Write a table of two groups, of which six rows have a label."""
    rows = (
        f"r{i},{i % 2 * 4 + i / N:.3f},{i * 7 % 10 / 3:.3f},{'ab'[i % 2] * (i < 6)}"
        for i in range(N)
    )
    path.write_text("\n".join(["id,x,z,label", *rows, ""]), encoding="utf-8")


def said_of(event: Event) -> list[Any]:
    """Return what a writer says of an event."""
    return [event.number, event.user, event.kind, event.text]


def work(data: Path, seed: int, pipe: int) -> None:
    """Label until killed."""
    chance = random.Random(seed)
    project = open_project(data, OPTIONS, user="ann")
    for event in project.events:
        os.write(pipe, (json.dumps(said_of(event)) + "\n").encode())
    while True:
        user = chance.choice(("ann", "bob"))
        row, what = chance.randrange(N), chance.random()
        event: Event | None
        if what < 0.6:
            event = project.label(
                user, [row], chance.choice("abcd"), chance.choice(("key", "area"))
            )
        elif what < 0.7:
            event = project.mark(user, [row], chance.choice(("skip", "unsure")))
        elif what < 0.75:
            names = project.state.class_names
            event = project.rename_class(
                user, chance.choice(names), f"new {seed} {len(project.events)}", merge=True
            )
        else:
            event = project.undo(user)
        if event is not None:
            os.write(pipe, (json.dumps(said_of(event)) + "\n").encode())


def kill_one(data: Path, seed: int) -> list[list[Any]]:
    """Let a writer work for a while, kill it, and return what it said it had saved."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reading)
        try:
            work(data, seed, writing)
        except BaseException as error:  # noqa: BLE001 - said, and then this process is no more
            os.write(
                writing, (json.dumps([0, "", type(error).__name__, str(error)]) + "\n").encode()
            )
        os._exit(1)
    os.close(writing)
    chance = random.Random(seed)
    with os.fdopen(reading, encoding="utf-8") as stream:
        first = "" if chance.random() < 0.4 else stream.readline()  # else while it opens
        time.sleep(chance.uniform(0, _LONGEST_S))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        lines = (first + stream.read()).split("\n")
    return [json.loads(line) for line in lines[:-1]]


def faults_of(data: Path, said: list[list[Any]]) -> list[str]:
    """Return what is wrong with a project after a kill."""
    try:
        with closing(open_project(data, OPTIONS, user="heir")) as project:
            events, state = list(project.events), project.snapshot()
    except BeltramiError as error:
        return [f"it does not open: {error}"]
    known = [said_of(event) for event in events]
    faults = [f"lost: {one}" for one in said if one not in known]
    if state != replay(events):
        faults.append("the state is not that of the events")
    left = [
        one.name for one in data.parent.iterdir() if one.name not in {data.name, "data.beltrami"}
    ]
    if left or lock_file(project.path).exists():
        faults.append(f"left behind: {left}")
    return faults


def main(folder: Path, n_kills: int, seed: int) -> dict[str, Any]:
    """Kill writers, and return what was found."""
    faults: list[str] = []
    n_said = n_early = 0
    data = folder / "data.csv"
    for kill in range(n_kills):
        if kill % _FRESH == 0:
            data = folder / str(kill) / "data.csv"
            data.parent.mkdir()
            write_data(data)
        said = kill_one(data, seed + kill)
        n_early += not said
        n_said += len(said)
        faults += [f"kill {kill}: {fault}" for fault in faults_of(data, said)]
    return {"kills": n_kills, "said": n_said, "before_anything": n_early, "faults": faults}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))  # noqa: T201
