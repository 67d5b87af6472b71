"""What the front door did and why, for a person to read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from beltrami.core.types import FloatVector
from beltrami.front_door.judgement import Judged
from beltrami.review.guessing import BesideGuessing

_EVEN = 0.5
_FEWEST = 10
_DRAWS = 1000
_LEVEL = 0.01
_TRIFLE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class FitReport:
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
        """Who answers and why, in a sentence."""
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

    @property
    def best_baseline(self) -> Judged | None:
        """The learner on the labelled rows alone with the lowest held-out error."""
        judged = [one for one in self.members if one.is_baseline and not np.isnan(one.error)]
        return min(judged, key=lambda one: one.error, default=None)

    def lines(self) -> list[str]:
        """Return the report line by line."""
        found = [
            f"{self.n_rows:,} rows, {self.n_labels:,} labelled, {self.n_classes} classes; "
            f"{self.graph}",
            *(f"  {reason}" for reason in self.preparation),
            "  learner                                 held-out error  weight     s",
        ]
        for one in self.members:
            error = "       -" if np.isnan(one.error) else f"{one.error:8.1%}"
            share = f" +- {one.standard_error:4.1%}" if error.strip() != "-" else " " * 9
            found.append(
                f"  {one.title:38}{error}{share[:9]:9}{one.weight:7.2f}{one.seconds:6.1f}"
                + (f"  {one.note}" if one.note else "")
            )
        found.append(f"  {self.verdict}")
        if self.n_held_out:
            low, high = self.bounds
            found.append(
                f"  estimated accuracy {self.accuracy:.1%}; on {self.n_held_out} held-out labels "
                f"{self.held_out_accuracy:.1%} ({low:.0%} to {high:.0%})"
            )
        else:
            found.append(
                f"  estimated accuracy {self.accuracy:.1%}, from other data sets: no class has two "
                "labels, so none could be held out"
            )
        return [*found, *(f"  ! {line}" for line in self.warnings)]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__


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
    n_islands: int = 0,
    n_stranded: int = 0,
) -> tuple[str, ...]:
    """Say what makes the answers and their confidence doubtful, the worst first.

    Shapes: `counts` (k,), `shares` (k,).

    - `shares`: share of the rows that each class seems to have.
    - `n_asked`: labels that were asked for, because they would teach most.
    - `n_islands`, `n_stranded`: pieces of the data without a label, and rows in them.
    """
    found = [*_guesswork(names, accuracy, beside)]
    single = [name for name, count in zip(names, counts, strict=True) if count == 1]
    if single:
        found.append(
            f"{len(single)} class(es) have a single label ({_some(single)}): nothing can "
            "be checked there; label a second row of each."
        )
    if differ(counts, shares, accuracy):
        most = int(np.abs(counts / counts.sum() - shares).argmax())
        found.append(
            "labels and answers disagree about how large the classes are, most about "
            f"{names[most]!r}: {percent(counts[most] / counts.sum())} of the labels, "
            f"{percent(shares[most])} of the answers. Confidence holds only if labels were drawn "
            "at random within each class; an audit needs no such assumption."
        )
    if n_asked:
        found.append(
            f"{n_asked:,} of the {int(counts.sum()):,} labels were asked for, not drawn at random: "
            "held-out labels then speak for hard rows more than for all. An audit, which draws "
            "its own rows, needs no such assumption."
        )
    if n_islands:
        found.append(
            f"{n_stranded:,} rows in {n_islands} island(s) of the data have no label among them: "
            "their answers are carried over a gap and are not accepted. Label a row in each."
        )
    return tuple(found)


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
    found = np.floor(exact + _TRIFLE).astype(int)
    short = round(float(exact.sum())) - int(found.sum())
    found[np.argsort(found - exact, kind="stable")[: max(short, 0)]] += 1
    return [int(one) for one in found]


def _some(names: Sequence[str], most: int = 5) -> str:
    """Return the first names, and how many more there are."""
    rest = [f"and {len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *rest])


def differ(counts: FloatVector, shares: FloatVector, accuracy: float) -> bool:
    r"""Say whether label counts are unlikely for a random sample of rows, at a level of 1 %.

    The rows' true shares are unknown: as many rows as are answered wrongly may lie elsewhere. So
    the shares are moved towards those of the labels as far as that allows, and Pearson's statistic
    is compared with that of samples drawn from them. Equally many labels of every class were
    shared out by hand, which is no fault: there is nothing to test.

    Shapes: `counts` (k,), `shares` (k,).

    - `shares`: share of the rows that each class seems to have.
    """
    total = int(counts.sum())
    if total < _FEWEST or len(counts) < 2 or counts.max() == counts.min():
        return False
    own, believed = counts / total, shares / shares.sum()
    distance = float(np.abs(own - believed).sum() / 2)
    leeway = 1.0 - min(max(accuracy, 0.0), 1.0)
    if distance <= leeway:
        return False
    true = believed + (own - believed) * (leeway / distance)
    true = np.maximum(true, 1e-9)
    true /= true.sum()
    drawn = np.random.default_rng(0).multinomial(total, true, size=_DRAWS)
    expected = total * true
    statistics = ((drawn - expected) ** 2 / expected).sum(axis=1)
    seen = float(((counts - expected) ** 2 / expected).sum())
    return float((np.count_nonzero(statistics >= seen) + 1) / (_DRAWS + 1)) < _LEVEL
