"""An audit by file: rows drawn from written labels, answers read back, a certificate."""

import difflib
import hashlib
import secrets
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.labelling.options import written_risk
from beltrami.labelling.proving.audit_record import AuditRecord
from beltrami.review.audit import Certificate
from beltrami.review.outlook import outlook
from beltrami.review.proof import USUAL_TARGET
from beltrami.review.trail import Round
from beltrami.tables import table_facts
from beltrami.tables.model import few_of
from beltrami.tables.own_results import SOURCES, Source
from beltrami.tables.reading.verbatim import read_texts

SHEET = ("id", "answer")
"""Our columns of the table to fill in."""

_NEEDED = ("id", "label", "source")
_CLASSES = ("label", "guess", "second_label")


@dataclass(frozen=True, slots=True)
class AuditedLabels:
    """A labels file that `beltrami label` wrote, with the record of its audits.

    Attributes
    ----------
    path : Path
        The file.
    accepted : dict of str to str
        Ids and labels of the rows that we labelled, as written.
    classes : frozenset of str
        Every class that the file speaks of.
    digest : str
        SHA-256 of ids, labels and sources.
    data : str
        SHA-256 of the rows that were labelled, without their labels, as the facts of the file have
        it; "" for unknown.
    record : AuditRecord
        What was drawn so far.
    n_elsewhere : int
        Accepted rows beside these, where these were drawn from all with equal chance.
    risk : float or None
        By which they were accepted, as far as that is written; None for no risk.
    """

    path: Path
    accepted: dict[str, str]
    classes: frozenset[str]
    digest: str
    data: str
    record: AuditRecord
    n_elsewhere: int = 0
    risk: float | None = None

    @property
    def n_accepted(self) -> int:
        """How many rows a certificate speaks of."""
        return len(self.accepted) + self.n_elsewhere

    @property
    def usual_target(self) -> float:
        """What is to be proved where nothing is said: what the risk promised, else 95 %."""
        if self.risk is None or not 0 < self.risk < 1:
            return USUAL_TARGET
        return round(1 - self.risk, 12)

    @classmethod
    def read(cls, path: Path) -> "AuditedLabels":
        """Read what `beltrami label` wrote, and the record beside it."""
        columns = read_texts(path, {*_NEEDED, *_CLASSES})
        missing = [name for name in _NEEDED if name not in columns]
        if missing:
            raise InvalidInputError(
                f"{str(path)!r} has no column {', '.join(map(repr, missing))}; an audit needs a "
                "table that `beltrami label` wrote."
            )
        ids, labels, sources = (columns[name] for name in _NEEDED)
        if len(set(ids)) < len(ids):
            raise InvalidInputError(
                f"{str(path)!r} holds ids more than once: {few_of(_repeats(ids))}. Every row "
                "needs an id of its own."
            )
        rows = zip(ids, labels, sources, strict=True)
        ours = SOURCES[Source.LABELLED]
        accepted = {one: label for one, label, source in rows if source == ours}
        if not accepted:
            raise InvalidInputError(f"{str(path)!r} holds no accepted label of ours to be checked.")
        classes = {text for name in _CLASSES for text in columns.get(name, ())} - {""}
        digest = hashlib.sha256(repr((ids, labels, sources)).encode("utf-8", "surrogatepass"))
        facts = table_facts(path)
        data, risk = facts.get("rows_sha256", ""), written_risk(facts.get("parameters", ""))
        record = AuditRecord.read(path)
        require_same_data(path, data, record)
        known = frozenset(classes)
        return cls(path, accepted, known, digest.hexdigest(), data, record, risk=risk)

    def draw(self, n: int | None, seed: int | None) -> "AuditedLabels":
        """Return the same with a further round of n rows drawn and recorded; an open one is kept.

        None rows means 65, or as many as the first round has. An open round of labels that have
        changed since is given up: its rows count as blank.
        """
        record = self.record
        one = record.trail.open_round
        if one is not None and record.sources[-1] == self.digest:
            if n not in {None, len(one.rows)}:
                raise InvalidInputError(
                    f"a round of {len(one.rows)} rows was drawn from {str(self.path)!r} and has no "
                    f"answers yet. Answer it first; to have its table again, leave out -n {n}."
                )
            return self
        chosen = secrets.randbits(63) if seed is None else seed
        trail = record.trail.give_up().draw(self.accepted, n, chosen, self.n_elsewhere)
        drawn = AuditRecord(
            trail,
            (*record.sources, self.digest),
            (*record.data, self.data),
            (*record.seeds, chosen),
        )
        return replace(self, record=drawn)

    @property
    def drawn(self) -> tuple[str, ...]:
        """The ids of the last round."""
        return self._last.rows

    @property
    def sheet(self) -> dict[str, NDArray[Any]]:
        """The open round as a table to fill in, without what we said: the check is blind."""
        columns = (np.array(self.drawn, dtype=object), np.full(len(self.drawn), None, dtype=object))
        return dict(zip(SHEET, columns, strict=True))

    @property
    def _last(self) -> Round:
        return self.record.trail.rounds[-1]

    def take_answers(self, path: Path, *, others: tuple[str, ...] = ()) -> "AuditedLabels":
        """Return the same with the answers of a filled-in sheet recorded.

        Answers in `others` are not among the classes of the file and mean "something else".
        """
        answers = _read_sheet(path)
        place = self._place_of(path, set(answers))
        one = self.record.trail.rounds[place]
        if one.answers is None and self.record.sources[place] != self.digest:
            raise InvalidInputError(
                f"{str(self.path)!r} has changed since the rows in {str(path)!r} were drawn from "
                "it, so the answers would be about other labels. Put back the labels file, or draw "
                f"a new round (the rows of this one then count as blank): beltrami audit "
                f"{self.path}"
            )
        self._require_classes(path, answers, others)
        filled_in = [answers[row] or None for row in one.rows]
        if not any(filled_in):
            raise InvalidInputError(
                f"the column 'answer' of {str(path)!r} is empty; fill in what the rows are."
            )
        trail = self.record.trail.answer(filled_in, place=place)
        return replace(self, record=replace(self.record, trail=trail))

    def _place_of(self, path: Path, ids: set[str]) -> int:
        """Return which round a sheet belongs to."""
        rounds = self.record.trail.rounds
        if not rounds:
            beside = AuditRecord.path_beside(self.path)
            raise InvalidInputError(
                f"no draw from {str(self.path)!r} is on record ({beside.name}), so nothing says "
                f"that the rows in {str(path)!r} were drawn at random, and only such rows can "
                "prove anything. Put the record back beside the labels, or draw: beltrami audit "
                f"{self.path}"
            )
        overlaps = [len(ids.intersection(one.rows)) for one in rounds]
        place = int(np.argmax(overlaps))
        drawn = set(rounds[place].rows)
        if ids == drawn:
            return place
        strange, lost = sorted(ids - drawn), sorted(drawn - ids)
        what = f"{len(strange)} row(s) that were not drawn" if strange else ""
        what += " and " if strange and lost else ""
        what += f"{len(lost)} of the {len(drawn)} rows drawn missing" if lost else ""
        raise InvalidInputError(
            f"{str(path)!r} has {what}, such as {(strange or lost)[0]!r}. A certificate is about "
            "rows that chance chose: fill in the table as it was written, with nothing as the "
            "answer where you cannot tell."
        )

    def _require_classes(
        self, path: Path, answers: dict[str, str], others: tuple[str, ...]
    ) -> None:
        """Raise on an answer that is not among the classes: it is a slip, or must be named."""
        known = self.classes.union(others, {""})
        odd = [(row, text) for row, text in answers.items() if text not in known]
        if not odd:
            return
        row, text = odd[0]
        near = difflib.get_close_matches(text, sorted(self.classes), n=1, cutoff=0.6)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InvalidInputError(
            f"{len(odd)} answer(s) in {str(path)!r} are no class of {self.path.name}, such as "
            f"{text!r} for row {row!r}.{hint} Its classes are {few_of(sorted(self.classes), 12)}, "
            "and answers are compared as written. Correct them; or, if they are right and mean "
            f"something else, name them: --other {text!r} (they count as wrong labels)."
        )

    def certificate(self, confidence: float) -> Certificate:
        """Return what all answers so far prove of the labels as they are now."""
        return self.record.trail.certificate(self.accepted, confidence=confidence)

    @property
    def wrong(self) -> list[str]:
        """The ids of the rows whose labels of now are wrong by the answers, as they were drawn."""
        pairs = self.record.trail.seen.items()
        return [
            row for row, answer in pairs if answer not in {None, self.accepted.get(row, answer)}
        ]

    def outlook(self, proof: Certificate, target: float) -> tuple[str, int | None]:
        """Say whether a target is proved, and how many further right answers would prove it.

        These are 0 where it is proved, and None where no number of them could.
        """
        found = outlook(self.record.trail, self.accepted, proof, target)
        if found.n_answers:
            return f"{found.words.removesuffix('.')}: beltrami audit {self.path}", found.n_answers
        return found.words, found.n_answers


