"""A committee at work: every candidate is fitted and judged on labels that it did not see.

A view of the data and labels as numbers enter; the answer and the evidence leave. A committee keeps
its members, and with them what each worked out from the graph alone, so that other labels cost only
what depends on labels.
"""

import copy
import time
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from beltrami.core.errors import BeltramiError, DisconnectedGraphWarning, InvalidInputError
from beltrami.core.machine.threads import serial_blas
from beltrami.core.store import NO_CONTENT, recall
from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector, Points
from beltrami.front_door.answering.answerer import Answerer
from beltrami.front_door.deciding.candidates import CLASS_CANDIDATES, Candidate, candidates_for
from beltrami.front_door.deciding.judgement import Answer, Judgement, Trial, can_judge
from beltrami.front_door.deciding.judging import judge_alone, judge_together
from beltrami.front_door.deciding.members import Member
from beltrami.front_door.deciding.storing import ANSWER, answer_content
from beltrami.front_door.mixture.experience import Situation, load_experience
from beltrami.front_door.mixture.model import Mixture
from beltrami.front_door.prepare import View
from beltrami.learners.base import first_classes
from beltrami.learners.model import Labeled

_Member = TypeVar("_Member")

_SMALL = 3000
"""Rows up to which products are small, and threads that wait for each other only cost."""


@dataclass(slots=True, eq=False)
class Committee(Generic[_Member]):
    """Candidates that are fitted together.

    Attributes
    ----------
    method : str
        "auto", or the only candidate that answers; the baselines are judged beside it.
    candidates : dict of str to Candidate
        Those that may answer, in the order of trial.
    members : dict of str to Member or ValueMember
        Their learners, fitted or not yet.
    """

    method: str
    candidates: dict[str, Candidate]
    members: dict[str, _Member]

    all_candidates: ClassVar[tuple[Candidate, ...]]

    @classmethod
    def of(cls, method: str) -> Self:
        """Return the committee for a method, unfitted."""
        candidates, members = candidates_for(method, cls.all_candidates), dict[str, Any]()
        for name, one in candidates.items():
            members[name] = one.make()
        return cls(method, candidates, members)

    @property
    def has_graph_members(self) -> bool:
        """Whether a learner on the graph is among them."""
        return not all(one.is_baseline for one in self.candidates.values())

    def snapshot(self) -> dict[str, Any]:
        """Return the members as they are now; what they learn later does not reach these."""
        return {name: _copy_member(member) for name, member in self.members.items()}

    def try_all(self, view: View, labeled: Labeled, time_budget: float | None) -> dict[str, Trial]:
        """Fit every candidate that may be tried; one that cannot be is left out with its reason."""
        started, trials = time.monotonic(), dict[str, Trial]()
        with track("trying learners", total=len(self.candidates)) as advance:
            for name, candidate in self.candidates.items():
                begun = time.monotonic()
                trial = Trial(candidate)
                has_answer = any(not other.note for other in trials.values())
                trial.note = candidate.skip_reason(
                    self.method,
                    view.plain.shape,
                    begun - started,
                    time_budget,
                    has_answer=has_answer,
                ) or self._disbelieve(candidate, view, labeled)
                if not trial.note:
                    with track(candidate.title, total=1):
                        self._try_one(trial, self.members[name], view, labeled)
                trial.seconds = time.monotonic() - begun
                trials[name] = trial
                advance(1)
        return trials

    def _try_one(self, trial: Trial, member: _Member, view: View, labeled: Labeled) -> None:
        try:
            with _quiet():
                trial.answer, trial.held_out = self._fit_member(member, view, labeled)
        except BeltramiError as error:
            trial.note = f"left out: {error}"

    def _disbelieve(self, candidate: Candidate, view: View, labeled: Labeled) -> str:  # noqa: ARG002
        """Say why experience does not even try a candidate, or nothing."""
        return ""

    @abstractmethod
    def _fit_member(self, member: _Member, view: View, labeled: Labeled) -> tuple[Any, Any]:
        """Fit a member, and return what it says of all rows and of labels held out."""


