"""What the rows of an audit are: ids that were drawn enter, the user's columns of them leave.

The label column is never among them: the check is blind.
"""

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from beltrami.core.errors import BeltramiError, InvalidInputError, OtherDataWarning
from beltrami.labelling.proving.audits import SHEET
from beltrami.labelling.showing.own_columns import PICTURE, columns_of_rows, relative_path
from beltrami.tables import Table, TableOptions, read_table, row_ids, table_facts
from beltrami.tables.columns.naming import find_id, is_label_name, known_name
from beltrami.tables.columns.roles import Roles
from beltrami.tables.model import few_of
from beltrami.tables.reading.verbatim import read_texts, write_verbatim

_NO_COLUMN = "None"


@dataclass(frozen=True, slots=True, eq=False)
class AuditContents:
    """What the rows of a round are.

    Attributes
    ----------
    line : str
        Where it was found, or why there is nothing.
    columns : dict of str to ndarray of shape (m,)
        The user's own columns; empty where they were not found.
    """

    line: str
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)


def find_contents(
    labels: Path, drawn: Sequence[str], target: Path, data: Path | None = None
) -> AuditContents:
    """Look for what the rows are: in the data named, beside the labels, or where these came from.

    Data that nobody named are used only where they are, by their digest, those that were labelled.
    """
    labelled = _LabelledData(labels, table_facts(labels))
    if data is not None:
        table = labelled.read(data)
        labelled.require_likely(table, data, drawn)
        return labelled.contents(table, drawn, target)
    own = labelled.own_columns(drawn, target)
    if own:
        return AuditContents(f"what the rows are: your columns in {labels.name}", own)
    for place in labelled.places():
        try:
            table = labelled.read(place)
        except BeltramiError:
            continue
        if labelled.is_same(table) and not labelled.lost(table, drawn):
            return labelled.contents(table, drawn, target)
    return AuditContents(
        f"only ids: the data that were labelled ({labelled.name}) are not to be found, or have "
        "changed. Name them to see what the rows are: --data FILE"
    )


@dataclass(frozen=True, slots=True)
class _LabelledData:
    """What the facts of a labels file say of the data that were labelled."""

    labels: Path
    facts: dict[str, str]

    @property
    def name(self) -> str:
        return self.facts.get("data", "their name is not known")

    @property
    def _label(self) -> str | None:
        return self.facts.get("label_column")

    def places(self) -> list[Path]:
        """Return where the data may be: where they were, beside the labels, here."""
        folder, name = self.labels.resolve().parent, self.facts.get("data")
        places = [folder / self.facts["data_path"]] if "data_path" in self.facts else []
        places += [] if name is None else [folder / name, Path.cwd() / name]
        return [place for place in dict.fromkeys(places) if place.exists()]

    def read(self, place: Path) -> Table:
        options = TableOptions(
            label=self._label,
            id=self._id(),
            delimiter=self.facts.get("delimiter"),
            decimal=self.facts.get("decimal"),
        )
        return read_table(place, options)

    def is_same(self, table: Table) -> bool:
        """Say whether these are the rows that were labelled."""
        rows = table.without(self._label)
        if rows.fingerprint() == self.facts.get("rows_sha256"):
            return True
        beside = self.facts.get("columns_sha256")
        return beside is not None and replace(rows, matrix=None).fingerprint() == beside

    def lost(self, table: Table, drawn: Sequence[str]) -> list[str]:
        """Return the ids that the data do not have."""
        rows = self._rows(table)
        return [one for one in drawn if one not in rows]

    def require_likely(self, table: Table, place: Path, drawn: Sequence[str]) -> None:
        """Raise or warn where data that the user named are not known to be those labelled."""
        lost = self.lost(table, drawn)
        if lost:
            raise InvalidInputError(
                f"{len(lost)} of the {len(drawn)} rows drawn are not in {str(place)!r}: "
                f"{few_of(lost)}. Name the data that were labelled, or leave out --data."
            )
        if self.is_same(table):
            return
        if self._id(table) is None:
            raise InvalidInputError(
                f"{str(place)!r} is not known to hold the rows that were labelled, and its rows "
                "have no ids but their numbers, so another row could be shown. Name the data that "
                "were labelled, or leave out --data."
            )
        warnings.warn(
            f"{place.name} is not known to be what was labelled: it has changed since, or "
            f"{self.labels.name} does not say. The rows are shown by their ids.",
            OtherDataWarning,
            stacklevel=3,
        )

    def contents(self, table: Table, drawn: Sequence[str], target: Path) -> AuditContents:
        rows = self._rows(table)
        hidden = {self._id(table), self._label}
        if self._label is None:
            hidden |= {name for name in table.names if is_label_name(name)}
        columns = columns_of_rows(table, [rows[one] for one in drawn], SHEET, target, hidden=hidden)
        return AuditContents(f"what the rows are: from {table.name}", columns)

    def own_columns(self, drawn: Sequence[str], target: Path) -> dict[str, NDArray[Any]]:
        """Return the user's columns that the labels file itself holds, if it was written so."""
        import pyarrow as pa

        names = _names(self.facts.get("own_columns", "[]"))
        texts = read_texts(self.labels, {"id", *names}) if names else {}
        place = {one: row for row, one in enumerate(texts.get("id", ()))}
        shown = {
            name: [texts[name][place[one]] or None for one in drawn]
            for name in names
            if name in texts and name not in {"id", self._label}
        }
        if self.facts.get("pictures") == "yes" and PICTURE in shown:
            folder = self.labels.resolve().parent
            shown[PICTURE] = [relative_path(folder / str(one), target) for one in shown[PICTURE]]
        table = Table(self.labels.name, pa.table({name: shown[name] for name in shown}))
        return columns_of_rows(table, range(len(drawn)), SHEET, target)

    def _id(self, table: Table | None = None) -> str | None:
        name = self.facts.get("id_column")
        if name is not None:
            return None if name == _NO_COLUMN else name
        return None if table is None else find_id(table)

    def _rows(self, table: Table) -> dict[str, int]:
        """Return the rows of the data by their ids, as the labels file has these."""
        name = self._id(table)
        ids = row_ids(table, Roles(id=name if name is None else known_name(name, table, "id")))
        return {write_verbatim(one): row for row, one in enumerate(ids)}


def _names(text: str) -> list[str]:
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [str(name) for name in names] if isinstance(names, list) else []
