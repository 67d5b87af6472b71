"""What the rows of a page are: a labelling enters; lines, views and small pictures leave."""

import base64
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.telling.progress import track
from beltrami.core.types import IndexVector
from beltrami.labelling.showing.contents import Content, RowContents
from beltrami.report.page.model import LISTED, RowView
from beltrami.report.page.packing import shorten

if TYPE_CHECKING:
    from beltrami.labelling.result import Labelling

_TEXT_LENGTH, _CELL_LENGTH = 320, 80
_MOST_CELLS, _MOST_UNUSUAL = 6, 4
_PICTURE_SIDE = 64
_PICTURE_BYTES = 1_000_000
"""What all pictures of a page may take."""


@dataclass(frozen=True, slots=True, eq=False)
class ShownRows:
    """What the page shows of rows.

    Attributes
    ----------
    previews : callable
        Takes row numbers and returns a line for each.
    views : dict of str to RowView
        Of the rows that lists name, by id.
    pictures : dict of str to str
        PNG in base64, by id: of the rows that lists name first.
    note : str
        Of which rows there are pictures.
    """

    previews: Callable[[IndexVector], list[str]]
    views: dict[str, RowView]
    pictures: dict[str, str] = field(default_factory=dict)
    note: str = ""


def shown_rows(labelling: "Labelling") -> ShownRows:
    """Gather what the page shows of its rows."""
    contents, ids = labelling.contents, labelling.intake.ids
    named = _named_rows(labelling)
    views = {str(ids[row]): _view(contents.content(row)) for row in named}

    def previews(rows: IndexVector) -> list[str]:
        return contents.previews(rows.tolist())

    if not contents.has_pictures:
        return ShownRows(previews, views)
    others = generator(0).permutation(np.setdiff1d(np.arange(len(ids)), named))
    pictures = _pictures(contents, [*named, *others.tolist()])
    by_id = {str(ids[row]): picture for row, picture in pictures.items()}
    note = _note(len(ids), len(pictures), all(row in pictures for row in named))
    return ShownRows(previews, views, by_id, note)


def _named_rows(labelling: "Labelling") -> list[int]:
    """Return the rows that lists of the page name, in their order."""
    asked = [one.row for one in labelling.questions[: LISTED["questions"]]]
    suspects = labelling.issues.rows[: LISTED["issues"]].tolist()
    number = labelling.learner.island_
    examples = (
        np.flatnonzero(number == one)[: LISTED["examples"]].tolist()
        for one in range(min(LISTED["islands"], int(number.max(initial=-1)) + 1))
    )
    return list(dict.fromkeys([*asked, *suspects, *(row for rows in examples for row in rows)]))


def _view(content: Content) -> RowView:
    """Choose what a list shows: the text, what is unusual, and the first cells."""
    telling = [cell for cell in content.cells if cell.value.strip() or cell.unusual]
    unusual = [cell for cell in telling if cell.unusual][:_MOST_UNUSUAL]
    usual = [cell for cell in telling if cell not in unusual][: _MOST_CELLS - len(unusual)]
    shown = [cell for cell in telling if cell in unusual or cell in usual]
    cells = (
        (shorten(cell.name, _CELL_LENGTH), shorten(cell.value, _CELL_LENGTH), cell.unusual or "")
        for cell in shown
    )
    text = shorten(content.text or "", _TEXT_LENGTH)
    return RowView(text, tuple(cells), len(content.cells) - len(shown))


def _pictures(contents: RowContents, rows: Iterable[int]) -> dict[int, str]:
    """Return as many small pictures as the page may hold, in base64."""
    made: dict[int, str] = {}
    room = _PICTURE_BYTES
    with track("making small pictures", total=room) as advance:
        for row in rows:
            with suppress(InvalidInputError):  # gone since, or a link that leads elsewhere
                picture = base64.b64encode(contents.picture(row, _PICTURE_SIDE)).decode("ascii")
                room -= len(picture)
                if room < 0:
                    break
                made[row] = picture
                advance(len(picture))
    return made


def _note(n_rows: int, n_pictures: int, has_named: bool) -> str:
    """Say of which rows there are pictures."""
    if n_pictures == n_rows:
        return f"Pictures are copies of at most {_PICTURE_SIDE} pixels."
    first = "all rows that lists name and others at random" if has_named else "those in lists first"
    return (
        f"Pictures are copies of at most {_PICTURE_SIDE} pixels, of {n_pictures:,} of {n_rows:,} "
        f"rows: {first}, as many as fit into {_PICTURE_BYTES // 1000:,} kB."
    )
