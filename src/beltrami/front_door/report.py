"""What the front door did and why, for a person to read."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from beltrami.core.types import BoolVector, FloatVector, IndexVector
from beltrami.front_door.candidates import OUT_OF_TIME
from beltrami.front_door.judgement import Judged, JudgedValues
from beltrami.review.guessing import BesideGuessing

_EVEN = 0.5
_FEWEST = 10
_DRAWS = 1000
_LEVEL = 0.01
_TRIFLE = 1e-9

_Judged = TypeVar("_Judged", Judged, JudgedValues)


class _Report(Generic[_Judged]):
    """What both reports share: how they are printed, and the baseline to compare with."""

    __slots__ = ()

    members: tuple[_Judged, ...]

    @property
    def best_baseline(self) -> _Judged | None:
        """The learner on the labelled rows alone with the lowest held-out error."""
        judged = [one for one in self.members if one.is_baseline and not np.isnan(one.error)]
        return min(judged, key=lambda one: one.error, default=None)

    @abstractmethod
    def lines(self) -> list[str]:
        """Return the report line by line."""

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FitReport(_Report[Judged]):
    """What was tried, what won and how far to trust it. Print it.

    Attributes
    ----------
    n_rows, n_labels, n_classes : int
        Sizes.
    preparation : tuple of str
        What was done to the data first.
    graph : str
        The graph.
    members : tuple of Judged
        Every candidate with its held-out error and weight, heaviest first.
    n_held_out : int
        Labels that were held out; 0 where no class has two.
    accuracy : float
        Estimated share of right answers among the rows without a label: the mean of their
        calibrated confidence.
    held_out_accuracy : float
        Share of held-out labels that the answer gets right; NaN where none could be.
    bounds : tuple of float
        Of `held_out_accuracy`, 95 %, exact.
    warnings : tuple of str
        What to beware of, most important first.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import ManifoldClassifier, load_dataset
    >>> flowers = load_dataset("iris")
    >>> y = np.where(np.arange(150) % 10 == 0, flowers.targets, -1)
    >>> report = ManifoldClassifier("poisson", random_state=0).fit(flowers.points, y).report_
    >>> report.n_labels, report.n_held_out, bool(report.held_out_accuracy > 0.6)
    (15, 15, True)
    """

    n_rows: int
    n_labels: int
    n_classes: int
    preparation: tuple[str, ...]
    graph: str
    members: tuple[Judged, ...]
    n_held_out: int
    accuracy: float
    held_out_accuracy: float
    bounds: tuple[float, float]
    warnings: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """What answers and why, in a sentence."""
        first = self.members[0]
        if first.weight > 0.99 and np.isnan(first.error):
            return f"{first.title} answers"
        if first.weight > 0.9:
            return f"{first.title} answers: {first.error:.1%} of held-out labels wrong"
        rounded = whole_percents([one.weight for one in self.members])
        parts = [
            f"{one.title} ({part} %)"
            for one, part in zip(self.members, rounded, strict=True)
            if part >= 5
        ]
        return "a mixture answers: " + ", ".join(parts)

    def lines(self) -> list[str]:
        """Return the report line by line."""
        lines = [
            f"{self.n_rows:,} rows, {self.n_labels:,} labelled, {self.n_classes} classes; "
            f"{self.graph}",
            *(f"  {reason}" for reason in self.preparation),
            "  learner                                 held-out error  weight     s",
        ]
        for one in self.members:
            error = "       -" if np.isnan(one.error) else f"{one.error:8.1%}"
            share = f" +- {one.standard_error:4.1%}" if error.strip() != "-" else " " * 9
            lines.append(
                f"  {one.title:38}{error}{share[:9]:9}{one.weight:7.2f}{one.seconds:6.1f}"
                + (f"  {one.note}" if one.note else "")
            )
        lines.append(f"  {self.verdict}")
        if self.n_held_out:
            low, high = self.bounds
            lines.append(
                f"  estimated accuracy {self.accuracy:.1%}; on {self.n_held_out} held-out labels "
                f"{self.held_out_accuracy:.1%} ({low:.0%} to {high:.0%})"
            )
        else:
            lines.append(
                f"  estimated accuracy {self.accuracy:.1%}, from other data sets: no class has two "
                "labels, so none could be held out"
            )
        return [*lines, *(f"  ! {line}" for line in self.warnings)]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ValueReport(_Report[JudgedValues]):
    """What was tried, what won and how far to trust it. Print it.

    Attributes
    ----------
    n_rows, n_labels : int
        Sizes.
    preparation : tuple of str
        What was done to the data first.
    graph : str
        The graph.
    members : tuple of JudgedValues
        Every candidate, the one that answers first, the others by their held-out error.
    n_held_out : int
        Values that were held out; 0 where there are too few.
    warnings : tuple of str
        What to beware of.
    """

    n_rows: int
    n_labels: int
    preparation: tuple[str, ...]
    graph: str
    members: tuple[JudgedValues, ...]
    n_held_out: int
    warnings: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """What answers and why, in a sentence."""
        first, rival = self.members[0], self.best_baseline
        if np.isnan(first.error):
            return f"{first.title} answers"
        if first.is_baseline and first is rival:
            return f"{first.title} answers: no learner on the graph does better on held-out values"
        sentence = f"{first.title} answers: held-out error {first.error:.3g}"
        if rival is None or rival is first:
            return sentence
        return f"{sentence}, beside {rival.error:.3g} of {rival.title}"

    def lines(self) -> list[str]:
        """Return the report line by line."""
        lines = [
            f"{self.n_rows:,} rows, {self.n_labels:,} with a value; {self.graph}",
            *(f"  {reason}" for reason in self.preparation),
            "  learner                               held-out error     R2     s",
        ]
        for one in self.members:
            error = f"{'-' if np.isnan(one.error) else format(one.error, '.4g'):>14}"
            error += f"{'-' if np.isnan(one.r2) else format(one.r2, '.2f'):>7}"
            note = f"  {one.note}" if one.note else ""
            lines.append(f"  {one.title:38}{error}{one.seconds:6.1f}{note}")
        lines.append(f"  {self.verdict}")
        if self.n_held_out:
            lines.append(
                f"  expected error {self.members[0].error:.3g}, from {self.n_held_out} values held "
                "out one by one"
            )
        return [*lines, *(f"  ! {line}" for line in self.warnings)]


def out_of_time(members: Sequence[Judged] | Sequence[JudgedValues]) -> tuple[str, ...]:
    """Say which candidates were left out because the time was spent."""
    late = [one for one in members if one.note.startswith(OUT_OF_TIME)]
    if not late:
        return ()
    names = ", ".join(one.title for one in late)
    return (
        f"{len(late)} of {len(members)} methods were left out for time ({names}): "
        f"{late[0].note.removeprefix('not tried: ')} before they were begun. The others answer "
        "alone, and another machine may choose otherwise; a larger time_budget (--budget) tries "
        "all.",
    )


def judged_before(n_judged: int, n_labels: int, *, are_same: bool) -> tuple[str, ...]:
    """Say that labels came, went or changed since the candidates were judged."""
    if are_same and n_judged == n_labels:
        return ()
    return (
        f"the methods were last judged by {n_judged} labels, and there are {n_labels} now, some "
        "of them new or changed: what is said of held-out labels is of then. settle() judges anew.",
    )


def none_accepted(
    confidence: FloatVector,
    accepted: BoolVector,
    given: IndexVector,
    risk: float | None,
    *,
    can_promise: bool,
) -> tuple[str, ...]:
    """Say why no label is accepted beside those given, at the rows `given`, where risk is why."""
    others = np.ones(len(accepted), dtype=bool)
    others[given] = False
    if risk is None or not others.any() or accepted[others].any():
        return ()
    if not can_promise:
        return (
            f"no label is accepted beside those given: risk={risk:g} is a promise, and these "
            "labels cannot carry one: too few classes have a second label to test answers by. The "
            "guesses are there; label a second row of each class.",
        )
    return (
        f"no label is accepted beside those given: risk={risk:g} asks for {1 - risk:.1%} right, "
        f"and the surest row has {confidence[others].max():.1%}. The guesses are there; label more "
        "rows, or allow a larger risk (--risk).",
    )


def exact_bounds(n_right: float, count: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact two-sided bounds of a share (Clopper and Pearson)."""
    from scipy.stats import beta

    if count == 0:
        return 0.0, 1.0
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, n_right, count - n_right + 1)) if n_right > 0 else 0.0
    high = float(beta.ppf(1 - tail, n_right + 1, count - n_right)) if n_right < count else 1.0
    return low, high


