"""A journal of single results, so that a long table can be stopped and gone on with.

A key and a way to compute a result enter; the result leaves, from the file where it is known.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from beltrami.core.progress import track

Result = dict[str, Any]
"""What one trial found, ready for JSON."""


class Keyed(Protocol):
    """A trial that a journal can name."""

    @property
    def key(self) -> str:
        """Name of the trial, settings included."""


AnyTrial = TypeVar("AnyTrial", bound=Keyed)


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
    def at(cls, *paths: Path | None) -> "Journal":
        """Open a journal, with what others found before.

        - `*paths`: the first is read and added to; the others are read.
        - Returned: with every whole line of the files; a line cut short by a crash is left out.
        """
        known: dict[str, Result] = {}
        for path in paths:
            if path is not None and path.exists():
                for line in path.read_text(encoding="utf-8").splitlines():
                    try:
                        entry = json.loads(line)
                    except json.JSONDecodeError:
                        continue
                    known[entry.pop("key")] = entry
        return cls(paths[0] if paths else None, known)

    def result(self, key: str, compute: Callable[[], Result]) -> Result:
        """Return a result, computed and written down where it is not known."""
        if key not in self.known:
            found = compute()
            self.known[key] = found
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"key": key, **found}) + "\n")
        return self.known[key]

    def results(
        self, step: str, trials: Sequence[AnyTrial], compute: Callable[[AnyTrial], Result]
    ) -> dict[AnyTrial, Result]:
        """Return the results of many trials, with progress; what is known is not run again."""
        found = {}
        with track(step, total=len(trials)) as advance:
            for one in trials:
                found[one] = self.result(one.key, partial(compute, one))
                advance(1)
        return found
