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
    as they are said now where one of them is.
    """
    groups = [(one.name,) for one in fields(TableOptions) if one.name not in _COLUMNS]
    values: dict[str, Any] = {}
    for group in (*groups, _COLUMNS):
        is_said = any(not _is_default(name, getattr(given, name)) for name in group)
        values |= {name: getattr(given if is_said else kept, name) for name in group}
    return replace(given, **(values | {"min_classes": given.min_classes}))


def _is_default(name: str, value: Any) -> bool:
    default = getattr(DEFAULTS, name)
    return value is default or (isinstance(value, str | tuple | bool) and value == default)


def place_beside(path: str | os.PathLike[str], folder: Path) -> str:
    """Return where a file is, seen from a folder."""
    place = Path(path).resolve()
    try:
        return PurePath(os.path.relpath(place, folder)).as_posix()
    except ValueError:  # on another drive
        return place.as_posix()


def found_beside(place: str, folder: Path) -> Path:
    """Return the file that lies somewhere, seen from a folder."""
    return Path(os.path.normpath(folder / place))
