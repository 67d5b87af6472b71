"""Where partitions come from: a folder, a pattern, a file or a dask DataFrame enters.

To add a format: its ending in `_KINDS`, and its arrow format in `files.py`.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine import memory
from beltrami.labelling.showing.own_columns import relative_path
from beltrami.partitions.model import Partition
from beltrami.partitions.reading.files import FilePartition
from beltrami.partitions.reading.frames import frame_partitions, is_dask_frame
from beltrami.tables.model import few_of

_KINDS = {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
}
_PATTERN = frozenset("*?[")

_SHARE_OF_FREE = 1 / 3
"""Of free memory that a file may have in bytes before it is read in parts."""


def is_partitioned(source: Any) -> bool:
    """Say whether a source is a folder or a pattern of tables, or a dask DataFrame."""
    if not isinstance(source, str | os.PathLike):
        return is_dask_frame(source)
    path = Path(source)
    if path.is_dir():
        return any(_kind(one) is not None for one in _files_below(path))
    return _is_pattern(path)


def is_table_file(path: Path) -> bool:
    """Say whether a path is a file that can be read in parts."""
    return path.is_file() and _kind(path) is not None


def is_large(path: Path) -> bool:
    """Say whether a file is too large for what is free of memory, so that it is read in parts."""
    return path.stat().st_size > _SHARE_OF_FREE * memory.available_bytes()


def find_partitions(source: Any, *, delimiter: str | None = None) -> tuple[Partition, ...]:
    """Return the partitions of a source, sorted by name; raise where there are none.

    A file is one partition. Names are paths below the folder, or below the part of the pattern
    that holds no sign.
    """
    if is_dask_frame(source):
        return frame_partitions(source)
    if not isinstance(source, str | os.PathLike):
        raise InvalidInputError(
            f"partitions come from a folder, a pattern, a file or a dask DataFrame, and "
            f"{type(source).__name__} is none of them. A table in memory is for bt.label."
        )
    path = Path(source)
    if path.is_dir():
        root, files = path, _files_below(path)
    elif _is_pattern(path):
        root = _root_of(path)
        files = [one for one in root.glob(str(path.relative_to(root))) if _is_file(one)]
    elif path.is_file():
        root, files = path.parent, [path]
    else:
        raise InvalidInputError(f"there is no file or folder {str(path)!r}.")
    kinds = {one: kind for one in files if (kind := _kind(one)) is not None}
    _require_one_kind(kinds, path, files)
    found: list[Partition] = [
        FilePartition(one.relative_to(root).as_posix(), str(one.resolve()), kind, delimiter)
        for one, kind in kinds.items()
    ]
    return tuple(sorted(found, key=lambda one: one.name))


def place_of(source: Any, partitions: Sequence[Partition], target: Path) -> dict[str, Any] | None:
    """Return where partitions lie, seen from the folder of a file; None where they are no files."""
    one = partitions[0]
    if not isinstance(one, FilePartition):
        return None
    path = Path(source)
    below = path.relative_to(_root_of(path)) if _is_pattern(path) else Path(path.name)
    return {
        "root": relative_path(Path(one.path[: -len(one.name)]), target),
        "below": None if path.is_dir() else str(below),
        "kind": one.kind,
        "delimiter": one.delimiter,
    }


def found_again(place: Mapping[str, Any], names: Iterable[str], folder: Path) -> list[Partition]:
    """Return the partitions of these names that lie somewhere, seen from a folder."""
    root = Path(os.path.normpath(folder.resolve() / place["root"]))
    return [FilePartition(n, str(root / n), place["kind"], place["delimiter"]) for n in names]


def _files_below(folder: Path) -> list[Path]:
    """Return the files below a folder but for those that are hidden or that tools add, as _SUCCESS.

    Such a name begins with a point or an underscore.
    """
    below = (one for one in folder.rglob("*") if _is_file(one))
    return [one for one in below if not any(p[0] in "._" for p in one.relative_to(folder).parts)]


def _is_file(path: Path) -> bool:
    """Say whether a path is a file; a link to one that is gone is."""
    return path.is_file() or not path.exists()


def folder_of(source: Path) -> Path:
    """Return the folder below which the partitions of a folder, a pattern or a file lie."""
    if source.is_dir():
        return source
    return _root_of(source) if _is_pattern(source) else source.parent


def _is_pattern(path: Path) -> bool:
    return not path.exists() and bool(_PATTERN & set(str(path)))


def _root_of(pattern: Path) -> Path:
    """Return the folder of a pattern above the first part with a sign in it."""
    parts = pattern.parts
    first = next(place for place, part in enumerate(parts) if _PATTERN & set(part))
    return Path(*parts[:first])


def _kind(path: Path) -> str | None:
    return _KINDS.get(path.suffix.lower())


def _require_one_kind(kinds: dict[Path, str], path: Path, files: list[Path]) -> None:
    if not kinds:
        held = few_of(sorted(one.name for one in files)) or "nothing"
        raise InvalidInputError(
            f"{str(path)!r} holds no partition: a name must end in one of {', '.join(_KINDS)}, and "
            f"there is {held}."
        )
    counts = Counter(kinds.values())
    if len(counts) > 1:
        listed = " and ".join(f"{n:,} {kind}" for kind, n in sorted(counts.items()))
        raise InvalidInputError(
            f"{str(path)!r} holds files of several kinds ({listed}), and it is open which are the "
            f"data. Name those by a pattern, such as '{path}/*.parquet'."
        )
