"""The last pass: every partition is answered in batches and written on its own, whole or not.

`Answerer` is the seam to whatever answers: a table of features enters, a table of answers leaves.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from beltrami.core.files import atomic_path
from beltrami.core.types import FloatVector
from beltrami.front_door.kept.labeller import KeptLabeller
from beltrami.labelling.result import SOURCES, runners_up
from beltrami.partitions.model import Partition
from beltrami.partitions.reading.layout import Layout
from beltrami.partitions.reading.survey import batch_rows, given_labels
from beltrami.report.page.model import Source
from beltrami.tables import TableOptions


class Answerer(Protocol):
    """Whatever answers rows."""

    @property
    def label_type(self) -> Any:
        """The arrow type of labels."""

    def answer(self, table: Any) -> Any:
        """Return what is said of each row: its columns are those of the files, but for the id.

        label, source, confidence, guess, second_label, margin, reached, and unlike: whether a row
        is like nothing that the answerer saw, and therefore left to the person.
        """


@dataclass(frozen=True, slots=True, eq=False)
class KeptAnswerer:
    """A kept labeller, which travels to workers as plain arrays.

    Attributes
    ----------
    labeller : KeptLabeller
        What answers.
    layout : Layout
        How a table becomes points.
    fill : ndarray of shape (d,)
        What stands where a number is missing.
    """

    labeller: KeptLabeller
    layout: Layout
    fill: FloatVector

    @property
    def label_type(self) -> Any:
        """The arrow type of labels."""
        import pyarrow as pa

        classes = self.labeller.classes_.tolist()
        return pa.array(classes).type if len({type(one) for one in classes}) == 1 else pa.string()

    def answer(self, table: Any) -> Any:
        """Return the answers to the rows of a table, block by block."""
        import pyarrow as pa

        size = self.labeller.answerer.n_together
        starts = range(0, table.num_rows, size)
        return pa.concat_tables([self._answer(table.slice(start, size)) for start in starts])

    def _answer(self, table: Any) -> Any:
        import pyarrow as pa

        verdict = self.labeller.judge(self.layout.points(table, self.fill))
        first, reached, accepted = verdict.codes, verdict.reached, verdict.accepted
        second, margin = runners_up(verdict.probabilities, first)
        source = np.where(reached, int(Source.ABSTAINED), int(Source.UNREACHED))
        source[accepted] = Source.LABELLED
        kind, classes = self.label_type, self.labeller.classes_.tolist()
        named = pa.array(
            [*(map(str, classes) if pa.types.is_string(kind) else classes), None], kind
        )
        return pa.table(
            {
                "label": named.take(pa.array(np.where(accepted, first, -1) % len(named))),
                "source": pa.array([SOURCES[one] for one in Source]).take(pa.array(source)),
                "confidence": np.round(verdict.confidence, 6),
                "guess": named.take(pa.array(first % len(named))),
                "second_label": named.take(pa.array(second % len(named))),
                "margin": np.round(margin, 6),
                "reached": reached,
                "unlike": verdict.unlike,
            }
        )


@dataclass(frozen=True, slots=True, eq=False)
class PartCounts:
    """What became of the rows of a partition.

    Attributes
    ----------
    n_rows : int
        Rows.
    sources : Counter
        How many were labelled by whom.
    labels : Counter
        How many have each label now.
    confidence : float
        Sum of the confidence in labels that we gave.
    n_unlike : int
        Rows that are left to the person because they are unlike all that learned.
    """

    n_rows: int
    sources: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    confidence: float = 0.0
    n_unlike: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class AnswerTask:
    """What a worker needs to know to answer a partition.

    Attributes
    ----------
    answerer : Answerer
        Whatever answers.
    layout : Layout
        How partitions are read.
    options : TableOptions
        For the labels.
    out : Path
        Folder of the results.
    form : {"parquet", "csv"}
        Of the file.
    """

    answerer: Answerer
    layout: Layout
    options: TableOptions
    out: Path
    form: str

    def __call__(self, partition: Partition, offset: int) -> PartCounts:
        """Answer one partition and write it; rows without ids are numbered from `offset`."""
        layout, start = self.layout, offset
        counts = PartCounts(0)
        sources, labels, confidence, n_unlike = counts.sources, counts.labels, 0.0, 0
        with _opened(self.out / written_name(partition.name, self.form), self.form) as write:
            for batch in partition.batches(layout.types, batch_rows(layout.n_columns)):
                place = start - offset
                given = given_labels(batch, layout, self.options, partition.name, place)
                answers = self._with_given(batch, start, given)
                start += batch.num_rows
                write(answers)
                sources.update(_counted(answers.column("source")))
                labels.update(_counted(answers.column("label")))
                confidence += _sure_of(answers)
                n_unlike += _count_unlike(answers)
            if start == offset:
                write(self._none())
        return PartCounts(start - offset, sources, labels, confidence, n_unlike)

    def _with_given(self, batch: Any, start: int, given: NDArray[Any]) -> Any:
        """Return the answers to a batch with ids and, unchanged, the labels that people gave."""
        import pyarrow as pa
        import pyarrow.compute as pc

        answers = self.answerer.answer(batch)
        role = self.layout.roles.id
        number = pa.array(np.arange(start, start + batch.num_rows))
        columns = {"id": number if role is None else batch.column(role)}
        columns |= {name: answers.column(name) for name in answers.column_names}
        is_given = np.asarray(given != np.array(None), dtype=bool)
        if is_given.any():
            kind = self.answerer.label_type
            text = pa.types.is_string(kind)
            cells = [None if one is None else str(one) if text else one for one in given.tolist()]
            mask, own = pa.array(is_given), pa.array(cells, kind)
            human = pa.array([SOURCES[Source.GIVEN]] * batch.num_rows)
            columns |= _beside_given(columns, mask, own)
            for name, ours in (("label", own), ("guess", own), ("source", human)):
                columns[name] = pc.if_else(mask, ours, columns[name])
        return pa.table(columns)

    def _none(self) -> Any:
        """Return the answers to no rows: a partition without rows gives a file without."""
        import pyarrow as pa

        kind = self.answerer.label_type
        role = self.layout.roles.id
        return pa.table(
            {
                "id": pa.array([], pa.int64() if role is None else self.layout.types[role]),
                "label": pa.array([], kind),
                "source": pa.array([], pa.string()),
                "confidence": pa.array([], pa.float64()),
                "guess": pa.array([], kind),
                "second_label": pa.array([], kind),
                "margin": pa.array([], pa.float64()),
                "reached": pa.array([], pa.bool_()),
                "unlike": pa.array([], pa.bool_()),
            }
        )


def written_name(name: str, form: str) -> str:
    """Return what the result of a partition is called."""
    return str(Path(name).with_suffix(f".{form}")) if Path(name).suffix else f"{name}.{form}"


@contextmanager
def _opened(target: Path, form: str) -> Iterator[Any]:
    """Yield what writes tables to a file, which is there only once it is whole."""
    import pyarrow.csv as arrow_csv
    import pyarrow.parquet as pq

    writer: Any = None
    with atomic_path(target) as temporary:

        def write(table: Any) -> None:
            nonlocal writer
            if writer is None:
                opener = pq.ParquetWriter if form == "parquet" else arrow_csv.CSVWriter
                writer = opener(str(temporary), table.schema)
            writer.write_table(table)

        try:
            yield write
        finally:
            if writer is not None:
                writer.close()


def _beside_given(columns: dict[str, Any], mask: Any, own: Any) -> dict[str, Any]:
    """Return how sure the learner is of labels that people gave, where it would answer otherwise.

    Its answer is then the second label. Of a label that it holds for neither first nor second it
    only says that it is less likely than the second: confidence and margin are empty.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    guess, second = columns["guess"], columns["second_label"]
    confidence, margin = columns["confidence"], columns["margin"]
    is_other = pc.and_(mask, pc.fill_null(pc.not_equal(guess, own), True))
    is_second = pc.and_(is_other, pc.fill_null(pc.equal(second, own), False))
    nothing = pa.scalar(None, pa.float64())
    below = pc.if_else(is_second, pc.round(pc.subtract(confidence, margin), 6), nothing)
    behind = pc.if_else(is_second, pc.negate(margin), nothing)
    return {
        "second_label": pc.if_else(is_other, guess, second),
        "confidence": pc.if_else(is_other, below, confidence),
        "margin": pc.if_else(is_other, behind, margin),
    }


def _counted(column: Any) -> dict[str, int]:
    """Return how often each value stands in a column."""
    pairs = column.value_counts().to_pylist()
    return {str(one["values"]): one["counts"] for one in pairs if one["values"] is not None}


def _sure_of(answers: Any) -> float:
    """Return the sum of the confidence in labels that we gave."""
    import pyarrow.compute as pc

    is_ours = pc.equal(answers.column("source"), SOURCES[Source.LABELLED])
    return float(pc.sum(answers.column("confidence").filter(is_ours)).as_py() or 0.0)


def _count_unlike(answers: Any) -> int:
    """Return how many rows are left to the person because they are unlike all that learned."""
    import pyarrow.compute as pc

    is_left = pc.equal(answers.column("source"), SOURCES[Source.ABSTAINED])
    return int(pc.sum(pc.and_(is_left, answers.column("unlike"))).as_py() or 0)