def doubts(
    counts: FloatVector,
    shares: FloatVector,
    names: tuple[str, ...],
    accuracy: float,
    beside: BesideGuessing,
    *,
    n_asked: int = 0,
    island: IndexVector,
) -> tuple[str, ...]:
    """Say what makes the answers and their confidence doubtful, the worst first.

    - `counts`, `shares`: (k,), labels of each class, and the share of the rows it seems to have.
    - `n_asked`: labels that were asked for, because they would teach most.
    - `island`: (n,), the island of each row, -1 for none.
    """
    sentences = [*_guesswork(names, accuracy, beside)]
    single = [name for name, count in zip(names, counts, strict=True) if count == 1]
    if single:
        sentences.append(
            f"{len(single)} class(es) have a single label ({_some(single)}): nothing can "
            "be checked there; label a second row of each."
        )
    if _differ(counts, shares, accuracy):
        most = int(np.abs(counts / counts.sum() - shares).argmax())
        sentences.append(
            "labels and answers disagree about how large the classes are, most about "
            f"{names[most]!r}: {percent(counts[most] / counts.sum())} of the labels, "
            f"{percent(shares[most])} of the answers. Confidence holds only if labels were drawn "
            "at random within each class; an audit needs no such assumption."
        )
    if n_asked:
        sentences.append(
            f"{n_asked:,} of the {int(counts.sum()):,} labels were asked for, not drawn at random: "
            "held-out labels then speak for hard rows more than for all. An audit, which draws "
            "its own rows, needs no such assumption."
        )
    n_islands = int(island.max(initial=-1)) + 1
    if n_islands:
        sentences.append(
            f"{int((island >= 0).sum()):,} rows in {n_islands} island(s) of the data have no label "
            "among them: their answers are carried over a gap and are not accepted. Label a row in "
            "each."
        )
    return tuple(sentences)


