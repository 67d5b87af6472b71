"""Given labels that look wrong, judged by what all other labels say of each.

Given classes and held-out probabilities enter; the chance that each label is wrong, and which are
more likely wrong than right, leave. Pure functions.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector
from beltrami.review.guessing import BesideGuessing, beside_guessing

_FLOOR = 1e-6
_TEMPERATURES = np.geomspace(0.1, 10.0, 41)
_RATES = np.concatenate([[0.0], np.geomspace(1e-3, 0.5, 40)])
_EVEN = 0.5
_CLEAN = 3.0
"""Labels that are taken to be right beforehand: a few surprises are no evidence of errors."""
_MANY, _MANY_SHARE = 3, 0.06
_FALSE = 0.25
"""Largest expected share of right labels on the list."""


def chance_words(chance: float) -> str:
    """Return a chance in percent; what is nearly certain is never called certain."""
    return "over 99%" if chance > 0.99 else f"{chance:.0%}"


@dataclass(frozen=True, slots=True, eq=False)
class LabelIssues:
    """Given labels that are more likely wrong than right, surest first.

    Attributes
    ----------
    rows : ndarray of shape (s,)
        Row numbers.
    names : ndarray of shape (s,)
        Their names in the index of a DataFrame, else row numbers.
    given, suggested : ndarray of shape (s,)
        The class that was given, and the most probable other one: column numbers, or labels where
        they were named.
    scores : ndarray of shape (s,)
        Chance that the given label is wrong, above one half.
    chances : ndarray of shape (l,)
        The same for all labels, in the order they came in; 0 where nothing can be said, the only
        label of its class.
    rate : float
        Estimated share of wrong labels.
    temperature : float
        How much surer (below 1) or less sure the held-out probabilities should have been.
    beside : BesideGuessing
        Held-out answers beside always saying one class; where they are no better, none is listed.
    denied : LabelIssues or None
        The further labels that others answer otherwise, of which it cannot be told who is wrong,
        most doubtful first; for a person who looks at each.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami.review.issues import find_label_issues
    >>> given = np.repeat([0, 1], 10)
    >>> held_out = np.where(np.arange(20)[:, None] < 10, [0.95, 0.05], [0.05, 0.95])
    >>> held_out[3] = [0.02, 0.98]  # the others say that row 3 is of class 1
    >>> issues = find_label_issues(np.arange(20), given, held_out)
    >>> issues.rows.tolist(), issues.given.tolist(), issues.suggested.tolist()
    ([3], [0], [1])
    """

    rows: IndexVector
    names: NDArray[Any]
    given: NDArray[Any]
    suggested: NDArray[Any]
    scores: FloatVector
    chances: FloatVector
    rate: float
    temperature: float
    beside: BesideGuessing
    denied: "LabelIssues | None" = None

    @property
    def are_many(self) -> bool:
        """Whether so many labels look wrong that it is no chance: three, and 6 % of all."""
        return len(self.rows) >= max(_MANY, _MANY_SHARE * len(self.chances))

    @property
    def reason(self) -> str:
        """Why no label can be called wrong, or nothing."""
        beside = self.beside
        if not len(self.rows) and beside.is_better and beside.n_right < beside.n_held_out:
            return (
                f"no given label is clearly wrong; {beside.n_held_out - beside.n_right} of "
                f"{beside.n_held_out} are answered otherwise by the others, and which of the two "
                "is wrong cannot be told"
            )
        if beside.is_better or not beside.n_held_out:
            return ""
        return (
            f"the data do not tell the classes apart: {beside.n_right} of {beside.n_held_out} "
            f"held-out answers are right, {beside.n_usual} by always saying the most frequent "
            "class; so no label can be called wrong"
        )

    def with_names(self, names: NDArray[Any], classes: NDArray[Any]) -> "LabelIssues":
        """Return the same in a person's words: names of all rows, and labels for columns."""
        return replace(
            self,
            names=names[self.rows],
            given=classes[self.given],
            suggested=classes[self.suggested],
            denied=None if self.denied is None else self.denied.with_names(names, classes),
        )

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        if not len(self.rows):
            return self.reason or "no given label looks wrong"
        lines = [f"{len(self.rows)} given label(s) look wrong:"]
        lines += [
            f"  row {name}: given {given!s}, the others say {suggested!s} "
            f"({chance_words(score)} wrong)"
            for name, given, suggested, score in zip(
                self.names, self.given, self.suggested, self.scores, strict=True
            )
        ]
        return "\n".join(lines)

    __repr__ = __str__