def word_on_rewritten(path: Path) -> str:
    """Say what becomes of an audit whose labels were written anew; "" where nothing does."""
    if not AuditRecord.path_beside(path).exists():
        return ""
    try:
        audited = AuditedLabels.read(path)
    except InvalidInputError as error:
        return str(error)
    trail = audited.record.trail
    n_answers = sum(answer is not None for answer in trail.seen.values())
    if not n_answers or trail.continues(audited.accepted):
        return ""
    return (
        f"{AuditRecord.path_beside(path).name} holds {n_answers:,} answers about the labels that "
        f"were in {path.name} before, and proves nothing of these. Draw from these to begin a new "
        "certificate, or put the former labels back before you draw to keep the old one."
    )


def require_same_data(path: Path, data: str, record: AuditRecord) -> None:
    """Raise where the labels are of other data: the same id may then be another row."""
    if any(one not in {"", data} for one in record.data) and data:
        beside = AuditRecord.path_beside(path)
        raise InvalidInputError(
            f"{str(path)!r} holds labels of other data than those that were audited "
            f"({beside.name}), and the same id may be another row there. Move {beside.name} away "
            "to begin a new audit, or put back the labels of the data that it is about."
        )


def _read_sheet(path: Path) -> dict[str, str]:
    """Return the answers of a sheet by id, as written."""
    columns = read_texts(path, SHEET)
    missing = [name for name in SHEET if name not in columns]
    if missing:
        raise InvalidInputError(
            f"{str(path)!r} has no column {', '.join(map(repr, missing))}; it must be the table "
            "that `beltrami audit` wrote, filled in."
        )
    ids = columns["id"]
    answers = dict(zip(ids, columns["answer"], strict=True))
    if len(answers) < len(ids):
        raise InvalidInputError(
            f"{str(path)!r} holds ids more than once: {few_of(_repeats(ids))}. Each row has one "
            "answer; take the others out."
        )
    return answers


def _repeats(ids: list[str]) -> list[str]:
    return [one for one, count in Counter(ids).items() if count > 1]
