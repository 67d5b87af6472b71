"""What the learner said at each moment: a table beside the events that may be lost without harm.

Measures follow from events and are no part of them: nothing is sealed, what cannot be written is
left out, and what makes no sense is not read.
"""

import json
import math
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from beltrami.project.file import connect_to_read

_TABLE = "CREATE TABLE IF NOT EXISTS measures (event INTEGER PRIMARY KEY, facts TEXT NOT NULL)"


@dataclass(frozen=True, slots=True)
class Measure:
    """What was known after an event.

    Attributes
    ----------
    event : int
        Its number.
    given, accepted, left, unreached : int
        Rows that people labelled, that we did, that are left to people, that no label reaches.
    expected : float or None
        Our estimate of the share of accepted labels that is right.
    held_out : int
        Labels that were held out to judge; 0 where they were not judged then.
    accuracy, low, high : float or None
        Share of held-out labels that was answered right, and its range.
    """

    event: int
    given: int
    accepted: int
    left: int
    unreached: int
    expected: float | None = None
    held_out: int = 0
    accuracy: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def is_judged(self) -> bool:
        """Whether labels were held out."""
        return self.accuracy is not None

    @classmethod
    def read(cls, event: Any, facts: Any) -> "Measure | None":
        """Return the measure that was written so; None where it makes no sense."""
        try:
            content = json.loads(facts)
        except (TypeError, ValueError, RecursionError):
            return None
        if not isinstance(content, dict) or set(content) != _COUNTS | _SHARES:
            return None
        counts = {"event": event} | {name: content[name] for name in _COUNTS}
        is_fine = all(type(value) is int and value >= 0 for value in counts.values())
        is_fine &= all(value is None or _is_share(value) for value in map(content.get, _SHARES))
        judged = [content[name] is None for name in ("accuracy", "low", "high")]
        is_fine &= len(set(judged)) == 1
        return cls(**counts, **{name: content[name] for name in _SHARES}) if is_fine else None

    @property
    def facts(self) -> str:
        """All but the number of the event, as JSON."""
        content = asdict(self)
        del content["event"]
        return json.dumps(content, allow_nan=False)


_SHARES = {"expected", "accuracy", "low", "high"}
_COUNTS = {one.name for one in fields(Measure)} - _SHARES - {"event"}


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value <= 1


class Measures:
    """The measures of a project.

    Parameters
    ----------
    path : Path
        The file of the project.
    is_read_only : bool
        Whether none are kept.
    """

    def __init__(self, path: Path, *, is_read_only: bool) -> None:
        self._path, self._is_read_only = path, is_read_only
        self._turn = threading.Lock()
        self._known: dict[int, Measure] | None = None
        self._waiting: dict[int, Measure] = {}
        self._connection: sqlite3.Connection | None = None
        self._is_closed = False

    def all(self) -> list[Measure]:
        """Return them in the order of events."""
        with self._turn:
            known = self._read()
            return [known[event] for event in sorted(known)]

    def keep(self, measure: Measure) -> None:
        """Keep one; a judged one is not replaced by one that is not. Nothing here raises."""
        with self._turn:
            if self._is_read_only or self._is_closed:
                return
            known = self._waiting | self._read()
            before = known.get(measure.event)
            if before == measure or (before and before.is_judged and not measure.is_judged):
                return
            self._waiting[measure.event] = measure
            try:
                self._write_waiting()
            except sqlite3.Error:  # a full disk, or somebody writes right now: with the next one
                self._disconnect()

    def close(self) -> None:
        """Give the file back; before the project does, so that it is the last to leave."""
        with self._turn:
            self._is_closed = True
            self._disconnect()

    def _read(self) -> dict[int, Measure]:
        if self._known is None:
            self._known = {one.event: one for one in _read_all(self._path)}
        return self._known

    def _write_waiting(self) -> None:
        """Write what is not in the file yet; what others cannot read, nobody is told."""
        if self._connection is None:
            self._connection = _connect(self._path)
            self._connection.execute(_TABLE)
        for event, one in list(self._waiting.items()):
            row = (event, one.facts)
            self._connection.execute("INSERT OR REPLACE INTO measures VALUES (?, ?)", row)
            self._read()[event] = self._waiting.pop(event)

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None


def _connect(path: Path) -> sqlite3.Connection:
    """Connect so that nobody waits: for no lock, for no disk; the log is left to who labels."""
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw",
        uri=True,
        timeout=0.0,
        isolation_level=None,
        check_same_thread=False,
    )
    settings = ("synchronous = NORMAL", "wal_autocheckpoint = 0", "trusted_schema = OFF")
    try:
        for setting in settings:
            connection.execute(f"PRAGMA {setting}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _read_all(path: Path) -> Iterator[Measure]:
    """Return the measures that a file holds, none where it holds no such table."""
    try:
        with closing(connect_to_read(path)) as connection:
            rows = connection.execute("SELECT event, facts FROM measures").fetchall()
    except sqlite3.Error:
        return
    for event, facts in rows:
        measure = Measure.read(event, facts)
        if measure is not None:
            yield measure
