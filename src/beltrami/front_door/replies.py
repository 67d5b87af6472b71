"""What the classifier says back: labels that look wrong, and why a row is what it is."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from beltrami.core.types import FloatVector, IndexVector
from beltrami.review.support import Support


@dataclass(frozen=True, slots=True, eq=False)
class SuspectLabels:
    """Given labels that are more likely wrong than right, surest first.

    Attributes
    ----------
    rows : ndarray of shape (s,)
        Row numbers.
    names : ndarray of shape (s,)
        Their names in the index of a DataFrame, else row numbers.
    given, suggested : ndarray of shape (s,)
        The label that was given, and the class that the other labels point at.
    scores : ndarray of shape (s,)
        Chance that the given label is wrong.
    reason : str, default=""
        Why no label can be called wrong, where the data do not tell.
    """

    rows: IndexVector
    names: NDArray[Any]
    given: NDArray[Any]
    suggested: NDArray[Any]
    scores: FloatVector
    reason: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        if not len(self.rows):
            return self.reason or "no given label looks wrong"
        lines = [f"{len(self.rows)} given label(s) look wrong:"]
        lines += [
            f"  row {name}: given {given!s}, the others say {suggested!s} ({score:.0%} wrong)"
            for name, given, suggested, score in zip(
                self.names, self.given, self.suggested, self.scores, strict=True
            )
        ]
        return "\n".join(lines)

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Why a row has the class it has, in the user's own labels.

    Attributes
    ----------
    row : int
        The row.
    label : object
        Its class.
    confidence : float
        How sure that is.
    supporters : ndarray of shape (s,)
        Labelled rows that speak for it, strongest first.
    labels : ndarray of shape (s,)
        Their labels.
    shares : ndarray of shape (s,)
        Share of random walks from the row that end at each.
    support : Support
        The walks, and the likeliest path to the strongest supporter.
    """

    row: int
    label: Any
    confidence: float
    supporters: IndexVector
    labels: NDArray[Any]
    shares: FloatVector
    support: Support

    def __str__(self) -> str:
        first = f"row {self.row} is {self.label!s} ({self.confidence:.0%} sure)"
        if self.support.reason:
            return f"{first}: {self.support.reason}"
        parts = [
            f"row {row} ({label!s}, {share:.0%})"
            for row, label, share in zip(self.supporters, self.labels, self.shares, strict=True)
        ]
        return f"{first}: walks from it end at {', '.join(parts)}"

    __repr__ = __str__
