"""A user's own columns beside ours: a table enters, columns of a file that we write leave."""

import json
import os
import warnings
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import RenamedColumnsWarning
from beltrami.tables import Table
from beltrami.tables.model import is_list

PICTURE = "picture"
"""Our column of the paths of pictures."""

_PREFIX = "data_"
_SHOWN = 5


def own_columns(
    table: Table, ours: Iterable[str], target: Path, *, hidden: Collection[str | None] = ()
) -> dict[str, Any]:
    """Return the columns of a table under names that are free beside ours, none of them copied.

    Those in `hidden` are left out. Where rows are images, a column holds their paths, as seen from
    the folder of the target. A name that ours take, in whatever case, gets a prefix, and a
    `RenamedColumnsWarning` says so.
    """
    pictures = _picture_column(table, target)
    kept = [name for name in table.names if name not in hidden]
    names = _free_names(kept, [*ours, *pictures], target)
    columns = {names[name]: table.columns.column(name) for name in kept}
    return pictures | columns


def columns_of_rows(
    table: Table,
    rows: Collection[int],
    ours: Iterable[str],
    target: Path,
    *,
    hidden: Collection[str | None] = (),
) -> dict[str, NDArray[Any]]:
    """Return what a person looks at in some rows: `own_columns` of them, but for vectors."""
    vectors = [one.name for one in table.columns.schema if is_list(one.type)]
    columns = own_columns(table, ours, target, hidden={*hidden, *vectors})
    chosen = np.asarray(rows, dtype=np.int64)
    return {name: as_objects(values.take(chosen)) for name, values in columns.items()}


def facts_of_own(columns: dict[str, Any], table: Table) -> dict[str, str]:
    """Return which columns of a file are the user's, for whoever reads it again."""
    names = [name for name, values in columns.items() if not is_list(values.type)]
    pictures = {} if table.pictures is None else {"pictures": "yes"}
    return {"own_columns": json.dumps(names, ensure_ascii=False)} | pictures


def as_objects(values: Any) -> NDArray[Any]:
    """Return the cells of an arrow column as Python objects."""
    objects = np.empty(len(values), dtype=object)
    objects[:] = values.to_pylist()
    return objects


def relative_path(place: Path, target: Path) -> str:
    """Return a path as seen from the folder of a file, or the whole one where there is no way."""
    try:
        return Path(os.path.relpath(place, target.resolve().parent)).as_posix()
    except ValueError:  # another drive
        return place.as_posix()


def _picture_column(table: Table, target: Path) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if table.pictures is None:
        return {}
    folder = relative_path(table.pictures, target)
    paths = table.columns.column("id")
    return {PICTURE: pc.binary_join_element_wise(pa.scalar(folder, paths.type), paths, "/")}


def _free_names(names: list[str], ours: Iterable[str], target: Path) -> dict[str, str]:
    """Return what each column is called in the file."""
    taken, own = {_folded(name) for name in ours}, {_folded(name) for name in names}
    renamed: dict[str, str] = {}
    for name in (one for one in names if _folded(one) in taken):
        free = _PREFIX + name
        while _folded(free) in taken | own:
            free = _PREFIX + free
        taken.add(_folded(free))
        renamed[name] = free
    if renamed:
        pairs = [f"{name!r} is called {free!r}" for name, free in renamed.items()]
        more = f" and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
        warnings.warn(
            f"{target.name} has columns of ours and of yours with the same name; there, of yours, "
            f"{', '.join(pairs[:_SHOWN])}{more}.",
            RenamedColumnsWarning,
            stacklevel=4,
        )
    return {name: renamed.get(name, name) for name in names}


def _folded(name: str) -> str:
    """Return a name as it is compared: tables of labels are read in any case."""
    return name.strip().casefold()
