"""The data of a project: read as for any labelling, with what tells one row from another.

Where a command would ask back, a project takes the reading that says least, and asks on its page.
"""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.labelling.intake import Intake, take_in
from beltrami.project.inputs import Sighting, file_digest
from beltrami.project.options import whole_path
from beltrami.tables import TableOptions
from beltrami.tables.columns.labels import OpenMarkerError
from beltrami.tables.features.texts import model_digest


@dataclass(frozen=True, slots=True)
class OpenMarker:
    """What may be a class or mark rows without a label; it is read as the latter for now.

    Attributes
    ----------
    value : str
        How it is written.
    column : str
        Where.
    n_rows : int
        How often.
    """

    value: str
    column: str
    n_rows: int

    @property
    def line(self) -> str:
        """What a person should know of it."""
        return (
            f"{self.n_rows:,} row(s) hold {self.value} in the label column {self.column!r}, and no "
            "cell is empty. For now they count as rows without a label. Say on the page, or by "
            f'--unlabeled {self.value}, that they are; or, by --unlabeled "", that {self.value} is '
            "a class."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """A table, read, how to know its rows again, and what is open.

    Attributes
    ----------
    intake : Intake
        The table.
    seen : Sighting
        How to know its rows again.
    options : TableOptions
        What it was read by; embeddings that are a text are a column of it.
    digests : dict of str to str
        Hashes of what was read beside it, by the name of the option.
    open_marker : OpenMarker or None
        What nobody has said the meaning of.
    """

    intake: Intake
    seen: Sighting
    options: TableOptions
    digests: dict[str, str] = field(default_factory=dict)
    open_marker: OpenMarker | None = None


def read_data(source: Any, options: TableOptions) -> Data:
    """Read the data; no label is needed."""
    path, beside = _file(source), _file(options.embeddings)
    before = _stamp(path), _stamp(beside)
    intake, marker = _take_in(source, replace(options, min_classes=0))
    table, roles = intake.table, intake.roles
    if intake.has_embeddings and table.names:
        table = replace(table, matrix=None)  # another matrix beside them leaves the rows the same
    if beside is not None and intake.has_embeddings:
        options = replace(options, embeddings=whole_path(beside))
    ids = None if roles.id is None else tuple(map(str, intake.ids))
    n_bytes = before[0][0]
    seen = Sighting(table, roles.label, roles.id, ids, options.id is not None, path, n_bytes)
    if path is not None:
        seen.digest(n_bytes)
    digests = _digests(options)
    if (_stamp(path), _stamp(beside)) != before:
        raise InvalidInputError(
            f"{table.name} was changed while it was read, or its embeddings were. Open it again."
        )
    return Data(intake, seen, options, digests, marker)


def _take_in(source: Any, options: TableOptions) -> tuple[Intake, OpenMarker | None]:
    """Read the table; what may be a class or a gap is a gap, for no label is to be made up."""
    try:
        return take_in(source, options), None
    except OpenMarkerError as error:
        marker = OpenMarker(error.marker, error.column, error.n_rows)
        return take_in(source, replace(options, unlabeled=marker.value)), marker


def _file(said: Any) -> Path | None:
    """Return the file that somebody named, if there is one."""
    is_file = isinstance(said, str | os.PathLike) and Path(said).is_file()
    return Path(said) if is_file else None


def _digests(options: TableOptions) -> dict[str, str]:
    """Return the hashes of a file of embeddings and of a model for texts, where there are any."""
    digests = {}
    if isinstance(options.embeddings, os.PathLike):
        path = Path(options.embeddings)
        digests["embeddings"] = file_digest(path, path.stat().st_size)
    if options.text_model is not None:
        digests["text_model"] = model_digest(Path(options.text_model))
    return digests


def _stamp(path: Path | None) -> tuple[int, int]:
    """Return the size of a file, and when it was changed."""
    if path is None:
        return 0, 0
    facts = path.stat()
    return facts.st_size, facts.st_mtime_ns
