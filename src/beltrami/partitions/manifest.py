"""What is done and what is not: a folder of results knows which job it belongs to.

``_beltrami/manifest.json`` holds the inputs by name and fingerprint, the options, the partitions
that cannot be read, those that are answered, and what it takes to read and learn again, on which
no result depends. A folder of another job is never written into.
"""

import hashlib
import json
import os
import shutil
import socket
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.core.files import read_json, remove_debris, write_text
from beltrami.core.locks import FileLock, LockHeldError, NoLocksError
from beltrami.partitions.answers.answering import PartCounts
from beltrami.partitions.crews.crew import is_full
from beltrami.partitions.model import Failure
from beltrami.tables.model import few_of

FOLDER = "_beltrami"
RUNS = "ids-"
"""How folders begin in which hashes of ids are kept for a while."""
_PAUSE_S = 1.0
"""Between two writings: at a kill the partitions of this long are answered once more."""


class Manifest:
    """The record of a job in its folder of results."""

    def __init__(
        self,
        out: Path,
        inputs: Mapping[str, str],
        options: Mapping[str, str],
        again: Mapping[str, Any],
    ) -> None:
        self.out = out
        self._path = out / FOLDER / "manifest.json"
        self._inputs, self._options, self._again = dict(inputs), dict(options), dict(again)
        self._left_out: list[str] = []
        self._done: dict[str, dict[str, Any]] = {}
        self._written = 0.0

    @property
    def key(self) -> str:
        """A hash of all that the results depend on."""
        known = [self._inputs, self._options, *[self._left_out] * bool(self._left_out)]
        facts = json.dumps(known, sort_keys=True)
        return hashlib.blake2b(facts.encode(), digest_size=20).hexdigest()

    @property
    def marker(self) -> Path:
        """A file that is there, and says who works on the folder, while it is held."""
        return self.out.absolute() / FOLDER / "lock"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder, take up what is done in it, or begin; raise where it is another's.

        What killed writers left is removed. Where nothing came of it, nothing is left behind. A
        disk that becomes full within the block is said.
        """
        self._require_ours()
        new = [one for one in (self.out, *self.out.parents) if not one.exists()]
        lock = self._lock()
        try:
            self._sweep()
            if self._path.exists():
                self._read()
            yield
        except OSError as error:
            if is_full(error):
                raise InvalidInputError(
                    f"the disk of {str(self.out)!r} is full ({error.strerror or error}). What is "
                    "done is kept and whole: free some space, and the same command goes on."
                ) from error
            raise
        finally:
            self._sweep()
            if lock is None:
                self.marker.unlink(missing_ok=True)
            else:
                lock.release()
            if not self._path.exists():
                for folder in (self.out / FOLDER, *new):
                    with suppress(OSError):
                        folder.rmdir()

    def _require_ours(self) -> None:
        if self.out.exists() and not self.out.is_dir():
            raise InvalidInputError(f"{str(self.out)!r} is a file. Name a folder for results.")
        held = sorted(p.name for p in self.out.iterdir()) if self.out.is_dir() else []
        if not self._path.exists() and [name for name in held if name != FOLDER]:
            raise InvalidInputError(
                f"the folder {str(self.out)!r} holds {few_of(held)}, which could be written "
                "over. Name an empty or a new folder."
            )

    def _lock(self) -> FileLock | None:
        """Take the folder for this process; None where the file system has no locks."""
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        who = f"process {os.getpid()} on {socket.gethostname()}, since {now}".encode()
        try:
            self.marker.parent.mkdir(parents=True, exist_ok=True)
            return FileLock.take(self.marker, who)
        except NoLocksError:
            self.marker.write_bytes(who)
            return None
        except LockHeldError as error:
            raise InvalidInputError(
                f"another job writes into {str(self.out)!r} "
                f"({error.holder.decode(errors='replace')}). Wait for it or stop it, or name "
                "another folder."
            ) from error
        except OSError as error:
            raise InvalidInputError(
                f"the folder {str(self.out)!r} cannot be written ({error.strerror or error}). Name "
                "one that can."
            ) from error

    def _sweep(self) -> None:
        """Remove what killed writers left behind: no temporary file may be taken for a result."""
        for name, _, _ in os.walk(self.out):
            remove_debris(Path(name))
        for folder in (self.out / FOLDER).glob(f"{RUNS}*"):
            shutil.rmtree(folder, ignore_errors=True)

    def _read(self) -> None:
        record = read_json(self._path)
        try:
            self._compare(record["inputs"], record["options"])
            self._done = dict(record["done"])
            self._left_out = list(record.get("left_out", []))
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

    def leave_out(self, failures: Sequence[Failure]) -> None:
        """Note which partitions cannot be read; where one of before can, nothing is done yet.

        It would have been among those that learning rests on.
        """
        names = sorted(one.name for one in failures)
        if not self._path.exists() or set(self._left_out) - set(names):
            self._left_out, self._done = names, {}

    def learn_without(self, failures: Sequence[Failure]) -> None:
        """Note that what learns was chosen anew without these; nothing that is done rests on it."""
        names = sorted(one.name for one in failures)
        if self._left_out != names:
            self._left_out, self._done = names, {}
            self.write()

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
            "left_out": self._left_out,
            "again": self._again,
            "done": dict(sorted(self._done.items())),
        }
        write_text(self._path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
        self._written = time.monotonic()
