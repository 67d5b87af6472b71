"""What the page shows: plain arrays and strings, so that it knows nothing of learners."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.report.page.work import Work
from beltrami.tables.own_results import Source

LISTED = {"classes": 50, "questions": 50, "issues": 50, "islands": 20, "examples": 5}
"""Lines of each table; the page says how many there are beyond."""


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One line of the class table.

    Attributes
    ----------
    name : str
        The class.
    given : int
        Rows that the user labelled.
    labelled : int
        Rows that we labelled.
    abstained : int
        Rows whose best guess is this class and that are left to the user.
    quartiles : tuple of three floats
        Confidence of the rows we labelled at 25, 50 and 75 %; NaN where there are none.
    """

    name: str
    given: int
    labelled: int
    abstained: int
    quartiles: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Bin:
    """Held-out labels of like confidence.

    Attributes
    ----------
    low, high : float
        The range of confidence.
    confidence : float
        Its mean over the labels of the bin.
    accuracy : float
        The share of them that was right.
    count : int
        How many there are.
    """

    low: float
    high: float
    confidence: float
    accuracy: float
    count: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A method that was tried.

    Attributes
    ----------
    name : str
        What it is called.
    error : float
        Share of held-out labels it gets wrong, each class counted by the rows that it seems to
        have; NaN where it was not measured.
    standard_error : float
        Of `error`; NaN where unknown.
    seconds : float
        What it took.
    note : str
        One short remark, or nothing.
    is_chosen : bool
        Whether it labelled the rows.
    is_baseline : bool
        Whether it is a supervised method beside which ours are judged.
    """

    name: str
    error: float
    standard_error: float
    seconds: float
    note: str = ""
    is_chosen: bool = False
    is_baseline: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A row whose label would help most.

    Attributes
    ----------
    id : str
        The row.
    reason : str
        Why it is asked.
    settles : int
        How many rows its label would settle.
    guess : str
        The class we would give it; empty where there is none.
    confidence : float
        How sure that guess is.
    """

    id: str
    reason: str
    settles: int
    guess: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Issue:
    """A given label that looks wrong.

    Attributes
    ----------
    id : str
        The row.
    given : str
        The label it has.
    suggested : str
        The label its neighbourhood speaks for.
    score : float
        How much it speaks for it, from 0 to 1.
    """

    id: str
    given: str
    suggested: str
    score: float


@dataclass(frozen=True, slots=True)
class Island:
    """Rows joined to each other and to nothing else.

    Attributes
    ----------
    size : int
        How many rows.
    examples : tuple of str
        Some of their ids.
    n_given : int
        How many of them the user labelled.
    """

    size: int
    examples: tuple[str, ...]
    n_given: int


@dataclass(frozen=True, slots=True)
class RowView:
    """What a row is, as far as a list shows it.

    Attributes
    ----------
    text : str
        The beginning of its text; empty where it has none.
    cells : tuple of (str, str, str)
        Names of columns, what they hold, and in which way that is unusual, or nothing.
    n_more : int
        Columns that are not shown.
    """

    text: str = ""
    cells: tuple[tuple[str, str, str], ...] = ()
    n_more: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """All that the report of a labelling says.

    Attributes
    ----------
    title : str
        Of the page.
    headline : str
        The result in one sentence.
    counts : dict
        Numbers of rows, in the order shown: ``rows``, ``given``, ``labelled``, ``abstained``,
        ``unreached``.
    ids : ndarray of shape (n,)
        What a row is called.
    positions : ndarray of shape (n, 2) or None
        Where rows are drawn; without them the page has no map. A row with a non-finite place is
        left out of the map.
    classes : tuple of str
        Their names.
    codes : ndarray of shape (n,)
        Class of each row, or -1.
    given : ndarray of shape (n,)
        Class that the user gave, or -1.
    source : ndarray of shape (n,)
        A `Source` each: the user, us, left to the user, or reached by no label.
    confidence : ndarray of shape (n,)
        From 0 to 1.
    class_rows : tuple of ClassRow
        The class table.
    reliability : tuple of Bin
        Confidence beside accuracy; empty where too few labels could be held out.
    coverage, risk : ndarray of shape (m,)
        Error among the surest share of the held-out labels; may be empty.
    candidates : tuple of Candidate
        What was tried.
    questions : tuple of Question
        Rows to label next, the most useful first.
    issues : tuple of Issue
        Given labels that look wrong, the most suspect first.
    islands : tuple of Island
        Parts of the data that no label reaches.
    warnings : tuple of str
        What the user must know before trusting the rest.
    facts : dict
        What it takes to get the same result again.
    previews : callable or None
        Takes row numbers and returns a short text for each, shown beside its id.
    evidence : tuple of str, default=()
        Sentences on how right the result is, under the first one.
    no_issues : str, default=""
        Why no given label can be called wrong, where the data do not tell.
    views : dict of str to RowView
        What the rows are that tables name, by id.
    pictures : dict of str to str
        Small pictures of rows, PNG in base64, by id.
    pictures_note : str, default=""
        Of which rows there are pictures, and why of no more.
    work : Work or None, default=None
        What people did, where the labels are those of a project.
    """

    title: str
    headline: str
    counts: dict[str, int]
    ids: NDArray[Any]
    positions: FloatMatrix | None
    classes: tuple[str, ...]
    codes: IndexVector
    given: IndexVector
    source: NDArray[np.uint8]
    confidence: FloatVector
    class_rows: tuple[ClassRow, ...]
    reliability: tuple[Bin, ...]
    coverage: FloatVector
    risk: FloatVector
    candidates: tuple[Candidate, ...]
    questions: tuple[Question, ...]
    issues: tuple[Issue, ...]
    islands: tuple[Island, ...]
    warnings: tuple[str, ...]
    facts: dict[str, str]
    previews: Callable[[IndexVector], Sequence[str]] | None = None
    evidence: tuple[str, ...] = ()
    no_issues: str = ""
    views: dict[str, RowView] = field(default_factory=dict)
    pictures: dict[str, str] = field(default_factory=dict)
    pictures_note: str = ""
    work: Work | None = None

    def __post_init__(self) -> None:
        n = len(self.ids)
        for name in ("codes", "given", "source", "confidence", "positions"):
            array = getattr(self, name)
            due = (n, 2) if name == "positions" else (n,)
            if array is not None and np.shape(array) != due:
                raise InvalidInputError(
                    f"{name} has shape {np.shape(array)} and must have {due}, one entry for each "
                    f"of the {n} ids."
                )
        if np.shape(self.coverage) != np.shape(self.risk) or np.ndim(self.risk) != 1:
            raise InvalidInputError(
                f"coverage has shape {np.shape(self.coverage)} and risk {np.shape(self.risk)}; "
                "they are one curve and must be vectors of one length."
            )
        self._require_codes()

    def _require_codes(self) -> None:
        for name, codes, low, high in (
            ("codes", self.codes, -1, len(self.classes)),
            ("given", self.given, -1, len(self.classes)),
            ("source", self.source, 0, len(Source)),
        ):
            outside = np.flatnonzero((np.asarray(codes) < low) | (np.asarray(codes) >= high))
            if len(outside):
                raise InvalidInputError(
                    f"{len(outside)} entries of {name} lie outside {low} to {high - 1}, the first "
                    f"in row {outside[0]} ({codes[outside[0]]}). Codes number the "
                    f"{len(self.classes)} classes from 0; -1 is none."
                )
