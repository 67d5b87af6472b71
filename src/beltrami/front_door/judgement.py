"""How far answers can be trusted: weights of candidates, temperatures, and rows to accept.

Held-out logits and labels enter; temperatures, weights and the evidence leave. The answer is a
mixture: with few labels the weights stay near those that served on many data sets; with more the
labels decide, and the candidate that explains them best comes to answer alone. Of the answers,
those are accepted that lie on no island and are sure enough for a chosen risk.
"""

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector
from beltrami.front_door.candidates import Candidate
from beltrami.graph.model import Graph
from beltrami.learners.base import fitted_temperature, softmax
from beltrami.learners.model import Labeled

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
    total: FloatMatrix | None = None
    for name, scores in logits.items():
        part = weights[name] * softmax(np.asarray(scores, dtype=np.float64), temperatures[name])
        total = part if total is None else total + part
    if total is None:
        raise ValueError("a mixture of nothing")
    return np.asarray(total / total.sum(axis=1, keepdims=True))


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


def island_numbers(
    graph: Graph, labelled: IndexVector, n_neighbors: int | None = None
) -> IndexVector:
    """Return the island of each row, largest first, -1 for a row in a piece with a label.

    Islands are the pieces of the data that no edge but an added bridge joins to a label.

    - `n_neighbors`: nearest points that each row is joined to; None means all that are listed.
    """
    piece = _pieces(graph, n_neighbors)
    has_label = np.zeros(int(piece.max(initial=-1)) + 1, dtype=bool)
    has_label[piece[labelled]] = True
    sizes = np.bincount(piece)
    bare = np.flatnonzero(~has_label)
    bare = bare[np.argsort(-sizes[bare], kind="stable")]
    number = np.full(len(sizes), -1, dtype=np.intp)
    number[bare] = np.arange(len(bare))
    return number[piece]


def _pieces(graph: Graph, n_neighbors: int | None) -> IndexVector:
    """Return the component of each row in the graph without its bridges."""
    if graph.certificate.n_bridges == 0 or graph.neighbors is None:
        return np.asarray(graph.components()[1], dtype=np.intp)
    lists = graph.neighbors.indices[:, :n_neighbors]
    starts = np.repeat(np.arange(len(lists)), lists.shape[1])
    ends = lists.ravel()
    links = coo_array((np.ones(len(ends), dtype=np.int8), (starts, ends)), shape=(len(lists),) * 2)
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.intp)


def check_risk(risk: Any) -> float | None:
    """Return the risk, or say what is wrong with it."""
    if risk is None:
        return None
    is_number = isinstance(risk, numbers.Real) and not isinstance(risk, bool)
    if is_number and 0 <= float(risk) <= 1:
        return float(risk)
    raise InvalidInputError(
        f"risk={risk!r} must be a number from 0 to 1, such as 0.05 for one wrong label in twenty, "
        "or None to accept every label."
    )


def accepted_rows(
    confidence: FloatVector, eligible: BoolVector, given: IndexVector, risk: float | None
) -> BoolVector:
    """Return which labels are accepted, (n,): the surest, as many as the risk allows.

    The expected share of wrong ones among the accepted is one minus their mean confidence, which
    is as good as the calibration. Labels that were given, at the rows `given`, are accepted and not
    counted. Rows equally sure are accepted together or not at all.

    - `risk`: largest expected share of wrong ones; None accepts all that are eligible.
    """
    limit = check_risk(risk)
    accepted = eligible.copy()
    if limit is not None:
        accepted[given] = False
        rows = np.flatnonzero(accepted)
        order = rows[np.argsort(-confidence[rows], kind="stable")]
        sure = confidence[order]
        expected = np.cumsum(1 - sure) / np.arange(1, len(order) + 1)
        allowed = np.flatnonzero(expected <= limit + 1e-12)
        accepted[:] = False
        if len(allowed):
            # Rows as sure as the last one belong together.
            least = sure[allowed[-1]]
            count = np.searchsorted(-sure, -least, side="right")
            if expected[count - 1] > limit + 1e-12:
                count = np.searchsorted(-sure, -least, side="left")
            accepted[order[:count]] = True
    accepted[given] = True
    return accepted
