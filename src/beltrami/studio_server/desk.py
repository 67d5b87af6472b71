"""The desk at which people label: a project, the learner at work on it, questions, listeners.

What people do enters here, is saved, and wakes the learner; what it finds goes out to every page.
"""

import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from beltrami.core.errors import BeltramiError
from beltrami.core.telling.progress import ProgressEvent, listen
from beltrami.core.types import FloatMatrix
from beltrami.front_door.classifier import ManifoldClassifier
from beltrami.labelling.bare import write_bare
from beltrami.labelling.intake import Intake
from beltrami.labelling.main_job import make_learner
from beltrami.labelling.options import LearningOptions
from beltrami.labelling.showing.contents import RowContents
from beltrami.project import Project
from beltrami.project.page import Draft, draft_page, finish_page, too_few_classes
from beltrami.project.project import labelled_intake
from beltrami.project.record.events import Event
from beltrami.project.record.state import weight_of
from beltrami.questions import Question
from beltrami.report.page import save_page
from beltrami.studio_server.answers import Answers
from beltrami.studio_server.auditing import Auditing
from beltrami.studio_server.board import Board
from beltrami.studio_server.learner.learning import Learning
from beltrami.studio_server.wire.frames import pack_answers, pack_changes, pack_places
from beltrami.tables import TableOptions


class Listeners(Protocol):
    """Pages that are open; may be called from any thread."""

    def tell_progress(self, message: dict[str, Any]) -> None:
        """Send to all how far something is."""

    def say(self, message: dict[str, Any]) -> None:
        """Send something to all that a person must read."""

    def tell_state(self) -> None:
        """Send to each what it is to know of the state."""

    def send_places(self, frame: bytes) -> None:
        """Send a map to all."""

    def send_answers(self, frame: bytes) -> None:
        """Send answers, or what has changed of them, to all."""


