"""The thread in which the learner works: saved labels go in, answers for every row come out.

Nobody waits for it. It catches up with what was saved, does what it is asked for (a trial, a
result), chooses the next questions, and judges its candidates anew when people pause; the last it
breaks off as soon as a label comes.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from beltrami.core.errors import BeltramiError
from beltrami.core.telling.progress import ProgressEvent, job, listen
from beltrami.core.telling.stages import FIT, Stage
from beltrami.front_door.acceptance import accepted_under
from beltrami.front_door.classifier import ManifoldClassifier
from beltrami.front_door.insight import count_changes, count_pieces
from beltrami.labelling.intake import Intake
from beltrami.labelling.main_job import conclude
from beltrami.labelling.options import LearningOptions
from beltrami.labelling.result import Labelling
from beltrami.learners.foundation import classes_served
from beltrami.project import Project
from beltrami.project.project import labelled_intake
from beltrami.project.record.state import State
from beltrami.report.sentences import pieces_sentence
from beltrami.studio_server.answers import Answers, Beliefs, answers_at, measure_of
from beltrami.studio_server.board import choose_open
from beltrami.studio_server.learner.audience import Audience
from beltrami.studio_server.learner.errands import (
    Agenda,
    BrokenOffError,
    Errands,
    LearningStoppedError,
)
from beltrami.studio_server.learner.map_thread import MapThread
from beltrami.studio_server.learner.pace import Pace
from beltrami.studio_server.learner.teaching import Taught, classes_of, taught_by, teach, vectors_of

_QUICK_S = 1.0
"""Seconds of work after which how far it is is shown."""


class Learning:
    """A learner at work on a project.

    Parameters
    ----------
    project : Project
        Open.
    audience : Audience
        Who is told.
    make : callable
        Makes the learner of a table.
    remembering : callable
        Makes the context in which graphs and maps are kept between commands.

    Attributes
    ----------
    phase : {"starting", "learning", "ready", "failed"}
        What it does.
    answers : Answers or None
        The latest; None before the graph is there.
    beliefs : Beliefs or None
        Probabilities behind the answers; None before anything was learned.
    learner : ManifoldClassifier or None
        For the learner's thread only.
    """

    def __init__(
        self,
        project: Project,
        audience: Audience,
        make: Callable[[Intake], ManifoldClassifier],
        remembering: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.phase, self.failure = "starting", ""
        self.answers: Answers | None = None
        self.beliefs: Beliefs | None = None
        self.learner: Any = None
        self.has_learned = False
        self._project, self._audience, self._make = project, audience, make
        self._remembering = remembering
        self._turn = threading.Condition()
        self._agenda = Agenda()
        self._is_stopped, self._is_new = False, True
        self._is_settled, self._is_progress_shown = True, False
        self._pace = Pace()
        self._taught: Taught = {}
        self._n_foreseen = 0
        self._state, self._data, self._roles = State(), project.data, project.options
        self._map = MapThread(audience, remembering, self._require_going)
        self._gives_way: Callable[[], bool] | None = None  # says when work is broken off
        self._thread = threading.Thread(target=self._run, name="beltrami learning", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, patience: float = 10.0) -> None:
        """End as soon as what is being computed allows."""
        with self._turn:
            self._is_stopped = True
            self._turn.notify_all()
        if self._thread.ident is not None:  # it was begun
            self._thread.join(patience)
        self._map.join(patience)

    def learn_now(self) -> None:
        """Learn in this thread all that is saved, and draw the map; for who has not begun.

        No notebook promises that another thread than its own may speak to the page.
        """
        with self._remembering(), listen(self._hear):
            if self._is_new:
                self._renew()
                self._map.join()
            elif self._is_behind():
                with job(Stage.LEARN):
                    self._catch_up()

    def wake(self) -> None:
        """Say that something was saved."""
        with self._turn:
            self._pace.note_label()
            self._turn.notify_all()

    def renew(self) -> None:
        """Say that the rows are compared by other columns now."""
        with self._turn:
            self._is_new = True
            self._turn.notify_all()

    def want_questions(self, count: int = 1) -> None:
        """Say that somebody waits for a question, and how many may soon be wanted."""
        with self._turn:
            self._agenda.want_questions(count)
            self._turn.notify_all()

    def do(self, work: Callable[[], Any]) -> "Future[Any]":
        """Have something done by the learner's thread once all that is saved now is learned."""
        return self._add(self._agenda.requests, work, self._project.state.number)

    def do_when_settled(self, work: Callable[[], Any]) -> "Future[Any]":
        """Have something done once all that is saved is judged, too; judging goes on meanwhile."""
        return self._add(self._agenda.patient, work)

    def _add(self, errands: Errands, work: Callable[[], Any], after: int = 0) -> "Future[Any]":
        with self._turn:
            future = errands.add(work, after)
            if self._is_stopped or self.phase == "failed":
                errands.refuse_all(LearningStoppedError(self.failure or "the studio has ended"))
            self._turn.notify_all()
        return future

    @property
    def n_behind(self) -> int:
        """Saved changes that the answers do not include."""
        return max(0, self._project.state.number - self._version)

    @property
    def _version(self) -> int:
        return 0 if self.answers is None else self.answers.version

    @property
    def is_settled(self) -> bool:
        """Whether all that was saved is learned and judged: answers are those of a fresh fit."""
        return (self._is_settled or not self.has_learned) and not self._is_behind()

    @property
    def state(self) -> State:
        """The labels that the answers rest on; for the learner's thread only."""
        return self._state

    def settle(self) -> None:
        """Judge anew, in the learner's thread, by a basis of the size that the labels ask for."""
        if self.has_learned and self._basis_size() != self._n_foreseen:
            self._open(self._data)
        elif self.has_learned and not self._is_settled:
            with self._pace.judging():
                self.learner.settle()
            self._is_settled = True  # pages are told so with the answers
            self._publish()
        self._is_settled = True

    def result(self, options: LearningOptions) -> Labelling | None:
        """Return the result of all that is learned, settled; None where nothing is.

        In the learner's thread, from the table and the labels that the learner knows.
        """
        self.settle()
        if not self.has_learned:
            return None
        known = labelled_intake(self._data, self._state, self._project.path)
        return conclude(known, self.learner, replace(options, risk=self.learner.risk))

    def count_changes(self, rows: list[int], label: str, weight: float) -> int:
        """Return how many other rows would be answered otherwise; in the learner's thread."""
        return count_changes(self.learner, rows, label, weight) if self.has_learned else 0

    def answers_at(self, state: State, *, is_quick: bool) -> Answers:
        """Return what the labels of a moment teach; in the learner's thread, and forgotten after.

        A label that comes meanwhile goes first.

        - `is_quick`: whether candidates are believed as they are now, and not judged anew.
        """
        taught, is_empty = self._taught if is_quick else {}, self._data.features.is_empty
        with self._giving_way(self._is_behind):
            return answers_at(state, self.learner, taught, is_empty, self._project.n_rows)

    def _run(self) -> None:
        try:
            with self._remembering(), listen(self._hear):
                while self._take_turn():
                    pass
        except (BeltramiError, MemoryError) as error:
            self._fail(str(error))
        except Exception as error:  # a fault of ours: the page says so, labels go on being saved
            self._fail(f"learning has stopped ({type(error).__name__}: {error})")
            raise

    def _renew(self) -> None:
        """Compare the rows as the project says now; where that fails, go on as before and say why.

        The learner before is whole, and the project is told to read its table as it did then.
        """
        self._is_new = False
        with self._project.lock:
            data, roles = self._project.data, self._project.options
        before = self.learner, self._data, self._n_foreseen, self._taught
        was = self.has_learned, self._is_settled
        try:
            self._open(data)
            self._roles = roles
        except (BeltramiError, MemoryError) as error:
            if before[0] is None:
                raise
            self.learner, self._data, self._n_foreseen, self._taught = before
            self.has_learned, self._is_settled = was
            self._map.draw(self.learner.graph_)
            if not self._is_new:  # nobody has chosen other columns meanwhile
                self._audience.take_roles_back(self._roles, str(error) or "the memory is full")

    def _open(self, data: Intake) -> None:
        """Join the rows, show a map, and learn from the labels there are.

        What was there before stays until the new learner is whole: this may be broken off.
        """
        self.phase = "starting" if self.answers is None else "learning"
        state = self._project.snapshot()
        wanted = taught_by(state)
        size = self._basis_size(wanted)
        learner = self._make(data)
        learner.risk = state.risk
        try:
            with job(*FIT):
                learner.start(data.points)
                if (n_pieces := count_pieces(learner)) > 1:
                    self._audience.show_word(pieces_sentence(n_pieces))
                self._map.draw(learner.graph_)
                if size:
                    learner.fit(data.points, *vectors_of(wanted, self._project.n_rows))
                self.learner, self._data, self._n_foreseen = learner, data, size
                self._taught = wanted if size else {}
                self.has_learned = self._is_settled = size > 0
                self._catch_up()
        finally:
            self.phase = "starting" if self.answers is None else "ready"

    def _take_turn(self) -> bool:
        """Do the most urgent thing; False when all is over."""
        with self._turn:
            self._turn.wait_for(self._has_work, timeout=self._seconds_to_pause())
            if self._is_stopped:
                return False
        try:
            if self._is_new:
                self._renew()
            elif self._is_behind() and not self._agenda.is_someone_due(self._version):
                with job(Stage.LEARN):
                    self._catch_up()
                self._agenda.has_just_learned = True
            elif self._agenda.requests.are_due(self._version):
                self._agenda.has_just_learned = False
                with job(Stage.LEARN):
                    self._agenda.requests.do_first()
            elif self._agenda.needs_questions:
                self._choose_questions()
            elif self._seconds_to_pause() == 0:
                self._settle_in_peace()
            elif self._agenda.patient and self.is_settled:
                self._agenda.patient.do_first()
        except BrokenOffError:
            return not self._is_stopped
        return True

    def _has_work(self) -> bool:
        is_urgent = self._is_stopped or self._is_new or self._agenda.is_urgent
        return is_urgent or self._is_behind() or (bool(self._agenda.patient) and self.is_settled)

    def _is_behind(self) -> bool:
        return self.answers is None or self._project.state.number > self.answers.version

    def _seconds_to_pause(self) -> float | None:
        return None if self._is_settled else self._pace.seconds_left()

    def _catch_up(self) -> None:
        """Learn from the labels as they are saved now, and show what follows."""
        state = self._project.snapshot()
        wanted = taught_by(state)
        has_other_risk, self.learner.risk = self.learner.risk != state.risk, state.risk
        if len(classes_of(wanted)) < 2:
            self.has_learned = False
        elif self._taught:
            self._is_settled &= not teach(self.learner, self._taught, wanted)
            self._taught, self.has_learned = wanted, True
        else:
            with self._pace.judging():
                self.learner.fit_labels(*vectors_of(wanted, self._project.n_rows))
            self._taught, self.has_learned, self._is_settled = wanted, True, True
        if has_other_risk and self.has_learned:
            self.learner.accepted_ = accepted_under(self.learner, state.risk)
            self._is_settled = False  # what the report says of it comes with the next pause
        news = self._project.events[self._state.number : state.number]
        self._agenda.needs_questions |= any(one.kind != "audit_answered" for one in news)
        self._state = state
        self._publish()

    def _basis_size(self, wanted: Taught | None = None) -> int:
        """Return for how many classes the basis is to be made; 0 where their number is alike."""
        n_known = len(classes_of(self._taught if wanted is None else wanted))
        return n_known if n_known > classes_served(self._project.n_rows) else 0

    def _publish(self) -> None:
        """Show what is known, by the labels that it rests on and no later ones."""
        state, before, beliefs = self._state, self.answers, None
        if self.has_learned:
            answers = Answers.of_learner(state, self.learner, self._data.features.is_empty)
            beliefs = Beliefs.of(self.learner)
        else:
            answers = Answers.of_labels(state, self._project.n_rows)
        n_behind = max(0, self._project.state.number - state.number)
        self.answers, self.beliefs = replace(answers, n_behind=n_behind), beliefs
        self._audience.show_answers(before, self.answers)
        report = beliefs.report if beliefs is not None and self._is_settled else None
        self._project.measures.keep(measure_of(answers, report))

    def _choose_questions(self) -> None:
        count, closed = self._agenda.take_questions(), self._audience.rows_not_to_ask()
        self._audience.show_questions(choose_open(self.learner, closed, count))

    def _settle_in_peace(self) -> None:
        """Judge anew unless somebody goes on labelling."""
        with self._giving_way(lambda: self._is_behind() or bool(self._agenda.requests)):
            self.settle()

    @contextmanager
    def _giving_way(self, when: Callable[[], bool]) -> Iterator[None]:
        """Break off what is in the block as soon as something more urgent is to be done."""
        self._gives_way = when
        try:
            yield
        finally:
            self._gives_way = None

    def _hear(self, event: ProgressEvent) -> None:
        self._require_going()
        if self._gives_way is not None:
            if self._gives_way():
                raise BrokenOffError
            return
        # What follows a label is mostly quick, and said by the map itself.
        if self.phase != "ready" or event.elapsed_s > _QUICK_S or self._is_progress_shown:
            self._is_progress_shown = not event.is_over
            self._audience.show_progress(event)

    def _require_going(self) -> None:
        if self._is_stopped or self._is_new:
            raise BrokenOffError

    def _fail(self, text: str) -> None:
        self.phase, self.failure = "failed", text
        self._audience.show_word(text)
        with self._turn:
            self._agenda.refuse_all(LearningStoppedError(text))
