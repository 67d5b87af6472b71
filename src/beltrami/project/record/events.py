"""What happens in a project: one frozen record each, checked when made, as JSON in and out.

Rows are positions in the input whose number stands beside them. Nothing here reads or writes files.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, ClassVar, Self, TypeAlias, get_args

from beltrami.core.errors import InvalidInputError
from beltrami.project.record.audit_events import AuditAnswered, AuditDrawn, RiskSet
from beltrami.project.record.checks import (
    check_choice,
    check_name,
    check_number,
    check_rows,
    check_time,
    is_text,
    require,
)

FILE = "file"
"""Who gives the labels that stand in the data, and how."""

IMPORT = "import"
"""How labels came in that people gave in another tool."""

HOWS = ("key", "click", "area", "api", IMPORT, FILE)
MARKS = ("skip", "unsure")
DOUBTS = ("label", "between", "island", "unlike", "twins", "spelling")
"""What a doubt may be about."""

_LONGEST_VALUE = 2000


def check_person(
    user: Any, otherwise: str = f"nobody may be called {FILE!r}: the labels of the data are"
) -> str:
    """Return the name of a person, or say what is wrong with it: `FILE` stands for the data."""
    name = check_name(user, "user")
    require(name != FILE, otherwise)
    return name


@dataclass(frozen=True, slots=True)
class Labelled:
    """Rows were given labels, or had them taken away.

    Attributes
    ----------
    rows : tuple of int
        Positions, each once.
    labels : tuple of str or None
        One for each row, or a single one for all; None takes a label away.
    how : {"key", "click", "area", "api", "import", "file"}
        By what means.
    old : tuple of str or None
        What the rows were called before, one each or a single one for all.
    input : int
        The input that the positions are of.
    """

    kind: ClassVar[str] = "label"

    rows: tuple[int, ...]
    labels: tuple[str | None, ...]
    how: str
    old: tuple[str | None, ...]
    input: int

    def __post_init__(self) -> None:
        check_rows(self.rows)
        for what, names in (("labels", self.labels), ("old labels", self.old)):
            require(
                len(names) in {1, len(self.rows)} or not self.rows,
                f"there are {len(names)} {what} for {len(self.rows)} row(s); give one for all, or "
                "one each",
            )
            for name in set(names) - {None}:
                check_name(name, "class")
        check_choice(self.how, HOWS, "how")
        check_number(self.input, "input")

    def pairs(self) -> Iterator[tuple[int, str | None]]:
        """Return each row with its label."""
        return zip(self.rows, spread(self.labels, len(self.rows)), strict=True)


@dataclass(frozen=True, slots=True)
class Marked:
    """Rows were skipped by a person, or nobody can tell what they are."""

    kind: ClassVar[str] = "mark"

    rows: tuple[int, ...]
    mark: str
    input: int

    def __post_init__(self) -> None:
        check_rows(self.rows)
        check_choice(self.mark, MARKS, "mark")
        check_number(self.input, "input")


@dataclass(frozen=True, slots=True)
class Kept:
    """A person looked at a doubt and left things as they are.

    Attributes
    ----------
    rows : tuple of int
        The rows it is about; none where it is about names of classes.
    about : {"label", "between", "island", "unlike", "twins", "spelling"}
        What kind of doubt.
    value : str
        What stood there, such as the label; where that changes, the doubt may come again.
    input : int
        The input that the positions are of.
    """

    kind: ClassVar[str] = "kept"

    rows: tuple[int, ...]
    about: str
    value: str
    input: int

    def __post_init__(self) -> None:
        check_rows(self.rows)
        check_choice(self.about, DOUBTS, "about")
        require(is_text(self.value), f"what was kept is a text, and not {self.value!r}")
        require(
            len(self.value) <= _LONGEST_VALUE,
            f"what was kept has {len(self.value)} characters, and may have {_LONGEST_VALUE}",
        )
        check_number(self.input, "input")


@dataclass(frozen=True, slots=True)
class ClassAdded:
    """A class was named before any row had it."""

    kind: ClassVar[str] = "class"

    name: str

    def __post_init__(self) -> None:
        check_name(self.name, "class")


@dataclass(frozen=True, slots=True)
class ClassRemoved:
    """A class that no row has was removed; it comes back where something is called so again."""

    kind: ClassVar[str] = "remove"

    name: str

    def __post_init__(self) -> None:
        check_name(self.name, "class")


@dataclass(frozen=True, slots=True)
class Renamed:
    """A class was given another name; where a class has that name, the two became one."""

    kind: ClassVar[str] = "rename"

    name: str
    to: str

    def __post_init__(self) -> None:
        check_name(self.name, "class")
        check_name(self.to, "class")
        require(self.name != self.to, f"the class {self.name!r} is called so already")


@dataclass(frozen=True, slots=True)
class TakenBack:
    """An earlier event was taken back."""

    kind: ClassVar[str] = "undo"

    event: int

    def __post_init__(self) -> None:
        check_number(self.event, "event")


@dataclass(frozen=True, slots=True)
class Returned:
    """What people said is again as it was after an earlier event."""

    kind: ClassVar[str] = "return"

    event: int

    def __post_init__(self) -> None:
        check_number(self.event, "event")


@dataclass(frozen=True, slots=True)
class RolesChanged:
    """The table is to be read by other options; these are all of them."""

    kind: ClassVar[str] = "roles"

    options: dict[str, Any]

    def __post_init__(self) -> None:
        options: Any = self.options
        is_record = isinstance(options, dict) and all(map(is_text, options))
        require(is_record, "options are names and values")


@dataclass(frozen=True, slots=True)
class InputSeen:
    """The data were opened and were not those of the event before, or lay elsewhere.

    Attributes
    ----------
    input : int
        Which of the inputs that the project has seen.
    source : str or None
        Where they are, seen from the project; None for a table in memory.
    """

    kind: ClassVar[str] = "input"

    input: int
    source: str | None

    def __post_init__(self) -> None:
        check_number(self.input, "input")
        is_place = self.source is None or (is_text(self.source) and bool(self.source))
        require(is_place, f"the place of the data is no text but {self.source!r}")


Body: TypeAlias = (
    Labelled
    | Marked
    | Kept
    | ClassAdded
    | ClassRemoved
    | Renamed
    | TakenBack
    | Returned
    | RolesChanged
    | InputSeen
    | AuditDrawn
    | AuditAnswered
    | RiskSet
)
_BODIES: dict[str, type[Any]] = {one.kind: one for one in get_args(Body)}
UNDOABLE = (Labelled, Marked, Kept, ClassAdded, ClassRemoved, Renamed)
"""What can be taken back and returned from; all else is a record that always stands."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    Attributes
    ----------
    number : int
        From 1, without gaps.
    at : str
        When, in UTC, to the microsecond.
    user : str
        Who; "file" for what the data say.
    body : Body
        What: one of the records above, or of an audit.
    taken_back : Event or None
        The event that this one takes back, where it does.
    """

    number: int
    at: str
    user: str
    body: Body
    taken_back: "Event | None" = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_number(self.number, "event")
        check_name(self.user, "user")
        check_time(self.at)

    @property
    def kind(self) -> str:
        """The kind of event, such as label, mark, rename, undo or return."""
        return self.body.kind

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows that it names; none where it is not about rows."""
        return self.body.rows if isinstance(self.body, Labelled | Marked | Kept) else ()

    @property
    def text(self) -> str:
        """The body as JSON."""
        content = {one.name: getattr(self.body, one.name) for one in fields(self.body)}
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    @classmethod
    def read(cls, number: int, at: str, user: str, kind: str, text: str) -> Self:
        """Return the event that was written so, or raise `InvalidInputError`."""
        body = _BODIES.get(kind)
        if body is None:
            raise InvalidInputError(f"there are no events of kind {kind!r}.")
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidInputError(f"its body is no JSON ({error}).") from error
        wanted = {one.name for one in fields(body)}
        found = set(content) if isinstance(content, dict) else {type(content).__name__}
        if found != wanted:
            has, needs = ", ".join(sorted(found)), ", ".join(sorted(wanted))
            raise InvalidInputError(f"a {kind} has {needs}, and this one {has}.")
        values = {name: _frozen(value) for name, value in content.items()}
        return cls(number, at, user, body(**values))


def now() -> str:
    """Return the time as events carry it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def spread(values: tuple[str | None, ...], n: int) -> tuple[str | None, ...]:
    """Return one value for each of n rows, where a single one may stand for all."""
    return values if len(values) == n else values * n


def pressed(values: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """Return a single value where all are the same."""
    return values[:1] if len(set(values)) == 1 else values


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
