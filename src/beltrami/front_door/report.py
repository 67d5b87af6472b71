"""What the front door did and why, for a person to read."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from beltrami.core.markup import bullets, grid, paragraph
from beltrami.front_door.deciding.judgement import Judged, JudgedValues

_TRIFLE = 1e-9

_Judged = TypeVar("_Judged", Judged, JudgedValues)


class _Report(Generic[_Judged]):
    """What both reports share: how they are printed, and the baseline to compare with."""

    __slots__ = ()

    members: tuple[_Judged, ...]
    warnings: tuple[str, ...]

    @property
    @abstractmethod
    def verdict(self) -> str:
        """What answers and why, in a sentence."""

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

    def _repr_html_(self) -> str:
        """Return the same as a small table, for a notebook."""
        judged = [
            (one.title, "-" if np.isnan(one.error) else self._write_error(one), one.note or "")
            for one in self.members
        ]
        return (
            paragraph(f"{self.verdict}.", *self._sentences())
            + grid(("learner", "held-out error", ""), judged)
            + bullets(self.warnings)
        )

    @abstractmethod
    def _sentences(self) -> list[str]:
        """Say how far to trust the answer."""

    @abstractmethod
    def _write_error(self, one: _Judged) -> str:
        """Return the held-out error of a candidate, which has one."""


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
        Share of held-out labels that the answer gets right, each class counted by the rows that it
        seems to have; NaN where none could be.
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
        lines += [f"  {line}" for line in self._sentences()]
        return [*lines, *(f"  ! {line}" for line in self.warnings)]

    def _sentences(self) -> list[str]:
        estimate = f"estimated accuracy {self.accuracy:.1%}"
        if not self.n_held_out:
            why = "from other data sets: no class has two labels, so none could be held out"
            return [f"{estimate}, {why}"]
        low, high = self.bounds
        return [
            f"{estimate}; on {self.n_held_out} held-out labels {self.held_out_accuracy:.1%} "
            f"({low:.0%} to {high:.0%})"
        ]

    def _write_error(self, one: Judged) -> str:
        return f"{one.error:.1%}"


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
        lines += [f"  {line}" for line in self._sentences()]
        return [*lines, *(f"  ! {line}" for line in self.warnings)]

    def _sentences(self) -> list[str]:
        if not self.n_held_out:
            return []
        error = f"{self.members[0].error:.3g}"
        return [f"expected error {error}, from {self.n_held_out} values held out one by one"]

    def _write_error(self, one: JudgedValues) -> str:
        return f"{one.error:.4g}"


def exact_bounds(n_right: float, count: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact two-sided bounds of a share (Clopper and Pearson)."""
    from scipy.stats import beta

    if count == 0:
        return 0.0, 1.0
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, n_right, count - n_right + 1)) if n_right > 0 else 0.0
    high = float(beta.ppf(1 - tail, n_right + 1, count - n_right)) if n_right < count else 1.0
    return low, high


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
