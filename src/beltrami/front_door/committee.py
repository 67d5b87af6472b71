"""The candidates at work: each is fitted, held to its word on labels it did not see, and weighed.

A view of the data and labels enter; probabilities of all rows, of the held-out labels, and the
evidence leave. Fitted candidates are kept, so that other labels cost only what depends on labels.
"""

import time
import warnings
from contextlib import nullcontext
from dataclasses import dataclass, field

import numpy as np

from beltrami.core.errors import BeltramiError, DisconnectedGraphWarning, InvalidInputError
from beltrami.core.progress import track
from beltrami.core.threads import serial_blas
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector, Points
from beltrami.front_door.budget import excuse, invited
from beltrami.front_door.candidates import Candidate, View
from beltrami.front_door.judgement import (
    PRIOR,
    TYPICAL,
    Judged,
    blind_weights,
    can_judge,
    mixed,
    posterior_weights,
    tempered,
)
from beltrami.front_door.roster import all_candidates
from beltrami.learners.base import softmax
from beltrami.learners.model import Labeled
from beltrami.review.conformal import conformal_threshold, held_out_strangeness

_SILENT = 1e-3
"""Weight below which a candidate has no say."""

_MOST_SHIFT = 5.0

_SMALL = 3000
"""Rows up to which products are small, and threads that wait for each other only cost."""

TOO_SURE = 1.5
"""Temperature that the answer is typically short of: it was made of those that did best."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What the candidates say together.

    Attributes
    ----------
    logs : ndarray of shape (n, k)
        Logarithms of the probabilities, before the last temperature.
    temperature : float
        They are divided by it.
    judged : Labeled
        The labels that were held out, or would have been.
    is_told : ndarray of shape (m,)
        Whether others could tell: the class has another label.
    held_out : ndarray of shape (m, k)
        Probabilities of those labels, each without its own; at the last temperature.
    importance : ndarray of shape (m,)
        How much each counts, so that held-out labels stand for the rows, not for how labels were
        shared among classes; sums to m.
    members : tuple of Judged
        The evidence, one for each candidate, in the order of their weights.
    codes : dict of str to ndarray of shape (n,)
        What each candidate alone would answer.
    """

    logs: FloatMatrix
    temperature: float
    judged: Labeled
    is_told: BoolVector
    held_out: FloatMatrix
    importance: FloatVector
    members: tuple[Judged, ...]
    codes: dict[str, IndexVector]

    def set_threshold(self, coverage: float) -> float:
        """Return the strangeness up to which a class belongs in a set of this coverage."""
        told, codes = self.held_out[self.is_told], self.judged.targets[self.is_told].argmax(axis=1)
        strange = held_out_strangeness(told, codes)
        return conformal_threshold(strange, coverage)


