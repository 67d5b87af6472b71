"""An audit by file: labels drawn from a written result, answers read back, a certificate."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import Seed
from beltrami.data.tables import read_table
from beltrami.learners.review.audit import Certificate, certify, draw_audit
from beltrami.report.labelling.result import PROPAGATED

_NEEDED = ("id", "label", "source")


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Labels that were accepted and not given by a person.

    Attributes
    ----------
    ids : ndarray of shape (m,)
        Their rows, as text.
    labels : ndarray of shape (m,)
        What we said, as text.
    fingerprint : str
        Of the file.
    """

    ids: NDArray[Any]
    labels: NDArray[Any]
    fingerprint: str

    @classmethod
    def read(cls, path: Path) -> "Pool":
        """Read what `beltrami label` wrote."""
        table = read_table(path)
        missing = [name for name in _NEEDED if name not in table.names]
        if missing:
            raise InvalidInputError(
                f"{str(path)!r} has no column {', '.join(map(repr, missing))}; an audit needs a "
                "table that `beltrami label` wrote."
            )
        ids, labels, source = (_texts(table, name) for name in _NEEDED)
        own = source == PROPAGATED
        if not own.any():
            raise InvalidInputError(f"{str(path)!r} holds no accepted label of ours to be checked.")
        return cls(ids[own], labels[own], table.fingerprint())

    def drawn(self, n: int, *, random_state: Seed) -> dict[str, NDArray[Any]]:
        """Return a random sample as columns, without what we said: the check is blind."""
        rows = draw_audit(np.arange(len(self.ids)), n, random_state)
        return {"id": self.ids[rows], "answer": np.full(len(rows), None, dtype=object)}

    def certified(self, path: Path, *, confidence: float) -> Certificate:
        """Return what filled-in answers prove."""
        table = read_table(path)
        missing = [name for name in ("id", "answer") if name not in table.names]
        if missing:
            raise InvalidInputError(
                f"{str(path)!r} has no column {', '.join(map(repr, missing))}; it must be the "
                "table that `beltrami audit` wrote, filled in."
            )
        ids, answers = _texts(table, "id"), _texts(table, "answer")
        said = dict(zip(self.ids.tolist(), self.labels.tolist(), strict=True))
        strange = [one for one in ids.tolist() if one not in said]
        if strange:
            raise InvalidInputError(
                f"{len(strange)} id(s) in {str(path)!r}, such as {strange[0]!r}, are not among the "
                "accepted labels; the answers belong to another table."
            )
        if len(set(ids.tolist())) < len(ids):
            raise InvalidInputError(f"{str(path)!r} holds an id twice; each row counts once.")
        checked = answers != ""
        if not checked.any():
            raise InvalidInputError(
                f"the column 'answer' of {str(path)!r} is empty; fill in what the rows are."
            )
        pairs = zip(ids[checked].tolist(), answers[checked].tolist(), strict=True)
        wrong = sum(said[one] != answer for one, answer in pairs)
        return certify(int(checked.sum()), wrong, len(self.ids), confidence=confidence)


def _texts(table: Any, name: str) -> NDArray[Any]:
    """Return a column as text, such that 3, 3.0 and "3" are the same."""
    values = table.columns.column(name).to_pylist()
    return np.array([_text(value) for value in values], dtype=object)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if math.isnan(value) else str(int(value) if value.is_integer() else value)
    return str(value).lower() if isinstance(value, bool) else str(value).strip()
