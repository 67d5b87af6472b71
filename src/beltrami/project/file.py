"""The file of a project: events enter, and are on the disk when they have come back.

A SQLite database with a table of inputs and one of events, to which rows are only ever added. Each
event is sealed: a hash over it and the seal of the one before.
"""

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from beltrami.core.errors import InvalidInputError
from beltrami.core.locks import FileLock
from beltrami.front_door.kept.file import is_labeller
from beltrami.project.errors import NotSavedError, ProjectError, ProjectInUseError
from beltrami.project.locking import lock_project
from beltrami.project.record.events import Body, Event, now

APPLICATION = int.from_bytes(b"Blt1")
"""What the header of the file says it is."""

FORMAT = 1
_PATIENCE = 5.0  # seconds to wait for a reader
_TRIES = 3

_TABLES = (
    "CREATE TABLE inputs (number INTEGER PRIMARY KEY, facts TEXT NOT NULL, rows BLOB NOT NULL,"
    " ids BLOB, seal TEXT NOT NULL)",
    "CREATE TABLE events (number INTEGER PRIMARY KEY, at TEXT NOT NULL, user TEXT NOT NULL,"
    " kind TEXT NOT NULL, body TEXT NOT NULL, seal TEXT NOT NULL)",
)
_GUARD = (
    "CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table}"
    " BEGIN SELECT RAISE(ABORT, 'a project only ever grows'); END"
)
_GUARDED = tuple((table, verb) for table in ("inputs", "events") for verb in ("UPDATE", "DELETE"))


@dataclass(frozen=True, slots=True, eq=False)
class StoredInput:
    """An input as the file keeps it: facts, the numbers of its rows and its ids, both packed."""

    number: int
    facts: str
    rows: bytes
    ids: bytes | None

    @property
    def seal(self) -> str:
        """A hash over all of it."""
        ids = b"" if self.ids is None else b"ids" + self.ids
        return _seal(str(self.number), self.facts, _digest(self.rows), _digest(ids))


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """All that a project holds, and the seal of its last event."""

    events: list[Event]
    inputs: list[StoredInput]
    seal: str


