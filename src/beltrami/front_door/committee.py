"""A committee at work: every candidate is fitted and judged on labels that it did not see.

A view of the data and labels as numbers enter; the answer and the evidence leave. A committee keeps
its members, and with them what each worked out from the graph alone, so that other labels cost only
what depends on labels.
"""

import copy
import time
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from beltrami.core.errors import BeltramiError, DisconnectedGraphWarning, InvalidInputError
from beltrami.core.progress import track
from beltrami.core.store import NO_CONTENT, recall
from beltrami.core.threads import map_ranges, serial_blas
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector, Points
from beltrami.front_door.candidates import CLASS_CANDIDATES, Candidate, candidates_for
from beltrami.front_door.judgement import (
    Answer,
    Judged,
    Judgement,
    Trial,
    best_temperature,
    blind_weights,
    can_judge,
    heard_among,
    importance_of,
    mix,
    posterior_weights,
)
from beltrami.front_door.members import Member
from beltrami.front_door.prepare import View
from beltrami.front_door.storing import ANSWER, answer_content
from beltrami.learners.base import softmax
from beltrami.learners.base.probabilities import ROWS
from beltrami.learners.model import Labeled

_Member = TypeVar("_Member")

_SMALL = 3000
"""Rows up to which products are small, and threads that wait for each other only cost."""

_TOO_SURE = 1.5
"""Temperature that the answer is typically short of: it was made of those that did best."""


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
            options = {"twin": members[one.twin]} if one.twin in members else {}
            members[name] = one.make(**options)
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
                    view.graph.n_nodes,
                    begun - started,
                    time_budget,
                    has_answer=has_answer,
                )
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

    @abstractmethod
    def _fit_member(self, member: _Member, view: View, labeled: Labeled) -> tuple[Any, Any]:
        """Fit a member, and return what it says of all rows and of labels held out."""


@dataclass(slots=True, eq=False)
class ClassCommittee(Committee[Member]):
    """Candidates for classes, which answer together.

    Attributes
    ----------
    owed : tuple of View, Labeled and Judgement, or None
        Of an answer that the store had: the members were not fitted for it yet.
    """

    owed: tuple[View, Labeled, Judgement] | None = None

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
            lambda: (*answer_content(view, labeled, names, self.method), budget),
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
        sample = labeled.sample()
        is_told = can_judge(sample)
        told = Labeled(sample.rows[is_told], sample.targets[is_told], sample.weights[is_told])
        trials = self.try_all(view, labeled, time_budget)
        fitted = self._require_answer(trials)
        temperatures = _temperatures(fitted, is_told, told)
        weights = self._weights(fitted, temperatures, is_told, told, view.graph.n_nodes)
        heard = {name: fitted[name] for name in heard_among(weights)}
        logits = {name: one.answer for name, one in heard.items()}
        probabilities = mix(logits, temperatures, weights)
        logits = {name: one.held_out for name, one in heard.items()}
        held_out = mix(logits, temperatures, weights)
        importance = importance_of(sample, probabilities)
        temperature = 1.0
        if len(told.rows):
            counts = _relative(_relative(told.weights) * importance[is_told])
            logs = _logs(held_out[is_told])
            temperature = best_temperature(logs, told.targets, counts, _TOO_SURE)
        # All errors are counted as that of the answer is: by the classes' shares of the rows.
        counted = Labeled(told.rows, told.targets, importance[is_told])
        order = sorted(trials.items(), key=lambda item: -weights.get(item[0], -1.0))
        judgement = Judgement(
            weights,
            temperatures,
            {name: self.members[name].choices for name in fitted},
            temperature,
            len(labeled.rows),
            sample,
            is_told,
            softmax(_logs(held_out), temperature),
            importance,
            tuple(_judge(one, is_told, counted, temperatures, weights) for _, one in order),
        )
        codes = {name: _largest(one.answer) for name, one in fitted.items()}
        return Answer(_logs(probabilities), codes, judgement)

    def answer_as_judged(self, view: View, labeled: Labeled, judgement: Judgement) -> Answer:
        """Return what the candidates say to other labels, believed as far as they were before."""
        self.pay()
        logits = {name: self._answer_of(name, view, labeled, judgement) for name in judgement.heard}
        codes = {name: _largest(one) for name, one in logits.items()}
        return Answer(_logs(judgement.mix(logits)), codes, judgement)

    def codes_of(
        self, name: str, view: View, labeled: Labeled, judgement: Judgement
    ) -> IndexVector:
        """Return what one candidate alone says to these labels, with what it chose before."""
        self.pay()
        return _largest(self._answer_of(name, view, labeled, judgement))

    def _answer_of(
        self, name: str, view: View, labeled: Labeled, judgement: Judgement
    ) -> FloatMatrix:
        with _quiet(), _few_threads(view):
            logits = self.members[name].answer(view, labeled, judgement.choices[name])
        return np.asfortranarray(logits, dtype=np.float32)

    def at(self, points: Points, plain: Points, judgement: Judgement) -> FloatMatrix:
        """Return logarithms of the probabilities of new points, before the last temperature."""
        self.pay()
        logits = {name: self.members[name].at(points, plain) for name in judgement.heard}
        return _logs(judgement.mix(logits))

    def _fit_member(
        self, member: Member, view: View, labeled: Labeled
    ) -> tuple[FloatMatrix, FloatMatrix]:
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

    def _weights(
        self,
        fitted: dict[str, Trial],
        temperatures: dict[str, float],
        is_told: BoolVector,
        told: Labeled,
        n_rows: int,
    ) -> dict[str, float]:
        """Return the weight of each candidate by the labels held out."""
        if self.method != "auto":
            return {name: float(name == self.method) for name in fitted}
        priors = {name: one.candidate.prior for name, one in fitted.items()}
        if len(told.rows):
            shares = np.array(list(priors.values()))
            likelihoods = [
                (softmax(one.held_out[is_told], temperatures[name]) * told.targets).sum(axis=1)
                for name, one in fitted.items()
            ]
            prior, even = shares / shares.sum(), _relative(told.weights)
            weights = posterior_weights(np.stack(likelihoods, axis=1), prior, even)
        else:
            weights = blind_weights(priors, n_rows)
        return dict(zip(fitted, weights.tolist(), strict=True))


