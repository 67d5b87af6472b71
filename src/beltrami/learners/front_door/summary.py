"""What the front door did and why, for a person to read."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beltrami.core.types import FloatVector
from beltrami.learners.front_door.judgement import Judged


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
        parts = [f"{one.title} ({one.weight:.0%})" for one in self.members if one.weight >= 0.05]
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
    """Return the exact two-sided bounds of a share (Clopper and Pearson).

    Parameters
    ----------
    n_right : float
        How many were right.
    count : int
        Of how many.
    confidence : float, default=0.95
        Of both bounds together.

    Returns
    -------
    low, high : float
        0 and 1 where nothing was counted.
    """
    from scipy.stats import beta

    if count == 0:
        return 0.0, 1.0
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, n_right, count - n_right + 1)) if n_right > 0 else 0.0
    high = float(beta.ppf(1 - tail, n_right + 1, count - n_right)) if n_right < count else 1.0
    return low, high


def doubts(
    targets: FloatVector,
    shares: FloatVector,
    names: tuple[str, ...],
    n_islands: int,
    n_stranded: int,
) -> tuple[str, ...]:
    """Say what makes the confidence doubtful.

    Parameters
    ----------
    targets : ndarray of shape (k,)
        Labels of each class.
    shares : ndarray of shape (k,)
        Share of the rows that each class seems to have.
    names : tuple of str
        The classes.
    n_islands, n_stranded : int
        Pieces of the data without a label, and rows in them.

    Returns
    -------
    tuple of str
        Sentences.
    """
    found = []
    single = [name for name, count in zip(names, targets, strict=True) if count == 1]
    if single:
        found.append(
            f"{len(single)} class(es) have a single label ({_some(single)}): nothing can "
            "be checked there; label a second row of each."
        )
    if _differ(targets, shares):
        found.append(
            "the labels do not look like a random sample of the rows: classes have other shares "
            "among them than among the answers, or some class is answered wrongly. Confidence and "
            "sets are corrected for shares, but hold only if labels were drawn at random within "
            "each class; an audit (audit, certify) needs no such assumption."
        )
    if n_islands:
        found.append(
            f"{n_stranded:,} rows in {n_islands} island(s) of the data have no label among them: "
            "their answers are carried over a gap and are not accepted. Label a row in each."
        )
    return tuple(found)


def _some(names: Sequence[str], most: int = 5) -> str:
    """Return the first names, and how many more there are."""
    rest = [f"and {len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *rest])


def _differ(counts: FloatVector, shares: FloatVector) -> bool:
    """Say whether label counts are unlikely for a random sample of rows (chi-square, 1 %)."""
    from scipy.stats import chi2

    total = counts.sum()
    present = shares > 0
    if total < 10 or present.sum() < 2:
        return False
    expected = np.maximum(total * shares[present] / shares[present].sum(), 1e-3)
    statistic = float(((counts[present] - expected) ** 2 / expected).sum())
    # So equal that chance would not have it: labels were shared out among the classes.
    is_even = bool(counts[present].max() == counts[present].min()) and present.sum() > 2
    return is_even or bool(chi2.sf(statistic, int(present.sum()) - 1) < 0.01)
