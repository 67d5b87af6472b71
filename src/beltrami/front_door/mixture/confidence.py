"""How sure to be of an answer: the chance that a row is right, as learned over many data sets.

Four signs of a row (how far its class leads, by odds and beside the second; how many candidates
agree, by weight; how far they differ) and some of the whole set (labels per class, how labels that
were held out were answered) enter; a chance leaves. Its logarithm of odds is linear in the signs of
a row, with slopes that depend on the set.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector
from beltrami.front_door.mixture.experience import Situation
from beltrami.learners.base import leaders

_SUREST = 1 - 1e-3
_WIDEST = 1e4
"""Bounds of a lead: what no data set could teach to tell apart."""

_HALF_KNOWN = 10.0
"""Held-out labels that make half of what many would."""

_TRIFLE = 1e-6
"""What keeps the first class ahead where nothing else does."""

_TESTED = 0.02
"""Least and most of an accuracy, from below and above, whose odds are looked at."""

ROW_SIGNS = ("lead", "margin", "agreement", "spread")
SET_SIGNS = (
    "per_class", "classes", "unseen", "tested", "gap", "mean_agreement", "untested", "known",
)  # fmt: skip
PAIRS = (
    ("lead", "per_class"),
    ("agreement", "per_class"),
    ("lead", "mean_agreement"),
    ("lead", "tested"),
    ("lead", "unseen"),
)
"""Signs of rows whose slopes depend on a sign of the set."""


@dataclass(frozen=True, slots=True, eq=False)
class Signs:
    """What candidates say of some rows together, and how far they agree.

    Attributes
    ----------
    probabilities : ndarray of shape (n, k)
        The mixture's.
    agreement : ndarray of shape (n,)
        Weight of the candidates whose first class is the mixture's.
    spread : ndarray of shape (n,)
        Standard deviation, by weight, of what they give to that class.
    """

    probabilities: FloatMatrix
    agreement: FloatVector
    spread: FloatVector

    @property
    def table(self) -> FloatMatrix:
        """The signs of rows, (n, 4), in the order of `ROW_SIGNS`."""
        _, first, second = leaders(self.probabilities)
        bounded = np.clip(first, 1 - _SUREST, _SUREST)
        margin = np.log(np.clip(first / np.maximum(second, 1 / _WIDEST), 1.0, _WIDEST))
        lead = np.log(bounded / (1 - bounded))
        return np.column_stack([lead, margin, self.agreement, self.spread])


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the whole set says of how right answers are.

    Attributes
    ----------
    situation : Situation
        Labels, classes, columns.
    n_tested : int
        Labels that were held out and may judge.
    accuracy, promised : float
        Share of them that was answered right, and what the mixture promised.
    agreement : float
        Mean over rows of how far candidates agree.
    """

    situation: Situation
    n_tested: int
    accuracy: float
    promised: float
    agreement: float

    @property
    def signs(self) -> dict[str, float]:
        """The signs of the set, by the names in `SET_SIGNS`."""
        known = self.n_tested / (self.n_tested + _HALF_KNOWN)
        tested = gap = 0.0
        if self.n_tested:
            smoothed = (self.accuracy * self.n_tested + 1) / (self.n_tested + 2)
            smoothed = float(np.clip(smoothed, _TESTED, 1 - _TESTED))
            tested = float(np.log(smoothed / (1 - smoothed))) * known
            gap = (self.accuracy - self.promised) * known
        return {
            "per_class": self.situation.per_class,
            "classes": self.situation.classes,
            "unseen": self.situation.unseen,
            "tested": tested,
            "gap": gap,
            "mean_agreement": self.agreement,
            "untested": float(self.n_tested == 0),
            "known": known,
        }


