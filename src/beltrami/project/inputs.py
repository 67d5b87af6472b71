"""Which row is which: what the positions in events refer to, also after the data have changed.

Every row that a project has ever seen has a number of its own, its key. An `Input` is one content
of the data that was seen, with the keys of its rows. A `Sighting` is what the data are now; it is
recognised as an input, or becomes a further one, or is refused: a label must never land on another
row.
"""

import hashlib
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.project.file import StoredInput
from beltrami.project.record.audit_events import AuditAnswered, AuditDrawn
from beltrami.project.record.audits import follow_rows
from beltrami.project.record.events import Event, Kept, Labelled, Marked
from beltrami.tables.model import Table

_LINES = (".csv", ".tsv", ".jsonl", ".ndjson")
"""Endings of files that grow by lines at their end."""

_BLOCK_BYTES = 2**20


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """One content of the data, as a project has seen it.

    Attributes
    ----------
    number : int
        From 1.
    keys : ndarray of shape (n,)
        Number of each row among all rows ever seen.
    fingerprint : str
        Hash of the content without the column of labels.
    label : str or None
        That column.
    digest : str
        Hash of the bytes of the file; "" where there is no single one.
    n_bytes : int
        How many these are.
    id_column : str or None
        The column that names the rows.
    ids : tuple of str or None
        What they are called, as texts.
    """

    number: int
    keys: NDArray[np.int64]
    fingerprint: str
    label: str | None
    digest: str
    n_bytes: int
    id_column: str | None
    ids: tuple[str, ...] | None

    @property
    def stored(self) -> StoredInput:
        """The same, packed."""
        facts = {
            "rows": len(self.keys),
            "fingerprint": self.fingerprint,
            "label": self.label,
            "digest": self.digest,
            "bytes": self.n_bytes,
            "id": self.id_column,
        }
        steps = np.diff(self.keys, prepend=0).astype("<i8")  # mostly ones
        ids = None if self.ids is None else json.dumps(self.ids, separators=(",", ":")).encode()
        return StoredInput(
            self.number,
            json.dumps(facts, ensure_ascii=False),
            zlib.compress(steps.tobytes()),
            None if ids is None else zlib.compress(ids),
        )

    @classmethod
    def read(cls, stored: StoredInput) -> Self:
        """Return the input that was packed so, or raise `InvalidInputError`."""
        try:
            facts = json.loads(stored.facts)
            steps = np.frombuffer(zlib.decompress(stored.rows), dtype="<i8")
            ids = None
            if stored.ids is not None:
                ids = tuple(map(str, json.loads(zlib.decompress(stored.ids))))
            one = cls(
                stored.number,
                np.cumsum(steps, dtype=np.int64),
                str(facts["fingerprint"]),
                facts["label"],
                str(facts["digest"]),
                int(facts["bytes"]),
                facts["id"],
                ids,
            )
            is_whole = len(one.keys) == facts["rows"] and len(one.keys) == len(ids or one.keys)
        except (ValueError, TypeError, KeyError, zlib.error) as error:
            raise InvalidInputError(f"input {stored.number} cannot be read ({error}).") from error
        if not is_whole or (one.keys < 0).any():
            raise InvalidInputError(f"input {stored.number} has other rows than it says.")
        return one


