"""What the page of a project shows besides: who did what, how it went, and what was proved.

Plain numbers and texts, so that nothing here knows of events or learners.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hand:
    """Somebody who labelled, or the file whose labels came along.

    Attributes
    ----------
    name : str
        What they are called.
    means : dict of str to int
        Labels of theirs that stand, by the means they were given by, in words.
    n_replaced : int
        Labels of theirs in whose place a later one stands, or none.
    n_taken_back : int
        Labels of theirs that were taken back.
    n_checked : int
        Rows that they looked at in audits.
    since, until : str
        When they did the first and the last of it.
    """

    name: str
    means: dict[str, int]
    n_replaced: int
    n_taken_back: int
    n_checked: int
    since: str
    until: str

    @property
    def n_labels(self) -> int:
        """Count of their labels that stand."""
        return sum(self.means.values())


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """How far people were after some change.

    Attributes
    ----------
    event : int
        Number of the change.
    at : str
        When it was.
    n_labels : int
        Rows that had a label.
    n_classes : int
        Classes that had one.
    """

    event: int
    at: str
    n_labels: int
    n_classes: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What was known of the rows after some change; NaN and 0 where it was not.

    Attributes
    ----------
    event : int
        Number of the change.
    n_labels : int
        Rows that had a label.
    n_accepted, n_left, n_unreached : int
        Rows that we labelled, that are left to people, and that no label reaches.
    expected : float
        Our estimate of the share of accepted labels that are right.
    held_out, low, high : float
        Share of held-out labels that came out right, and the range that holds it.
    n_held_out : int
        How many these are.
    """

    event: int
    n_labels: int
    n_accepted: int
    n_left: int
    n_unreached: int
    expected: float = float("nan")
    held_out: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    n_held_out: int = 0


@dataclass(frozen=True, slots=True)
class AuditRound:
    """Rows that were drawn to be looked at blindly; nothing of what the answers say.

    Attributes
    ----------
    at : str
        When they were drawn.
    n_rows, n_pool : int
        How many, and from how many.
    n_answers, n_blank : int
        Rows of which somebody said what they are, and that nobody could tell.
    is_open : bool
        Whether answers are missing.
    """

    at: str
    n_rows: int
    n_pool: int
    n_answers: int
    n_blank: int
    is_open: bool


@dataclass(frozen=True, slots=True)
class Work:
    """What people did in a project.

    Attributes
    ----------
    hands : tuple of Hand
        Who labelled or checked, in the order of their first deeds.
    by_class : tuple of (str, tuple of int)
        Of each class, how many of its labels each of them gave.
    n_unsure : int
        Rows of which somebody said that nobody can tell.
    curve : tuple of CurvePoint
        How labels came in.
    measured : tuple of Measured
        What was known meanwhile; empty where that was not kept.
    rounds : tuple of AuditRound
        Of audits.
    proof : str
        What they prove; "" while a round is open, or where they prove nothing of these labels.
    proof_note : str
        Whether that is enough, or what is missing.
    command : str
        What writes the same labels again; "" where no command can.
    date : str
        When the last change was.
    """

    hands: tuple[Hand, ...]
    by_class: tuple[tuple[str, tuple[int, ...]], ...]
    n_unsure: int
    curve: tuple[CurvePoint, ...]
    measured: tuple[Measured, ...]
    rounds: tuple[AuditRound, ...]
    proof: str
    proof_note: str
    command: str
    date: str

    @property
    def means(self) -> tuple[str, ...]:
        """The means by which any label was given, in one order."""
        return tuple(dict.fromkeys(name for one in self.hands for name in one.means))
