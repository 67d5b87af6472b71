"""The candidates of the regressor at work: each is fitted and judged on values left out.

A view of the data and values enter; the candidate that answers and the evidence leave. Fitted
candidates are kept, so that other values cost only what depends on values.
"""

import time
import warnings
from dataclasses import dataclass, field

import numpy as np

from beltrami.core.errors import BeltramiError, DisconnectedGraphWarning, InvalidInputError
from beltrami.core.progress import track
from beltrami.core.types import FloatVector
from beltrami.front_door.budget import excuse, invited
from beltrami.front_door.candidates import View
from beltrami.front_door.value_candidates import ValueCandidate, value_candidates
from beltrami.front_door.value_summary import JudgedValues
from beltrami.learners.leave_one_out import honest_residuals
from beltrami.learners.model import Labeled

_FEWEST = 4
_BLIND = "regularized"
"""Who answers where too few values are there to judge."""

_ROUNDING = 1e-12

_CLEARLY = 0.99
"""A learner on the graph answers if its held-out error is below this share of the baselines'."""


@dataclass(frozen=True, slots=True, eq=False)
class ValueAnswer:
    """Who answers, and why.

    Attributes
    ----------
    winner : ValueCandidate
        The one that answers.
    values : ndarray of shape (n,)
        Its values at all rows.
    members : tuple of JudgedValues
        The evidence, the winner first.
    honest : ndarray of shape (l,) or None
        Held-out residuals, each of the candidate that is best by the others; None for many labels
        or too few.
    """

    winner: ValueCandidate
    values: FloatVector
    members: tuple[JudgedValues, ...]
    honest: FloatVector | None


@dataclass(slots=True, eq=False)
class ValueCommittee:
    """Candidates that were fitted together.

    Attributes
    ----------
    method : str
        "auto", or the only candidate that answers; the baselines are judged beside it.
    candidates : dict of str to ValueCandidate
        Those that may answer.
    """

    method: str
    candidates: dict[str, ValueCandidate]

    @classmethod
    def of(cls, method: str) -> "ValueCommittee":
        """Return the committee for a method: all candidates, or one beside the baselines."""
        return cls(method, invited(value_candidates(), method))

    def answer(self, view: View, labeled: Labeled, *, time_budget: float | None) -> ValueAnswer:
        """Fit all candidates to the values and return the best by those held out."""
        tried = self._tried(view, labeled, time_budget)
        fitted = {name: one for name, one in tried.items() if not one.note}
        if not fitted or (self.method != "auto" and self.method not in fitted):
            reasons = "; ".join(f"{name}: {one.note}" for name, one in tried.items() if one.note)
            raise InvalidInputError(f"no candidate could be fitted that may answer ({reasons}).")
        sample = labeled.sample()
        name = self._chosen(fitted, sample)
        ordered = sorted(tried.values(), key=lambda one: (one.name != name, one.loss(sample)))
        members = tuple(one.judged(sample, is_answer=one.name == name) for one in ordered)
        honest = None
        if sample is labeled and len(labeled.rows) >= _FEWEST:
            rivals = fitted if self.method == "auto" else {name: fitted[name]}
            honest = honest_residuals(np.stack([one.left for one in rivals.values()]), labeled)
        return ValueAnswer(self.candidates[name], fitted[name].values, members, honest)

    def _tried(
        self, view: View, labeled: Labeled, time_budget: float | None
    ) -> dict[str, "_Trial"]:
        started, tried = time.monotonic(), dict[str, _Trial]()
        with track("trying learners", total=len(self.candidates)) as advance:
            for name, candidate in self.candidates.items():
                begun = time.monotonic()
                one = _Trial(name, candidate.title, candidate.is_baseline)
                has_answer = any(not other.note for other in tried.values())
                n, spent = view.graph.n_nodes, begun - started
                one.note = excuse(name, self.method, n, spent, time_budget, has_answer=has_answer)
                if not one.note:
                    one.learn(candidate, view, labeled)
                one.seconds = time.monotonic() - begun
                tried[name] = one
                advance(1)
        return tried

    def _chosen(self, fitted: dict[str, "_Trial"], sample: Labeled) -> str:
        if self.method != "auto":
            return self.method
        losses = {name: one.loss(sample) for name, one in fitted.items()}
        if np.isinf(min(losses.values())):
            return _BLIND if _BLIND in fitted else next(iter(fitted))
        plain = {name: losses[name] for name, one in fitted.items() if one.is_baseline}
        if not plain:
            return min(losses, key=losses.__getitem__)
        best = min(losses, key=losses.__getitem__)
        rival = min(plain, key=plain.__getitem__)
        return best if losses[best] < _CLEARLY**2 * losses[rival] else rival


def _nothing() -> FloatVector:
    return np.zeros(0)


@dataclass(slots=True, eq=False)
class _Trial:
    """One candidate's work."""

    name: str
    title: str
    is_baseline: bool
    values: FloatVector = field(default_factory=_nothing)
    left: FloatVector = field(default_factory=_nothing)
    seconds: float = 0.0
    note: str = ""

    def learn(self, candidate: ValueCandidate, view: View, labeled: Labeled) -> None:
        """Fit and leave out; a learner that cannot is left out with its reason."""
        try:
            with warnings.catch_warnings():
                # Said once, by the estimator that asks the candidates.
                warnings.simplefilter("ignore", DisconnectedGraphWarning)
                self.values = candidate.fit(view, labeled)
                if len(labeled.rows) >= _FEWEST:
                    self.left = candidate.judged(labeled)
        except BeltramiError as error:
            self.note = f"left out: {error}"

    def loss(self, sample: Labeled) -> float:
        """Return the mean squared held-out residual, infinite where there is none."""
        if self.note or not len(self.left):
            return float("inf")
        return float(np.average(self.left**2, weights=sample.weights))

    def judged(self, sample: Labeled, *, is_answer: bool) -> JudgedValues:
        """Return the evidence."""
        loss, error, r2 = self.loss(sample), float("nan"), float("nan")
        if np.isfinite(loss):
            error = float(np.sqrt(loss))
            values = sample.targets[:, 0]
            spread = float(np.average((values - sample.mean[0]) ** 2, weights=sample.weights))
            if spread > (_ROUNDING * np.abs(values).max()) ** 2:  # of one value there is no share
                r2 = 1 - loss / spread
        return JudgedValues(
            self.name, self.title, self.is_baseline, error, r2, is_answer, self.seconds, self.note
        )
