"""The result of labelling partitions: what was written, how sure it is, and what was left."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beltrami.front_door.kept.labeller import KeptLabeller
from beltrami.front_door.report import FitReport
from beltrami.partitions.model import Coverage, Failure, Pace, Partition
from beltrami.partitions.people.answered import Answered
from beltrami.partitions.people.asking import PartitionedSuggestions, suggest_in
from beltrami.report.sentences import evidence, headline
from beltrami.tables import Table


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PartitionedLabelling:
    """Every row of many partitions labelled, and written partition by partition.

    Attributes
    ----------
    out : Path
        Folder of the results, a file for each partition.
    written : tuple of Path
        The files.
    counts : dict of str to int
        Rows in all, and by who labelled them.
    labels : Counter
        How many rows have each label now, by its text.
    n_unlike : int
        Rows left to the person because they are unlike all that learned; among the abstained.
    expected_accuracy : float
        Mean confidence in the labels that we gave; NaN where we gave none.
    coverage : Coverage
        How well the rows that learned stand for all.
    labeller : KeptLabeller
        What learned from the representatives, and answers; it lies beside the results, for
        `beltrami.load`.
    report : FitReport
        What was tried on the representatives, what won and how far to trust it.
    failures : tuple of Failure
        Partitions that could not be worked on, and why; they have no file.
    notes : tuple of str
        What a person should know of the input.
    pace : Pace
        Seconds and rows of each pass.
    partitions : tuple of Partition
        Where the rows come from.
    client : object
        Who worked, as it was said: who holds the rows of a frame is asked for them again.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np, pyarrow as pa, pyarrow.parquet as pq
    >>> import beltrami as bt
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (folder / "in").mkdir()
    >>> moons = bt.two_moons(400, random_state=0)
    >>> kinds = [f"moon {c}" if i % 20 == 0 else None for i, c in enumerate(moons.targets)]
    >>> whole = pa.table({"x": moons.points[:, 0], "y": moons.points[:, 1], "kind": kinds})
    >>> for part in range(4):
    ...     pq.write_table(whole.slice(100 * part, 100), folder / "in" / f"{part}.parquet")
    >>> found = bt.label_partitions(folder / "in", "kind", out=folder / "out", features=["x", "y"])
    >>> found.counts["given"], found.counts["labelled"], len(found.written)
    (20, 380, 4)
    >>> asked = found.suggest(3)
    >>> len(asked.columns["id"]), bool((asked.columns["settles"] >= 1).all())
    (3, True)
    >>> found.representatives().names
    ('id', 'x', 'y', 'kind')
    """

    out: Path
    written: tuple[Path, ...]
    counts: dict[str, int]
    labels: Counter[str]
    n_unlike: int
    expected_accuracy: float
    coverage: Coverage
    labeller: KeptLabeller
    report: FitReport
    failures: tuple[Failure, ...]
    notes: tuple[str, ...]
    pace: Pace
    partitions: tuple[Partition, ...]
    client: Any = None

    def representatives(self) -> Table:
        """Return the rows that learned, with all their own columns.

        They are read from the partitions once, and kept beside the results.

        Returns
        -------
        Table
            Ids as in the results first; the column of labels as it was learned from.
        """
        return self._opened().table()

    def suggest(self, n: int = 10, strategy: str = "auto") -> PartitionedSuggestions:
        """Say which rows to label next, and how many rows of the whole each would settle.

        Parameters
        ----------
        n : int, default=10
            How many rows.
        strategy : {"auto", "cover", "uncertain", "random"}, default="auto"
            As in `ManifoldClassifier.query`.

        Returns
        -------
        PartitionedSuggestions
            Print it, or take its ``columns``. Answers go to `label_partitions` by ``labels``.
        """
        return suggest_in(self._opened(), n, strategy)

    def save(self, path: Path | str) -> Path:
        """Keep what answers other tables with these columns in one file, whole or not at all.

        `beltrami.load` brings it back, and ``beltrami apply`` answers by it.

        Parameters
        ----------
        path : path
            Where to.

        Returns
        -------
        Path
            Where it is.
        """
        return self._opened().table_labeller(self.labeller).save(path)

    def _opened(self) -> Answered:
        return Answered.open(self.out, self.partitions, client=self.client)

    @property
    def sentence(self) -> str:
        """The result in a few sentences."""
        risk = self.labeller.acceptance.risk
        told = evidence(self.counts, self.expected_accuracy, risk, self.report)
        return " ".join([headline(self.counts), *told])

    def lines(self) -> list[str]:
        """Return the summary.

        Returns
        -------
        list of str
            Sentences, the certificate of coverage, rows that are unlike all that learned, and the
            partitions that failed.
        """
        lines = [self.sentence, str(self.coverage)]
        if self.n_unlike:
            lines.append(
                f"! {self.n_unlike:,} row(s) are unlike all that learned, and left to you: "
                "`unlike` in the files."
            )
        lines += [f"! {line}" for line in self.report.warnings[:3]]
        lines.append(self.report.verdict)
        lines += [f"failed: {one}" for one in self.failures]
        return lines

    def __repr__(self) -> str:
        return f"<PartitionedLabelling in {str(self.out)!r}: {self.sentence}>"
