"""Files are written whole or not at all."""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from beltrami.core.errors import InvalidInputError


@contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """Yield a temporary path beside `target`; rename it onto `target` only on success.

    A crash, an exception or Ctrl-C leaves whatever `target` held before, and no debris.

    Parameters
    ----------
    target : Path
        Where the file shall be; missing parent folders are made. An existing file keeps its
        permissions.

    Yields
    ------
    Path
        Write here. It has the same suffix as `target`.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.stem}-{secrets.token_hex(8)}{target.suffix}")
    # Opened with the permissions of any new file, so that the user's umask holds.
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield temporary
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(target: Path, text: str) -> None:
    """Write `text` to `target` atomically, as UTF-8."""
    with atomic_path(target) as temporary:
        temporary.write_text(text, encoding="utf-8")


def require_no_input(target: Path, inputs: Iterable[object]) -> None:
    """Raise when a result would be written over a file that was read.

    Parameters
    ----------
    target : Path
        Where the result shall be.
    inputs : iterable of path or None
        What was read.
    """
    for path in (Path(str(one)) for one in inputs if one is not None):
        # A missing folder on the way, as in "new/../data.csv", hides a file until it is made.
        is_same = target.resolve() == path.resolve()
        if is_same or (target.exists() and path.exists() and target.samefile(path)):
            raise InvalidInputError(
                f"{str(target)!r} is the input, which is never changed. Name another file."
            )
