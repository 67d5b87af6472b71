"""A journal of single results, so that a long run can be stopped and gone on with.

A result is a line of JSON. It is appended in one write that has reached the disk when the call
returns; a line that a kill cut short is passed over by the reader and ended by the next writer.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from beltrami.core.telling.progress import track

Result = dict[str, Any]
"""What one trial found, ready for JSON."""


class Keyed(Protocol):
    """A trial that a journal can name."""

    @property
    def key(self) -> str:
        """Name of the trial, settings included."""


AnyTrial = TypeVar("AnyTrial", bound=Keyed)


def read_lines(path: Path) -> Iterator[Result]:
    """Go through the whole lines of a file; one that is not there has none."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


def append_line(path: Path, entry: Result) -> None:
    """Append an entry as a line of its own, also after one that was cut short."""
    path.parent.mkdir(parents=True, exist_ok=True)
    start = "" if _ends_with_newline(path) else "\n"
    with path.open("ab", buffering=0) as file:
        file.write(f"{start}{json.dumps(entry)}\n".encode())
        os.fsync(file.fileno())


def _ends_with_newline(path: Path) -> bool:
    if not path.exists() or not path.stat().st_size:
        return True
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


@dataclass(frozen=True, slots=True, eq=False)
class Journal:
    """Results by key, each a line of a file.

    Attributes
    ----------
    path : Path or None
        Where lines are added; None keeps them in memory.
    known : dict of str to dict
        What is there already.
    """

    path: Path | None = None
    known: dict[str, Result] = field(default_factory=dict)

    @classmethod
    def at(cls, path: Path | None) -> "Journal":
        """Open a journal with what it holds."""
        entries = [] if path is None else read_lines(path)
        return cls(path, {entry.pop("key"): entry for entry in entries})

    def result(self, key: str, compute: Callable[[], Result]) -> Result:
        """Return a result, computed and written down where it is not known."""
        if key not in self.known:
            self.known[key] = compute()
            if self.path is not None:
                append_line(self.path, {"key": key, **self.known[key]})
        return self.known[key]

    def results(
        self, step: str, trials: Sequence[AnyTrial], compute: Callable[[AnyTrial], Result]
    ) -> dict[AnyTrial, Result]:
        """Return the results of many trials, with progress; what is known is not run again."""
        results = {}
        with track(step, total=len(trials)) as advance:
            for trial in trials:
                results[trial] = self.result(trial.key, partial(compute, trial))
                advance(1)
        return results