class Desk:
    """Where people label.

    Parameters
    ----------
    project : Project
        Open, and closed by `close`.
    listeners : Listeners
        Who is told.
    users : tuple of str
        Who may come.
    options : LearningOptions
        How to learn.
    make : callable or None, default=None
        Makes the learner of a table; None means the usual one.
    is_read_only : bool, default=False
        Whether nothing may be changed.
    remembering : callable
        Makes the context in which graphs and maps are kept between commands.
    about : str, default=""
        What the rows are, where they are some of more.
    """

    def __init__(
        self,
        project: Project,
        listeners: Listeners,
        users: tuple[str, ...],
        options: LearningOptions,
        *,
        make: Callable[[Intake], ManifoldClassifier] | None = None,
        is_read_only: bool = False,
        remembering: Callable[[], AbstractContextManager[None]] = nullcontext,
        about: str = "",
    ) -> None:
        self.about = about
        self.project, self.users, self.is_read_only = project, users, is_read_only
        self.contents = RowContents.of(project.data)
        self.colourable: tuple[tuple[str, str], ...] = ()
        self.board = Board()
        self.learning = Learning(
            project, self, make or partial(make_learner, options=options), remembering
        )
        self.words: list[str] = list(project.words)
        self.auditing = Auditing(project, self.learning, self.board)
        self.given_counts: Counter[str] = Counter()
        self._options, self._listeners, self._remembering = options, listeners, remembering
        self._role_giver = users[0]
        self._count_given()
        self._lock = threading.Lock()
        self._places: bytes | None = None
        self._progress: dict[str, Any] | None = None

    def open(self) -> None:
        """Begin to learn."""
        self.learning.start()
        self._look_at_columns()

    def close(self) -> None:
        """Stop learning, and close the project."""
        try:
            self.learning.stop()
        finally:
            self.project.close()

    # What people do

    def label(self, user: str, rows: list[int], label: str | None, how: str) -> Event:
        """Save a label of some rows."""
        event = self.project.label(user, rows, label, how)
        self.board.close(rows)
        self._saved()
        return event

    def mark(self, user: str, rows: list[int], mark: str) -> Event:
        """Save that somebody skips some rows, or that nobody can tell what they are."""
        event = self.project.mark(user, rows, mark)
        self.board.close(rows)
        self._saved()
        return event

    def keep(self, user: str, about: str, rows: list[int], value: str) -> Event:
        """Save that somebody looked at a doubt and leaves things as they are."""
        event = self.project.keep(user, about, rows, value)
        self._saved()
        return event

    def undo(self, user: str) -> Event | None:
        """Take back what this person did last."""
        event = self.project.undo(user)
        if event is not None:
            self._saved()
        return event

    def return_to(self, user: str, number: int) -> Event:
        """Save that what people said is again as it was after an event."""
        event = self.project.return_to(user, number)
        self._saved()
        return event

    def add_class(self, user: str, name: str) -> Event:
        """Save a class that has no label yet."""
        event = self.project.add_class(user, name)
        self._saved()
        return event

    def remove_class(self, user: str, name: str) -> Event:
        """Save that a class is gone which no row has."""
        event = self.project.remove_class(user, name)
        self._saved()
        return event

    def rename_class(self, user: str, old: str, new: str, *, merge: bool) -> Event:
        """Save another name of a class, which may be that of another class."""
        event = self.project.rename_class(user, old, new, merge=merge)
        self._saved()
        return event

    def change_roles(self, user: str, changes: dict[str, Any]) -> None:
        """Compare rows by other columns from now on."""
        self._read_by(user, replace(self.project.options, **changes))
        self.learning.renew()

    def _read_by(self, user: str, options: TableOptions) -> None:
        """Read the table by other options, and forget what rested on those before."""
        self.project.change_roles(user, options)
        self._role_giver = user
        self.contents = RowContents.of(self.project.data)
        self.board.clear()
        self._count_given()
        self._look_at_columns()

    def _look_at_columns(self) -> None:
        """Go through the columns once, apart: of a million rows that takes a second or two."""

        def look(contents: RowContents) -> None:
            colourable = contents.colourable
            contents.content(0)
            if contents is self.contents:
                self.colourable = colourable
                self._listeners.tell_state()

        threading.Thread(
            target=look, args=(self.contents,), name="beltrami columns", daemon=True
        ).start()

    def set_risk(self, user: str, risk: float | None) -> Event:
        """Save how many of the accepted labels may be expected to be wrong."""
        event = self.project.set_risk(user, risk)
        self._saved()
        return event

    def draw_audit(self, user: str) -> "Future[Event]":
        """Draw rows to be looked at blindly, once the labels are judged."""
        drawing = self.auditing.draw(user)
        drawing.add_done_callback(lambda _: self._listeners.tell_state())
        return drawing

    def answer_audit(self, user: str, row: int, answer: str | None) -> Event:
        """Save what a row of the open round is."""
        event = self.project.answer_audit(user, row, answer)
        self._saved()
        return event

    def _saved(self) -> None:
        self._count_given()
        self.learning.wake()
        self._listeners.tell_state()

    def _count_given(self) -> None:
        """Count the labels of each class, once for all pages."""
        with self.project.lock:
            labels = list(self.project.state.labels.values())
        self.given_counts = Counter(one.label for one in labels)

    # What people ask

    def next_question(self, user: str) -> Question | None:
        """Reserve a question for a person; None where none is ready."""
        state = self.project.state
        skipped, audited = state.skipped.get(user, set()), set(state.audits.open_rows)

        def is_closed(row: int) -> bool:
            return row in state.labels or row in state.unsure or row in skipped or row in audited

        question = self.board.take(user, is_closed)
        n_enough = 2 * len(self.users)
        if question is None or self.board.n_ready < n_enough:
            self.learning.want_questions(n_enough)
        return question

    def is_all_answered(self, user: str) -> bool:
        """Say whether there is no row left to ask this person about."""
        state, n_rows = self.project.state, self.project.n_rows
        skipped = state.skipped.get(user, set())
        parts = (state.labels.keys(), state.unsure, skipped, state.audits.open_rows)
        if sum(map(len, parts)) < n_rows:
            return False
        return len(set().union(*parts)) >= n_rows

    def count_changes(self, rows: list[int], label: str) -> "Future[int]":
        """Return how many rows would be answered otherwise if these had this label."""
        weight = weight_of("area" if len(rows) > 1 else "click")
        return self.learning.do(lambda: self.learning.count_changes(rows, label, weight))

    def answers_at(self, number: int, *, is_quick: bool) -> "Future[Answers]":
        """Return what the labels of a moment say of every row; nothing is changed."""
        state = self.project.state_at(number)
        if self.learning.phase == "failed":
            answers: Future[Answers] = Future()
            answers.set_result(Answers.of_labels(state, self.project.n_rows))
            return answers
        return self.learning.do(lambda: self.learning.answers_at(state, is_quick=is_quick))

    def export(self) -> "Future[Path]":
        """Write the whole result into a new folder, and return the file."""
        return self.learning.do(self._export)

    def _export(self) -> Path:
        labelling = self.learning.result(self._options)
        return _in_new_folder(labelling.write if labelling is not None else self._write_bare)

    def draft_report(self) -> "Future[Draft]":
        """Return what the learner says on the report, once all that is saved is judged."""
        return self.learning.do(self._draft_report)

    def _draft_report(self) -> Draft:
        labelling, state = self.learning.result(self._options), self.learning.state
        if labelling is None:
            raise too_few_classes(state, self.project.path.name)
        return draft_page(labelling, state, self._options)

    def write_report(self, draft: Draft) -> Path:
        """Write the report into a new folder; the learner goes on meanwhile."""
        with self._remembering(), listen(lambda _: None):
            page = finish_page(self.project, draft)
        return _in_new_folder(partial(save_page, page), "report.html")

    def export_bare(self) -> Path:
        """Write the labels that people gave, and no other, into a new folder."""
        return _in_new_folder(self._write_bare)

    def _write_bare(self, path: Path) -> Path:
        project = self.project
        known = labelled_intake(project.data, project.snapshot(), project.path)
        return write_bare(known, path)

    # What pages are sent first

    @property
    def places_frame(self) -> bytes | None:
        """The map; None while there is none."""
        return self._places

    @property
    def answers_frame(self) -> bytes | None:
        """The answers of all rows; None while there are none."""
        answers = self.learning.answers
        return None if answers is None else pack_answers(answers)

    @property
    def progress(self) -> dict[str, Any] | None:
        """How far the long piece of work is that is under way."""
        return self._progress

    # What the learner shows

    def show_places(self, positions: FloatMatrix) -> None:
        """Send the map to all."""
        self._places = pack_places(positions)
        self._listeners.send_places(self._places)

    def show_answers(self, before: Answers | None, answers: Answers) -> None:
        """Send what has changed to all."""
        self._listeners.send_answers(pack_changes(before, answers))
        self._listeners.tell_state()

    def show_questions(self, questions: tuple[Question, ...]) -> None:
        """Keep what to ask next."""
        self.board.put(questions)
        self._listeners.tell_state()

    def show_progress(self, event: ProgressEvent) -> None:
        """Send how far it is to all."""
        message = {
            "type": "progress",
            "stage": event.stage,
            "stages": event.n_stages,
            "title": str(event.title),
            "step": event.step,
            "fraction": event.fraction,
            "left": event.left_s,
            "over": event.is_over,
        }
        self._progress = None if event.is_over else message
        self._listeners.tell_progress(message)

    def show_word(self, text: str) -> None:
        """Send a sentence to all, and keep it for those who come later."""
        with self._lock:
            if text not in self.words:
                self.words.append(text)
        self._listeners.say({"type": "word", "text": text})

    def take_roles_back(self, options: TableOptions, why: str) -> None:
        """Read the table as before, and say why; the learner before goes on."""
        words = f"the rows cannot be compared as you asked ({why.rstrip('.')}). "
        try:
            self._read_by(self._role_giver, options)
            words += "The columns are taken as before, and learning goes on."
        except BeltramiError as error:
            words += f"Learning goes on by the columns before, and the roles stay ({error})"
        self.show_word(words)

    def rows_not_to_ask(self) -> set[int]:
        """Return rows that nobody can tell, somebody looks at, or all skipped, or of an audit."""
        state = self.project.state
        skipped = [state.skipped.get(user, set()) for user in self.users]
        by_all = set.intersection(*skipped) if skipped else set()
        return state.unsure | self.board.held | by_all | set(state.audits.open_rows)


def _in_new_folder(write: Callable[[Path], Path], name: str = "labels.csv") -> Path:
    """Let something be written into a folder of its own, which is removed where that fails."""
    folder = Path(tempfile.mkdtemp(prefix="beltrami-"))
    try:
        return write(folder / name)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