def find_label_issues(rows: Any, given: Any, held_out: Any) -> LabelIssues:
    r"""Find the given labels that are more likely wrong than right.

    Each label is the true class with chance :math:`1 - \epsilon`, else one of the k - 1 others,
    all alike; the true class follows the held-out probabilities p, sharpened by a temperature,
    :math:`q_c \propto p_c^{1/T}`. Both unknowns are fitted to the labels together,

    .. math:: \max_{\epsilon, T} \sum_i \log\left((1 - \epsilon)\, q_{i g_i} +
              \tfrac{\epsilon}{k - 1} (1 - q_{i g_i})\right) - \tfrac12 (\log T)^2
              + m \log(1 - \epsilon),

    and a label is listed where its chance to be wrong,

    .. math:: \frac{\epsilon (1 - q_g)}{\epsilon (1 - q_g) + (k - 1)(1 - \epsilon)\, q_g},

    is above one half. A learner that is often unsure explains its misses by T, and only misses
    that it is too sure of for that raise :math:`\epsilon`: clean labels give :math:`\epsilon` near
    zero and no list.

    With m = 0 the list stands if it holds every miss: such a learner is wrong about nothing else.
    One that has misses of its own may be wrong about these too, so m = 3 labels are taken to be
    right beforehand, and of the list the surest stay, such that at most a quarter is expected to
    be right. Where a learner does no better on held-out labels than one class for all, nothing is
    listed. The only label of a class is not judged, because without it the others
    cannot know of the class.

    - `held_out`: (l, k), probabilities of the classes by all labels but the row's own.
    """
    places, codes, p = _check_inputs(rows, given, held_out)
    l, k = p.shape  # noqa: E741 - as in the formula
    counts = np.bincount(codes, minlength=k)
    is_judged: BoolVector = counts[codes] > 1
    beside = beside_guessing(codes[is_judged], p[is_judged].argmax(axis=1))
    if k < 2 or not beside.is_better:
        none = np.zeros(0, dtype=np.intp)
        return LabelIssues(none, none, none, none, np.zeros(0), np.zeros(l), 0.0, 1.0, beside)
    is_missed = is_judged & (p.argmax(axis=1) != codes)
    for n_clean, most_false in ((0.0, 1.0), (_CLEAN, _FALSE)):
        temperature, rate = fit_noise(codes[is_judged], p[is_judged], n_clean)
        sharp = _sharpen(p, temperature)
        chances = _chance_wrong(sharp[np.arange(l), codes], rate, k)
        chances = np.where(is_judged, chances, 0.0)
        listed = _surest(chances, most_false)
        if is_missed[listed].sum() == is_missed.sum():
            break
    believed = sharp[np.arange(l), codes]
    sharp[np.arange(l), codes] = -1.0
    instead = sharp.argmax(axis=1)
    rest = np.setdiff1d(np.flatnonzero(is_missed), listed)
    rest = rest[np.argsort(believed[rest], kind="stable")]
    denied, issues = (
        LabelIssues(
            places[chosen],
            places[chosen],
            codes[chosen],
            instead[chosen],
            chances[chosen],
            chances,
            rate,
            temperature,
            beside,
        )
        for chosen in (rest, listed)
    )
    return replace(issues, denied=denied)


def _surest(chances: FloatVector, most_false: float) -> IndexVector:
    """Return the labels more likely wrong than right, surest first, as long as few are right."""
    listed = np.flatnonzero(chances > _EVEN)
    listed = listed[np.argsort(-chances[listed], kind="stable")]
    expected = np.cumsum(1 - chances[listed]) / np.arange(1, len(listed) + 1)
    return np.asarray(listed[expected <= most_false])


def fit_noise(
    given: IndexVector, held_out: FloatMatrix, n_clean: float = 0.0
) -> tuple[float, float]:
    """Fit the temperature of held-out probabilities and the share of wrong labels together.

    Returns the best on a grid, T from 0.1 to 10 and the rate from 0 to a half.
    """
    others = held_out.shape[1] - 1
    highest, best = -np.inf, (1.0, 0.0)
    clean = n_clean * np.log1p(-_RATES)
    for temperature in _TEMPERATURES:
        believed = _sharpen(held_out, temperature)[np.arange(len(given)), given]
        mixed = np.outer(1 - _RATES, believed) + np.outer(_RATES / others, 1 - believed)
        gains = np.log(np.maximum(mixed, 1e-300)).sum(axis=1) + clean - np.log(temperature) ** 2 / 2
        place = int(gains.argmax())
        if gains[place] > highest:
            highest, best = float(gains[place]), (float(temperature), float(_RATES[place]))
    return best


def _chance_wrong(believed: FloatVector, rate: float, n_classes: int) -> FloatVector:
    wrong = rate / (n_classes - 1) * (1 - believed)
    right = (1 - rate) * believed
    return np.asarray(wrong / np.maximum(wrong + right, 1e-300))


def _sharpen(probabilities: FloatMatrix, temperature: float) -> FloatMatrix:
    logs = np.log(np.maximum(probabilities, _FLOOR)) / temperature
    logs -= logs.max(axis=1, keepdims=True)
    np.exp(logs, out=logs)
    logs /= logs.sum(axis=1, keepdims=True)
    return np.asarray(logs)


def _check_inputs(
    rows: Any, given: Any, held_out: Any
) -> tuple[IndexVector, IndexVector, NDArray[np.float64]]:
    places, codes = np.asarray(rows, dtype=np.intp), np.asarray(given, dtype=np.intp)
    chances = np.asarray(held_out, dtype=np.float64)
    if chances.ndim != 2 or codes.shape != (len(chances),) or places.shape != codes.shape:
        raise InvalidInputError(
            f"rows, given and held_out have shapes {places.shape}, {codes.shape} and "
            f"{chances.shape}; give (l,), (l,) and (l, k)."
        )
    if not np.isfinite(chances).all() or (chances < 0).any():
        raise InvalidInputError("held_out must hold probabilities: finite and not negative.")
    if len(codes) and not (codes.min() >= 0 and codes.max() < chances.shape[1]):
        raise InvalidInputError(
            f"given must hold column numbers from 0 to {chances.shape[1] - 1} and goes from "
            f"{codes.min()} to {codes.max()}."
        )
    return places, codes, chances
