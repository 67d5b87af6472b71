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

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import ManifoldClassifier, load_dataset
    >>> flowers = load_dataset("iris")
    >>> y = np.where(np.arange(150) % 50 < 2, flowers.targets, -1)
    >>> learner = ManifoldClassifier("poisson", random_state=0).fit(flowers.points, y)
    >>> rows, questions = learner.query(2, return_reasons=True)
    >>> [question.row for question in questions] == rows.tolist(), questions[0].settles > 1
    (True, True)
    """

    row: int
    reason: str
    settles: int
    utility: float
