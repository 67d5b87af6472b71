"""The noun of this room: a row to ask about, with the reason."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A row worth a label.

    Attributes
    ----------
    row : int
        Its number.
    reason : str
        Why it is asked, in a few words for people.
    settles : int
        Rows that are more alike to it than to any labelled row or other question: its answer
        would speak for them. At least 1, itself. Estimated from a sample on large graphs.
    utility : float
        What the strategy sorted by; comparable within one call. For "auto" and "cover" the rows
        gained, each counted by how much closer it comes to a label (and, for "auto", by its
        doubt); for "uncertain" one minus the lead of the first class over the second; for
        "random" 0.
    """

    row: int
    reason: str
    settles: int
    utility: float