@dataclass(slots=True, eq=False)
class Committee:
    """Candidates that were fitted together.

    Attributes
    ----------
    method : str
        "auto", or the only candidate that answers; the baselines are judged beside it.
    candidates : dict of str to Candidate
        Those that may answer.
    weights, temperatures : dict of str to float
        Of those that do.
    """

    method: str
    candidates: dict[str, Candidate]
    weights: dict[str, float] = field(default_factory=dict)
    temperatures: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, method: str) -> "Committee":
        """Return the committee for a method: all candidates, or one beside the baselines."""
        return cls(method, invited(all_candidates(), method))

    def answer(self, view: View, labeled: Labeled, *, time_budget: float | None) -> Answer:
        """Fit all candidates to the labels, weigh them, and return what they say."""
        judged = labeled.sample()
        is_told = can_judge(judged)
        tried = self._tried(view, labeled, time_budget, has_say=bool(is_told.any()))
        fitted = {name: one for name, one in tried.items() if not one.note}
        if not fitted:
            reasons = "; ".join(f"{name}: {one.note}" for name, one in tried.items())
            raise InvalidInputError(f"no candidate could be fitted ({reasons}).")
        if self.method != "auto" and self.method not in fitted:
            note = tried[self.method].note
            raise InvalidInputError(f"method={self.method!r} could not be fitted: {note}")
        told = Labeled(judged.rows[is_told], judged.targets[is_told], judged.weights[is_told])
        even = _evened(told.weights)
        self.temperatures = {
            name: tempered(one.held_out[is_told], told.targets, even, TYPICAL[name])
            for name, one in fitted.items()
        }
        self.weights = self._weighed(fitted, is_told, told, even)
        speaking = [name for name, weight in self.weights.items() if weight > _SILENT]
        logits = {name: fitted[name].logits for name in speaking}
        probabilities = mixed(logits, self.temperatures, self.weights)
        kept = {name: fitted[name].held_out for name in speaking}
        held_out = mixed(kept, self.temperatures, self.weights)
        importance = _importance(judged, probabilities)
        temperature = (
            1.0
            if not len(told.rows)
            else tempered(
                _logs(held_out[is_told]),
                told.targets,
                _evened(even * importance[is_told]),
                TOO_SURE,
            )
        )
        # All errors are counted as that of the answer is: by the classes' shares of the rows.
        shared = Labeled(told.rows, told.targets, importance[is_told])
        members = tuple(
            _evidence(one, self.temperatures, self.weights, is_told, shared)
            for one in sorted(tried.values(), key=lambda one: -self.weights.get(one.name, -1.0))
        )
        codes = {name: one.logits.argmax(axis=1).astype(np.intp) for name, one in fitted.items()}
        return Answer(
            _logs(probabilities),
            temperature,
            judged,
            is_told,
            softmax(_logs(held_out), temperature),
            importance,
            members,
            codes,
        )

    def at(self, points: Points, plain: Points) -> FloatMatrix:
        """Return logarithms of the probabilities of new points, before the last temperature."""
        speaking = [name for name, weight in self.weights.items() if weight > _SILENT]
        logits = {name: self.candidates[name].at(points, plain) for name in speaking}
        return _logs(mixed(logits, self.temperatures, self.weights))

    def _tried(
        self,
        view: View,
        labeled: Labeled,
        time_budget: float | None,
        *,
        has_say: bool,
    ) -> dict[str, "_Trial"]:
        started = time.monotonic()
        tried: dict[str, _Trial] = {}
        n, empty = view.graph.n_nodes, np.zeros((0, view.n_classes))
        with track("trying learners", total=len(self.candidates)) as advance:
            for name, candidate in self.candidates.items():
                begun = time.monotonic()
                one = _Trial(name, candidate.title, candidate.is_baseline, empty, empty)
                has_answer = any(not other.note for other in tried.values())
                one.note = excuse(
                    name, self.method, n, begun - started, time_budget, has_answer=has_answer
                )
                if not one.note:
                    one.learn(candidate, view, labeled, has_say=has_say)
                one.seconds = time.monotonic() - begun
                tried[name] = one
                advance(1)
        return tried

    def _weighed(
        self,
        fitted: dict[str, "_Trial"],
        is_told: BoolVector,
        told: Labeled,
        even: FloatVector,
    ) -> dict[str, float]:
        if self.method != "auto":
            return {name: float(name == self.method) for name in fitted}
        if not len(told.rows):
            n_rows = len(next(iter(fitted.values())).logits)
            return dict(zip(fitted, blind_weights(list(fitted), n_rows).tolist(), strict=True))
        prior = np.array([PRIOR[name] for name in fitted])
        prior /= prior.sum()
        likelihoods = np.stack(
            [
                (softmax(one.held_out[is_told], self.temperatures[name]) * told.targets).sum(axis=1)
                for name, one in fitted.items()
            ],
            axis=1,
        )
        found = posterior_weights(likelihoods, prior, even)
        return dict(zip(fitted, found.tolist(), strict=True))


@dataclass(slots=True, eq=False)
class _Trial:
    """One candidate's work."""

    name: str
    title: str
    is_baseline: bool
    logits: FloatMatrix
    held_out: FloatMatrix
    seconds: float = 0.0
    note: str = ""

    def learn(self, candidate: Candidate, view: View, labeled: Labeled, *, has_say: bool) -> None:
        """Fit and hold out; a learner that cannot is left out with its reason."""
        try:
            is_small = view.graph.n_nodes <= _SMALL
            with serial_blas() if is_small else nullcontext(), warnings.catch_warnings():
                # Said once, by the estimator that asks the candidates.
                warnings.simplefilter("ignore", DisconnectedGraphWarning)
                self.logits = candidate.fit(view, labeled).astype(np.float32)
                self.held_out = np.zeros((len(labeled.sample().rows), view.n_classes))
                if has_say:
                    self.held_out = candidate.held_out(view, labeled)
        except BeltramiError as error:
            self.note = f"left out: {error}"


def _evidence(
    one: _Trial,
    temperatures: dict[str, float],
    weights: dict[str, float],
    is_told: BoolVector,
    told: Labeled,
) -> Judged:
    error = spread = float("nan")
    if not one.note and len(told.rows):
        wrong = one.held_out[is_told].argmax(axis=1) != told.targets.argmax(axis=1)
        error = float(np.average(wrong, weights=told.weights))
        spread = float(np.sqrt(error * (1 - error) / len(wrong)))
    return Judged(
        one.name,
        one.title,
        one.is_baseline,
        error,
        spread,
        temperatures.get(one.name, float("nan")),
        weights.get(one.name, 0.0),
        one.seconds,
        one.note,
    )


def _importance(judged: Labeled, probabilities: FloatMatrix) -> FloatVector:
    """Weigh held-out labels by how many rows their class seems to have, for each label of it."""
    shares, given = probabilities.mean(axis=0), judged.targets.mean(axis=0)
    ratio = np.divide(shares, given, out=np.ones_like(shares), where=given > 0)
    found: FloatVector = judged.targets @ np.clip(ratio, 1 / _MOST_SHIFT, _MOST_SHIFT)
    return np.asarray(found * (len(found) / found.sum()))


def _evened(weights: FloatVector) -> FloatVector:
    """Scale weights such that they sum to their number."""
    return weights / weights.mean() if len(weights) else weights


def _logs(probabilities: FloatMatrix) -> FloatMatrix:
    return np.log(np.maximum(probabilities, 1e-9))