def _guesswork(names: tuple[str, ...], accuracy: float, beside: BesideGuessing) -> Iterator[str]:
    """Say so where answers are little more than guesses."""
    if beside.n_held_out and beside.n_usual == beside.n_held_out:
        yield (
            f"ONLY LABELS OF {names[beside.usual]!r} COULD BE TESTED, {beside.n_held_out} of them: "
            "nothing is known of how right the answers for other classes are. Label a second row "
            "of each."
        )
    elif beside.n_held_out and not beside.is_better:
        yield (
            f"ANSWERS MAY BE GUESSES: {beside.n_right} of {beside.n_held_out} held-out labels "
            f"were answered right, and {beside.n_usual} would be by always saying "
            f"{names[beside.usual]!r}. Either the columns do not tell the classes apart, or labels "
            "are too few to show it; label more rows of every class, or give other columns."
        )
    elif accuracy < _EVEN:
        yield (
            f"MOST ANSWERS ARE WRONG by our own estimate: {percent(accuracy)} right. Set a risk to "
            "have the unsure rows left to you, or label more rows."
        )


def percent(share: float) -> str:
    """Return a share as a person writes it: 0.05 is 5 %."""
    return f"{100 * share:.0f} %"


def whole_percents(shares: Sequence[float]) -> list[int]:
    """Round shares of one to percents that add up to 100, by largest remainders."""
    exact = 100 * np.asarray(shares, dtype=np.float64)
    percents = np.floor(exact + _TRIFLE).astype(int)
    short = round(float(exact.sum())) - int(percents.sum())
    percents[np.argsort(percents - exact, kind="stable")[: max(short, 0)]] += 1
    return [int(one) for one in percents]


def _some(names: Sequence[str], most: int = 5) -> str:
    """Return the first names, and how many more there are."""
    rest = [f"and {len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *rest])


def _differ(counts: FloatVector, shares: FloatVector, accuracy: float) -> bool:
    r"""Say whether label counts are unlikely for a random sample of rows, at a level of 1 %.

    The rows' true shares are unknown: as many rows as are answered wrongly may lie elsewhere. So
    the shares are moved towards those of the labels as far as that allows, and Pearson's statistic
    is compared with that of samples drawn from them. Equally many labels of every class were
    shared out by hand, so there is nothing to test.
    """
    total = int(counts.sum())
    if total < _FEWEST or len(counts) < 2 or counts.max() == counts.min():
        return False
    labelled, believed = counts / total, shares / shares.sum()
    distance = float(np.abs(labelled - believed).sum() / 2)
    leeway = 1.0 - min(max(accuracy, 0.0), 1.0)
    if distance <= leeway:
        return False
    true = believed + (labelled - believed) * (leeway / distance)
    true = np.maximum(true, 1e-9)
    true /= true.sum()
    drawn = np.random.default_rng(0).multinomial(total, true, size=_DRAWS)
    expected = total * true
    statistics = ((drawn - expected) ** 2 / expected).sum(axis=1)
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float((np.count_nonzero(statistics >= statistic) + 1) / (_DRAWS + 1)) < _LEVEL


def value_doubts(n_held_out: int, r2: float, n_unreached: int) -> tuple[str, ...]:
    """Say what makes values doubtful.

    - `n_unreached`: rows that share no component of the graph with a value.
    """
    sentences = []
    if not n_held_out:
        sentences.append("too few values to hold any out: nothing was judged. Give at least four.")
    elif r2 <= 0:
        sentences.append(
            "held-out values are told no better than by their mean: what is asked for does not "
            "show in these columns, or values are too few."
        )
    if n_unreached:
        sentences.append(
            f"{n_unreached:,} rows share no component of the graph with a value and get none. Give "
            "a value in each component, or join more neighbours."
        )
    return tuple(sentences)
