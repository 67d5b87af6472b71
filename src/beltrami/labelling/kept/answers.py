"""Answers to rows that come after the fit, as a table: what a labeller says, and what people said.

The columns are those of a labelling, but for ``ask_rank``, and ``unlike``.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import BoolVector
from beltrami.front_door.kept.labeller import Verdict
from beltrami.labelling.result import row_sources, runners_up
from beltrami.tables import Roles, Table, TableOptions, label_column
from beltrami.tables.columns.kinds import is_text
from beltrami.tables.columns.slips import is_minus_one
from beltrami.tables.features.faults import Filled
from beltrami.tables.own_results import SOURCES, Source

COLUMNS = (
    "id",
    "label",
    "source",
    "confidence",
    "guess",
    "second_label",
    "margin",
    "reached",
    "unlike",
)
"""Of a table of answers, in order."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Answers, and what was odd about the rows.

    Attributes
    ----------
    table : arrow Table
        A row for each.
    filled : dict of str to Filled
        Cells that held nothing, by column.
    unseen : dict of str to tuple of int and str
        Cells with a category that was never seen, by column, and one of them.
    n_empty : int
        Rows of which nothing is known.
    n_marked : int
        Rows whose label is -1, which is no class of the labeller and counts as none.
    """

    table: Any
    filled: dict[str, Filled] = field(default_factory=dict)
    unseen: dict[str, tuple[int, str]] = field(default_factory=dict)
    n_empty: int = 0
    n_marked: int = 0

    @classmethod
    def joined(cls, blocks: Sequence["Answers"]) -> "Answers":
        """Put the answers to blocks of rows together."""
        import pyarrow as pa

        filled: dict[str, Filled] = {}
        unseen: dict[str, tuple[int, str]] = {}
        for block in blocks:
            filled = filled_together(filled, block.filled)
            unseen = unseen_together(unseen, block.unseen)
        tables = pa.concat_tables([block.table for block in blocks])
        n_empty, n_marked = (
            sum(getattr(block, name) for block in blocks) for name in ("n_empty", "n_marked")
        )
        return cls(tables, filled, unseen, n_empty, n_marked)


def filled_together(one: dict[str, Filled], other: dict[str, Filled]) -> dict[str, Filled]:
    """Return the filled cells of both, by column."""
    shared = {name: one[name].plus(more) for name, more in other.items() if name in one}
    return one | other | shared


def unseen_together(
    one: dict[str, tuple[int, str]], other: dict[str, tuple[int, str]]
) -> dict[str, tuple[int, str]]:
    """Return the cells of unknown categories of both, by column, with the first of each."""
    shared = {
        name: (one[name][0] + n, one[name][1]) for name, (n, _) in other.items() if name in one
    }
    return one | other | shared


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """The labels that people gave to rows.

    Attributes
    ----------
    values : ndarray of shape (m,)
        Labels; None for none.
    codes : ndarray of shape (m,)
        Their classes; -1 for one that the labeller does not know, and for no label.
    n_marked : int
        Rows whose label is -1, where that is no class: they have none.
    """

    values: NDArray[Any]
    codes: NDArray[np.intp]
    n_marked: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class NewLabels:
    """How labels are read that people gave in a table, and how all labels are written.

    Attributes
    ----------
    column : str or None
        Where they stand, if a table has it; None for nowhere.
    marker : str
        What marks a row without one, besides empty cells.
    classes : tuple
        The classes of the labeller.
    kind : arrow type
        Of the columns of labels.
    """

    column: str | None
    marker: str
    classes: tuple[Any, ...]
    kind: Any

    def given(self, table: Table) -> Given:
        """Return the labels in a table.

        A label that is written as a class is that class, whatever the types. Where -1 is no class
        and nothing else marks rows without a label, -1 does.
        """
        if self.column not in table.names or not table.n_rows:
            return self.read(np.full(table.n_rows, None, dtype=object))
        options = TableOptions(unlabeled=self.marker, min_classes=0)
        return self.read(label_column(table, Roles(label=self.column), options).values)

    def read(self, values: NDArray[Any]) -> Given:
        """Return labels with their classes."""
        values, n_marked = values.copy(), 0
        codes = np.full(len(values), -1, dtype=np.intp)
        code_of = {spelled(one): code for code, one in enumerate(self.classes)}
        for row in np.flatnonzero(values != np.array(None)):
            codes[row] = code_of.get(spelled(values[row]), -1)
            if codes[row] < 0 and not self.marker and is_minus_one(values[row]):
                values[row], n_marked = None, n_marked + 1
        return Given(values, codes, n_marked)

    def cells(self, values: Sequence[Any]) -> Any:
        """Return labels as an arrow array."""
        import pyarrow as pa

        is_word = pa.types.is_string(self.kind)
        return pa.array(
            [spelled(one) if is_word and one is not None else one for one in values], self.kind
        )


def new_labels(
    column: str | None, marker: str, classes: NDArray[Any], kinds: Sequence[Any]
) -> NewLabels:
    """Return how labels of tables are read, by their types: as those that were learned from.

    Where classes are numbers and the labels there may be others, all are written as texts.

    - `kinds`: what the column of labels holds in each table that has it.
    """
    import pyarrow as pa

    values = tuple(classes.tolist())
    own = {type(one) for one in values}
    kind = pa.array(values).type if len(own) == 1 else pa.string()
    for found in kinds:
        alike = pa.types.is_null(found) or found == kind
        alike |= pa.types.is_integer(kind) and (
            pa.types.is_integer(found) or pa.types.is_floating(found)
        )
        kind = kind if alike or is_text(kind) else pa.string()
    return NewLabels(column, marker, values, pa.string() if is_text(kind) else kind)


def answer_table(
    ids: Any, verdict: Verdict | None, is_empty: BoolVector, labels: NewLabels, given: Given
) -> Any:
    """Return the answers to some rows as an arrow table.

    - `verdict`: what is said of them; None for no rows.
    - `is_empty`: which of them hold nothing, and are left to the person.
    """
    import pyarrow as pa

    values, codes = given.values, given.codes
    is_given = np.asarray(values != np.array(None), dtype=bool)
    m, k = len(values), len(labels.classes)
    if verdict is None:
        none = np.zeros(0, dtype=bool)
        nothing = np.zeros((0, k))
        verdict = Verdict(nothing, codes, nothing[:, 0], none, none, none)
    source = row_sources(verdict.reached, verdict.accepted, is_empty, is_given)
    # Of a label that somebody gave it is said how likely that one is, and what else it may be.
    first = np.where(codes >= 0, codes, verdict.codes)
    second, margin = runners_up(verdict.probabilities, first)
    confidence = np.where(verdict.reached, verdict.probabilities[np.arange(m), first], 0.0)
    is_strange = is_given & (codes < 0)
    second = np.where(is_strange, verdict.codes, second)
    margin = np.where(verdict.reached, margin, 0.0)
    margin, confidence = (np.where(is_strange, np.nan, one) for one in (margin, confidence))
    named = labels.cells([*labels.classes, None])
    guess = named.take(pa.array(first % (k + 1)))
    guess = _with_given(guess, values, is_given, labels)
    is_kept = is_given | (source == Source.LABELLED)
    return pa.table(
        {
            "id": ids if isinstance(ids, pa.ChunkedArray) else pa.array(ids),
            "label": _masked(guess, is_kept),
            "source": pa.array(SOURCES).take(pa.array(source)),
            "confidence": _numbers(confidence),
            "guess": guess,
            "second_label": named.take(pa.array(second % (k + 1))),
            "margin": _numbers(margin),
            "reached": verdict.reached,
            "unlike": verdict.unlike,
        }
    )


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of rows, counted from their answers.

    Attributes
    ----------
    sources : Counter
        How many were labelled by whom.
    labels : Counter
        How many have each label now.
    guesses : Counter
        How many that a label reaches are most likely of each class, or were said to be.
    confidence : float
        Sum of the confidence in labels that we gave.
    n_unlike, n_left_unlike : int
        Rows unlike what the labeller saw, and those of them that are left to the person.
    n_checked, n_other, n_strange : int
        Labels that people gave of classes that the labeller knows; those to which it would have
        given another; those of classes that it does not know.
    """

    sources: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    guesses: Counter[str] = field(default_factory=Counter)
    confidence: float = 0.0
    n_unlike: int = 0
    n_left_unlike: int = 0
    n_checked: int = 0
    n_other: int = 0
    n_strange: int = 0

    @classmethod
    def of(cls, answers: Any) -> "Tally":
        """Count answers."""
        import pyarrow.compute as pc

        source = answers.column("source")
        is_ours = pc.equal(source, SOURCES[Source.LABELLED])
        human = answers.filter(pc.equal(source, SOURCES[Source.GIVEN]))
        is_left = pc.equal(source, SOURCES[Source.ABSTAINED])
        is_known = human.column("margin").is_valid()
        checked = human.filter(pc.and_(is_known, human.column("reached")))
        reached = answers.filter(answers.column("reached")).column("guess")
        return cls(
            _counted(source),
            _counted(answers.column("label")),
            _counted(reached),
            float(pc.sum(answers.column("confidence").filter(is_ours)).as_py() or 0.0),
            _count(answers.column("unlike")),
            _count(pc.and_(is_left, answers.column("unlike"))),
            checked.num_rows,
            _count(pc.less(checked.column("margin"), 0.0)),
            human.num_rows - _count(is_known),
        )

    def plus(self, other: "Tally") -> "Tally":
        """Return the counts of both."""
        return Tally(
            self.sources + other.sources,
            self.labels + other.labels,
            self.guesses + other.guesses,
            self.confidence + other.confidence,
            self.n_unlike + other.n_unlike,
            self.n_left_unlike + other.n_left_unlike,
            self.n_checked + other.n_checked,
            self.n_other + other.n_other,
            self.n_strange + other.n_strange,
        )