@dataclass(slots=True, eq=False)
class ClassCommittee(Committee[Member]):
    """Candidates for classes, which answer together.

    Attributes
    ----------
    shares : ndarray of shape (k,) or None
        Class sizes that were given.
    owed : tuple of View, Labeled and Judgement, or None
        Of an answer that the store had: the members were not fitted for it yet.
    """

    shares: FloatVector | None = None
    owed: tuple[View, Labeled, Judgement] | None = None
    _answering: tuple[Answer, Answerer | None] | None = None

    all_candidates: ClassVar = CLASS_CANDIDATES

    def answer(self, view: View, labeled: Labeled, *, time_budget: float | None) -> Answer:
        """Fit all candidates to the labels, weigh them, and return what they say.

        Where the store has the answer, the members are fitted when one of them is asked.
        """
        names, made = list(self.candidates), list[Answer]()

        def make() -> Answer:
            made.append(self._answer_anew(view, labeled, time_budget))
            return made[0]

        # Within a time budget the answer depends on the machine.
        budget = NO_CONTENT if time_budget is not None else None
        answer = recall(
            ANSWER,
            lambda: (*answer_content(view, labeled, names, self.method), self.shares, budget),
            make,
        )
        self.owed = None if made else (view, labeled, answer.judgement)
        return answer

    def pay(self) -> None:
        """Fit the members as they were for the answer that the store had, if they are owed."""
        if self.owed is None:
            return
        view, labeled, judgement = self.owed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the store has repeated what was said
            trials = self.try_all(view, labeled, None)
        self.owed = None
        for name, one in trials.items():
            if not one.note:
                judgement.choices[name] = self.members[name].choices

    def snapshot(self) -> dict[str, Any]:
        """Return the members as they are now; what they learn later does not reach these."""
        self.pay()
        return Committee.snapshot(self)

    def _answer_anew(self, view: View, labeled: Labeled, time_budget: float | None) -> Answer:
        trials = self.try_all(view, labeled, time_budget)
        fitted = self._require_answer(trials)
        verdict = judge_together(
            fitted, labeled, view.plain.shape[1], method=self.method, shares=self.shares
        )
        weights = verdict.mixture.weights
        order = sorted(trials.items(), key=lambda item: -weights.get(item[0], -1.0))
        judgement = Judgement(
            verdict.mixture,
            {name: self.members[name].choices for name in fitted},
            len(labeled.rows),
            verdict.sample,
            verdict.is_told,
            verdict.can_promise,
            verdict.held_out,
            verdict.importance,
            tuple(judge_alone(one, verdict) for _, one in order),
        )
        answers = {name: one.answer for name, one in fitted.items()}
        codes = {name: first_classes(one) for name, one in answers.items()}
        return Answer(verdict.mixture.answer(answers), codes, judgement)

    def answer_as_judged(self, view: View, labeled: Labeled, judgement: Judgement) -> Answer:
        """Return what the candidates say to other labels, believed as far as they were before."""
        self.pay()
        mixture = judgement.mixture
        logits = {name: self._answer_of(name, view, labeled, judgement) for name in mixture.heard}
        return Answer(mixture.answer(logits), {}, judgement)  # codes come when asked for

    def codes_of(
        self, name: str, view: View, labeled: Labeled, judgement: Judgement
    ) -> IndexVector:
        """Return what one candidate alone says to these labels, with what it chose before."""
        self.pay()
        return first_classes(self._answer_of(name, view, labeled, judgement))

    def _answer_of(
        self, name: str, view: View, labeled: Labeled, judgement: Judgement
    ) -> FloatMatrix:
        with _quiet(), _few_threads(view):
            logits = self.members[name].answer(view, labeled, judgement.choices[name])
        return np.asfortranarray(logits, dtype=np.float32)

    def at(self, points: Points, plain: Points, judgement: Judgement) -> FloatMatrix:
        """Return the probabilities of new points, (m, k)."""
        self.pay()
        mixture = judgement.mixture
        return mixture.answer(
            {name: self.members[name].at(points, plain) for name in mixture.heard}
        )

    def answerer(
        self,
        answer: Answer,
        make: Callable[[Mapping[str, Member], Mixture], Answerer | None],
    ) -> Answerer | None:
        """Return what answers new points as in an answer, made once for it."""
        if self._answering is None or self._answering[0] is not answer:
            self.pay()
            self._answering = (answer, make(self.members, answer.judgement.mixture))
        return self._answering[1]

    def _disbelieve(self, candidate: Candidate, view: View, labeled: Labeled) -> str:
        if self.method != "auto" or not candidate.least_belief:
            return ""
        n_known = int(np.count_nonzero(labeled.targets.any(axis=0)))
        situation = Situation(len(labeled.rows), n_known, view.plain.shape[1])
        names = list(self.candidates)
        belief = load_experience().believe(names, situation)[names.index(candidate.name)]
        if belief >= candidate.least_belief:
            return ""
        return "not tried: with such columns and classes it hardly ever helped"

    def _fit_member(
        self, member: Member, view: View, labeled: Labeled
    ) -> tuple[FloatMatrix, FloatMatrix]:
        member.know_sizes(self.shares)
        with _few_threads(view):
            logits = np.asfortranarray(member.fit(view, labeled), dtype=np.float32)
            sample = labeled.sample()
            if can_judge(sample).any():
                return logits, member.held_out(view, labeled)
            return logits, np.zeros(sample.targets.shape)

    def _require_answer(self, trials: dict[str, Trial]) -> dict[str, Trial]:
        """Return the trials that succeeded, where there is one that may answer."""
        fitted = {name: one for name, one in trials.items() if not one.note}
        if not fitted:
            reasons = "; ".join(f"{name}: {one.note}" for name, one in trials.items())
            raise InvalidInputError(f"no candidate could be fitted ({reasons}).")
        if self.method != "auto" and self.method not in fitted:
            note = trials[self.method].note
            raise InvalidInputError(f"method={self.method!r} could not be fitted: {note}")
        return fitted


@contextmanager
def _quiet() -> Iterator[None]:
    """Leave out what the estimator that asks the committee says once for all its members."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        yield


def _few_threads(view: View) -> AbstractContextManager[None]:
    """Return a context where small products run on one thread."""
    return serial_blas() if view.graph.n_nodes <= _SMALL else nullcontext()


def _copy_member(member: Any) -> Any:
    """Copy a member with its learners, which learning changes in place."""
    twin = copy.copy(member)
    for name in ("_learner", "_speaker", "baseline"):
        if hasattr(twin, name):
            setattr(twin, name, copy.copy(getattr(twin, name)))
    return twin
