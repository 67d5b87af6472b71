"""Measured rows in a journal, so that a contest of hours can be stopped and gone on with."""

from pathlib import Path
from typing import Any

from beltrami_papers.journal import append_line, read_lines

Row = dict[str, Any]
_KEY = ("problem", "labels", "draw", "method", "code")


class RowJournal:
    """The rows written so far.

    A row is known by its problem, labels per class, draw, method and the version of the code, a
    free text. Of the same row written twice the later one counts, and so it does of two versions.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: dict[tuple[Any, ...], Row] = {}
        for row in read_lines(path):
            self._keep(row)

    def has(self, **key: Any) -> bool:
        """Say whether there is a row of this key."""
        return tuple(key[name] for name in _KEY) in self._rows

    def add(self, row: Row) -> None:
        """Append a row, which is on disk when this returns."""
        self._keep(row)
        append_line(self.path, row)

    def rows(self) -> list[Row]:
        """Return the rows, of several versions of the code the last one written."""
        latest = {key[:-1]: row for key, row in self._rows.items()}
        return list(latest.values())

    def seconds(self, problem: str, labels: int, method: str, code: str) -> list[float]:
        """Return the seconds of every draw of one method at one number of labels."""
        column = (problem, labels, method, code)
        return [
            float(row["seconds"])
            for key, row in self._rows.items()
            if (key[0], key[1], key[3], key[4]) == column
        ]

    def _keep(self, row: Row) -> None:
        key = tuple(row[name] for name in _KEY)
        self._rows.pop(key, None)  # so that the order is that of writing
        self._rows[key] = row
