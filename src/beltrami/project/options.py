"""How the table of a project is to be read: options enter, JSON leaves, and comes back.

Places are written as seen from the folder of the project, so that it can be moved with its data.
Tables of labels beside the data are not kept: what they say becomes an event. Of a file of
embeddings and of a model for texts the hash is kept, too.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path, PurePath
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.tables.options import COLUMN_LISTS, DEFAULTS, FEATURE_LISTS, TableOptions

_TEXTS = ("label", "id", "delimiter", "decimal")
_BESIDE = ("embeddings", "text_model")
_OPTIONAL = ("embeddings_column", "text_model", *(f"{name}_digest" for name in _BESIDE))
"""Only written where there is something to write, so that earlier records stay what they are."""

NOT_KEPT = ("labels", "min_classes")
"""Options without a record: labels beside the data become an event, and each job has its own least
number of classes. Every other one must be recorded, or it would be lost on reopening."""

_NAMES = tuple(one.name for one in fields(TableOptions) if one.name != "min_classes")


def options_record(
    options: TableOptions, folder: Path, digests: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return options as JSON can hold them.

    Embeddings that are a text are a column here; a file is a path. `digests` has the hashes of what
    lies beside the data, by the name of the option.
    """
    record: dict[str, Any] = {name: getattr(options, name) for name in _TEXTS}
    record |= {name: list(getattr(options, name)) for name in COLUMN_LISTS}
    unlabeled = options.unlabeled
    is_nothing = isinstance(unlabeled, float) and math.isnan(unlabeled)
    record["unlabeled"] = None if is_nothing or unlabeled is None else str(unlabeled)
    record["impute"] = bool(options.impute)
    said = options.embeddings
    record["embeddings"] = place_beside(said, folder) if isinstance(said, os.PathLike) else None
    if isinstance(said, str):
        record["embeddings_column"] = said
    if options.text_model is not None:
        record["text_model"] = place_beside(options.text_model, folder)
    return record | {f"{name}_digest": digest for name, digest in (digests or {}).items()}


def read_options(record: dict[str, Any], folder: Path) -> TableOptions:
    """Return the options of a record, or say what is wrong with it."""
    known = options_record(DEFAULTS, folder)
    if set(record) - set(_OPTIONAL) != set(known):
        raise InvalidInputError(f"options are {', '.join(known)}, and not {', '.join(record)}.")
    for name, value in record.items():
        if name in COLUMN_LISTS:
            is_fine = isinstance(value, list) and all(isinstance(one, str) for one in value)
        elif name == "impute":
            is_fine = isinstance(value, bool)
        else:
            is_fine = value is None or isinstance(value, str)
        if not is_fine:
            raise InvalidInputError(f"the option {name!r} cannot be {value!r}.")
    values = {name: value for name, value in record.items() if name in _NAMES}
    for name in _BESIDE:
        if values.get(name) is not None:
            values[name] = found_beside(values[name], folder)
    if record.get("embeddings_column") is not None:
        values["embeddings"] = record["embeddings_column"]
    return replace(DEFAULTS, **values)


def changes_beside(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> list[str]:
    """Say which files beside the data are no longer what they were, from two records."""
    lines = []
    for name in _BESIDE if before is not None else ():
        digest = f"{name}_digest"
        hashes = (before or {}).get(digest), now.get(digest)
        is_same_place = now.get(name) is not None and (before or {}).get(name) == now[name]
        if is_same_place and None not in hashes and hashes[0] != hashes[1]:
            lines.append(
                f"{PurePath(now[name]).name} has changed since: rows are compared by what it holds "
                "now, and labels stay with their rows."
            )
    return lines


def merge_options(given: TableOptions, kept: TableOptions) -> TableOptions:
    """Return what a user says now, and what is kept of what was said before.

    Of the options on columns (`features`, `text`, `categories`, `numbers`, `ignore`) all are taken
    as they are said now where one of them is. A column that is something else now is no longer
    what it was. Rows are compared by columns, by embeddings or by texts in a model's eyes: what is
    said now ends what was said of the others.
    """
    said = said_options(given)
    if "embeddings" in said:
        kept = replace(kept, text_model=None, features=(), text=(), categories=(), numbers=())
    elif not said.isdisjoint({*FEATURE_LISTS, "text_model"}):
        kept = replace(kept, embeddings=None)
    named = {getattr(given, name) for name in ("label", "id") if name in said}
    values: dict[str, Any] = {}
    if said.isdisjoint(COLUMN_LISTS):
        lists = {name: getattr(kept, name) for name in COLUMN_LISTS}
        values |= {name: tuple(one for one in lists[name] if one not in named) for name in lists}
    else:
        named |= {one for name in COLUMN_LISTS for one in getattr(given, name)}
    for name in _NAMES:
        if name not in said and name not in COLUMN_LISTS:
            value = getattr(kept, name)
            is_other_now = name in {"label", "id"} and value in named
            values[name] = None if is_other_now else value
    return replace(given, **values)


def said_options(given: TableOptions) -> set[str]:
    """Return the names of the options that a user says something by."""
    return {name for name in _NAMES if not _is_default(name, getattr(given, name))}


def _is_default(name: str, value: Any) -> bool:
    default = getattr(DEFAULTS, name)
    return value is default or (isinstance(value, str | tuple | bool) and value == default)


def place_beside(path: str | os.PathLike[str], folder: Path) -> str:
    """Return where a file is, seen from a folder."""
    place = whole_path(path)
    try:
        return PurePath(os.path.relpath(place, folder)).as_posix()
    except ValueError:  # on another drive
        return place.as_posix()


def found_beside(place: str, folder: Path) -> Path:
    """Return the file that lies somewhere, seen from a folder."""
    return Path(os.path.normpath(folder / place))


def whole_path(path: str | os.PathLike[str]) -> Path:
    """Return a path from the root on; a link stays a link."""
    return Path(os.path.normpath(Path(path).absolute()))
