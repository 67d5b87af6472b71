"""What labels that were held out say of candidates: the evidence, and how it is kept."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector
from beltrami.front_door.deciding.candidates import Candidate
from beltrami.front_door.mixture.model import Mixture
from beltrami.learners.model import Labeled
from beltrami.review.conformal import conformal_threshold, held_out_strangeness

_ROUNDING = 1e-12

_MOST_SHIFT = 5.0
"""Times by which a class may have more rows, or fewer, than its share of the labels says."""


@dataclass(slots=True, eq=False)
class Trial:
    """One candidate's work.

    Attributes
    ----------
    candidate : Candidate
        Whose.
    answer : ndarray of shape (n, k) or (n,)
        Logits or values of all rows.
    held_out : ndarray of shape (m, k) or (m,)
        Logits of the labels held out, or residuals.
    seconds : float
        What it took.
    note : str
        Why it was left out, or nothing.
    """

    candidate: Candidate
    answer: Any = None
    held_out: Any = None
    seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What the held-out labels say of one candidate.

    Attributes
    ----------
    name, title : str
        The candidate.
    is_baseline : bool
        Whether it sees the labelled rows only.
    error : float
        Share of held-out labels it gets wrong, each class counted by the rows that it seems to
        have; NaN where none could be held out.
    standard_error : float
        Of that share.
    temperature : float
        Its logits are divided by.
    weight : float
        Its part in the answer.
    seconds : float
        What it took.
    note : str
        Why it was left out, or nothing.
    is_clearly_better : bool
        Whether it is a baseline, and has clearly fewer of them wrong than what answers.
    """

    name: str
    title: str
    is_baseline: bool
    error: float
    standard_error: float
    temperature: float
    weight: float
    seconds: float
    note: str
    is_clearly_better: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class JudgedValues:
    """What the held-out values say of one candidate.

    Attributes
    ----------
    name, title : str
        The candidate.
    is_baseline : bool
        Whether it sees the labelled rows only.
    error : float
        Root of the mean squared held-out residual; NaN where none could be held out.
    r2 : float
        One minus the share of the variance that is left; NaN where all values are the same.
    seconds : float
        What it took.
    note : str
        Why it was left out, or nothing.
    """

    name: str
    title: str
    is_baseline: bool
    error: float
    r2: float
    seconds: float
    note: str


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """How far each candidate is believed, after the labels that were held out.

    Attributes
    ----------
    mixture : Mixture
        Weights, temperatures, and how sure to be.
    choices : dict of str to object
        What those that could be fitted chose for themselves.
    n_labels : int
        Labels that there were.
    judged : Labeled
        The labels that were held out, or would have been.
    is_told : ndarray of shape (m,)
        Whether others could tell: the class has another label.
    can_promise : bool
        Whether labels support a promise, so that rows may be accepted under a risk.
    held_out : ndarray of shape (m, k)
        Probabilities of those labels, each by a mixture that did not see it either.
    importance : ndarray of shape (m,)
        How much each counts, so that held-out labels stand for the rows, not for how labels were
        shared among classes; sums to m.
    members : tuple of Judged
        The evidence, one for each candidate, in the order of their weights.
    """

    mixture: Mixture
    choices: dict[str, Any]
    n_labels: int
    judged: Labeled
    is_told: BoolVector
    can_promise: bool
    held_out: FloatMatrix
    importance: FloatVector
    members: tuple[Judged, ...]

    def set_threshold(self, coverage: float) -> float:
        """Return the strangeness up to which a class belongs in a set of this coverage."""
        codes = self.judged.targets[self.is_told].argmax(axis=1)
        strange = held_out_strangeness(self.held_out[self.is_told], codes)
        return conformal_threshold(strange, coverage)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What the candidates say together.

    Attributes
    ----------
    probabilities : ndarray of shape (n, k)
        The mixture's, as sure as they should be.
    codes : dict of str to ndarray of shape (n,)
        What candidates alone would answer; of a live answer nothing, until one is asked.
    judgement : Judgement
        How far each was believed.
    """

    probabilities: FloatMatrix
    codes: dict[str, IndexVector]
    judgement: Judgement

    @property
    def scores(self) -> FloatMatrix:
        """The probabilities: what a classifier goes by."""
        return self.probabilities


def can_judge(labeled: Labeled) -> BoolVector:
    """Return which labels may be held out, (l,): those whose class has another."""
    codes = labeled.targets.argmax(axis=1)
    return np.asarray(np.bincount(codes, minlength=labeled.targets.shape[1])[codes] > 1)


def importance_of(sample: Labeled, probabilities: FloatMatrix) -> FloatVector:
    """Weigh held-out labels by how many rows their class seems to have, for each label of it."""
    shares, label_shares = probabilities.mean(axis=0), sample.targets.mean(axis=0)
    ratio = np.divide(shares, label_shares, out=np.ones_like(shares), where=label_shares > 0)
    weights: FloatVector = sample.targets @ np.clip(ratio, 1 / _MOST_SHIFT, _MOST_SHIFT)
    return np.asarray(weights * (len(weights) / weights.sum()))


def held_out_loss(trial: Trial, sample: Labeled) -> float:
    """Return the mean squared held-out residual, infinite where there is none."""
    if trial.note or not len(trial.held_out):
        return float("inf")
    return float(np.average(trial.held_out**2, weights=sample.weights))


def judge_values(trial: Trial, sample: Labeled) -> JudgedValues:
    """Return the evidence on one candidate."""
    candidate, loss = trial.candidate, held_out_loss(trial, sample)
    error = r2 = float("nan")
    if np.isfinite(loss):
        error = float(np.sqrt(loss))
        values = sample.targets[:, 0]
        spread = float(np.average((values - sample.mean[0]) ** 2, weights=sample.weights))
        if spread > (_ROUNDING * np.abs(values).max()) ** 2:  # of one value there is no share
            r2 = 1 - loss / spread
    return JudgedValues(
        candidate.name,
        candidate.title,
        candidate.is_baseline,
        error,
        r2,
        trial.seconds,
        trial.note,
    )


@dataclass(frozen=True, slots=True, eq=False)
class KeptJudgement:
    """A judgement, for which classes and how many labels, and whether rows were unlike any then."""

    classes: tuple[Any, ...]
    n_labels: int
    judgement: Judgement
    has_strangers: bool

    @classmethod
    def of(
        cls,
        classes: NDArray[Any],
        labeled: Labeled,
        judgement: Judgement,
        *,
        has_strangers: bool,
    ) -> "KeptJudgement":
        """Keep a judgement."""
        return cls(_with_labels(classes, labeled), len(labeled.rows), judgement, has_strangers)


def best_kept(
    judgements: list[KeptJudgement], classes: NDArray[Any], labeled: Labeled
) -> KeptJudgement | None:
    """Return the judgement of the same classes by most labels, but not by more than there are.

    None where the labels have doubled since, so that they are worth judging by. Where labels were
    taken away, the judgement by fewest is the nearest.
    """
    present, count = _with_labels(classes, labeled), len(labeled.rows)
    same = sorted(
        (one for one in judgements if one.classes == present), key=lambda one: one.n_labels
    )
    earlier = [one for one in same if one.n_labels <= count]
    if not earlier:
        return same[0] if same else None
    return earlier[-1] if count < 2 * earlier[-1].n_labels else None


def _with_labels(classes: NDArray[Any], labeled: Labeled) -> tuple[Any, ...]:
    return tuple(classes[labeled.targets.any(axis=0)].tolist())
