"""A committee for values: every candidate is fitted and judged, and one of them answers."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.front_door.deciding.candidates import VALUE_CANDIDATES
from beltrami.front_door.deciding.committee import Committee
from beltrami.front_door.deciding.judgement import JudgedValues, Trial, held_out_loss, judge_values
from beltrami.front_door.deciding.members import ValueMember
from beltrami.front_door.prepare import View
from beltrami.learners.baselines import FEWEST_VALUES
from beltrami.learners.leave_one_out import honest_residuals
from beltrami.learners.model import Labeled

_UNJUDGED = "regularized"
"""The candidate that answers where values are too few to judge."""

_CLEARLY = 0.99
"""A learner on the graph answers if its held-out error is below this share of the baselines'."""


@dataclass(frozen=True, slots=True, eq=False)
class ValueAnswer:
    """Which candidate answers, and why.

    Attributes
    ----------
    winner : ValueMember
        The one that answers.
    name : str
        Its name.
    scores : ndarray of shape (n, 1)
        Its values at all rows.
    members : tuple of JudgedValues
        The evidence, the winner first.
    honest : ndarray of shape (l,) or None
        Held-out residuals, each of the candidate that is best by the others; None for many labels
        or too few.
    """

    winner: ValueMember
    name: str
    scores: FloatMatrix
    members: tuple[JudgedValues, ...]
    honest: FloatVector | None


@dataclass(slots=True, eq=False)
class ValueCommittee(Committee[ValueMember]):
    """Candidates for values, of which one answers."""

    all_candidates: ClassVar = VALUE_CANDIDATES

    def answer(self, view: View, labeled: Labeled, *, time_budget: float | None) -> ValueAnswer:
        """Fit all candidates to the values and return the best by those held out."""
        trials = self.try_all(view, labeled, time_budget)
        fitted = {name: one for name, one in trials.items() if not one.note}
        if not fitted or (self.method != "auto" and self.method not in fitted):
            reasons = "; ".join(f"{name}: {one.note}" for name, one in trials.items() if one.note)
            raise InvalidInputError(f"no candidate could be fitted that may answer ({reasons}).")
        sample = labeled.sample()
        losses = {name: held_out_loss(one, sample) for name, one in trials.items()}
        best = self._choose(fitted, losses)
        order = sorted(trials, key=lambda name: (name != best, losses[name]))
        honest = None
        if sample is labeled and len(labeled.rows) >= FEWEST_VALUES:
            rivals = fitted if self.method == "auto" else {best: fitted[best]}
            honest = honest_residuals(np.stack([one.held_out for one in rivals.values()]), labeled)
        return ValueAnswer(
            self.members[best],
            best,
            fitted[best].answer[:, None],
            tuple(judge_values(trials[name], sample) for name in order),
            honest,
        )

    def _fit_member(
        self, member: ValueMember, view: View, labeled: Labeled
    ) -> tuple[FloatVector, FloatVector]:
        values = member.fit(view, labeled)
        is_judged = len(labeled.rows) >= FEWEST_VALUES
        return values, member.held_out(labeled) if is_judged else np.zeros(0)

    def _choose(self, fitted: dict[str, Trial], losses: dict[str, float]) -> str:
        """Return the candidate that answers: on the graph only if clearly better than without."""
        if self.method != "auto":
            return self.method
        best = min(fitted, key=losses.__getitem__)
        if np.isinf(losses[best]):
            return _UNJUDGED if _UNJUDGED in fitted else next(iter(fitted))
        baselines = [name for name, one in fitted.items() if one.candidate.is_baseline]
        if not baselines:
            return best
        rival = min(baselines, key=losses.__getitem__)
        return best if losses[best] < _CLEARLY**2 * losses[rival] else rival
