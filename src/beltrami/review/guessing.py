"""Whether held-out answers are better than always saying the most frequent class.

Given and answered classes of labels that were held out enter; how the two compare leaves. Pure
functions.
"""

from dataclasses import dataclass

import numpy as np

from beltrami.core.types import IndexVector

_LEVEL = 0.03


@dataclass(frozen=True, slots=True)
class BesideGuessing:
    """Held-out answers beside one constant answer.

    Attributes
    ----------
    n_held_out : int
        Labels that were held out.
    n_right : int
        How many were answered right.
    usual : int
        The most frequent class among them; -1 where none was held out.
    n_usual : int
        How many are of it.
    chance : float
        Chance of as many right answers, or more, if each were right as often as the constant one.
    """

    n_held_out: int
    n_right: int
    usual: int
    n_usual: int
    chance: float

    @property
    def is_better(self) -> bool:
        """Whether the answers clearly beat the constant one, or leave nothing to be desired."""
        is_perfect = self.n_right == self.n_held_out > self.n_usual
        return is_perfect or self.chance <= _LEVEL


def beside_guessing(given: IndexVector, answered: IndexVector) -> BesideGuessing:
    """Compare held-out answers with the answer that is always the most frequent class."""
    from scipy.stats import binom

    m = len(given)
    if m == 0:
        return BesideGuessing(0, 0, -1, 0, 1.0)
    counts = np.bincount(given)
    n_right, usual = int(np.count_nonzero(given == answered)), int(counts.argmax())
    n_usual = int(counts[usual])
    chance = float(binom.sf(n_right - 1, m, n_usual / m))
    return BesideGuessing(m, n_right, usual, n_usual, chance)