def counts_by_source(sources: Counter[str]) -> dict[str, int]:
    """Return rows in all and by source, in the words of a labelling."""
    by_source = {one.name.lower(): sources[SOURCES[one]] for one in Source}
    return {"rows": sum(by_source.values())} | by_source


def _count(holds: Any) -> int:
    """Return how often true stands in a column."""
    import pyarrow.compute as pc

    return int(pc.sum(holds).as_py() or 0)


def _counted(column: Any) -> Counter[str]:
    pairs = column.value_counts().to_pylist()
    return Counter(
        {spelled(one["values"]): one["counts"] for one in pairs if one["values"] is not None}
    )


def spelled(value: Any) -> str:
    """Return a label as a text; truth values as files write them."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _with_given(guess: Any, values: NDArray[Any], is_given: BoolVector, labels: NewLabels) -> Any:
    """Return guesses with the labels that people gave in their place."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_given.any():
        return guess
    given = np.full(len(values), None, dtype=object)
    given[is_given] = values[is_given]
    return pc.if_else(pa.array(is_given), labels.cells(given.tolist()), guess)


def _masked(values: Any, is_kept: BoolVector) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pa.array(is_kept), values, pa.scalar(None, values.type))


def _numbers(values: NDArray[Any]) -> Any:
    """Return numbers rounded as a labelling rounds them, null for NaN."""
    import pyarrow as pa

    return pa.array(np.round(values, 6), pa.float64(), from_pandas=True)
