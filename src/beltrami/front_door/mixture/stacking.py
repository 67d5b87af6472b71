r"""Weights and temperatures of candidates, by what they say of labels that were held out.

The answer is a mixture, and its weights are those under which the held-out labels are likeliest,

.. math:: w = \arg\max \; a \sum_m \pi_m \ln w_m
                  + \sum_i v_i \ln \sum_m w_m\, p_m(y_i),

where :math:`\pi`, from experience, counts as much as `a` labels. Unlike a product of likelihoods,
which after twenty labels believes one candidate alone, it keeps those that are right where others
are not.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.learners.base import fitted_temperature, softmax
from beltrami.learners.splits import deal_folds

_WORTH = 3.0
"""Labels that experience counts as much as, for weights and for temperatures alike."""

_SURPRISE = 0.02
"""Chance that a candidate is wrong about a label for no reason that it could know of."""

_TEMPERATURES = np.geomspace(0.05, 20.0, 37)

_ROUNDS = 30
_FOLDS = 5


def fit_temperature(
    logits: FloatMatrix, targets: FloatMatrix, counts: FloatVector, typical: float
) -> float:
    """Return the temperature at which held-out logits are most believable.

    - `logits`, `targets`: (l, k); `counts`: (l,), how much each label counts.
    - `typical`: what stands where there is no label.
    """
    tried = typical * _TEMPERATURES
    return fitted_temperature(logits, targets, counts, typical=typical, tried=tried, worth=_WORTH)


def stack(likelihoods: FloatMatrix, prior: FloatVector, counts: FloatVector) -> FloatVector:
    """Return the weights of candidates, (m,), by expectation and maximisation.

    - `likelihoods`: (l, m), the probability that each candidate gave to the class of each label.
    - `prior`: (m,), sums to one.
    """
    weights = prior
    for _ in range(_ROUNDS if len(likelihoods) else 0):
        parts = likelihoods * weights
        parts /= parts.sum(axis=1, keepdims=True)
        weights = (_WORTH * prior + counts @ parts) / (_WORTH + counts.sum())
    return np.asarray(weights)


def fit_mixture(
    logits: Mapping[str, FloatMatrix],
    targets: FloatMatrix,
    counts: FloatVector,
    prior: FloatVector,
    typical: Mapping[str, float],
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the weights and the temperatures of candidates by held-out labels.

    - `logits`: of each candidate, (l, k).
    - `targets`: (l, k), one-hot; `counts`: (l,); `prior`: (m,), in the order of `logits`.
    """
    temperatures = {
        name: fit_temperature(one, targets, counts, typical[name]) for name, one in logits.items()
    }
    likelihoods = np.empty((len(targets), len(logits)))
    for place, (name, one) in enumerate(logits.items()):
        likelihoods[:, place] = (softmax(one, temperatures[name]) * targets).sum(axis=1)
    likelihoods = (1 - _SURPRISE) * likelihoods + _SURPRISE / max(targets.shape[1], 1)
    weights = stack(likelihoods, prior, counts)
    return dict(zip(logits, weights.tolist(), strict=True)), temperatures


def deal_labels(targets: FloatMatrix) -> Sequence[IndexVector]:
    """Return the places of held-out labels in up to five folds, each class spread over them."""
    codes = np.unique(targets.argmax(axis=1), return_inverse=True)[1]
    folds = deal_folds(codes, min(_FOLDS, max(len(codes), 1)))
    return [np.flatnonzero(folds == number) for number in range(_FOLDS) if (folds == number).any()]
