"""Twenty people label at once: what saving takes, and whether all that was acknowledged is there.

The sheets of `benchmarks.front_door.scale` at 60,000 rows. Each person has a page open (a
WebSocket that is read); half of them ask for a question, think and answer by its true class, the
others do so with rows that they pick on the map; now and then one takes the last answer back.
Afterwards the studio is ended by Ctrl-C, and its project is opened and compared.

    python -m benchmarks.studio.load
    python -m benchmarks.studio.load --rows 5000 --seconds 20 --users 5
"""

import argparse
import asyncio
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from websockets.asyncio.client import connect

from beltrami.project import Event, open_project
from beltrami.tables import TableOptions
from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.pages import table, versions_line, write_results
from benchmarks.front_door.scale import write_problem
from benchmarks.studio.process import Running, running

STEM = "studio_load"
MARK_MS = 250
_TAKEN_BACK = 0.04
_LONGEST_END_S = 60.0


@dataclass(frozen=True, slots=True)
class Saved:
    """An answer that the studio said is saved; a row of -1 takes the last one back."""

    number: int
    user: str
    row: int
    label: str
    ms: float

    def is_in(self, events: list[Event]) -> bool:
        """Return whether a project holds it."""
        if self.number > len(events):
            return False
        event = events[self.number - 1]
        if self.row < 0:
            return (event.user, event.kind) == (self.user, "undo")
        said = (event.user, event.kind, event.rows)
        return said == (self.user, "label", (self.row,)) and event.body.labels == (self.label,)


@dataclass
class Log:
    """What all of them saw."""

    saved: list[Saved] = field(default_factory=list)
    asked_ms: list[float] = field(default_factory=list)
    held: set[int] = field(default_factory=set)
    n_served_twice: int = 0
    n_bytes: int = 0
    failures: list[str] = field(default_factory=list)


async def _read_page(base: str, token: str, log: Log) -> None:
    """Take all that is sent to a page."""
    head = {"Authorization": f"Bearer {token}"}
    url = f"{base.replace('http', 'ws')}/api/live"
    async with connect(url, additional_headers=head, max_size=None, proxy=None) as socket:
        async for message in socket:
            log.n_bytes += len(message)


async def _answer(
    client: httpx.AsyncClient, user: str, targets: np.ndarray, pace: float, log: Log
) -> None:
    """Ask for one question and answer it."""
    began = time.perf_counter()
    question = (await client.get("/api/question")).raise_for_status().json()["question"]
    log.asked_ms.append(1000 * (time.perf_counter() - began))
    if question is None:
        await asyncio.sleep(0.2)
        return
    row = int(question["row"])
    log.n_served_twice += row in log.held
    log.held.add(row)
    await _think_and_save(client, user, row, targets, pace, log)
    log.held.discard(row)


async def _click(
    client: httpx.AsyncClient, user: str, targets: np.ndarray, pace: float, log: Log
) -> None:
    """Label any row on the map."""
    row = int(np.random.default_rng().integers(len(targets)))
    await _think_and_save(client, user, row, targets, pace, log)


async def _think_and_save(
    client: httpx.AsyncClient, user: str, row: int, targets: np.ndarray, pace: float, log: Log
) -> None:
    rng = np.random.default_rng()
    await asyncio.sleep(rng.exponential(pace))
    label = f"sheet {targets[row]}"
    await _save(client, user, "/api/labels", {"rows": [row], "label": label, "how": "key"}, log)
    if rng.random() < _TAKEN_BACK:
        await _save(client, user, "/api/undo", {}, log)


async def _save(
    client: httpx.AsyncClient, user: str, path: str, body: dict[str, Any], log: Log
) -> None:
    began = time.perf_counter()
    told = (await client.post(path, json=body)).raise_for_status().json()
    took = 1000 * (time.perf_counter() - began)
    row, label = body.get("rows", [-1])[0], body.get("label", "")
    log.saved.append(Saved(told["saved"], user, row, label, took))


async def _take_part(
    user: str, base: str, token: str, targets: np.ndarray, pace: float, ends: float, log: Log
) -> None:
    act = _answer if int(user.split()[1]) % 2 else _click
    reading = asyncio.create_task(_read_page(base, token, log))
    head = {"Authorization": f"Bearer {token}"}
    try:
        async with httpx.AsyncClient(
            base_url=base, headers=head, timeout=60, trust_env=False
        ) as client:
            while time.monotonic() < ends:
                await act(client, user, targets, pace, log)
    except httpx.HTTPError as error:
        log.failures.append(f"{user}: {error!r}")
    if reading.done():
        log.failures.append(f"{user}'s page was closed: {reading.exception()!r}")
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)


async def label_together(
    base: str, tokens: Mapping[str, str], targets: np.ndarray, pace: float, seconds: float
) -> Log:
    """Let all of them label for so long."""
    log, ends = Log(), time.monotonic() + seconds
    await asyncio.gather(
        *(_take_part(user, base, token, targets, pace, ends, log) for user, token in tokens.items())
    )
    return log


