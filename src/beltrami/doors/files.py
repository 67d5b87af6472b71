"""Files of other tools: JSON in blocks, and folders that are written whole or not at all."""

import gzip
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.core.files import atomic_path
from beltrami.tables.model import few_of
from beltrami.tables.writing import plain_json

LINES = (".jsonl", ".ndjson")
"""Endings of files with an object a line."""


def write_json_items(target: Path, items: Iterable[Any]) -> None:
    """Write items as one JSON list, or one a line where the name says so, each as it comes."""
    is_lines = target.suffix.lower() in LINES
    begin, between, end = ("", "\n", "\n") if is_lines else ("[\n", ",\n", "\n]\n")
    with (
        explained(target),
        atomic_path(target) as temporary,
        temporary.open("w", encoding="utf-8", errors="replace") as stream,
    ):
        separator = begin
        for item in items:
            stream.write(separator + write_json(item))
            separator = between
        stream.write(end if separator == between else begin + end)


def write_json(value: Any) -> str:
    """Return a value as JSON in one line; what is not finite is null."""
    return json.dumps(plain_json(value), ensure_ascii=False, default=str, allow_nan=False)


def read_items_of(path: Path, is_one: Callable[[Any], bool], otherwise: str) -> list[Any]:
    """Return the items of a file, all of which must be of one kind.

    - `otherwise`: what to say of one that is not.
    """
    items = read_json_items(path)
    for place, item in enumerate(items, start=1):
        if not is_one(item):
            raise InvalidInputError(
                f"item {place} of {path.name} is {otherwise}. Nothing was imported."
            )
    return items


def read_json_items(path: Path) -> list[Any]:
    """Return the items of a JSON list or of JSON lines, or say where the file is broken."""
    try:
        if path.suffix.lower() == ".gz":
            with gzip.open(path, "rt", encoding="utf-8-sig") as stream:
                text = stream.read()
        else:
            text = path.read_text(encoding="utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InvalidInputError(
            f"{str(path)!r} cannot be read ({error}); nothing was imported."
        ) from error
    if not text.strip():
        raise InvalidInputError(f"{path.name} is empty; nothing was imported.")
    if text.lstrip().startswith("["):
        items = _parse(text, path.name, "")
        return list(items)
    # Only line ends separate: a text may hold other characters that Python takes for them.
    lines = enumerate(text.split("\n"), start=1)
    return [_parse(line, path.name, f" in line {n}") for n, line in lines if line.strip()]


def _parse(text: str, name: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"{name} is broken{where}: it is no JSON ({error}). Nothing was imported; export it "
            "again."
        ) from error


@contextmanager
def explained(target: Path) -> Iterator[None]:
    """Say in one sentence why a file cannot be written."""
    try:
        yield
    except OSError as error:
        raise InvalidInputError(
            f"{str(target)!r} cannot be written ({error.strerror or error}). Nothing is left half "
            "written; free some space or choose another folder or name."
        ) from error


def write_folder(target: Path, files: dict[str, Callable[[Path], None]]) -> None:
    """Make a folder of files, each by its writer; one that is there is replaced when all are done.

    Only a folder that holds nothing but such files is replaced.
    """
    require_own_folder(target, files)
    fresh, old = (target.with_name(f".{target.name}.{secrets.token_hex(8)}") for _ in range(2))
    with explained(target):
        try:
            for name, write in files.items():
                place = fresh / name
                place.parent.mkdir(parents=True, exist_ok=True)
                write(place)
            if target.exists():
                os.rename(target, old)  # noqa: PTH104 - a folder that is open stays the same one
            try:
                fresh.rename(target)
            except BaseException:
                with suppress(OSError):
                    old.rename(target)
                raise
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
            shutil.rmtree(old, ignore_errors=True)


def require_own_folder(target: Path, files: Iterable[str]) -> None:
    """Raise where a folder holds something that we would not have written."""
    if not target.exists() and not target.is_symlink():
        return
    if target.is_symlink() or not target.is_dir():
        raise InvalidInputError(f"{str(target)!r} is no folder. Name another with --out.")
    places = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    others = sorted(places - set(files))
    if others:
        raise InvalidInputError(
            f"the folder {str(target)!r} holds {len(others)} file(s) that are not ours, such as "
            f"{few_of(others, 3)}, and would be replaced. Name another folder with --out."
        )
