"""An audit by file: labels drawn from a written result, answers read back, a certificate."""

import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError, NotDrawnWarning
from beltrami.core.types import Seed
from beltrami.data.tables import read_table, table_facts
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

    def facts(self, n: int, seed: int) -> dict[str, str]:
        """Return what lets a draw be made again, when its answers come back."""
        return {"seed": str(seed), "n_drawn": str(n), "labels_sha256": self.fingerprint}

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
        self._require_drawn(path, ids)
        checked = answers != ""
        if not checked.any():
            raise InvalidInputError(
                f"the column 'answer' of {str(path)!r} is empty; fill in what the rows are."
            )
        pairs = zip(ids[checked].tolist(), answers[checked].tolist(), strict=True)
        wrong = sum(said[one] != answer for one, answer in pairs)
        return certify(int(checked.sum()), wrong, len(self.ids), confidence=confidence)

    def _require_drawn(self, path: Path, ids: NDArray[Any]) -> None:
        """Raise where answers are not those to the rows that were drawn, or warn if unknown."""
        facts = table_facts(path)
        if not {"seed", "n_drawn", "labels_sha256"} <= facts.keys():
            warnings.warn(
                f"nothing beside {str(path)!r} says how its rows were drawn. The certificate holds "
                "if they were drawn at random; keep the .meta.json that `beltrami audit` wrote.",
                NotDrawnWarning,
                stacklevel=3,
            )
            return
        if facts["labels_sha256"] != self.fingerprint:
            raise InvalidInputError(
                f"{str(path)!r} was drawn from other labels than these; draw anew from them, or "
                "give the table that it was drawn from."
            )
        drawn = self.drawn(int(facts["n_drawn"]), random_state=int(facts["seed"]))["id"]
        others = sorted(set(ids.tolist()) - set(drawn.tolist()))
        lost = sorted(set(drawn.tolist()) - set(ids.tolist()))
        if others or lost:
            what = f"{len(others)} row(s) that were not drawn" if others else ""
            what += " and " if others and lost else ""
            what += f"{len(lost)} of the rows drawn missing" if lost else ""
            raise InvalidInputError(
                f"{str(path)!r} has {what}, such as {(others or lost)[0]!r}. A certificate is "
                "about rows that chance chose: fill in the table as it was written, with nothing "
                "as the answer where you cannot tell."
            )


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
