"""How right the accepted labels are, by checking some of them blindly, with exact bounds.

Rows that were accepted, and what a person says of a random few, enter; rows to look at, a
certificate, the number of answers that a promise needs, a safe threshold leave. Part of layer 6.
"""

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln
from scipy.stats import beta, binom

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import FloatVector, IndexVector, Seed
from beltrami.core.validation import check_count

_ROUNDING = 1e-9
_STEPS = 20
"""Thresholds on the default grid of `safe_threshold`."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a blind check proves of the accepted labels.

    Attributes
    ----------
    n_checked : int
        Rows that were checked.
    n_wrong : int
        How many of them were wrong.
    n_accepted : int or None
        Rows that they were drawn from; None for a pool without end.
    accuracy : float
        Share of right ones among those checked; NaN where none was.
    lower : float
        The accuracy of the pool is at least this, at the stated confidence.
    upper : float
        And at most this, at the stated confidence by itself.
    confidence : float
        Of each of the two bounds.

    Examples
    --------
    >>> from beltrami.learners.review.audit import certify
    >>> found = certify(59, 0)  # 59 checked, none wrong
    >>> round(found.lower, 3), found.upper
    (0.95, 1.0)
    """

    n_checked: int
    n_wrong: int
    n_accepted: int | None
    accuracy: float
    lower: float
    upper: float
    confidence: float

    @property
    def sentence(self) -> str:
        """The result for a person to read."""
        pool = "accepted labels" if self.n_accepted is None else _pool(self.n_accepted)
        if self.n_checked == 0:
            return f"Nothing was checked, so nothing is known of the {pool}."
        sure = f"{100 * self.confidence:g} % confidence"
        return (
            f"At least {_floored(self.lower)} % of the {pool} are right, at {sure}: "
            f"{self.n_wrong} of {self.n_checked} checked at random were wrong."
        )


def _pool(n_accepted: int) -> str:
    return f"{n_accepted:,} accepted label" + ("s" if n_accepted != 1 else "")


def _floored(share: float) -> str:
    """Return per cent, rounded down: a promise is never rounded up."""
    return f"{math.floor(1000 * share + _ROUNDING) / 10:.1f}"


def draw_audit(
    accepted: Any, n: int, random_state: Seed = None, *, strata: Any = None
) -> IndexVector:
    """Draw accepted rows to be checked, blindly and none twice.

    Without strata every set of n rows is equally likely, which is what `certify` takes for
    granted. With strata each gets its share of the n, up to rounding by largest remainders; the
    estimate then varies less, and the bounds of `certify` are no longer exact but, rounding apart,
    rather too wide.

    Parameters
    ----------
    accepted : array-like of shape (m,)
        The rows whose labels are to be vouched for.
    n : int
        How many to check; all where there are no more.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the draw.
    strata : array-like of shape (m,) or None, default=None
        What each accepted row belongs to, such as its class.

    Returns
    -------
    ndarray of shape (min(n, m),)
        Rows, in random order, so that the order says nothing of them.
    """
    rows = np.asarray(accepted)
    count = min(check_count(n, name="n"), len(rows))
    rng = generator(random_state)
    if strata is None:
        return np.asarray(rng.choice(rows, count, replace=False))
    kinds = np.asarray(strata)
    if kinds.shape != rows.shape:
        raise InvalidInputError(
            f"strata has shape {kinds.shape} and there are {len(rows)} accepted rows; give one "
            "stratum per row."
        )
    order = rng.permutation(len(rows))
    _, codes, sizes = np.unique(kinds[order], return_inverse=True, return_counts=True)
    wanted = _shared_out(count, sizes, rng)
    parts = [order[codes == one][:size] for one, size in enumerate(wanted)]
    return np.asarray(rows[rng.permutation(np.concatenate(parts))])


