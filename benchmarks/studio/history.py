"""How fast the history opens: a project of 5,000 events, in a real browser.

A project of 2,000 rows in two clouds is given 5,000 events by two people, one in ten of them taken
back and one in a hundred a return. The studio is opened on it; from the click on "History" to the
first hundred events and both curves on the page is measured ten times, each in a page of its own.
So is a moment that is looked at, from the click to its map, and a return through the API. The mark
is 1 s for opening.

    python -m benchmarks.studio.history
    python -m benchmarks.studio.history --events 400 --times 2 --out out/history
"""

import argparse
import os
import random
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from tests.support.chromium import Page, open_browser, open_page

from beltrami.core.errors import InvalidInputError
from beltrami.labelling.options import LearningOptions
from beltrami.project import Project, open_project
from beltrami.project.record.measures import Measure
from beltrami.studio_server.handle import Studio
from beltrami.tables import TableOptions
from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.pages import table, versions_line, write_results

STEM = "studio_history"
N_ROWS, N_EVENTS, N_TIMES = 2000, 5000, 10
MARK_MS = 1000.0
USERS = ("ann", "bob")
TABLE = TableOptions(label="kind", features=("x", "y"), min_classes=0)


def write_rows(path: Path) -> None:
    """Write two clouds of rows, ten of them with a label."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(N_ROWS, 2))
    points[N_ROWS // 2 :] += 6
    lines = ["x,y,kind"]
    for row, (x, y) in enumerate(points):
        label = ("low" if row < N_ROWS // 2 else "high") if row % 200 == 0 else ""
        lines.append(f"{x:.4f},{y:.4f},{label}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def fill(project: Project, n_events: int) -> None:
    """Let two people work until there are so many events, with a measure after each label."""
    rng = random.Random(0)
    while len(project.events) < n_events:
        user, luck = rng.choice(USERS), rng.random()
        row = rng.randrange(N_ROWS)
        if luck < 0.01 and len(project.events) > 50:
            try:
                project.return_to(
                    user, rng.randrange(len(project.events) - 40, len(project.events))
                )
            except InvalidInputError:  # nothing was done since
                continue
        elif luck < 0.1:
            project.undo(user)
        elif luck < 0.13:
            project.mark(user, [row], "skip")
        else:
            project.label(user, [row], "low" if row < N_ROWS // 2 else "high", "key")
            given = len(project.state.labels)
            accuracy = 0.9 + 0.08 * rng.random()
            measure = Measure(
                len(project.events), given, N_ROWS - given, 0, 0, 0.97, given, accuracy, 0.85, 0.99
            )
            project.measures.keep(measure)


def open_history(page: Page, url: str) -> float:
    """Return the milliseconds from the click on "History" to events and curves on the page."""
    page.goto(url)
    page.locator('body:not([data-version="0"])').wait_for(state="attached", timeout=60_000)
    began = time.perf_counter()
    page.locator('#views a[href="#history"]').click()
    page.locator("#events li:nth-child(100)").wait_for(state="attached")
    page.locator("#accepted-chart svg").wait_for(state="attached")
    page.locator("#accuracy-chart svg").wait_for(state="attached")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done()))")
    return 1000 * (time.perf_counter() - began)


def look_back(page: Page, place: int) -> float:
    """Return the milliseconds from the click on an event to the map of its moment."""
    entry = page.locator("#events li").nth(place)
    number = entry.get_attribute("data-event")
    began = time.perf_counter()
    entry.locator("button").click()
    page.locator("#looking", has_text=f"after event {int(number or 0):,},").wait_for()
    return 1000 * (time.perf_counter() - began)


def measure(n_events: int, times: int, folder: Path) -> dict[str, Any]:
    """Make a project of so many events, open its history some times, and return what it took."""
    source = folder / "rows.csv"
    write_rows(source)
    project = open_project(source, TABLE, user=USERS[0])
    try:
        fill(project, n_events)
    finally:
        project.close()
    began = time.perf_counter()
    open_project(source, TABLE, read_only=True).close()
    read_s = time.perf_counter() - began
    with Studio.open(source, TABLE, LearningOptions()) as studio, open_browser() as browser:
        base, token = studio.url.split("/?token=")
        head = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=base, headers=head, timeout=300, trust_env=False) as client:
            while not (state := client.get("/api/state").json())["settled"] or state["behind"]:
                time.sleep(0.2)
            opened, looked = [], []
            for _ in range(times):
                with open_page(browser, viewport={"width": 1280, "height": 800}) as page:
                    opened.append(open_history(page, studio.url))
                    looked.append(look_back(page, 60))
            began = time.perf_counter()
            client.post("/api/history/return", json={"event": n_events // 2}).raise_for_status()
            returned_ms = 1000 * (time.perf_counter() - began)
    return {
        "events": n_events,
        "times": times,
        "opened_ms": _summary(opened),
        "looked_ms": _summary(looked),
        "returned_ms": round(returned_ms, 1),
        "project_read_s": round(read_s, 2),
    }


def _summary(values: list[float]) -> dict[str, float]:
    return {
        "median": round(float(np.median(values)), 1),
        "longest": round(max(values), 1),
    }


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    found = record["found"]
    is_held = found["opened_ms"]["longest"] < MARK_MS
    rows = [
        *(
            [f"{title}, ms, median / longest", f"{found[key]['median']} / {found[key]['longest']}"]
            for key, title in (
                ("opened_ms", "the history opens: click to events and curves"),
                ("looked_ms", "a moment is looked at: click to its map"),
            )
        ),
        ["a return half way back, saved, ms", str(found["returned_ms"])],
        ["the project is opened, s", str(found["project_read_s"])],
        [f"opens below {MARK_MS:g} ms every time", "held" if is_held else "MISSED"],
    ]
    return "\n".join(
        [
            "# The history of 5,000 events" if found["events"] == N_EVENTS else "# The history",
            "",
            f"{found['events']:,} events of two people at {N_ROWS:,} rows, opened "
            f"{found['times']} times in Chromium, each in a page of its own; software rendering, "
            f"server and browser on the same two cores, which had a load of {record['load']:g} by "
            "other work when this began.",
            "",
            table(["", "found"], rows),
            versions_line(record["circumstances"]),
            "",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    """Measure, and write both files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--events", type=int, default=N_EVENTS)
    parser.add_argument("--times", type=int, default=N_TIMES)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    warn_if_busy()
    load = round(os.getloadavg()[0], 1)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(asked.events, asked.times, Path(folder))
    record = {"circumstances": circumstances(), "load": load, "found": found}
    write_results(asked.out, STEM, record, render(record))
    print(render(record))


if __name__ == "__main__":
    main()
