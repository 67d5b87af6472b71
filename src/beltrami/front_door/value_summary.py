"""What the regressor at the front door did and why, for a person to read."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class JudgedValues:
    """What the held-out values say of one candidate.

    Attributes
    ----------
    name, title : str
        The candidate.
    is_baseline : bool
        Whether it sees the labelled rows only.
    error : float
        Root of the mean squared held-out residual; NaN where none could be held out.
    r2 : float
        One minus the share of the variance that is left; NaN where all values are the same.
    is_answer : bool
        Whether it answers.
    seconds : float
        What it took.
    note : str
        Why it was left out, or nothing.
    """

    name: str
    title: str
    is_baseline: bool
    error: float
    r2: float
    is_answer: bool
    seconds: float
    note: str


@dataclass(frozen=True, slots=True, eq=False)
class ValueReport:
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
    def best_baseline(self) -> JudgedValues | None:
        """The learner on the labelled rows alone with the lowest held-out error."""
        judged = [one for one in self.members if one.is_baseline and not np.isnan(one.error)]
        return min(judged, key=lambda one: one.error, default=None)

    @property
    def verdict(self) -> str:
        """Who answers and why, in a sentence."""
        first, rival = self.members[0], self.best_baseline
        if np.isnan(first.error):
            return f"{first.title} answers"
        if first.is_baseline and first is rival:
            return f"{first.title} answers: no learner on the graph does better on held-out values"
        said = f"{first.title} answers: held-out error {first.error:.3g}"
        if rival is None or rival is first:
            return said
        return f"{said}, beside {rival.error:.3g} of {rival.title}"

    def lines(self) -> list[str]:
        """Return the report line by line."""
        found = [
            f"{self.n_rows:,} rows, {self.n_labels:,} with a value; {self.graph}",
            *(f"  {reason}" for reason in self.preparation),
            "  learner                               held-out error     R2     s",
        ]
        for one in self.members:
            error = f"{'-' if np.isnan(one.error) else format(one.error, '.4g'):>14}"
            error += f"{'-' if np.isnan(one.r2) else format(one.r2, '.2f'):>7}"
            note = f"  {one.note}" if one.note else ""
            found.append(f"  {one.title:38}{error}{one.seconds:6.1f}{note}")
        found.append(f"  {self.verdict}")
        if self.n_held_out:
            found.append(
                f"  expected error {self.members[0].error:.3g}, from {self.n_held_out} values held "
                "out one by one"
            )
        return [*found, *(f"  ! {line}" for line in self.warnings)]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__


def value_doubts(n_held_out: int, r2: float, n_unreached: int) -> tuple[str, ...]:
    """Say what makes values doubtful.

    - `n_unreached`: rows that share no component of the graph with a value.
    """
    found = []
    if not n_held_out:
        found.append("too few values to hold any out: nothing was judged. Give at least four.")
    elif r2 <= 0:
        found.append(
            "held-out values are told no better than by their mean: what is asked for does not "
            "show in these columns, or values are too few."
        )
    if n_unreached:
        found.append(
            f"{n_unreached:,} rows share no component of the graph with a value and get none. Give "
            "a value in each component, or join more neighbours."
        )
    return tuple(found)
