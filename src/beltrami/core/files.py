"""Files are written whole or not at all."""

import json
import os
import re
import secrets
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from beltrami.core.errors import InvalidInputError

if sys.platform != "win32":
    import fcntl

_TOKEN_BYTES = 8
_USUAL_NAME_BYTES, _USUAL_PATH_BYTES = 255, 4096  # where the system does not say
_ANY_TARGET = r"\..*\.beltrami-"  # as `_around_token` writes it
_ADDED_BYTES = 64  # more than the temporary name is longer than the final one


@contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """Yield a temporary path beside `target`; rename it onto `target` only on success.

    A crash, an exception or Ctrl-C leaves whatever `target` held before, and no debris. Only a
    process that is killed outright leaves its temporary file, which the next writer of the same
    target removes; that of a writer still at work is locked and stays.

    The temporary path has the suffix of `target`; missing parent folders are made. An existing file
    keeps its permissions, and a symbolic link stays one: the file that it names is written.
    """
    final = written_place(target)
    final.parent.mkdir(parents=True, exist_ok=True)
    before, after = _around_token(final)
    remove_debris(final.parent, before, after)
    temporary = final.with_name(f"{before}{secrets.token_hex(_TOKEN_BYTES)}{after}")
    lock = None
    try:
        lock = _claim(temporary)
        yield temporary
        if final.exists():
            temporary.chmod(final.stat().st_mode & 0o777)
        temporary.replace(final)
    finally:
        temporary.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)


def written_place(target: Path) -> Path:
    """Return the file that is written in the end, with symbolic links followed.

    Raises where they lead in a circle, or to a pipe, a device or a socket.
    """
    final = Path(os.path.realpath(target)) if target.is_symlink() else target
    if final.is_symlink():
        raise InvalidInputError(
            f"{str(target)!r} is a symbolic link that leads in a circle. Name another file."
        )
    if final.exists() and not final.is_file() and not final.is_dir():
        raise InvalidInputError(
            f"{str(target)!r} is no regular file but a pipe, a device or a socket, which would be "
            "replaced. Name another file."
        )
    return final


def longest_name(folder: Path) -> int:
    """Return how many bytes a name in a folder may have."""
    return _limit(folder, "PC_NAME_MAX", _USUAL_NAME_BYTES)


def longest_path(folder: Path) -> int:
    """Return how many bytes a path may have, with room for what temporary files add."""
    return _limit(folder, "PC_PATH_MAX", _USUAL_PATH_BYTES) - _ADDED_BYTES


def _limit(folder: Path, name: str, usual: int) -> int:
    try:
        return os.pathconf(folder, name)
    except (OSError, ValueError, AttributeError):  # pragma: no cover - not on this platform
        return usual


def _around_token(final: Path) -> tuple[str, str]:
    """Return what stands before and after the random part of a temporary name, short enough."""
    stem, after = final.stem, final.suffix
    room = longest_name(final.parent) - 2 * _TOKEN_BYTES
    while stem and len(os.fsencode(f".{stem}.beltrami-{after}")) > room:
        stem = stem[:-1]
    return f".{stem}.beltrami-", after


def _claim(temporary: Path) -> int:
    """Create a temporary file and return the descriptor that holds its lock."""
    while True:
        # Opened with the permissions of any new file, so that the user's umask holds.
        lock = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        if sys.platform != "win32":
            with suppress(OSError):  # a file system without locks: nothing is removed there
                fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock).st_nlink:
            return lock
        os.close(lock)  # taken for debris between its making and its lock


def remove_debris(folder: Path, before: str | None = None, after: str = "") -> None:
    """Remove temporary files of a folder that no living process holds.

    `before` and `after` stand around the random part of the names of one target; None means those
    of all targets.
    """
    if sys.platform == "win32":
        return
    token = rf"[0-9a-f]{{{2 * _TOKEN_BYTES}}}"
    around = (re.escape(before), re.escape(after)) if before is not None else (_ANY_TARGET, r".*")
    debris = re.compile(token.join(around), re.DOTALL)
    with suppress(OSError):
        for path in folder.iterdir():
            if debris.fullmatch(path.name):
                _remove_unless_locked(path)


def _remove_unless_locked(path: Path) -> None:
    if sys.platform == "win32":
        return
    with suppress(OSError):  # locked, gone, or not ours
        held = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)
        finally:
            os.close(held)


def write_text(target: Path, text: str) -> None:
    """Write `text` to `target` atomically, as UTF-8."""
    with atomic_path(target) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_json(path: Path) -> Any:
    """Return what a JSON file of ours holds, or raise `InvalidInputError` with the reason."""
    if path.exists() and not path.is_file():
        raise InvalidInputError(f"{str(path)!r} is no regular file.")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or error
        raise InvalidInputError(f"{str(path)!r} cannot be read ({reason}).") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"{str(path)!r} is no JSON that we wrote ({error}). Remove it, or make it again."
        ) from error


def require_no_input(target: Path, inputs: Iterable[object]) -> None:
    """Raise when a result would be written over a file that was read."""
    for path in (Path(str(one)) for one in inputs if one is not None):
        # A missing folder on the way, as in "new/../data.csv", hides a file until it is made.
        is_same = os.path.realpath(target) == os.path.realpath(path)
        if is_same or (target.exists() and path.exists() and target.samefile(path)):
            raise InvalidInputError(
                f"{str(target)!r} is the input, which is never changed. Name another file."
            )
