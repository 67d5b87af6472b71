"""How right the accepted labels are, by checking some of them blindly, with exact bounds.

Rows that were accepted, and what a person says of a random few, enter; rows to look at and a
certificate leave.
"""

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln
from scipy.stats import beta

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import IndexVector, Seed
from beltrami.core.validation import check_count

_ROUNDING = 1e-9
_FIRST = 0.8
"""Share of the error that the first look takes: most people look once."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a blind check proves of the accepted labels.

    Attributes
    ----------
    n_checked : int
        Rows that were drawn at random, with or without an answer.
    n_wrong : int
        How many of the answers differ from the label.
    n_blank : int
        Rows that were drawn and have no answer; in `lower` they count as wrong.
    n_accepted : int or None
        Labels that the certificate is about; None for a pool without end.
    accuracy : float
        Share of right ones among the answers; NaN where there is none.
    lower : float
        The accuracy of the pool is at least this, at the stated confidence.
    upper : float
        And at most this, at the stated confidence by itself.
    lower_judged : float
        Blank rows left out, the accuracy of labels on rows that can be judged is at least this, at
        the stated confidence by itself. It says nothing of rows that cannot.
    confidence : float
        Of each bound.
    look : int or None
        Which look at a growing sample this is, from 1; None for the only one there will be.

    Examples
    --------
    >>> from beltrami.review.audit import certify
    >>> found = certify(59, 0)  # 59 checked, none wrong
    >>> round(found.lower, 3), found.upper
    (0.95, 1.0)
    >>> round(certify(59, 0, n_blank=2).lower, 3)  # two of them without an answer
    0.897
    """

    n_checked: int
    n_wrong: int
    n_blank: int
    n_accepted: int | None
    accuracy: float
    lower: float
    upper: float
    lower_judged: float
    confidence: float
    look: int | None = None

    @property
    def sentence(self) -> str:
        """The result for a person to read."""
        pool = "accepted labels" if self.n_accepted is None else _pool(self.n_accepted)
        if self.n_checked == 0:
            return f"Nothing was checked, so nothing is known of the {pool}."
        sure = f"{100 * self.confidence:.12g} % confidence"
        start = f"At least {floor_percent(self.lower)} % of the {pool} are right, at {sure}: "
        wrong = f"{self.n_wrong} {'was' if self.n_wrong == 1 else 'were'} wrong"
        if not self.n_blank:
            return f"{start}of {self.n_checked} checked at random {wrong}."
        return (
            f"{start}of {self.n_checked} drawn at random {wrong} and "
            f"{self.n_blank} left blank, which count as wrong. Without the blank ones: at least "
            f"{floor_percent(self.lower_judged)} % of the labels on rows that you can judge."
        )


def _pool(n_accepted: int) -> str:
    return f"{n_accepted:,} accepted label" + ("s" if n_accepted != 1 else "")


def floor_percent(share: float) -> str:
    """Return per cent, rounded down: a promise is never rounded up."""
    return f"{math.floor(1000 * share + _ROUNDING) / 10:.1f}"


def draw_audit(accepted: Any, n: int, random_state: Seed = None) -> IndexVector:
    """Draw accepted rows to be checked, blindly and none twice.

    Every set of n rows is equally likely, which is what `certify` takes for granted.

    - `n`: how many to check; all where there are no more.
    """
    rows = np.asarray(accepted)
    count = min(check_count(n, name="n"), len(rows))
    return np.asarray(generator(random_state).choice(rows, count, replace=False))


