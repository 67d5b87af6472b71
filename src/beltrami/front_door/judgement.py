"""Which candidates answer, and with what weight: judged on labels that each had no part in.

Held-out logits and labels enter; temperatures, weights and the evidence leave. The answer is a
mixture: with few labels the weights stay near those that served on many data sets; with more the
labels decide, and the candidate that explains them best comes to answer alone.
"""

from dataclasses import dataclass

import numpy as np

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector
from beltrami.learners.base import fitted_temperature, softmax
from beltrami.learners.model import Labeled

PRIOR: dict[str, float] = {
    "poisson": 0.20,
    "regularized": 0.35,
    "eigenfunctions": 0.12,
    "laplacian_rls": 0.10,
    "laplacian_svc": 0.03,
    "logistic": 0.15,
    "neighbors": 0.05,
}
"""Weights before any label was held out: what served on many data sets."""

_MANY_ROWS = 5000
"""Rows above which Poisson learning answers, and graph regularisation below, where no class has
two labels and nothing can be held out."""

TYPICAL: dict[str, float] = {
    "poisson": 1.5,
    "regularized": 0.3,
    "eigenfunctions": 0.25,
    "laplacian_rls": 0.25,
    "laplacian_svc": 0.25,
    "logistic": 1.0,
    "neighbors": 0.3,
}
"""Temperatures where labels cannot judge."""

_SURPRISE = 0.02
"""Chance that a candidate is wrong about a label for no reason that it could know of."""

_TEMPERATURES = np.geomspace(0.05, 20.0, 73)


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


def can_judge(labeled: Labeled) -> BoolVector:
    """Return which labels may be held out: those whose class has another.

    Returns shape (l,).
    """
    codes = labeled.targets.argmax(axis=1)
    return np.asarray(np.bincount(codes, minlength=labeled.targets.shape[1])[codes] > 1)


def tempered(
    logits: FloatMatrix, targets: FloatMatrix, weights: FloatVector, typical: float
) -> float:
    """Return the temperature at which held-out logits are most believable, over a wide range.

    Shapes: `logits` (l, k), `targets` (l, k), `weights` (l,).

    - `typical`: where there is no label; the range is relative to it.
    """
    tried = typical * _TEMPERATURES
    return fitted_temperature(logits, targets, weights, typical=typical, tried=tried)


def posterior_weights(
    likelihoods: FloatMatrix, prior: FloatVector, weights: FloatVector
) -> FloatVector:
    r"""Return how far each candidate is to be believed after its held-out labels were seen.

    .. math:: w_m \propto \pi_m \prod_i p_m(y_i)^{v_i},

    with the prior :math:`\pi`; a candidate is allowed to be surprised now and then.

    Shapes: `likelihoods` (l, m), `prior` (m,), `weights` (l,); returns (m,).

    - `likelihoods`: probability that each candidate gave to the class of each held-out label.
    """
    safe = (1 - _SURPRISE) * likelihoods + _SURPRISE / 2
    logs = np.log(prior) + weights @ np.log(safe)
    found = np.exp(logs - logs.max())
    return np.asarray(found / found.sum())


def blind_weights(names: list[str], n_rows: int) -> FloatVector:
    """Return the weights where no label can be held out: one candidate, by the number of rows.

    Returns shape (m,).
    """
    wanted = "poisson" if n_rows > _MANY_ROWS else "regularized"
    if wanted in names:
        return np.array([float(name == wanted) for name in names])
    prior = np.array([PRIOR[name] for name in names])
    return np.asarray(prior / prior.sum())


def mixed(
    logits: dict[str, FloatMatrix], temperatures: dict[str, float], weights: dict[str, float]
) -> FloatMatrix:
    """Return the probabilities of a mixture of candidates.

    Shapes: `logits` (n, k); returns (n, k).
    """
    total: FloatMatrix | None = None
    for name, own in logits.items():
        part = weights[name] * softmax(np.asarray(own, dtype=np.float64), temperatures[name])
        total = part if total is None else total + part
    if total is None:
        raise ValueError("a mixture of nothing")
    return np.asarray(total / total.sum(axis=1, keepdims=True))
