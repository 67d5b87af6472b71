"""Which column is meant: names as users type them enter, names of columns leave."""

import difflib
import re
from collections.abc import Collection
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.tables.model import Table, decode_categories, few_of

LABEL_NAMES = ("label", "labels", "class", "target", "category", "y")
_ID_NAMES = ("id", "uid", "uuid", "key", "index")
_LAST_ID_NAMES = ("name", "path")
_ID_ENDING = re.compile(r"[_\s-](id|ID|Id)$|[a-z](Id|ID)$")


def known_name(name: str, table: Table, role: str) -> str:
    """Return `name` if the table has such a column, else raise with the nearest one."""
    if name in table.names:
        return name
    lower = {column.lower(): column for column in table.names}
    near = difflib.get_close_matches(str(name).lower(), list(lower), n=1, cutoff=0.5)
    hint = f" Did you mean {lower[near[0]]!r}?" if near else ""
    has = few_of(table.names, 20) or "no named columns"
    raise InvalidInputError(
        f"there is no column {name!r} in {table.name} ({role}).{hint} It has {has}."
    )


def is_label_name(name: str) -> bool:
    """Say whether a column is called like one of labels."""
    return name.strip().lower() in LABEL_NAMES


def is_id_name(name: str) -> bool:
    """Say whether a column is called like one of ids, whatever it holds."""
    return name.strip().lower() in _ID_NAMES or bool(_ID_ENDING.search(name.strip()))


def find_id(table: Table) -> str | None:
    """Return the column that names the rows, or None.

    It is the index of the data frame, else a column called id, uid, uuid, key or index, else the
    only one whose name ends like "user_id" or "UserId", else one called name or path; with texts
    or integers that are all there and all different.
    """
    if table.index is not None and names_rows(table.columns.column(table.index)):
        return table.index
    lower: dict[str, str] = {}
    for column in table.names:
        lower.setdefault(column.strip().lower(), column)
    endings = [column for column in table.names if _ID_ENDING.search(column.strip())]
    candidates = [lower[name] for name in _ID_NAMES if name in lower]
    candidates += endings if len(endings) == 1 else []
    candidates += [lower[name] for name in _LAST_ID_NAMES if name in lower]
    return next((name for name in candidates if names_rows(table.columns.column(name))), None)


def find_meant_id(table: Table, taken: Collection[str | None]) -> str | None:
    """Return a column called "id" where most of its values name one row only, or None.

    It does not name every row, as `find_id` has found; somebody meant it to, and `row_ids` says
    what is wrong with it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in table.names:
        kind = table.columns.schema.field(name).type
        is_key = pa.types.is_integer(kind) or pa.types.is_string(kind)
        if name.strip().lower() == "id" and is_key and name not in taken:
            n_distinct = pc.count_distinct(table.columns.column(name)).as_py()
            if 2 * n_distinct > table.n_rows:
                return name
    return None


def names_rows(column: Any) -> bool:
    """Say whether a column holds a different text, whole number or date in every row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = decode_categories(column)
    types = pa.types
    is_key = (
        types.is_string(values.type)
        or types.is_large_string(values.type)
        or types.is_integer(values.type)
        or types.is_temporal(values.type)
    )
    # Nulls are not counted, so a column with gaps fails.
    return bool(is_key and pc.count_distinct(values).as_py() == len(values))