class ProjectFile:
    """A project that this process writes, and no other.

    Attributes
    ----------
    path : Path
        Where it is.
    contents : Contents or None
        What it held when it was opened; None where there was no project yet.
    """

    def __init__(
        self,
        path: Path,
        lock: FileLock,
        connection: sqlite3.Connection | None,
        contents: Contents | None,
    ) -> None:
        self.path, self.contents = path, contents
        self._lock: FileLock | None = lock
        self._connection = connection
        self._turn = threading.RLock()
        self._number = 0 if contents is None else len(contents.events)
        self._seal = "" if contents is None else contents.seal

    @classmethod
    def open(cls, path: Path, user: str) -> Self:
        """Open a project for writing; the file is made by the first `append`."""
        place = path.resolve()
        lock = lock_project(place, user)
        connection = contents = None
        try:
            if _size(place):
                with _explained(place):
                    has_log = _has_log(place)
                    if not has_log:  # to connect would make one, also beside a damaged file
                        with closing(connect_to_read(place)) as reader:
                            contents = _read(reader, place)
                    connection = _connect(place)
                    if has_log:
                        contents = _read(connection, place)
        except BaseException:
            if connection is not None:
                connection.close()
            lock.release()
            raise
        return cls(place, lock, connection, contents)

    def append(
        self, entries: Iterable[tuple[str, Body]], inputs: Sequence[StoredInput] = ()
    ) -> list[Event]:
        """Add what people did, all of it or nothing, and return it when it is on the disk."""
        with self._turn:
            if self._lock is None:
                raise ProjectError(f"the project {str(self.path)!r} is closed.")
            at, events, seal = now(), [], self._seal
            sealed = []
            for number, (user, body) in enumerate(entries, self._number + 1):
                event = Event(number, at, user, body)
                seal = _seal(seal, *_cells(event))
                events.append(event)
                sealed.append((*_cells(event), seal))
            with _explained(self.path, is_saving=True):
                self._write(sealed, inputs)
            self._number, self._seal = self._number + len(events), seal
            return events

    def _write(self, sealed: list[tuple[Any, ...]], inputs: Sequence[StoredInput]) -> None:
        is_new = self._number == 0
        if self._connection is None:
            self._connection = _connect(self.path, is_new=True)
        connection = self._connection
        if is_new:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        try:
            if is_new:
                _make_tables(connection)
            packed = [(one.number, one.facts, one.rows, one.ids, one.seal) for one in inputs]
            connection.executemany("INSERT INTO inputs VALUES (?, ?, ?, ?, ?)", packed)
            connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", sealed)
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Give the project back; to do so twice is fine."""
        with self._turn:
            if self._lock is None:
                return
            if self._connection is not None:
                with suppress(sqlite3.Error):  # what was not moved out of the log stays in it
                    self._connection.close()
            self._lock.release()
            self._lock = self._connection = None


def read_project(path: Path) -> Contents:
    """Return what a project holds, without writing; another process may be at it."""
    place = path.resolve()
    if not _size(place):
        raise ProjectError(f"there is no project {str(path)!r}. `beltrami studio` makes one.")
    for attempt in range(1, _TRIES + 1):
        try:
            with _explained(place), closing(connect_to_read(place)) as connection:
                contents = _read(connection, place)
        except ProjectError:
            if attempt == _TRIES:  # a writer may have come or gone in between
                raise
        else:
            break
    if contents is None:
        raise ProjectError(
            f"{str(path)!r} is empty: the project was never finished, or is being made right now."
        )
    return contents


def seal_at(path: Path, number: int) -> str:
    """Return the seal of an event, or of the last one that is saved where it is not."""
    place = path.resolve()
    with _explained(place), closing(connect_to_read(place)) as connection:
        found = connection.execute(
            "SELECT seal FROM events WHERE number <= ? ORDER BY number DESC LIMIT 1", (number,)
        ).fetchone()
    return str(found[0])


def _connect(path: Path, *, is_new: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode={'rwc' if is_new else 'rw'}",
        uri=True,
        timeout=_PATIENCE,
        isolation_level=None,
        check_same_thread=False,
    )
    for setting in ("synchronous = FULL", "fullfsync = ON", "trusted_schema = OFF"):
        connection.execute(f"PRAGMA {setting}")
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Connect without writing, and without leaving files behind.

    Where a log is beside the project, somebody writes it or was killed, and the log is read, too.
    Without one nobody does, and the file is taken as it is; should a writer come right then, the
    seals tell.
    """
    mode = "mode=ro" if _has_log(path) else "mode=ro&immutable=1"
    return sqlite3.connect(
        f"{path.as_uri()}?{mode}", uri=True, timeout=_PATIENCE, isolation_level=None
    )


def _has_log(path: Path) -> bool:
    return any(path.with_name(f"{path.name}{end}").exists() for end in ("-wal", "-journal"))