def _shared_out(count: int, sizes: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Share a number out in proportion; what is left goes to the largest remainders."""
    exact = count * sizes / max(int(sizes.sum()), 1)
    whole = np.floor(exact + _ROUNDING).astype(np.intp)
    remainders = exact - whole + 1e-6 * rng.random(len(sizes))  # ties at random
    whole[np.argsort(-remainders)[: count - int(whole.sum())]] += 1
    return whole


def certify(
    n_checked: int, n_wrong: int, n_accepted: int | None = None, *, confidence: float = 0.95
) -> Certificate:
    r"""Bound the accuracy of all accepted labels by a blind random check of some.

    Of N accepted labels M are wrong, and the number of wrong ones among n drawn without
    replacement is hypergeometric. The lower bound is :math:`1 - M_+ / N` with

    .. math:: M_+ = \max \{ M : P(X \le x \mid M) > 1 - \text{confidence} \},

    the upper one is its mirror image. They are exact: each holds with at least the stated
    confidence whatever M is. For a pool without end they are those of Clopper and Pearson. The
    rows must have been drawn at random, after the labels were accepted, and checked without
    regard to them.

    Parameters
    ----------
    n_checked : int
        n, rows drawn and checked.
    n_wrong : int
        x, how many of them were wrong.
    n_accepted : int or None, default=None
        N, rows they were drawn from, themselves included; None for a pool without end.
    confidence : float, default=0.95
        Of each bound by itself.

    Returns
    -------
    Certificate
        The bounds, and a sentence.
    """
    checked, wrong, pool = _counts(n_checked, n_wrong, n_accepted)
    alpha = 1 - _share(confidence, "confidence")
    accuracy = 1 - wrong / checked if checked else math.nan
    if pool is None:
        right = checked - wrong
        lower = float(beta.ppf(alpha, right, wrong + 1)) if right else 0.0
        upper = float(beta.ppf(1 - alpha, right + 1, wrong)) if wrong else 1.0
        return Certificate(checked, wrong, None, accuracy, lower, upper, confidence)
    most = _most_wrong(checked, wrong, pool, alpha)
    fewest_right = _most_wrong(checked, checked - wrong, pool, alpha)
    lower, upper = (pool - most) / max(pool, 1), fewest_right / max(pool, 1)
    if pool == 0:
        lower, upper = 0.0, 1.0
    return Certificate(checked, wrong, pool, accuracy, lower, upper, confidence)


def _most_wrong(n: int, x: int, pool: int, alpha: float) -> int:
    """Return the largest number of marked ones that x or fewer in the sample do not rule out."""
    return _last(
        lambda marked: _at_most(x, n, marked, pool) > alpha * (1 - _ROUNDING), x, pool - (n - x)
    )


def _last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the last number that a falling condition holds for, which does hold at `low`."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def _at_most(x: int, n: int, marked: int, pool: int) -> float:
    """Return the chance of at most x marked ones in a sample of n without replacement."""
    least, most = max(0, n - (pool - marked)), min(n, marked)
    if x >= most:
        return 1.0
    if x < least:
        return 0.0
    hits = np.arange(least, x + 1)
    logs = _choose(marked, hits) + _choose(pool - marked, n - hits) - _choose(pool, n)
    return float(np.exp(logs).sum())


def _choose(n: int, k: Any) -> Any:
    return -np.log(n + 1.0) - betaln(n - k + 1.0, k + 1.0)


def needed(
    target: float, confidence: float = 0.95, n_wrong: int = 0, *, n_accepted: int | None = None
) -> int:
    """Return how many answers prove an accuracy when so many of them are wrong.

    Parameters
    ----------
    target : float
        The accuracy to be proved, between 0 and 1.
    confidence : float, default=0.95
        Of the proof.
    n_wrong : int, default=0
        Wrong ones among the answers.
    n_accepted : int or None, default=None
        Rows they are drawn from; None for a pool without end.

    Returns
    -------
    int
        The fewest answers for which `certify` gives a lower bound of at least `target`.

    Raises
    ------
    InvalidInputError
        When so many wrong ones refute the target in a pool of this size.
    """
    limit, alpha = 1 - _share(target, "target"), 1 - _share(confidence, "confidence")
    wrong = check_count(n_wrong, name="n_wrong", minimum=0)
    if n_accepted is None:
        high = 64
        while binom.cdf(wrong, high, limit) > alpha:
            high *= 2
        return _last(lambda n: float(binom.cdf(wrong, n, limit)) > alpha, wrong, high) + 1
    pool = check_count(n_accepted, name="n_accepted", minimum=0)
    allowed = math.floor(pool * limit + _ROUNDING)
    if wrong > allowed:
        raise InvalidInputError(
            f"{wrong} wrong of {pool} accepted labels leave an accuracy below {target:g}, however "
            "many are checked; lower the target or accept fewer labels."
        )
    if allowed >= pool:
        return 0
    reject = alpha * (1 - _ROUNDING)
    return (
        _last(lambda n: _at_most(wrong, n, allowed + 1, pool) > reject, min(wrong, pool), pool) + 1
    )


def safe_threshold(
    confidences: Any,
    correct: Any,
    target: float,
    *,
    confidence: float = 0.95,
    grid: Any = None,
) -> float:
    """Return the lowest confidence above which the accuracy is proved to reach a target.

    To look at all thresholds and take the best that passes would be to try one's luck often. Here
    they are tested in one order, fixed before the answers are known, from the surest rows
    downwards, each at the full level; at the first that fails it ends. A threshold that breaks the
    target can then be returned only if the first such in the order passed its test, which happens
    with at most 1 - confidence.

    Parameters
    ----------
    confidences : array-like of shape (n,)
        How sure the labels of the checked rows are; the rows are a random sample.
    correct : array-like of bool of shape (n,)
        Whether each was right.
    target : float
        The accuracy to be proved.
    confidence : float, default=0.95
        Of the proof.
    grid : array-like or None, default=None
        Thresholds to test; they must not be chosen by looking at `correct`. None means twenty, at
        equal steps of the ranks of `confidences`, from the first that could pass with one wrong
        answer, or with none where there are too few rows for that.

    Returns
    -------
    float
        Labels with at least this confidence are proved to be right as often as asked; infinity
        where nothing is proved.
    """
    sureness = np.asarray(confidences, dtype=np.float64)
    right = np.asarray(correct, dtype=bool)
    if sureness.ndim != 1 or sureness.shape != right.shape:
        raise InvalidInputError(
            f"confidences and correct have shapes {sureness.shape} and {right.shape}; give one of "
            "each per checked row."
        )
    goal = _share(target, "target")
    thresholds = _grid(sureness, goal, confidence) if grid is None else np.unique(grid)[::-1]
    found = math.inf
    for threshold in thresholds:
        inside = sureness >= threshold
        n, wrong = int(inside.sum()), int((inside & ~right).sum())
        if certify(n, wrong, confidence=confidence).lower < goal:
            break
        found = float(threshold)
    return found


def _grid(sureness: FloatVector, target: float, confidence: float) -> FloatVector:
    """Return thresholds at equal steps of the ranks, highest first, knowing no answers."""
    n = len(sureness)
    starts = [needed(target, confidence, slips) for slips in (1, 0)]
    first = next((start for start in starts if start <= n), None)
    if first is None:
        return np.zeros(0)
    ranks = np.unique(np.linspace(first, n, _STEPS).round().astype(np.intp))
    return np.unique(np.sort(sureness)[::-1][ranks - 1])[::-1]


def _share(value: Any, name: str) -> float:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if is_number and 0 < float(value) < 1:
        return float(value)
    raise InvalidInputError(f"{name}={value!r} must be a number between 0 and 1, such as 0.95.")


def _counts(n_checked: int, n_wrong: int, n_accepted: int | None) -> tuple[int, int, int | None]:
    checked = check_count(n_checked, name="n_checked", minimum=0)
    wrong = check_count(n_wrong, name="n_wrong", minimum=0)
    pool = (
        n_accepted if n_accepted is None else check_count(n_accepted, name="n_accepted", minimum=0)
    )
    if wrong > checked:
        raise InvalidInputError(f"{wrong} of {checked} checked rows cannot be wrong.")
    if pool is not None and checked > pool:
        raise InvalidInputError(
            f"{checked} rows were checked and {pool} accepted; the checked ones are among the "
            "accepted, each once."
        )
    return checked, wrong, pool
