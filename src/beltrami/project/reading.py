"""The data of a project: read as for any labelling, with what tells one row from another."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.labelling.intake import Intake, take_in
from beltrami.project.inputs import Sighting
from beltrami.tables import TableOptions


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """A table, read, and how to know its rows again."""

    intake: Intake
    seen: Sighting


def read_data(source: Any, options: TableOptions) -> Data:
    """Read the data; no label is needed."""
    is_file = isinstance(source, str | os.PathLike) and Path(source).is_file()
    path = Path(source) if is_file else None
    before = _stamp(path)
    intake = take_in(source, replace(options, min_classes=0))
    table, roles = intake.table, intake.roles
    if options.embeddings is not None and table.names:
        table = replace(table, matrix=None)  # another matrix beside them leaves the rows the same
    ids = None if roles.id is None else tuple(map(str, intake.ids))
    seen = Sighting(table, roles.label, roles.id, ids, options.id is not None, path, before[0])
    if path is not None:
        seen.digest(before[0])
    if _stamp(path) != before:
        raise InvalidInputError(f"{table.name} was changed while it was read. Open it again.")
    return Data(intake, seen)


def _stamp(path: Path | None) -> tuple[int, int]:
    """Return the size of a file, and when it was changed."""
    if path is None:
        return 0, 0
    facts = path.stat()
    return facts.st_size, facts.st_mtime_ns
