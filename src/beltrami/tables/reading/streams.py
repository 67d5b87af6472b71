"""Text files as bytes, packed or not: read in blocks, with faults found by line."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from beltrami.core.errors import CorruptDataError, InvalidInputError
from beltrami.core.machine.memory import available_bytes

_BLOCK_BYTES = 2**24
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, unpacked where its name ends in .gz."""
    if path.suffix.lower() == ".gz":
        return cast("IO[bytes]", gzip.GzipFile(path, "rb"))
    return path.open("rb")


def byte_blocks(path: Path) -> Iterator[bytes]:
    """Yield the unpacked content in blocks; a broken package raises `CorruptDataError`."""
    try:
        with open_bytes(path) as stream:
            while block := stream.read(_BLOCK_BYTES):
                yield block
    except (EOFError, zlib.error, OSError) as error:
        raise CorruptDataError(path=str(path), reason=str(error)) from error


def unpacked_bytes(path: Path) -> int:
    """Return how large the file is when unpacked, or a size that no memory holds.

    What a package says of its own size is true of its last part only, so it is unpacked and
    counted, up to a point where the answer no longer matters.
    """
    if path.suffix.lower() != ".gz":
        return path.stat().st_size
    enough, size = available_bytes(), 0
    for block in byte_blocks(path):
        size += len(block)
        if size > enough:
            break
    return size


def first_bytes(path: Path, n_bytes: int) -> bytes:
    """Return the first bytes of a text file, after a look at what it is at all."""
    head = next(byte_blocks(path), b"")[:n_bytes]
    if not head.strip(b"\xef\xbb\xbf \t\r\n"):
        raise InvalidInputError(f"{path.name} is empty. Give a file with at least one row.")
    if head.startswith(_UTF16):
        raise InvalidInputError(
            f"{path.name} is in UTF-16 and not in UTF-8. Save it again as UTF-8."
        )
    return head


def require_utf8(path: Path) -> None:
    """Raise with line and byte of the first character that is not UTF-8, if there is one."""
    with open_bytes(path) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise InvalidInputError(
                    f"{path.name} is not in UTF-8: line {number} holds the byte "
                    f"0x{line[error.start]:02x} at place {error.start + 1}. Save it again as "
                    "UTF-8, for example with 'iconv -f latin1 -t utf-8 IN > OUT'."
                ) from error
