"""How large the classes are, where labels were shared out evenly and do not tell.

Labels drawn at random tell it themselves, and candidates learn it from them. Equally many labels of
every class were chosen by hand: then the answers to all rows say whether classes differ in size.
"""

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector

_FEWEST = 3
"""Labels of every class from which sizes are looked for: two labels a class tell nothing of it, and
looking lost 0.7 points on sets of equal classes."""

_EQUAL = 0.5
"""Share of all rows that stands for equal classes, beside what the rows say."""

_UNSURE, _SURE = 0.1, 0.3
"""Distance from equal classes up to which nothing is done, and from which all is."""

_ROUNDS = 50
_MOST = 1e3
"""Times by which a class may be made likelier."""


def estimate_odds(probabilities: FloatMatrix, counts: FloatVector) -> FloatVector:
    r"""Return what the probabilities of each class are multiplied by, (k,); ones for nothing.

    Sizes are those under which the rows are likeliest when labels of equal number were taken from
    each class, by expectation and maximisation [SaerensLatinneDecaestecker02]_, with half of the
    rows on the side of equal ones.

    - `probabilities`: (n, k), of classes that have a label.
    - `counts`: (k,), labels of each class.
    """
    k = len(counts)
    is_even = counts.min() == counts.max()
    if k < 2 or not is_even or counts[0] < _FEWEST or not len(probabilities):
        return np.ones(k)
    shares = np.full(k, 1 / k)
    for _ in range(_ROUNDS):
        moved = probabilities * shares
        moved /= moved.sum(axis=1, keepdims=True)
        shares = (moved.mean(axis=0) + _EQUAL / k) / (1 + _EQUAL)
    distance = np.abs(shares - 1 / k).sum() / 2 / (1 - 1 / k)
    degree = np.clip((distance - _UNSURE) / (_SURE - _UNSURE), 0.0, 1.0)
    return np.asarray((k * shares) ** degree)


def unseen_share(counts: FloatVector) -> float:
    """Return the share of rows of classes that no label names, about (Good and Turing [Good53]_).

    Of labels drawn at random, the share that are the only one of their class; of labels shared out
    evenly nothing, since who shares them out knows the classes.

    - `counts`: (k,), labels of each class that has one.
    """
    if not len(counts) or counts.min() == counts.max():
        return 0.0
    return float((counts == 1).sum() / counts.sum())


def match_odds(probabilities: FloatMatrix, shares: FloatVector) -> FloatVector:
    """Return what the probabilities of each class are multiplied by to have given mean shares.

    - `probabilities`: (n, k); `shares`: (k,), sum to one.
    """
    odds = np.ones(len(shares))
    for _ in range(_ROUNDS if len(probabilities) else 0):
        moved = probabilities * odds
        moved /= moved.sum(axis=1, keepdims=True)
        odds = odds * shares / np.maximum(moved.mean(axis=0), 1e-12)
        odds = np.clip(odds / np.exp(np.log(odds).mean()), 1 / _MOST, _MOST)
    return np.asarray(odds)
