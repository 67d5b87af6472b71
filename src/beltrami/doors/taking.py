"""Answers come into a project: rows are found by id, the newest word is kept, all or none saved."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from beltrami.core.errors import InvalidInputError
from beltrami.doors.answers import Answer, Reading, as_text
from beltrami.project import Project
from beltrami.project.record.checks import check_name
from beltrami.project.record.events import FILE, IMPORT, check_person
from beltrami.project.record.state import Given, State
from beltrami.tables.model import few_of


@dataclass(slots=True)
class Taken:
    """What became of the answers in a file.

    Attributes
    ----------
    name : str
        The file.
    answers : dict of int to Answer
        By row, those that came in.
    n_same : int
        Rows that had the label already.
    n_replaced : int
        Rows that had another label, which was older.
    n_kept : int
        Rows that have another label, which is newer and stays.
    n_disputed : int
        Rows of which the file says different things.
    unknown : list of str
        Ids that no row has.
    new_classes : list of str
        Classes that the project did not have.
    """

    name: str
    answers: dict[int, Answer] = field(default_factory=dict)
    n_same: int = 0
    n_replaced: int = 0
    n_kept: int = 0
    n_disputed: int = 0
    unknown: list[str] = field(default_factory=list)
    new_classes: list[str] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """Count of rows by what became of them."""
        return {
            "imported": len(self.answers),
            "same": self.n_same,
            "replaced": self.n_replaced,
            "kept": self.n_kept,
            "disputed": self.n_disputed,
            "unknown": len(self.unknown),
        }

    def lines(self) -> list[str]:
        """Return what a person should know."""
        by_class = Counter(one.label for one in self.answers.values())
        counts = [f"{n:,} of {label!r}" for label, n in by_class.most_common(5)]
        more = f" and {len(by_class) - 5} more" if len(by_class) > 5 else ""
        which = f": {', '.join(counts)}{more}" if counts else ""
        told = (
            (self.n_same, "row(s) had this label already."),
            (self.n_replaced, "of the row(s) had another label, which was older and is replaced."),
            (self.n_kept, "row(s) have a newer label in the project, which is kept."),
            (
                self.n_disputed,
                f"row(s) have different labels in {self.name}; the newest one counts.",
            ),
        )
        lines = [f"{len(self.answers):,} label(s) came in from {self.name}{which}."]
        lines += [f"{count:,} {words}" for count, words in told if count]
        if self.unknown:
            lines.append(
                f"{len(self.unknown):,} id(s) are of no row of the data and were left out: "
                f"{few_of(self.unknown)}."
            )
        if self.new_classes:
            lines.append(f"new class(es): {few_of(self.new_classes)}.")
        return lines


def take_answers(project: Project, reading: Reading, user: str) -> Taken:
    """Save what a file says as events, one for each person; a person unknown to it is `user`."""
    check_person(user)
    taken = Taken(reading.name)
    with project.lock:
        newest = _newest(project, reading, taken)
        for row, answer in newest.items():
            _weigh(row, answer, project.state, taken)
        labels = {one.label for one in taken.answers.values()}
        taken.new_classes = sorted(labels - set(project.state.class_names))
        if taken.answers:
            project.import_labels(_parcels(taken.answers, user))
    return taken


def _newest(project: Project, reading: Reading, taken: Taken) -> dict[int, Answer]:
    """Return what is said last of each row."""
    row_of = {as_text(one): row for row, one in enumerate(project.data.ids.tolist())}
    if not reading.answers:
        raise InvalidInputError(
            f"{reading.name} has no label of a person, so there is nothing to import."
        )
    newest: dict[int, Answer] = {}
    disputed: set[int] = set()
    unknown: dict[str, None] = {}
    for answer in reading.answers:
        _check(answer, reading.name)
        row = row_of.get(answer.id)
        if row is None:
            unknown[answer.id] = None
            continue
        before = newest.get(row)
        if before is not None and before.label != answer.label:
            disputed.add(row)
        if before is None or not _is_older(answer.at, before.at):
            newest[row] = answer
    if not newest:
        raise InvalidInputError(
            f"none of the {len(unknown):,} id(s) in {reading.name} is one of the rows of "
            f"{project.data.table.name}: there they are {few_of(unknown, 3)}, here "
            f"{few_of(list(row_of)[:3])} and so on. Name the column of ids with --id-column. "
            "Nothing was imported."
        )
    taken.unknown, taken.n_disputed = list(unknown), len(disputed)
    return newest


def _check(answer: Answer, name: str) -> None:
    try:
        check_name(answer.label, "class")
        if answer.user is not None:
            check_name(answer.user, "user")
    except InvalidInputError as error:
        raise InvalidInputError(
            f"what {name} says of {answer.id!r} cannot be taken: {error} Nothing was imported."
        ) from error


def _is_older(at: datetime | None, other: datetime | None) -> bool:
    """Say whether one time is before the other; where one is not known, neither is."""
    return at is not None and other is not None and at < other


def _weigh(row: int, answer: Answer, state: State, taken: Taken) -> None:
    """Let an answer in where it is news, and no person has said otherwise since."""
    given = state.labels.get(row)
    if given is not None and given.label == answer.label:
        taken.n_same += 1
    elif given is not None and _is_later_word(given, answer):
        taken.n_kept += 1
    else:
        taken.n_replaced += given is not None
        taken.answers[row] = answer


def _is_later_word(given: Given, answer: Answer) -> bool:
    """Say whether a person labelled here after the answer; labels from files have no such time."""
    is_own = given.how not in (FILE, IMPORT)
    return is_own and _is_older(answer.at, datetime.fromisoformat(given.at))


def _parcels(answers: dict[int, Answer], user: str) -> Iterable[tuple[str, str, dict[int, str]]]:
    """Return who gave which labels, and how."""
    parcels: dict[tuple[str, str], dict[int, str]] = {}
    for row, answer in answers.items():
        person = user if answer.user in (None, FILE) else answer.user
        how = "area" if answer.is_area else IMPORT
        parcels.setdefault((str(person), how), {})[row] = answer.label
    return [(person, how, labels) for (person, how), labels in parcels.items()]
