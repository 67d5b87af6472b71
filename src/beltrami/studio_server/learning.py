"""The thread in which the learner works: saved labels go in, answers for every row come out.

Nobody waits for it. It catches up with what was saved, does what it is asked for (a trial, a
result), chooses the next questions, and judges its candidates anew when people pause; the last it
breaks off as soon as a label comes.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from beltrami.core.errors import BeltramiError
from beltrami.core.progress import ProgressEvent, job, listen
from beltrami.core.stages import FIT, Stage
from beltrami.front_door.acceptance import accepted_under
from beltrami.front_door.classifier import ManifoldClassifier
from beltrami.labelling.intake import Intake
from beltrami.labelling.main_job import conclude
from beltrami.labelling.options import LearningOptions
from beltrami.labelling.result import Labelling
from beltrami.learners.foundation import classes_served
from beltrami.project import Project
from beltrami.project.project import labelled_intake
from beltrami.project.state import State
from beltrami.questions import Question
from beltrami.studio_server.answers import Answers, Beliefs
from beltrami.studio_server.audience import Audience
from beltrami.studio_server.errands import BrokenOffError, Errands
from beltrami.studio_server.map_thread import MapThread
from beltrami.studio_server.teaching import Taught, classes_of, taught_by, vectors_of

_PAUSE_S = 2.5
"""Seconds without a label after which candidates are judged anew."""

_QUICK_S = 1.0
"""Seconds of work after which how far it is is shown."""

_AHEAD = 8
"""Questions chosen at once."""


class LearningStoppedError(BeltramiError):
    """The learner is not there any more; labels go on being saved."""


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
        self._requests, self._patient = Errands(), Errands()
        self._is_stopped, self._is_new = False, True
        self._needs_questions = False
        self._is_settled, self._is_progress_shown = True, False
        self._last_change = time.monotonic()
        self._taught: Taught = {}
        self._n_foreseen = 0
        self._state, self._data = State(), project.data
        self._map = MapThread(audience, remembering, self._require_going)
        self._may_break_off = False
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
                self._open()
                self._map.join()
            elif self._is_behind():
                with job(Stage.LEARN):
                    self._catch_up()

    def wake(self) -> None:
        """Say that something was saved."""
        with self._turn:
            self._last_change = time.monotonic()
            self._turn.notify_all()

    def renew(self) -> None:
        """Say that the rows are compared by other columns now."""
        with self._turn:
            self._is_new = True
            self._turn.notify_all()

    def want_questions(self) -> None:
        """Say that somebody waits for a question."""
        with self._turn:
            self._needs_questions = True
            self._turn.notify_all()

    def do(self, work: Callable[[], Any]) -> "Future[Any]":
        """Have something done by the learner's thread once all that is saved is learned."""
        return self._add(self._requests, work)

    def do_when_settled(self, work: Callable[[], Any]) -> "Future[Any]":
        """Have something done once all that is saved is judged, too; judging goes on meanwhile."""
        return self._add(self._patient, work)

    def _add(self, errands: Errands, work: Callable[[], Any]) -> "Future[Any]":
        with self._turn:
            future = errands.add(work)
            if self._is_stopped or self.phase == "failed":
                errands.refuse_all(LearningStoppedError(self.failure or "the studio has ended"))
            self._turn.notify_all()
        return future

    @property
    def n_behind(self) -> int:
        """Saved changes that the answers do not include."""
        version = 0 if self.answers is None else self.answers.version
        return max(0, self._project.state.number - version)

    @property
    def is_settled(self) -> bool:
        """Whether all that was saved is learned and judged: answers are those of a fresh fit."""
        return (self._is_settled or not self.has_learned) and not self._is_behind()

    def settle(self) -> None:
        """Judge anew, in the learner's thread, by a basis of the size that the labels ask for."""
        if self.has_learned and self._basis_size() != self._n_foreseen:
            self._open()
        elif self.has_learned and not self._is_settled:
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
        if not self.has_learned:
            return 0
        learner, names = self.learner, self.learner.classes_.tolist()
        before = learner.label_distributions_.argmax(axis=1)
        with learner._on_trial():
            learner.update(rows, [label] * len(rows), [weight] * len(rows))
            after = learner.label_distributions_.argmax(axis=1)
            place = {name: k for k, name in enumerate(learner.classes_.tolist())}
        moved = np.array([place.get(name, -1) for name in names])[before] != after
        moved[rows] = False
        return int(moved.sum())

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

    def _open(self) -> None:
        """Join the rows, show a map, and learn from the labels there are.

        What was there before stays until the new learner is whole: this may be broken off.
        """
        self._is_new = False
        self.phase = "starting" if self.answers is None else "learning"
        data, state = self._project.data, self._project.snapshot()
        wanted = taught_by(state)
        size = self._basis_size(wanted)
        learner = self._make(data)
        learner.risk = state.risk
        try:
            with job(*FIT):
                learner.start(data.points)
                self._say_pieces(learner._n_pieces)
                self._map.draw(learner.graph_)
                if size:
                    learner.fit(data.points, *vectors_of(wanted, self._project.n_rows))
                self.learner, self._data, self._n_foreseen = learner, data, size
                self._taught = wanted if size else {}
                self.has_learned = self._is_settled = size > 0
                self._catch_up()
        finally:
            self.phase = "starting" if self.answers is None else "ready"

    def _say_pieces(self, count: int) -> None:
        if count > 1:
            self._audience.show_word(
                f"the rows fall into {count:,} pieces, joined where they come closest: what is "
                "said across such a bridge is a guess. Label some rows in each piece."
            )

    def _take_turn(self) -> bool:
        """Do the most urgent thing; False when all is over."""
        with self._turn:
            self._turn.wait_for(self._has_work, timeout=self._seconds_to_pause())
            if self._is_stopped:
                return False
        try:
            if self._is_new:
                self._open()
            elif self._is_behind():
                with job(Stage.LEARN):
                    self._catch_up()
            elif self._requests:
                with job(Stage.LEARN):
                    self._requests.do_first()
            elif self._needs_questions:
                self._choose_questions()
            elif not self._is_settled and self._seconds_to_pause() == 0:
                self._settle_in_peace()
            elif self._patient and self.is_settled:
                self._patient.do_first()
        except BrokenOffError:
            return not self._is_stopped
        return True

    def _has_work(self) -> bool:
        urgent = self._is_stopped or self._is_new or self._needs_questions or bool(self._requests)
        return urgent or self._is_behind() or (bool(self._patient) and self.is_settled)

    def _is_behind(self) -> bool:
        return self.answers is None or self._project.state.number > self.answers.version

    def _seconds_to_pause(self) -> float | None:
        if self._is_settled:
            return None
        return max(0.0, self._last_change + _PAUSE_S - time.monotonic())

    def _catch_up(self) -> None:
        """Learn from the labels as they are saved now, and show what follows."""
        state = self._project.snapshot()
        wanted = taught_by(state)
        has_other_risk, self.learner.risk = self.learner.risk != state.risk, state.risk
        if len(classes_of(wanted)) < 2:
            self.has_learned = False
        elif self._taught:
            self._learn_changes(wanted)
        else:
            self.learner.fit_labels(*vectors_of(wanted, self._project.n_rows))
            self._taught, self.has_learned, self._is_settled = wanted, True, True
        if has_other_risk and self.has_learned:
            self.learner.accepted_ = accepted_under(self.learner, state.risk)
            self._is_settled = False  # what the report says of it comes with the next pause
        news = self._project.events[self._state.number : state.number]
        self._needs_questions |= any(one.kind != "audit_answered" for one in news)
        self._state = state
        self._publish()

    def _basis_size(self, wanted: Taught | None = None) -> int:
        """Return for how many classes the basis is to be made; 0 where their number is alike."""
        n_known = len(classes_of(self._taught if wanted is None else wanted))
        return n_known if n_known > classes_served(self._project.n_rows) else 0

    def _learn_changes(self, wanted: Taught) -> None:
        """Learn what is other than it was."""
        nothing = (None, 1.0)
        rows = [row for row, one in wanted.items() if self._taught.get(row) != one]
        rows += [row for row in self._taught if row not in wanted]
        if rows:
            told = [wanted.get(row, nothing) for row in rows]
            self.learner.update(rows, [one[0] for one in told], [one[1] for one in told])
            self._is_settled = False
        self._taught, self.has_learned = wanted, True

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

    def _choose_questions(self) -> None:
        self._needs_questions = False
        closed = self._audience.rows_not_to_ask()
        candidates = None
        if closed:
            n = self.learner.graph_.n_nodes
            candidates = np.setdiff1d(np.arange(n), np.fromiter(closed, np.intp, len(closed)))
        questions: tuple[Question, ...] = ()
        if candidates is None or len(candidates):
            questions = self.learner.query(_AHEAD, candidates=candidates, return_reasons=True)[1]
        self._audience.show_questions(questions)

    def _settle_in_peace(self) -> None:
        """Judge anew unless somebody goes on labelling."""
        self._may_break_off = True
        try:
            self.settle()
        finally:
            self._may_break_off = False

    def _hear(self, event: ProgressEvent) -> None:
        self._require_going()
        if self._may_break_off:
            if self._is_behind() or self._requests:
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
            for errands in (self._requests, self._patient):
                errands.refuse_all(LearningStoppedError(text))
