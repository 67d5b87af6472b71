"""Labels that stand in the data themselves: what of them is news to a project."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.project.record.checks import check_name
from beltrami.project.record.chronicle import Chronicle
from beltrami.project.record.events import FILE, Event, Labelled, Renamed, pressed


@dataclass(frozen=True, slots=True)
class News:
    """What the data say that the project does not.

    Attributes
    ----------
    rows : tuple of int
        Rows whose label comes in.
    labels : tuple of str or None
        What they are, one each or one for all.
    n_denied : int
        Rows of which a person says otherwise, and is believed.
    """

    rows: tuple[int, ...]
    labels: tuple[str | None, ...]
    n_denied: int

    def lines(self, name: str) -> list[str]:
        """Return what a person should know of it."""
        lines = []
        if self.rows:
            lines.append(f"{len(self.rows):,} label(s) came in from {name}.")
        if self.n_denied:
            lines.append(
                f"{self.n_denied:,} row(s) have another label in {name} than was given here; the "
                "one given here is kept."
            )
        return lines


def news_of(values: NDArray[Any], chronicle: Chronicle) -> News:
    """Return what labels in the data are news.

    A label comes in where nobody has said anything of the row, or only the data have and say
    something else now. Where a person has taken the label away, or returned to a moment before it,
    the data must say something else than they did before. Classes that were renamed here are
    looked at under their new names.
    """
    name_now = _names_now(filter(chronicle.is_standing, chronicle.events))
    told = _last_told(chronicle)
    labels, rows, denied = chronicle.state.labels, [], 0
    texts = []
    for row, value in enumerate(values.tolist()):
        if value is None:
            continue
        text = _text(value, row)
        text = name_now.get(text, text)
        given = labels.get(row)
        if given is not None and given.label == text:
            continue
        if given is not None and given.how != FILE:
            denied += 1
        elif given is not None or told.get(row) != text:
            rows.append(row)
            texts.append(text)
    return News(tuple(rows), pressed(tuple(texts)), denied)


def _text(value: Any, row: int) -> str:
    try:
        return check_name(str(value), "class")
    except InvalidInputError as error:
        raise InvalidInputError(
            f"the label of row {row} cannot be one of a project: {error}"
        ) from error


def _names_now(standing: Iterable[Event]) -> dict[str, str]:
    """Return what became of names that were there from the beginning."""
    name_now: dict[str, str] = {}
    for event in reversed(list(standing)):
        if isinstance(event.body, Renamed):
            name_now[event.body.name] = name_now.get(event.body.to, event.body.to)
    return name_now


def _last_told(chronicle: Chronicle) -> dict[int, str]:
    """Return what the data said of each row when they were last heard, by the names of now."""
    told: dict[int, str] = {}
    name_now: dict[str, str] = {}
    for event in reversed(chronicle.events):
        match event.body:
            case Renamed(name=name, to=to) if chronicle.is_standing(event):
                name_now[name] = name_now.get(to, to)
            case Labelled(how="file") as body:
                for row, label in body.pairs():
                    if label is not None:
                        told.setdefault(row, name_now.get(label, label))
            case _:
                pass
    return told