@dataclass(slots=True, eq=False)
class Sighting:
    """The data as they are now.

    Attributes
    ----------
    table : Table
        The rows, without a matrix from a file beside them.
    label : str or None
        The column of labels.
    id_column : str or None
        The column that names the rows.
    ids : tuple of str or None
        What they are called, as texts.
    is_id_said : bool
        Whether a person said that this column names the rows.
    path : Path or None
        The file; None for a folder, or a table in memory.
    n_bytes : int
        How many bytes the file has.
    """

    table: Table
    label: str | None
    id_column: str | None
    ids: tuple[str, ...] | None
    is_id_said: bool
    path: Path | None
    n_bytes: int
    _prints: dict[tuple[int, str | None, str | None], str] = field(default_factory=dict)
    _digests: dict[int, str] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.table.n_rows

    @property
    def names_rows(self) -> bool:
        """Whether ids say which row is which: they do more than count, or a person said so."""
        if self.ids is None:
            return False
        return self.is_id_said or not any(_counts(self.ids, start) for start in (0, 1))

    def fingerprint(self, n_rows: int, *labels: str | None) -> str:
        """Return the hash of the first rows without columns of labels."""
        first, second = (*labels, None)[:2]
        key = n_rows, first, second
        if key not in self._prints:
            table = self.table.without(first).without(second)
            self._prints[key] = _head(table, n_rows).fingerprint()
        return self._prints[key]

    def digest(self, n_bytes: int) -> str:
        """Return the hash of the first bytes of the file; "" where there is none."""
        if self.path is None:
            return ""
        if n_bytes not in self._digests:
            self._digests[n_bytes] = file_digest(self.path, n_bytes)
        return self._digests[n_bytes]

    def ends_line(self, n_bytes: int) -> bool:
        """Say whether the first bytes of the file are whole lines."""
        if self.path is None or self.path.suffix.lower() not in _LINES or not n_bytes:
            return False
        with self.path.open("rb") as stream:
            stream.seek(n_bytes - 1)
            return b"\n" in stream.read(2) or stream.tell() == n_bytes

    def as_input(self, number: int, keys: NDArray[np.int64]) -> Input:
        """Return the data as an input with these keys."""
        return Input(
            number,
            keys,
            self.fingerprint(self.n_rows, self.label),
            self.label,
            self.digest(self.n_bytes),
            self.n_bytes,
            self.id_column,
            self.ids,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Recognised:
    """The data as an input.

    Attributes
    ----------
    input : Input
        Which.
    is_new : bool
        Whether the project has not seen it before.
    line : str
        What has changed, for a person; "" for nothing.
    """

    input: Input
    is_new: bool
    line: str = ""


def recognise(
    seen: Sighting, inputs: Sequence[Input], last: Input | None, *, is_elsewhere: bool = False
) -> Recognised:
    """Say which row is which.

    - `inputs`: all that the project has seen, of which `last` was there last.
    - `is_elsewhere`: whether the data lie elsewhere than then, so that ids may be of other rows.
    """
    if last is None:
        return Recognised(seen.as_input(1, np.arange(seen.n_rows)), is_new=True)
    number = len(inputs) + 1
    for known in (last, *reversed(inputs)):
        if _is_same(seen, known):
            if known.id_column == seen.id_column:
                return Recognised(known, is_new=False)
            return Recognised(seen.as_input(number, known.keys), is_new=True)
    keys = None if is_elsewhere else _keys_by_id(seen, inputs)
    if keys is None and _begins_with(seen, last):
        keys = np.full(seen.n_rows, -1)
        keys[: len(last.keys)] = last.keys
    if keys is None or (keys < 0).all():
        raise InvalidInputError(_unknown_rows(seen, inputs, last, is_elsewhere=is_elsewhere))
    is_fresh = keys < 0
    start = 1 + max(int(one.keys.max()) for one in inputs)
    keys[is_fresh] = np.arange(start, start + is_fresh.sum())
    n_gone = len(np.setdiff1d(last.keys, keys))
    line = (
        f"{seen.table.name} has changed since: {is_fresh.sum():,} row(s) are new, "
        f"{len(keys) - is_fresh.sum():,} were there before, {n_gone:,} are gone"
    )
    line += "; labels of these are kept for when they come back." if n_gone else "."
    return Recognised(seen.as_input(number, keys), is_new=True, line=line)


def _is_same(seen: Sighting, known: Input) -> bool:
    if len(known.keys) != seen.n_rows:
        return False
    if known.digest and known.digest == seen.digest(seen.n_bytes):
        return True
    return _has_rows(seen, known)


def _has_rows(seen: Sighting, known: Input) -> bool:
    """Say whether the first rows are those of an input, whatever column their labels are in."""
    columns = ((known.label,), (known.label, seen.label))
    prints = (seen.fingerprint(len(known.keys), *labels) for labels in columns)
    return known.fingerprint in prints


def _begins_with(seen: Sighting, known: Input) -> bool:
    if len(known.keys) > seen.n_rows:
        return False
    is_longer = 0 < known.n_bytes < seen.n_bytes
    if is_longer and seen.ends_line(known.n_bytes) and known.digest == seen.digest(known.n_bytes):
        return True
    return _has_rows(seen, known)


def _keys_by_id(seen: Sighting, inputs: Sequence[Input]) -> NDArray[np.int64] | None:
    """Return the keys that rows have by their ids, -1 for new ones; None where no ids tell."""
    if seen.ids is None or not seen.names_rows:
        return None
    key_of: dict[str, int] = {}
    for one in inputs:
        if one.ids is not None and one.id_column == seen.id_column:
            key_of |= dict(zip(one.ids, one.keys.tolist(), strict=True))
    keys = (key_of.get(one, -1) for one in seen.ids)
    return np.fromiter(keys, dtype=np.int64, count=seen.n_rows) if key_of else None


def _unknown_rows(
    seen: Sighting, inputs: Sequence[Input], last: Input, *, is_elsewhere: bool
) -> str:
    name, columns = seen.table.name, {one.id_column for one in inputs} - {None}
    if is_elsewhere:
        return (
            f"the project is about other data: {name} has {seen.n_rows:,} rows, and they do not "
            f"begin with the {len(last.keys):,} that were labelled. Open it with its own data, or "
            "start another project with --project."
        )
    what = (
        f"{name} has changed since it was labelled ({len(last.keys):,} rows then, "
        f"{seen.n_rows:,} now), and nothing says which row is which, so labels could land on "
        "other rows. "
    )
    known = sorted(column for column in columns if column in seen.table.names)
    if known and not seen.is_id_said:
        return what + (
            f"If the column {known[0]!r} names the rows, say so with --id {known[0]!r}; or start "
            "another project with --project."
        )
    return what + (
        "Put the earlier file back and open it once with --id and the column that names the rows; "
        "or start another project with --project."
    )


def translate(events: Iterable[Event], inputs: Sequence[Input], current: Input) -> list[Event]:
    """Return events with their rows as positions in the present input.

    Rows that are gone are left out; they stay in the events of the file.
    """
    position = np.full(1 + max(int(one.keys.max()) for one in inputs), -1)
    position[current.keys] = np.arange(len(current.keys))
    places = {
        one.number: None if np.array_equal(one.keys, current.keys) else position[one.keys]
        for one in inputs
    }
    return [_translate(event, places, inputs, len(current.keys)) for event in events]


def _translate(
    event: Event, places: dict[int, NDArray[np.int64] | None], inputs: Sequence[Input], n_now: int
) -> Event:
    body = event.body
    if not isinstance(body, Labelled | Marked | Kept | AuditDrawn | AuditAnswered):
        return event
    named = (body.row,) if isinstance(body, AuditAnswered) else body.rows
    n_rows = len(inputs[body.input - 1].keys) if body.input in places else 0
    if max(named, default=-1) >= n_rows:
        raise InvalidInputError(
            f"event {event.number} names rows that input {body.input} does not have."
        )
    moved = places[body.input]
    if moved is None or not named:
        return event
    if isinstance(body, AuditDrawn | AuditAnswered):
        keys = inputs[body.input - 1].keys
        return replace(event, body=follow_rows(body, moved, keys, n_now))
    found = moved[list(body.rows)].tolist()
    rows = tuple(row for row in found if row >= 0)
    if isinstance(body, Marked | Kept):
        return replace(event, body=replace(body, rows=rows))
    labels, old = (_of_rows(values, found) for values in (body.labels, body.old))
    return replace(event, body=replace(body, rows=rows, labels=labels, old=old))


def _of_rows(values: tuple[Any, ...], found: list[int]) -> tuple[Any, ...]:
    """Return the values of the rows that are there; one that stands for all still does."""
    if len(values) == 1:
        return values
    chosen = tuple(value for value, row in zip(values, found, strict=True) if row >= 0)
    return chosen or (None,)


def _counts(ids: tuple[str, ...], start: int) -> bool:
    """Say whether ids are the numbers of the rows and nothing else."""
    return all(one == str(number) for number, one in enumerate(ids, start))


def _head(table: Table, n_rows: int) -> Table:
    if n_rows == table.n_rows:
        return table
    matrix = None if table.matrix is None else table.matrix[:n_rows]
    return replace(table, columns=table.columns.slice(0, n_rows), matrix=matrix)


def file_digest(path: Path, n_bytes: int) -> str:
    """Return the hash of the first bytes of a file."""
    digest = hashlib.blake2b(digest_size=32)
    with path.open("rb") as stream:
        while n_bytes > 0 and (block := stream.read(min(n_bytes, _BLOCK_BYTES))):
            digest.update(block)
            n_bytes -= len(block)
    return digest.hexdigest()
