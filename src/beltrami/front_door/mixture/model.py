"""The mixture: what candidates say becomes probabilities that are as sure as they are right."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from beltrami.core.machine.threads import map_ranges
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.front_door.mixture.confidence import Confidence, Signs, set_first
from beltrami.learners.base import leaders, softmax

_LEAST_WEIGHT = 0.03
"""Weight below which a candidate has no part in the answer, and need not be asked again."""

_ROWS = 2**14
"""Rows that are answered together: their numbers stay in the cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """How candidates answer together.

    Attributes
    ----------
    weights, temperatures : dict of str to float
        Of each candidate, those that are not heard included.
    odds : ndarray of shape (k,)
        What the probabilities of the classes are multiplied by; zero for one without a label.
    confidence : Confidence or None
        How sure to be; None to leave the probabilities as they come out.
    """

    weights: Mapping[str, float]
    temperatures: Mapping[str, float]
    odds: FloatVector
    confidence: Confidence | None = None

    @property
    def heard(self) -> list[str]:
        """The candidates that have a part in the answer, one at least."""
        heaviest = max(self.weights.values())
        least = min(_LEAST_WEIGHT, heaviest)
        return [name for name, weight in self.weights.items() if weight >= least]

    def listen(self, logits: Mapping[str, FloatMatrix]) -> Signs:
        """Return what those that are heard say of some rows, from the logits of each, (n, k).

        In the precision of the logits.
        """
        heard = self.heard
        total = sum(self.weights[name] for name in heard)
        shares = np.array([self.weights[name] / total for name in heard])
        parts = [softmax(logits[name], self.temperatures[name]) for name in heard]
        mixed = np.zeros_like(parts[0])
        for share, part in zip(shares.astype(mixed.dtype), parts, strict=True):
            mixed += share * part
        mixed *= self.odds.astype(mixed.dtype)
        mixed /= np.maximum(mixed.sum(axis=1, keepdims=True), 1e-30)
        rows, first = np.arange(len(mixed)), leaders(mixed)[0]
        given = np.stack([part[rows, first] for part in parts], axis=1)
        agreement = np.stack([leaders(part)[0] == first for part in parts], axis=1) @ shares
        variance = (given**2) @ shares - (given @ shares) ** 2
        return Signs(mixed, agreement, np.sqrt(np.maximum(variance, 0.0)))

    def answer(self, logits: Mapping[str, FloatMatrix]) -> FloatMatrix:
        """Return the probabilities of rows, (n, k), from the logits of those that are heard."""
        first = logits[self.heard[0]]
        answers = np.empty(first.shape, order="F")  # what follows goes by class

        def fill(begin: int, stop: int) -> None:
            block = {name: logits[name][begin:stop] for name in self.heard}
            answers[begin:stop] = self.conclude(self.listen(block))

        map_ranges(fill, len(answers), _ROWS)
        return answers

    def conclude(self, signs: Signs) -> FloatMatrix:
        """Return probabilities that are as sure as they should be, (n, k)."""
        if self.confidence is None:
            return signs.probabilities
        chance, known = self.confidence.judge(signs), self.odds > 0
        if known.all():
            return set_first(signs.probabilities, chance)
        settled = np.zeros_like(signs.probabilities)
        settled[:, known] = set_first(signs.probabilities[:, known], chance)
        return settled