def list_terms(signs: Signs, evidence: Evidence) -> FloatMatrix:
    """Return all that the odds are linear in, (n, t), in the order of `TERMS`: for the fit."""
    rows, whole = signs.table, evidence.signs
    ones = np.ones(len(rows))
    columns = [ones, *rows.T, *(ones * whole[name] for name in SET_SIGNS)]
    columns += [rows[:, ROW_SIGNS.index(row)] * whole[name] for row, name in PAIRS]
    return np.column_stack(columns)


TERMS = ("one", *ROW_SIGNS, *SET_SIGNS, *(f"{row} x {name}" for row, name in PAIRS))
"""Names of the terms, as in ``experience.json``."""


@dataclass(frozen=True, slots=True)
class Confidence:
    """The chance that a row is right, for one set.

    Attributes
    ----------
    start : float
        Logarithm of the odds where all signs of a row are zero.
    slopes : tuple of float
        Of the signs of a row, in the order of `ROW_SIGNS`.
    """

    start: float
    slopes: tuple[float, ...]

    @classmethod
    def of(cls, learned: Mapping[str, float], evidence: Evidence) -> Self:
        """Return what was learned, for a set with this evidence."""
        whole = evidence.signs
        slopes = {row: learned[row] for row in ROW_SIGNS}
        for row, name in PAIRS:
            slopes[row] += learned[f"{row} x {name}"] * whole[name]
        start = learned["one"] + sum(learned[name] * whole[name] for name in SET_SIGNS)
        return cls(float(start), tuple(float(slopes[row]) for row in ROW_SIGNS))

    @classmethod
    def even(cls, chance: float) -> Self:
        """Return the same chance for every row."""
        bounded = float(np.clip(chance, 1 - _SUREST, _SUREST))
        return cls(float(np.log(bounded / (1 - bounded))), (0.0,) * len(ROW_SIGNS))

    def judge(self, signs: Signs) -> FloatVector:
        """Return the chance that each row is right, (n,)."""
        odds = signs.table @ np.array(self.slopes) + self.start
        return np.asarray(1 / (1 + np.exp(-np.clip(odds, -30.0, 30.0))))


def set_first(probabilities: FloatMatrix, chance: FloatVector) -> FloatMatrix:
    """Return probabilities whose largest, of the same class, is the chance of being right.

    The other classes share the rest as before, or more evenly where one of them would come out
    ahead. A chance below that of a blind guess is raised to a trifle above it.

    - `probabilities`: (n, k); `chance`: (n,).
    """
    n, k = probabilities.shape
    if k < 2:
        return np.ones_like(probabilities)
    rows = np.arange(n)
    first, _, second = leaders(probabilities)
    largest = np.clip(chance, 1 / k + _TRIFLE, 1.0)
    others = probabilities.copy()
    others[rows, first] = 0.0
    totals = others.sum(axis=1)
    even = (1 - largest) / (k - 1)
    scale = np.divide(1 - largest, totals, out=np.zeros(n), where=totals > 0)
    highest = second * scale
    # Blend with equal shares until all are below the first.
    most = largest - _TRIFLE * (largest - even)
    kept = np.divide(most - even, highest - even, out=np.ones(n), where=highest > most)
    kept[totals <= 0] = 0.0
    others *= (scale * kept).astype(others.dtype)[:, None]
    blended = np.flatnonzero(kept < 1)
    others[blended] += ((1 - kept) * even)[blended, None]
    others[rows, first] = largest
    return others


def doubt_rows(
    probabilities: FloatMatrix, doubted: BoolVector, has_label: BoolVector
) -> FloatMatrix:
    """Return probabilities in which some rows are no surer than a blind guess.

    - `probabilities`: (n, k); `doubted`: (n,); `has_label`: (k,), classes that are guessed among.
    """
    if not doubted.any() or np.count_nonzero(has_label) < 2:
        return probabilities
    block = np.ix_(doubted, has_label)
    careful = probabilities.copy()
    careful[block] = set_first(probabilities[block], np.zeros(int(doubted.sum())))
    return careful
