"""One writer a project: a lock that the system lets go of, however the process ends.

It is on a file of its own beside the project. Were it on the project itself, closing its descriptor
would drop the locks that SQLite holds there.
"""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Self

from beltrami.project.errors import ProjectError, ProjectInUseError
from beltrami.project.events import now

if sys.platform != "win32":
    import fcntl

_MOST_BYTES = 4096


class WriterLock:
    """The right to write a project, until it is let go.

    Where the system has no such locks (Windows), nothing is locked, and the numbers of events keep
    two writers from writing over each other.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path, self._descriptor = path, descriptor

    @classmethod
    def take(cls, project: Path, user: str) -> Self:
        """Take the lock, or raise with who has it."""
        path = lock_file(project)
        while True:
            descriptor = _open(path, project)
            try:
                if sys.platform != "win32":
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                holder = os.read(descriptor, _MOST_BYTES)
                os.close(descriptor)
                raise ProjectInUseError(_in_use(project, holder)) from error
            except OSError as error:
                os.close(descriptor)
                raise ProjectError(
                    f"{str(path)!r} cannot be locked ({error.strerror or error}), so two processes "
                    "could write the project at once. Put it on a disk of this machine, or open it "
                    "with --read-only."
                ) from error
            if _is_file_of(path, descriptor):
                break
            os.close(descriptor)  # its last holder took the file away in between
        with suppress(OSError):  # a full disk: then nobody is told who has it
            os.ftruncate(descriptor, 0)
            who = {"process": os.getpid(), "user": user, "since": now()}
            os.write(descriptor, json.dumps(who).encode())
        return cls(path, descriptor)

    def release(self) -> None:
        """Let go, and take the file away."""
        with suppress(OSError):
            self._path.unlink()
        os.close(self._descriptor)


def lock_file(project: Path) -> Path:
    """Return the file that is locked while a project is written."""
    return project.with_name(f"{project.name}-lock")


def _open(path: Path, project: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise ProjectError(
            f"the project {str(project)!r} cannot be written ({error.strerror or error}). Choose "
            "a folder that may be written to with --project, or open a project that is there with "
            "--read-only."
        ) from error


def _is_file_of(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _in_use(project: Path, holder: bytes) -> str:
    try:
        who = json.loads(holder)
        said = f" (process {int(who['process'])}, user {who['user']!r}, since {who['since'][:19]})"
    except (ValueError, TypeError, KeyError):
        said = ""
    return (
        f"the project {str(project)!r} is being written by another process{said}, and two would "
        "write over each other. Stop that one, or open the project with --read-only."
    )
