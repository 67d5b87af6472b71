"""What is done and what is not: a folder of results knows which job it belongs to.

``_beltrami/manifest.json`` holds the inputs by name and fingerprint, the options, and the
partitions that are answered. A folder of another job is never written into.
"""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.core.files import read_json, write_text
from beltrami.partitions.answering import PartCounts
from beltrami.tables.model import few_of

FOLDER = "_beltrami"
_PAUSE_S = 1.0
"""Between two writings: at a kill the partitions of this long are answered once more."""


class Manifest:
    """The record of a job in its folder of results."""

    def __init__(self, out: Path, inputs: Mapping[str, str], options: Mapping[str, str]) -> None:
        self.out = out
        self._path = out / FOLDER / "manifest.json"
        self._inputs, self._options = dict(inputs), dict(options)
        self._done: dict[str, dict[str, Any]] = {}
        self._written = 0.0

    @property
    def key(self) -> str:
        """A hash of all that the results depend on."""
        facts = json.dumps([self._inputs, self._options], sort_keys=True)
        return hashlib.blake2b(facts.encode(), digest_size=20).hexdigest()

    def open(self) -> None:
        """Take up what is done, or begin; raise where the folder holds something else."""
        if not self._path.exists():
            held = sorted(p.name for p in self.out.iterdir()) if self.out.is_dir() else []
            if self.out.exists() and not self.out.is_dir():
                raise InvalidInputError(f"{str(self.out)!r} is a file. Name a folder for results.")
            if [name for name in held if name != FOLDER]:
                raise InvalidInputError(
                    f"the folder {str(self.out)!r} holds {few_of(held)}, which could be written "
                    "over. Name an empty or a new folder."
                )
            return
        record = read_json(self._path)
        try:
            self._compare(record["inputs"], record["options"])
            self._done = dict(record["done"])
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidInputError(
                f"{str(self._path)!r} is no record that we wrote ({error!r}). Name another folder."
            ) from error

    def _compare(self, inputs: dict[str, str], options: dict[str, str]) -> None:
        told = [
            *(
                f"{name} has changed"
                for name in inputs
                if self._inputs.get(name, "") != inputs[name] and name in self._inputs
            ),
            *(f"{name} is gone" for name in inputs if name not in self._inputs),
            *(f"{name} is new" for name in self._inputs if name not in inputs),
            *(
                f"{name} was {options.get(name)} and is {self._options.get(name)}"
                for name in sorted({*options, *self._options})
                if options.get(name) != self._options.get(name)
            ),
        ]
        if told:
            more = f" and {len(told) - 3} more" if len(told) > 3 else ""
            raise InvalidInputError(
                f"the folder {str(self.out)!r} holds results of another job: "
                f"{'; '.join(told[:3])}{more}. They are kept; name another folder."
            )

    def counts(self, name: str, written: Path) -> PartCounts | None:
        """Return what became of a partition that is done and whose file is there as written."""
        record = self._done.get(name)
        if record is None or not written.is_file() or written.stat().st_size != record["bytes"]:
            return None
        return PartCounts(
            record["rows"],
            Counter(record["sources"]),
            Counter(record["labels"]),
            record["confidence"],
            record["unlike"],
        )

    def note(self, name: str, counts: PartCounts, written: Path) -> None:
        """Note that a partition is done."""
        self._done[name] = {
            "rows": counts.n_rows,
            "bytes": written.stat().st_size,
            "sources": dict(sorted(counts.sources.items())),
            "labels": dict(sorted(counts.labels.items())),
            "confidence": counts.confidence,
            "unlike": counts.n_unlike,
        }
        if time.monotonic() - self._written > _PAUSE_S:
            self.write()

    def write(self) -> None:
        """Write the record, whole."""
        record = {
            "key": self.key,
            "options": self._options,
            "inputs": self._inputs,
            "done": dict(sorted(self._done.items())),
        }
        write_text(self._path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
        self._written = time.monotonic()
