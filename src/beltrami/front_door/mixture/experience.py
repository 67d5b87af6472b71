"""What many data sets taught, before any label of this one has spoken.

With few labels nobody can tell from these labels how far each candidate is to be believed, nor how
sure to be of an answer. Both were learned over other data sets, as functions of what is known of
every set: labels per class, classes, columns. ``python -m benchmarks.trust.fit`` fits the numbers,
which stand in ``experience.json``, and judges them by leaving whole sets out (decision 0033).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from beltrami.core.types import FloatVector

_FEW, _MANY = 1.0, 10.0
_MOST_CLASSES = 26
_MOST_COLUMNS = 12_000
"""The range that was seen: beyond it, what was learned at its end stands."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known of every data set.

    Attributes
    ----------
    n_labels, n_classes, n_columns : int
        Labels, classes that have one, columns.
    unseen : float
        Share of rows of classes that no label names, about.
    """

    n_labels: int
    n_classes: int
    n_columns: int
    unseen: float = 0.0

    @property
    def per_class(self) -> float:
        """Logarithm of the labels per class."""
        share = self.n_labels / max(self.n_classes, 1)
        return float(np.log(np.clip(share, _FEW, _MANY)))

    @property
    def classes(self) -> float:
        """Logarithm of the number of classes, zero for two."""
        return float(np.log(np.clip(self.n_classes, 2, _MOST_CLASSES) / 2))

    @property
    def terms(self) -> FloatVector:
        """What weights and temperatures are linear in, (4,)."""
        columns = (np.log(np.clip(self.n_columns, 1, _MOST_COLUMNS)) - 3.5) / 1.5
        return np.array([1.0, self.per_class - 1.0, columns, self.classes])


@dataclass(frozen=True, slots=True, eq=False)
class Experience:
    """What was learned over many data sets.

    Attributes
    ----------
    weights : dict of str to ndarray of shape (4,)
        Of each candidate: its weight is the exponential of these times the terms of a situation.
    temperatures : dict of str to ndarray of shape (4,)
        The same for what its logits are divided by.
    confidence : dict of str to float
        Of each sign, what it adds to the logarithm of the odds that a row is right.
    """

    weights: Mapping[str, FloatVector]
    temperatures: Mapping[str, FloatVector]
    confidence: Mapping[str, float]

    def believe(self, names: Sequence[str], situation: Situation) -> FloatVector:
        """Return the weights of candidates before any label was held out, (m,); they sum to one."""
        logs = np.array([self.weights[name] @ situation.terms for name in names])
        shares = np.exp(logs - logs.max())
        return np.asarray(shares / shares.sum())

    def temper(self, name: str, situation: Situation) -> float:
        """Return the temperature that a candidate typically needs."""
        return float(np.exp(self.temperatures[name] @ situation.terms))


@cache
def load_experience() -> Experience:
    """Return what stands in ``experience.json``, read once."""
    text = files("beltrami.front_door.mixture").joinpath("experience.json").read_text("utf-8")
    found = json.loads(text)
    return Experience(
        {name: np.array(terms) for name, terms in found["weights"].items()},
        {name: np.array(terms) for name, terms in found["temperatures"].items()},
        found["confidence"],
    )
