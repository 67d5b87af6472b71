"""A desk of the studio with one person and no server: what is saved is learned at once.

A table enters; labels come in row by row, and what a page shows leaves as bytes and plain records.
It knows nothing of notebooks.
"""

import base64
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self
from weakref import WeakSet, finalize

from beltrami.core.errors import BeltramiError, InvalidInputError
from beltrami.core.store import remember_usually
from beltrami.core.telling.progress import job
from beltrami.core.telling.stages import FIT, Stage
from beltrami.labelling.options import LearningOptions
from beltrami.labelling.result import Labelling
from beltrami.project import ProjectError
from beltrami.project.opening import project_place
from beltrami.studio_server.desk import Desk
from beltrami.studio_server.keeping import Kept, keep_labels, labels_by_id
from beltrami.studio_server.wire.telling import tell_row, tell_state
from beltrami.tables import TableOptions

_SIDE = 96
"""Of a picture beside the map, in pixels."""

_OPEN: WeakSet["Session"] = WeakSet()
"""Sessions of this process: one that is opened anew takes its project over from the one before."""


class SavedButNotLearnedError(BeltramiError):
    """A label is on disk, and the learner could not make use of it."""


class Session:
    """A person at work on a table.

    Parameters
    ----------
    kept : Kept
        Where the labels are.
    user : str
        Who labels.
    options : LearningOptions
        How to learn.

    Attributes
    ----------
    is_over : bool
        Whether it was closed.
    when_over : callable or None
        Called when it is.
    """

    def __init__(self, kept: Kept, user: str, options: LearningOptions) -> None:
        self.is_over = False
        self.when_over: Callable[[], None] | None = None
        self._kept, self._user, self._options = kept, user, options
        self._desk = Desk(kept.project, _Nobody(), (user,), options, remembering=remember_usually)
        self._end = finalize(self, kept.end)  # at the latest when the process ends

    @classmethod
    def open(
        cls,
        source: Any,
        table: TableOptions,
        options: LearningOptions,
        *,
        project: Path | str | None = None,
        user: str = "me",
    ) -> Self:
        """Open the project of some data, compare the rows, and learn from the labels there are."""
        _hand_over(source, project)
        with job(Stage.READ, *FIT):
            session = cls(keep_labels(source, table, options, project, user), user, options)
            try:
                session._desk.learning.learn_now()
            except BaseException:
                session.close()
                raise
        _OPEN.add(session)
        return session

    # What a person does

    def label(self, rows: Sequence[int], label: Any) -> None:
        """Save the label of some rows, of an area where they are several, and learn from it.

        None takes labels away.
        """
        self._require_open()
        if not (label is None or isinstance(label, str)):
            raise InvalidInputError(f"a label is a text, or None to take one away, not {label!r}.")
        self._desk.label(self._user, list(rows), label, "area" if len(rows) > 1 else "click")
        self._learn()

    def undo(self) -> bool:
        """Take back what was done last; False where there is nothing."""
        self._require_open()
        if self._desk.undo(self._user) is None:
            return False
        self._learn()
        return True

    def settle(self) -> None:
        """Judge the candidates anew by all labels."""
        self._require_open()
        with remember_usually():
            self._desk.learning.settle()

    def result(self) -> Labelling:
        """Return every row labelled, as a fresh fit from these labels would."""
        self._require_open()
        with remember_usually():
            found = self._desk.learning.result(self._options)
        if found is None:
            n_classes = len(set(self.labels.values()))
            raise InvalidInputError(
                f"there are labels of {n_classes} class(es), and 2 are needed to tell them apart. "
                "Label a few rows of each."
            )
        return found

    def close(self) -> None:
        """End it; what was given stays in `labels`, and in the project's file."""
        if self.is_over:
            return
        self.is_over = True
        _OPEN.discard(self)
        self._desk.close()
        self._end()
        if self.when_over is not None:
            self.when_over()

    # What a page shows

    @property
    def n_rows(self) -> int:
        """How many rows the table has."""
        return self._desk.project.n_rows

    @property
    def path(self) -> Path:
        """The file of the project."""
        return self._desk.project.path

    @property
    def labels(self) -> dict[Any, str]:
        """The labels that were given, by the ids of their rows."""
        return labels_by_id(self._desk.project)

    @property
    def places(self) -> bytes:
        """Where the rows lie."""
        return self._desk.places_frame or b""

    @property
    def answers(self) -> bytes:
        """What is known of every row."""
        return self._desk.answers_frame or b""

    @property
    def facts(self) -> dict[str, Any]:
        """What stands around the map: classes, counts, sentences."""
        where = f"Labels are kept in {self.path.name}."
        if self._kept.folder is not None:
            where = "Labels last as long as this kernel: project= keeps them in a file."
        return tell_state(self._desk, self._user) | {"kept": where, "is_over": self.is_over}

    def item(self, row: Any) -> dict[str, Any]:
        """Return one row with what it holds, its picture within."""
        if not isinstance(row, int) or isinstance(row, bool) or not 0 <= row < self.n_rows:
            raise InvalidInputError(f"rows go from 0 to {self.n_rows - 1:,}, and {row!r} is none.")
        item = tell_row(self._desk, row)
        if item["picture"]:
            shown = base64.b64encode(self._desk.contents.picture(row, _SIDE)).decode()
            item["picture"] = f"data:image/png;base64,{shown}"
        return item

    def _learn(self) -> None:
        try:
            self._desk.learning.learn_now()
        except (BeltramiError, MemoryError) as error:
            raise SavedButNotLearnedError(
                f"the label is saved, but the map could not learn from it: {error}"
            ) from error

    def _require_open(self) -> None:
        if self.is_over:
            raise ProjectError(
                f"{self.path.name} was opened anew since, or closed: nothing is saved from here. "
                "Label on the newer map."
            )


def _hand_over(source: Any, project: Path | str | None) -> None:
    """Close the sessions of this process that write the project about to be opened."""
    if project is None and not isinstance(source, str | os.PathLike):
        return
    place = project_place(source, project)
    for session in list(_OPEN):
        if session.path == place:
            session.close()


class _Nobody:
    """Listeners that need not be told: the page of a notebook is sent all it needs after a deed."""

    def tell_progress(self, message: dict[str, Any]) -> None: ...

    def say(self, message: dict[str, Any]) -> None: ...

    def tell_state(self) -> None: ...

    def send_places(self, frame: bytes) -> None: ...

    def send_answers(self, frame: bytes) -> None: ...
