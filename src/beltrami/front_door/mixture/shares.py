"""How large the classes are, where labels were shared out evenly and do not tell.

Labels drawn at random tell it themselves, and candidates learn it from them. Equally many labels of
every class were chosen by hand: then the answers to all rows say whether classes differ in size.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector

_FEWEST = 3
"""Labels of every class from which sizes are looked for: two labels a class tell nothing of it, and
looking lost 0.7 points on sets of equal classes."""

_EQUAL = 0.5
"""Share of all rows that stands for equal classes, beside what the rows say."""

_UNSURE, _SURE = 0.1, 0.3
"""Distance from equal classes up to which nothing is done, and from which all is."""

_ONE = 1e-3
"""How far shares that are given may be from summing to one."""

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


def check_priors(priors: Any, classes: NDArray[Any], has_label: BoolVector) -> FloatVector | None:
    """Return given class sizes in the order of the classes, or say what is wrong with them.

    - `priors`: None, one share for each class, or a mapping from class to share.
    - `has_label`: (k,), which classes have a label.
    """
    if priors is None:
        return None
    if isinstance(priors, Mapping):
        priors = _in_order(priors, classes)
    try:
        shares = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"priors={priors!r} must hold one number for each class."
        ) from error
    if shares.shape != (len(classes),) or not np.isfinite(shares).all() or (shares < 0).any():
        raise InvalidInputError(
            f"priors must hold {len(classes)} shares, not negative, in the order of classes_ "
            f"({_some(classes)}), or be a mapping from class to share; got {priors!r}."
        )
    if abs(float(shares.sum()) - 1) > _ONE:
        raise InvalidInputError(
            f"priors sum to {shares.sum():.4g}: they are the classes' shares of all rows and must "
            "sum to 1."
        )
    denied = classes[has_label & (shares == 0)].tolist()
    if len(denied):
        raise InvalidInputError(
            f"priors say that there is no row of {denied[0]!r}, and there are labels of it. Give "
            "it a share, or take the labels away."
        )
    return np.asarray(shares / shares.sum())


def _in_order(priors: Mapping[Any, Any], classes: NDArray[Any]) -> list[Any]:
    """Return the shares of a mapping in the order of the classes."""
    known = classes.tolist()
    unknown = [name for name in priors if name not in known]
    if unknown:
        raise InvalidInputError(
            f"priors name {unknown[0]!r}, which is none of the classes ({_some(classes)}). Give "
            "classes= too if some have no label yet."
        )
    missing = [name for name in known if name not in priors]
    if missing:
        raise InvalidInputError(f"priors leave out {missing[0]!r}; give a share for every class.")
    return [priors[name] for name in known]


def _some(classes: NDArray[Any], most: int = 5) -> str:
    """Return the first classes, and whether there are more."""
    listed = ", ".join(map(repr, classes.tolist()[:most]))
    return f"{listed}, ..." if len(classes) > most else listed