def certify(
    n_checked: int,
    n_wrong: int,
    n_accepted: int | None = None,
    *,
    n_blank: int = 0,
    look: int | None = None,
    look_judged: int | None = None,
    confidence: float = 0.95,
) -> Certificate:
    r"""Bound the accuracy of all accepted labels by a blind random check of some.

    Of N accepted labels M are wrong, and the number of wrong ones among n drawn without
    replacement is hypergeometric. The lower bound is :math:`1 - M_+ / N` with

    .. math:: M_+ = \max \{ M : P(X \le x \mid M) > e \},

    where e is 1 - confidence for the only look there will be, and its share `error_at` where the
    sample grows round by round and anybody may stop when the bound looks good: all bounds then
    hold together. The upper bound is the mirror image. They are exact: each holds with at least the
    stated confidence whatever M is. For a pool without end they are those of Clopper and Pearson.
    The rows must have been drawn at random, after the labels were accepted, and checked without
    regard to them. Rows without an answer count as wrong.

    - `n_accepted`: N, rows they were drawn from, themselves included; None for a pool without end.
    - `look`: which look it is at a sample that grows by rounds of one size, from 1; None for the
      only one.
    - `look_judged`: the same for the bound on rows that can be judged, which also changes, up or
      down, when blanks are filled in; None means `look`.
    """
    checked, wrong, blank, pool = _counts(n_checked, n_wrong, n_blank, n_accepted)
    error = error_at(look, confidence)
    error_judged = error_at(look_judged or look, confidence)
    answered = checked - blank
    # Nobody knows how many rows can be judged: for a pool without end the bound is the lowest.
    judged = None if blank else pool
    return Certificate(
        checked,
        wrong,
        blank,
        pool,
        accuracy=1 - wrong / answered if answered else math.nan,
        lower=1 - _largest_share(checked, wrong + blank, pool, error),
        upper=_largest_share(checked, checked - wrong, pool, error),
        lower_judged=1 - _largest_share(answered, wrong, judged, error_judged),
        confidence=confidence,
        look=look,
    )


def error_at(look: int | None, confidence: float) -> float:
    """Return the chance of a false bound that the k-th look may take of 1 - confidence.

    The first takes 0.8 of it and the k-th 0.2 / ((k - 1) k), so that all of them together take no
    more than the whole. None is the only look there will be.
    """
    error = 1 - check_share(confidence, "confidence")
    if look is None:
        return error
    k = check_count(look, name="look")
    return _FIRST * error if k == 1 else (1 - _FIRST) * error / ((k - 1) * k)


def _largest_share(n: int, x: int, pool: int | None, error: float) -> float:
    """Return the largest share of marked ones that x or fewer in the sample do not rule out."""
    if n in (0, x):
        return 1.0
    if pool is None:
        return 1 - float(beta.ppf(error, n - x, x + 1))
    return _most_marked(n, x, pool, error) / pool


def _most_marked(n: int, x: int, pool: int, error: float) -> int:
    """Return the largest number of marked ones that x or fewer in the sample do not rule out."""
    return _last(
        lambda marked: _at_most(x, n, marked, pool) > error * (1 - _ROUNDING), x, pool - (n - x)
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


def check_share(value: Any, name: str) -> float:
    """Return a number between 0 and 1, or raise."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if is_number and 0 < float(value) < 1:
        return float(value)
    raise InvalidInputError(f"{name}={value!r} must be a number between 0 and 1, such as 0.95.")


def _counts(
    n_checked: int, n_wrong: int, n_blank: int, n_accepted: int | None
) -> tuple[int, int, int, int | None]:
    checked = check_count(n_checked, name="n_checked", minimum=0)
    wrong = check_count(n_wrong, name="n_wrong", minimum=0)
    blank = check_count(n_blank, name="n_blank", minimum=0)
    pool = (
        n_accepted if n_accepted is None else check_count(n_accepted, name="n_accepted", minimum=0)
    )
    if wrong + blank > checked:
        what = f"{wrong} wrong and {blank} blank" if blank else f"{wrong}"
        raise InvalidInputError(f"{what} of {checked} checked rows cannot be wrong.")
    if pool is not None and checked > pool:
        raise InvalidInputError(
            f"{checked} rows were checked and {pool} accepted; the checked ones are among the "
            "accepted, each once."
        )
    return checked, wrong, blank, pool