def _temperatures(fitted: dict[str, Trial], is_told: BoolVector, told: Labeled) -> dict[str, float]:
    """Return the temperature of each candidate by the labels held out."""
    even = _relative(told.weights)
    return {
        name: best_temperature(one.held_out[is_told], told.targets, even, one.candidate.temperature)
        for name, one in fitted.items()
    }


def _judge(
    trial: Trial,
    is_told: BoolVector,
    told: Labeled,
    temperatures: dict[str, float],
    weights: dict[str, float],
) -> Judged:
    """Return the evidence on one candidate."""
    candidate, error, spread = trial.candidate, float("nan"), float("nan")
    if not trial.note and len(told.rows):
        wrong = trial.held_out[is_told].argmax(axis=1) != told.targets.argmax(axis=1)
        error = float(np.average(wrong, weights=told.weights))
        spread = float(np.sqrt(error * (1 - error) / len(wrong)))
    return Judged(
        candidate.name,
        candidate.title,
        candidate.is_baseline,
        error,
        spread,
        temperatures.get(candidate.name, float("nan")),
        weights.get(candidate.name, 0.0),
        trial.seconds,
        trial.note,
    )


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


def _relative(weights: FloatVector) -> FloatVector:
    """Scale weights such that they sum to their number."""
    return weights / weights.mean() if len(weights) else weights


def _logs(probabilities: FloatMatrix) -> FloatMatrix:
    """Return the logarithms of shares of classes."""
    logs = np.empty_like(probabilities)

    def fill(begin: int, stop: int) -> None:
        np.log(np.maximum(probabilities[begin:stop], 1e-9), out=logs[begin:stop])

    map_ranges(fill, len(logs), ROWS)
    return logs


def _largest(logits: FloatMatrix) -> IndexVector:
    """Return the class of largest logit of each row."""
    codes = np.empty(len(logits), dtype=np.intp)

    def fill(begin: int, stop: int) -> None:
        codes[begin:stop] = logits[begin:stop].argmax(axis=1)

    map_ranges(fill, len(codes), ROWS)
    return codes
