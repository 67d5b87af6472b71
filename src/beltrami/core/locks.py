"""A lock on a file that the system lets go of, however the process ends that holds it."""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Self

if sys.platform != "win32":
    import fcntl

_MOST_BYTES = 4096


class LockHeldError(Exception):
    """Another process holds a lock; `holder` is what it wrote about itself."""

    def __init__(self, holder: bytes) -> None:
        super().__init__(holder)
        self.holder = holder


class NoLocksError(OSError):
    """A file system on which a file cannot be locked."""


class FileLock:
    """A file that this process holds, and no other, until it is let go.

    Where the system has no such locks (Windows), nothing is locked.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path, self._descriptor = path, descriptor

    @classmethod
    def take(cls, path: Path, holder: bytes) -> Self:
        """Take the lock and say who has it.

        Raises `LockHeldError` where another has it, `NoLocksError` where nothing can be locked, and
        any other `OSError` where the file cannot be opened.
        """
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                if sys.platform != "win32":
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                held = os.read(descriptor, _MOST_BYTES)
                os.close(descriptor)
                raise LockHeldError(held) from error
            except OSError as error:
                os.close(descriptor)
                raise NoLocksError(error.errno, error.strerror) from error
            if _is_file_of(path, descriptor):
                break
            os.close(descriptor)  # its last holder took the file away in between
        with suppress(OSError):  # a full disk: then nobody is told who has it
            os.ftruncate(descriptor, 0)
            os.write(descriptor, holder)
        return cls(path, descriptor)

    def release(self) -> None:
        """Let go, and take the file away."""
        with suppress(OSError):
            self._path.unlink()
        os.close(self._descriptor)


def _is_file_of(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
