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
from beltrami.labelling.kept.answers import NewLabels, Tally, answer_table, new_labels
from beltrami.partitions.model import Partition
from beltrami.partitions.reading.layout import Layout
from beltrami.partitions.reading.survey import batch_rows, given_labels
from beltrami.tables import TableOptions


class Answerer(Protocol):
    """Whatever answers rows."""

    def answer(self, table: Any, ids: Any, given: NDArray[Any]) -> Any:
        """Return what is said of each row, as the table that is written.

        - `ids`: as an arrow array; `given`: labels that people gave, None for none, which stay.
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

    def answer(self, table: Any, ids: Any, given: NDArray[Any]) -> Any:
        """Return the answers to the rows of a table, block by block."""
        import pyarrow as pa

        labels = new_labels(None, "", self.labeller.classes_, ())
        size = self.labeller.answerer.n_together
        return pa.concat_tables(
            self._answer(
                table.slice(start, size),
                ids.slice(start, size),
                labels,
                given[start : start + size],
            )
            for start in range(0, max(table.num_rows, 1), size)
        )

    def _answer(self, table: Any, ids: Any, labels: NewLabels, given: NDArray[Any]) -> Any:
        verdict = None
        if table.num_rows:
            verdict = self.labeller.judge(self.layout.points(table, self.fill))
        is_empty = np.zeros(table.num_rows, dtype=bool)
        return answer_table(ids, verdict, is_empty, labels, labels.read(given))


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

    @classmethod
    def of(cls, n_rows: int, tally: Tally) -> "PartCounts":
        """Take what is noted of a partition from the tally of its answers."""
        return cls(n_rows, tally.sources, tally.labels, tally.confidence, tally.n_left_unlike)


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
        layout, start, tally = self.layout, offset, Tally()
        with _opened(self.out / written_name(partition.name, self.form), self.form) as write:
            for batch in partition.batches(layout.types, batch_rows(layout.n_columns)):
                place = start - offset
                given = given_labels(batch, layout, self.options, partition.name, place)
                answers = self.answerer.answer(batch, self._ids(batch, start), given)
                start += batch.num_rows
                write(answers)
                tally = tally.plus(Tally.of(answers))
            if start == offset:
                write(self._none())
        return PartCounts.of(start - offset, tally)

    def _ids(self, batch: Any, start: int) -> Any:
        """Return the ids of a batch as an arrow array; rows without are numbered."""
        import pyarrow as pa

        role = self.layout.roles.id
        if role is None:
            return pa.array(np.arange(start, start + batch.num_rows))
        return batch.column(role)

    def _none(self) -> Any:
        """Return the answers to no rows: a partition without rows gives a file without."""
        import pyarrow as pa

        rows = pa.schema(list(self.layout.types.items())).empty_table()
        return self.answerer.answer(rows, self._ids(rows, 0), np.zeros(0, dtype=object))


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