def _tokens(studio: Running, users: list[str]) -> dict[str, str]:
    """Return the tokens that were printed, the first of which is known."""
    assert studio.process.stdout is not None
    others = [studio.process.stdout.readline() for _ in users[1:]]
    return dict(
        zip(
            users,
            [studio.token, *(line.strip().partition("token=")[2] for line in others)],
            strict=True,
        )
    )


def measure(n: int, n_users: int, seconds: float, pace: float, folder: Path) -> dict[str, Any]:
    """Let people label for so long at n rows; return what it took and what is missing."""
    source = folder / f"sheets{n}.parquet"
    targets = write_problem(source, n)
    users = [f"person {number}" for number in range(1, n_users + 1)]
    options = [word for user in users for word in ("--user", user)]
    with running(source, *options, cache=folder / "cache") as studio:
        tokens = _tokens(studio, users)
        studio.wait_until_ready()
        given_before = studio.ask("/api/state")["given"]
        log = asyncio.run(label_together(studio.base, tokens, targets, pace, seconds))
        state = studio.ask("/api/state")
        began = time.perf_counter()
        studio.process.send_signal(signal.SIGINT)
        try:
            code = studio.process.wait(_LONGEST_END_S)
        except subprocess.TimeoutExpired:
            code = None
        ended_s = time.perf_counter() - began
        if studio.process.stdout is not None:
            studio.process.stdout.close()
    with closing(open_project(source, TableOptions(min_classes=0), user=users[0])) as project:
        events, rows = list(project.events), set(project.state.labels)
    lost = [one for one in log.saved if not one.is_in(events)]
    saving = [one.ms for one in log.saved]
    n_back = sum(one.row < 0 for one in log.saved)
    return {
        "rows": n,
        "users": n_users,
        "seconds": seconds,
        "pace_s": pace,
        "saved": len(saving),
        "taken_back": n_back,
        "saved_a_second": round(len(saving) / seconds, 1),
        "save_ms": _spread(saving),
        "question_ms": _spread(log.asked_ms),
        "sent_to_pages_mb": round(log.n_bytes / 1e6, 1),
        "behind_at_the_end": state["behind"],
        "given": {
            "before": given_before,
            "by_the_state": state["given"],
            "by_the_project": len(rows),
        },
        "ended_by_ctrl_c": {"seconds": round(ended_s, 1), "code": code},
        "lost": len(lost),
        "served_to_two": log.n_served_twice,
        "failures": log.failures,
    }


def _spread(values: list[float]) -> dict[str, float]:
    shares = {"median": 50, "p95": 95, "longest": 100}
    return {name: round(float(np.percentile(values, at)), 1) for name, at in shares.items()}


def is_held(found: Mapping[str, Any]) -> bool:
    """Return whether all was as it must be."""
    given = found["given"]
    is_whole = given["by_the_state"] == given["by_the_project"]
    nothing_lost = not (found["lost"] or found["failures"] or found["served_to_two"])
    return nothing_lost and is_whole and found["save_ms"]["p95"] < MARK_MS


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    found = record["found"]
    rows = [
        ["people", str(found["users"])],
        ["answers saved", f"{found['saved']:,}, {found['saved_a_second']} a second"],
        ["of them taken back", str(found["taken_back"])],
        *(
            [f"{title}, ms", " / ".join(str(found[key][one]) for one in found[key])]
            for key, title in (
                ("save_ms", "saving, median / 95th percentile / longest"),
                ("question_ms", "the next question, the same"),
            )
        ),
        ["sent to all pages, MB", str(found["sent_to_pages_mb"])],
        ["acknowledged and lost", str(found["lost"])],
        ["questions served to two", str(found["served_to_two"])],
        ["requests that failed", str(len(found["failures"]))],
        ["ended by Ctrl-C after, s", str(found["ended_by_ctrl_c"]["seconds"])],
        [f"nothing lost, and saving below {MARK_MS} ms", "held" if is_held(found) else "MISSED"],
    ]
    return "\n".join(
        [
            "# Twenty people at once" if found["users"] == 20 else "# Several people at once",
            "",
            f"{found['rows']:,} rows, {found['seconds']:g} seconds; each has a page open, thinks "
            f"for {found['pace_s']:g} s on average and answers; half of them what the queue asks, "
            "half of them rows on the map. Server and people share the processors.",
            "",
            table(["", "found"], rows),
            versions_line(record["circumstances"]),
            "",
        ]
    )


def main(arguments: list[str] | None = None) -> int:
    """Measure, write both files, and return 1 where something was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--pace", type=float, default=1.0, help="seconds to think, on average")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    warn_if_busy()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(asked.rows, asked.users, asked.seconds, asked.pace, Path(folder))
    record = {"circumstances": circumstances(), "found": found}
    write_results(asked.out, STEM, record, render(record))
    print(render(record))
    return int(bool(found["lost"] or found["failures"] or found["served_to_two"]))


if __name__ == "__main__":
    sys.exit(main())
