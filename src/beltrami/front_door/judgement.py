"""How far answers can be trusted: weights of candidates, and temperatures.

Held-out logits and labels enter; temperatures, weights and the evidence leave. The answer is a
mixture: with few labels the weights stay near those that served on many data sets; with more the
labels decide, and the candidate that explains them best comes to answer alone.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.threads import map_ranges
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector
from beltrami.front_door.candidates import Candidate
from beltrami.learners.base import fitted_temperature, softmax
from beltrami.learners.base.probabilities import ROWS
from beltrami.learners.model import Labeled
from beltrami.review.conformal import conformal_threshold, held_out_strangeness

_LEAST_WEIGHT = 1e-3
"""Weight below which a candidate has no part in the answer."""

_MANY_ROWS = 5000
"""Rows above which Poisson learning answers, and graph regularisation below, where no class has
two labels and nothing can be held out."""

_SURPRISE = 0.02
"""Chance that a candidate is wrong about a label for no reason that it could know of."""

_TEMPERATURES = np.geomspace(0.05, 20.0, 73)

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
        Share of held-out labels it gets wrong; NaN where none could be held out.
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
    is_answer : bool
        Whether it answers.
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
    is_answer: bool
    seconds: float
    note: str


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """How far each candidate is believed, after the labels that were held out.

    Attributes
    ----------
    weights, temperatures : dict of str to float
        Of those that could be fitted.
    choices : dict of str to object
        What those chose for themselves.
    temperature : float
        Of the mixture: its logarithms are divided by it.
    n_labels : int
        Labels that there were.
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
    """

    weights: dict[str, float]
    temperatures: dict[str, float]
    choices: dict[str, Any]
    temperature: float
    n_labels: int
    judged: Labeled
    is_told: BoolVector
    held_out: FloatMatrix
    importance: FloatVector
    members: tuple[Judged, ...]

    @property
    def heard(self) -> list[str]:
        """The candidates that have a part in the answer."""
        return heard_among(self.weights)

    def mix(self, logits: dict[str, FloatMatrix]) -> FloatMatrix:
        """Return the mixture's probabilities, (n, k), from the logits of those that are heard."""
        return mix({name: logits[name] for name in self.heard}, self.temperatures, self.weights)

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
    scores : ndarray of shape (n, k)
        Logarithms of the probabilities, before the last temperature.
    codes : dict of str to ndarray of shape (n,)
        What candidates alone would answer.
    judgement : Judgement
        How far each was believed.
    """

    scores: FloatMatrix
    codes: dict[str, IndexVector]
    judgement: Judgement


def heard_among(weights: dict[str, float]) -> list[str]:
    """Return the candidates that weigh enough to have a part in the answer."""
    return [name for name, weight in weights.items() if weight > _LEAST_WEIGHT]


def can_judge(labeled: Labeled) -> BoolVector:
    """Return which labels may be held out, (l,): those whose class has another."""
    codes = labeled.targets.argmax(axis=1)
    return np.asarray(np.bincount(codes, minlength=labeled.targets.shape[1])[codes] > 1)


def best_temperature(
    logits: FloatMatrix, targets: FloatMatrix, weights: FloatVector, typical: float
) -> float:
    """Return the temperature at which held-out logits are most believable, over a wide range.

    - `logits`, `targets`: (l, k).
    - `typical`: where there is no label; the range is relative to it.
    """
    tried = typical * _TEMPERATURES
    return fitted_temperature(logits, targets, weights, typical=typical, tried=tried)


def posterior_weights(
    likelihoods: FloatMatrix, prior: FloatVector, weights: FloatVector
) -> FloatVector:
    r"""Return how far each candidate is to be believed after its held-out labels were seen, (m,).

    .. math:: w_m \propto \pi_m \prod_i p_m(y_i)^{v_i},

    with the prior :math:`\pi`; a candidate is allowed to be surprised now and then.

    - `likelihoods`: (l, m), the probability that each candidate gave to the class of each label.
    """
    safe = (1 - _SURPRISE) * likelihoods + _SURPRISE / 2
    logs = np.log(prior) + weights @ np.log(safe)
    posterior = np.exp(logs - logs.max())
    return np.asarray(posterior / posterior.sum())


def blind_weights(priors: dict[str, float], n_rows: int) -> FloatVector:
    """Return the weights where no label can be held out: one candidate, by the number of rows."""
    chosen = "poisson" if n_rows > _MANY_ROWS else "regularized"
    if chosen in priors:
        return np.array([float(name == chosen) for name in priors])
    weights = np.array(list(priors.values()))
    return np.asarray(weights / weights.sum())


def mix(
    logits: dict[str, FloatMatrix], temperatures: dict[str, float], weights: dict[str, float]
) -> FloatMatrix:
    """Return the probabilities of a mixture of candidates, (n, k), from logits of each, (n, k)."""
    if not logits:
        raise ValueError("a mixture of nothing")
    mixed = np.empty(next(iter(logits.values())).shape, order="F")  # what follows goes by class

    def fill(begin: int, end: int) -> None:
        parts = [
            weights[name] * softmax(scores[begin:end].astype(np.float64), temperatures[name])
            for name, scores in logits.items()
        ]
        total = np.sum(parts, axis=0)
        mixed[begin:end] = total / total.sum(axis=1, keepdims=True)

    map_ranges(fill, len(mixed), ROWS)
    return mixed


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


def judge_values(trial: Trial, sample: Labeled, *, is_answer: bool) -> JudgedValues:
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
        is_answer,
        trial.seconds,
        trial.note,
    )


@dataclass(frozen=True, slots=True, eq=False)
class KeptJudgement:
    """A judgement, and for which classes and how many labels it was made."""

    classes: tuple[Any, ...]
    n_labels: int
    judgement: Judgement

    @classmethod
    def of(cls, classes: NDArray[Any], labeled: Labeled, judgement: Judgement) -> "KeptJudgement":
        """Keep a judgement."""
        return cls(_with_labels(classes, labeled), len(labeled.rows), judgement)


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
