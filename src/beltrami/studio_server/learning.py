"""The thread in which the learner works: saved labels go in, answers for every row come out.

Nobody waits for it. It catches up with what was saved, does what it is asked for (a trial, a
result), chooses the next questions, and judges its candidates anew when people pause; the last it
breaks off as soon as a label comes.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import numpy as np

from beltrami.core.errors import BeltramiError
from beltrami.core.progress import ProgressEvent, job, listen
from beltrami.core.stages import FIT
from beltrami.core.types import FloatMatrix
from beltrami.embeddings.layout import layout_graph
from beltrami.front_door.classifier import ManifoldClassifier
from beltrami.labelling.intake import Intake
from beltrami.project import Project
from beltrami.project.state import State, weight_of
from beltrami.questions import Question
from beltrami.studio_server.answers import Answers, Beliefs

_PAUSE_S = 2.5
"""Seconds without a label after which candidates are judged anew."""

_ROUGH_ROWS = 3_000
"""Rows above which a rough map is shown while the fine one is drawn."""

_FEW_CLASSES = 15
"""Classes up to which the eigenbasis has the same size, however many there are."""

_AHEAD = 8
"""Questions chosen at once."""

Taught = dict[int, tuple[str, float]]
"""Label and weight of each row that has one."""


class Audience(Protocol):
    """Who is told what the learner does; called in its thread."""

    def show_places(self, positions: FloatMatrix) -> None:
        """Show where the rows lie."""

    def show_answers(self, before: Answers | None, answers: Answers) -> None:
        """Show what is known of the rows now."""

    def show_questions(self, questions: tuple[Question, ...]) -> None:
        """Show what to ask next."""

    def show_progress(self, event: ProgressEvent) -> None:
        """Show how far a long piece of work is."""

    def show_word(self, text: str) -> None:
        """Show a sentence that a person must read."""

    def rows_not_to_ask(self) -> set[int]:
        """Return rows that are no questions: nobody can tell them, or somebody looks at them."""


class _InterruptedError(Exception):
    """A label came, or the studio ends."""


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
        self._requests: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._is_stopped = self._is_new = False
        self._needs_questions = False
        self._is_settled = True
        self._last_change = time.monotonic()
        self._taught: Taught = {}
        self._n_foreseen = 0
        self._may_break_off = False
        self._threads = [threading.Thread(target=self._run, name="beltrami learning", daemon=True)]

    def start(self) -> None:
        """Begin."""
        self._threads[0].start()

    def stop(self, patience: float = 10.0) -> None:
        """End as soon as what is being computed allows."""
        with self._turn:
            self._is_stopped = True
            self._turn.notify_all()
        for thread in self._threads:
            thread.join(patience)

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
        future: Future[Any] = Future()
        with self._turn:
            if self._is_stopped or self.phase == "failed":
                future.set_exception(RuntimeError("the studio has ended"))
            else:
                self._requests.append((work, future))
                self._turn.notify_all()
        return future

    @property
    def n_behind(self) -> int:
        """Saved changes that the answers do not include."""
        version = 0 if self.answers is None else self.answers.version
        return max(0, self._project.state.number - version)

    @property
    def is_settled(self) -> bool:
        """Whether the candidates were judged by the labels that there are."""
        return self._is_settled and not self._is_behind()

    @property
    def labels(self) -> dict[int, str]:
        """What the learner was taught, by row; for its thread only."""
        return {row: label for row, (label, _) in self._taught.items()}

    def settle(self) -> None:
        """Judge anew, in the learner's thread."""
        if not self.has_learned or self._is_settled:
            return
        n_known = len({label for label, _ in self._taught.values()})
        if n_known > _FEW_CLASSES and n_known != self._n_foreseen:
            self._open()  # so many classes ask for a basis of another size
            return
        self.learner.settle()
        self._is_settled = True
        self._publish()

    def count_changes(self, rows: list[int], label: str, weight: float) -> int:
        """Return how many other rows would be answered otherwise; in the learner's thread."""
        if not self.has_learned:
            return 0
        before = self.learner.label_distributions_.argmax(axis=1)
        names = self.learner.classes_.tolist()
        old = [self._taught.get(row, (None, 1.0)) for row in rows]
        self._update(rows, [label] * len(rows), [weight] * len(rows))
        after = self.learner.label_distributions_.argmax(axis=1)
        place = {name: k for k, name in enumerate(self.learner.classes_.tolist())}
        moved = np.array([place.get(name, -1) for name in names])[before] != after
        moved[rows] = False
        self._update(rows, [one[0] for one in old], [one[1] for one in old])
        return int(moved.sum())

    def _run(self) -> None:
        try:
            with self._remembering(), listen(self._hear):
                self._open()
                while self._take_turn():
                    pass
        except _InterruptedError:
            pass
        except (BeltramiError, MemoryError) as error:
            self._fail(str(error))
        except Exception as error:  # a fault of ours: the page says so, labels go on being saved
            self._fail(f"learning has stopped ({type(error).__name__}: {error})")
            raise

    def _open(self) -> None:
        """Join the rows, show a map, and learn from the labels there are."""
        self._is_new = False
        self.phase = "starting"
        self.has_learned, self._taught = False, {}
        intake, wanted = self._project.data, self._wanted(self._project.snapshot())
        n_known = len({label for label, _ in wanted.values()})
        learner = self._make(intake)
        with job(*FIT):
            if n_known > _FEW_CLASSES:
                learner.fit(intake.points, *self._vectors(wanted))
                self._taught, self.has_learned, self._is_settled = wanted, True, True
            else:
                learner.start(intake.points)
            self._n_foreseen = n_known
            self.learner = learner
            self._show_map(learner.graph_)
            self._catch_up()
        self.phase = "ready"

    def _show_map(self, graph: Any) -> None:
        """Show a rough map at once where the fine one takes longer, which another thread draws."""
        if graph.n_nodes > _ROUGH_ROWS:
            self._audience.show_places(layout_graph(graph, n_epochs=1, random_state=0))
        thread = threading.Thread(
            target=self._draw_map, args=(graph,), name="beltrami map", daemon=True
        )
        self._threads[1:] = [thread]
        thread.start()

    def _draw_map(self, graph: Any) -> None:
        try:
            with self._remembering(), listen(lambda _: self._require_going()):
                positions = layout_graph(graph, random_state=0)
        except _InterruptedError:
            return
        except (BeltramiError, MemoryError) as error:
            self._audience.show_word(f"the map could not be drawn: {error}")
            return
        if self.learner is not None and self.learner.graph_ is graph:
            self._audience.show_places(positions)

    def _take_turn(self) -> bool:
        """Do the most urgent thing; False when all is over."""
        with self._turn:
            self._turn.wait_for(self._has_work, timeout=self._seconds_to_pause())
            if self._is_stopped:
                return False
            is_new, self._is_new = self._is_new, False
        if is_new:
            self._open()
        elif self._is_behind():
            self._catch_up()
        elif self._requests:
            self._answer_request()
        elif self._needs_questions:
            self._choose_questions()
        elif not self._is_settled and self._seconds_to_pause() == 0:
            self._settle_in_peace()
        return True

    def _has_work(self) -> bool:
        urgent = self._is_stopped or self._is_new or self._needs_questions or bool(self._requests)
        return urgent or self._is_behind()

    def _is_behind(self) -> bool:
        return self.answers is None or self._project.state.number > self.answers.version

    def _seconds_to_pause(self) -> float | None:
        if self._is_settled:
            return None
        return max(0.0, self._last_change + _PAUSE_S - time.monotonic())

    def _catch_up(self) -> None:
        """Learn from the labels as they are saved now, and show what follows."""
        state = self._project.snapshot()
        wanted = self._wanted(state)
        if len({label for label, _ in wanted.values()}) < 2:
            self.has_learned = False
        elif self._taught:
            self._learn_changes(wanted)
        else:
            self.learner.fit_labels(*self._vectors(wanted))
            self._taught, self.has_learned, self._is_settled = wanted, True, True
        self._publish(state)
        self._needs_questions = True

    def _wanted(self, state: State) -> Taught:
        return {row: (one.label, weight_of(one.how)) for row, one in state.labels.items()}

    def _vectors(self, wanted: Taught) -> tuple[Any, Any]:
        """Return labels and weights of all rows; None for weights that are all the same."""
        n = self._project.n_rows
        y, weights = np.full(n, None, dtype=object), np.ones(n)
        for row, (label, weight) in wanted.items():
            y[row], weights[row] = label, weight
        return y, None if (weights == 1).all() else weights

    def _learn_changes(self, wanted: Taught) -> None:
        """Learn what is other than it was."""
        nothing = (None, 1.0)
        rows = [row for row, one in wanted.items() if self._taught.get(row) != one]
        rows += [row for row in self._taught if row not in wanted]
        if rows:
            told = [wanted.get(row, nothing) for row in rows]
            self._update(rows, [one[0] for one in told], [one[1] for one in told])
            self._is_settled = False
        self._taught, self.has_learned = wanted, True

    def _update(self, rows: list[int], labels: list[str | None], weights: list[float]) -> None:
        self.learner.update(rows, labels, weights)

    def _publish(self, state: State | None = None) -> None:
        state = self._project.snapshot() if state is None else state
        before = self.answers
        is_empty = self._project.data.features.is_empty
        self.beliefs = None
        if self.has_learned:
            self.answers = Answers.of_learner(state, self.learner, is_empty)
            self.beliefs = Beliefs.of(self.learner)
        else:
            self.answers = Answers.of_labels(state, self._project.n_rows)
        self._audience.show_answers(before, self.answers)

    def _answer_request(self) -> None:
        with self._turn:
            work, future = self._requests.popleft()
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except _InterruptedError as error:
            future.set_exception(RuntimeError("the studio has ended"))
            raise error
        except Exception as error:  # noqa: BLE001 - whoever asked is told
            future.set_exception(error)

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
        except _InterruptedError:
            if self._is_stopped:
                raise
        finally:
            self._may_break_off = False

    def _hear(self, event: ProgressEvent) -> None:
        self._require_going()
        if self._may_break_off:
            if self._is_behind() or self._requests:
                raise _InterruptedError
            return
        if self.phase != "ready":  # what follows a label is quick, and said by the map itself
            self._audience.show_progress(event)

    def _require_going(self) -> None:
        if self._is_stopped or self._is_new:
            raise _InterruptedError

    def _fail(self, text: str) -> None:
        self.phase, self.failure = "failed", text
        self._audience.show_word(text)
        with self._turn:
            while self._requests:
                self._requests.popleft()[1].set_exception(RuntimeError(text))
