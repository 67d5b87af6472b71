"""A journal of measured rows: one line of JSON each, appended whole, so that a run can go on."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]
_KEY = ("problem", "labels", "draw", "method", "code")


class Journal:
    """The rows written so far; a line cut short by a crash is passed over.

    A row is known by its problem, labels per class, draw, method and the version of the code, a
    free text. Of the same row written twice the later one counts, and so it does of two versions.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self._rows: dict[tuple[Any, ...], Row] = {}
        for row in _lines(place):
            self._keep(row)

    def has(self, **key: Any) -> bool:
        """Say whether there is a row of this key."""
        return tuple(key[name] for name in _KEY) in self._rows

    def add(self, row: Row) -> None:
        """Append a row, in one write that has reached the disk when this returns."""
        self._keep(row)
        self.place.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(row) + "\n"
        if not _ends_with_newline(self.place):
            line = "\n" + line
        with self.place.open("ab", buffering=0) as file:
            file.write(line.encode())
            os.fsync(file.fileno())

    def rows(self) -> list[Row]:
        """Return the rows, of several versions of the code the last one written."""
        latest = {key[:-1]: row for key, row in self._rows.items()}
        return list(latest.values())

    def spent(self, problem: str, labels: int, method: str, code: str) -> list[float]:
        """Return the seconds of the draws that one column holds."""
        wanted = (problem, labels, method, code)
        return [
            float(row["seconds"])
            for key, row in self._rows.items()
            if (key[0], key[1], key[3], key[4]) == wanted
        ]

    def _keep(self, row: Row) -> None:
        key = tuple(row[name] for name in _KEY)
        self._rows.pop(key, None)  # so that the order is that of writing
        self._rows[key] = row


def _lines(place: Path) -> Iterator[Row]:
    if not place.exists():
        return
    for line in place.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


def _ends_with_newline(place: Path) -> bool:
    if not place.exists() or not place.stat().st_size:
        return True
    with place.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
