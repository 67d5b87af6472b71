"""How the table of a project is to be read: options enter, JSON leaves, and comes back.

Places are written as seen from the folder of the project, so that it can be moved with its data.
Tables of labels beside the data are not kept: what they say becomes an event.
"""

import math
import os
from dataclasses import fields, replace
from pathlib import Path, PurePath
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.tables.options import DEFAULTS, TableOptions

_TEXTS = ("label", "id", "delimiter", "decimal")
_COLUMNS = ("features", "text", "categories", "numbers", "ignore")
_NAMES = tuple(one.name for one in fields(TableOptions) if one.name != "min_classes")


def options_record(options: TableOptions, folder: Path) -> dict[str, Any]:
    """Return options as JSON can hold them."""
    record: dict[str, Any] = {name: getattr(options, name) for name in _TEXTS}
    record |= {name: list(getattr(options, name)) for name in _COLUMNS}
    unlabeled = options.unlabeled
    is_nothing = isinstance(unlabeled, float) and math.isnan(unlabeled)
    record["unlabeled"] = None if is_nothing or unlabeled is None else str(unlabeled)
    record["impute"] = bool(options.impute)
    is_place = isinstance(options.embeddings, str | os.PathLike)
    record["embeddings"] = place_beside(options.embeddings, folder) if is_place else None
    return record


def read_options(record: dict[str, Any], folder: Path) -> TableOptions:
    """Return the options of a record, or say what is wrong with it."""
    known = options_record(DEFAULTS, folder)
    if set(record) != set(known):
        raise InvalidInputError(f"options are {', '.join(known)}, and not {', '.join(record)}.")
    for name, value in record.items():
        if name in _COLUMNS:
            is_fine = isinstance(value, list) and all(isinstance(one, str) for one in value)
        elif name == "impute":
            is_fine = isinstance(value, bool)
        else:
            is_fine = value is None or isinstance(value, str)
        if not is_fine:
            raise InvalidInputError(f"the option {name!r} cannot be {value!r}.")
    values = dict(record)
    if values["embeddings"] is not None:
        values["embeddings"] = found_beside(values["embeddings"], folder)
    return replace(DEFAULTS, **values)


def merge_options(given: TableOptions, kept: TableOptions) -> TableOptions:
    """Return what a user says now, and what is kept of what was said before.

    Of the options on columns (`features`, `text`, `categories`, `numbers`, `ignore`) all are taken
    as they are said now where one of them is. A column that is something else now is no longer
    what it was.
    """
    said = said_options(given)
    named = {getattr(given, name) for name in ("label", "id") if name in said}
    values: dict[str, Any] = {}
    if said.isdisjoint(_COLUMNS):
        lists = {name: getattr(kept, name) for name in _COLUMNS}
        values |= {name: tuple(one for one in lists[name] if one not in named) for name in lists}
    else:
        named |= {one for name in _COLUMNS for one in getattr(given, name)}
    for name in _NAMES:
        if name not in said and name not in _COLUMNS:
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