def _make_tables(connection: sqlite3.Connection) -> None:
    guards = [_GUARD.format(table=table, verb=verb) for table, verb in _GUARDED]
    for statement in (*_TABLES, *guards):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def _read(connection: sqlite3.Connection, path: Path) -> Contents | None:
    """Return all that a project holds; None where it was begun and never finished."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (application, number, n_tables) == (0, 0, 0):
        return None
    if application != APPLICATION:
        raise ProjectError(
            f"{str(path)!r} is no project but a database of another program. Name another file "
            "with --project."
        )
    if number > FORMAT:
        raise ProjectError(
            f"{str(path)!r} was written by a newer version of Beltrami (format {number}; this one "
            f"reads {FORMAT}). Update Beltrami; nothing was changed."
        )
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise ProjectError(_damaged(path, found))
    rows = connection.execute("SELECT number, facts, rows, ids, seal FROM inputs ORDER BY number")
    inputs = [_checked_input(row, path) for row in rows]
    rows = connection.execute(
        "SELECT number, at, user, kind, body, seal FROM events ORDER BY number"
    )
    events, seal = _checked_events(rows, path)
    return Contents(events, inputs, seal)


def _checked_input(row: tuple[Any, ...], path: Path) -> StoredInput:
    number, facts, rows, ids, seal = row
    has_types = isinstance(facts, str) and isinstance(rows, bytes)
    if has_types and isinstance(ids, bytes | None):
        one = StoredInput(number, facts, rows, ids)
        if one.seal == seal:
            return one
    raise ProjectError(_damaged(path, f"input {number} is not as it was written"))


def _checked_events(rows: Iterable[tuple[Any, ...]], path: Path) -> tuple[list[Event], str]:
    events, seal = [], ""
    for place, (number, at, user, kind, body, written) in enumerate(rows, 1):
        seal = _seal(seal, str(number), at, user, kind, body)
        if seal != written or number != place:
            raise ProjectError(_damaged(path, f"event {place} is not as it was written"))
        try:
            events.append(Event.read(number, at, user, kind, body))
        except InvalidInputError as error:
            raise ProjectError(_damaged(path, f"event {place}: {error}")) from error
    return events, seal


def _damaged(path: Path, reason: object) -> str:
    return (
        f"the project {str(path)!r} is damaged ({reason}). Nothing was changed. Put back a "
        "copy; or move it away, and its -wal file with it, to begin anew."
    )


def _cells(event: Event) -> tuple[Any, ...]:
    return event.number, event.at, event.user, event.kind, event.text


def _seal(*parts: object) -> str:
    """Return a hash over texts, which no other texts have."""
    return _digest(json.dumps(list(map(str, parts))).encode())


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _size(path: Path) -> int:
    """Return how many bytes a file has, 0 where there is none."""
    try:
        if path.exists() and not path.is_file():
            raise ProjectError(f"{str(path)!r} is no file, and so no project.")
        return path.stat().st_size
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise ProjectError(
            f"the project {str(path)!r} cannot be read ({error.strerror or error})."
        ) from error


@contextmanager
def _explained(path: Path, *, is_saving: bool = False) -> Iterator[None]:
    """Turn what SQLite raises into one sentence: what it means, and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_NOTADB and is_labeller(path):
            raise ProjectError(
                f"{str(path)!r} holds a labeller and no project. It answers new rows: beltrami "
                f"apply {path.name} SOURCE. Name another file with --project."
            ) from error
        if code == sqlite3.SQLITE_NOTADB and not is_saving:
            raise ProjectError(
                f"{str(path)!r} is no project, nor any database. Name another file with --project."
            ) from error
        if code == sqlite3.SQLITE_CORRUPT and not is_saving:
            raise ProjectError(_damaged(path, error)) from error
        if not is_saving:
            raise ProjectError(
                f"the project {str(path)!r} cannot be opened ({error}). {_ADVICE.get(code, '')}"
            ) from error
        if isinstance(error, sqlite3.IntegrityError):
            raise ProjectInUseError(
                f"another process has written to {str(path)!r} meanwhile, so this was not saved. "
                "Close one of them and open the project again."
            ) from error
        raise NotSavedError(
            f"this was not saved in {str(path)!r} ({error}); what was there before is whole. "
            f"{_ADVICE.get(code, 'Open the project again.')}"
        ) from error


_ADVICE = {
    sqlite3.SQLITE_FULL: "The disk is full: free some space, and do it again.",
    sqlite3.SQLITE_IOERR: "The disk does not take it: free some space or look at the disk, and do "
    "it again.",
    sqlite3.SQLITE_READONLY: "It may not be written: open it with --read-only, or change that.",
    sqlite3.SQLITE_CANTOPEN: "It or its folder may not be read or written: change that, or choose "
    "another place with --project.",
    sqlite3.SQLITE_BUSY: "Another program holds it: close that, and do it again.",
    sqlite3.SQLITE_CORRUPT: "It is damaged: put back a copy.",
}
