"""Nouns of this room: partitions, what is known of each, and what covers all rows."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from beltrami.core.machine.moments import Moments
from beltrami.core.types import FloatVector, IndexVector

_ROUNDING = 1e-9
"""Of a number that is printed, in its last digit: of the arithmetic, and of no row."""


class Partition(Protocol):
    """Rows that are read in batches, in the same order every time."""

    @property
    def name(self) -> str:
        """What it is called: by it partitions are sorted, and results are named."""

    def schema(self) -> Any:
        """Return the names and arrow types of its columns."""

    def batches(self, types: Mapping[str, Any], n_rows: int) -> Iterator[Any]:
        """Yield arrow tables of at most about `n_rows` rows, with these columns, cast to types.

        A column that the partition lacks is null.
        """

    def head(self, n_rows: int) -> Any:
        """Return its first rows as an arrow table, with types as they are."""

    def rows(self, places: IndexVector, types: Mapping[str, Any]) -> Any:
        """Return some rows as an arrow table, all columns of them, those of `types` cast.

        The places rise, each once.
        """

    def block_bytes(self) -> int:
        """Return about how many bytes are decoded at a time, beside a batch."""

    def fingerprint(self) -> str:
        """Return what changes when the content does."""


def is_written_as_text(partition: Partition) -> bool:
    """Say whether a partition has no types but those that are guessed from what is written."""
    return bool(getattr(partition, "is_text", False))


@dataclass(frozen=True, slots=True)
class Failure:
    """A partition that could not be worked on, and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


@dataclass(frozen=True, slots=True, eq=False)
class PartFacts:
    """What one look at a partition tells.

    Attributes
    ----------
    n_rows : int
        Rows.
    moments : Moments
        Of the finite numbers in the columns that are features.
    largest : ndarray of shape (d,)
        Largest absolute value of each.
    labels : Counter
        How many rows have each label.
    n_empty : int
        Rows whose label is an empty cell.
    n_missing_ids : int
        Rows without an id, where there is a column of ids.
    id_bytes : int
        That its ids take.
    """

    n_rows: int
    moments: Moments
    largest: FloatVector
    labels: Counter[Any]
    n_empty: int
    n_missing_ids: int
    id_bytes: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """What one look at all partitions tells.

    Attributes
    ----------
    n_rows : tuple of int
        Rows of each partition.
    moments : Moments
        Of the finite numbers in the columns that are features.
    labels : Counter
        How many rows have each label.
    notes : tuple of str
        What a person should know.
    id_bytes : int
        That all ids take; 0 where rows are numbered.
    """

    n_rows: tuple[int, ...]
    moments: Moments
    labels: Counter[Any]
    notes: tuple[str, ...] = ()
    id_bytes: int = 0

    @property
    def total(self) -> int:
        """How many rows there are."""
        return sum(self.n_rows)

    @property
    def n_given(self) -> int:
        """How many rows have a label."""
        return self.labels.total()


@dataclass(frozen=True, slots=True)
class Coverage:
    """A certificate: how well the representatives stand for all rows.

    A row is covered if a representative lies within 1.5 scales of that one. The scale of a row that
    was drawn is the distance to its tenth neighbour among those drawn, but at most the median of
    these neighbours' own; of a row that was added later, that of whichever was its nearest then.
    The search may miss the nearest one, which can only lower the share and raise the distance: both
    are bounds, and are printed rounded to the side on which they hold. They speak of
    representatives as they were drawn, before these settled at the means of their rows.

    Attributes
    ----------
    share : float
        Share of all rows that are covered, at least.
    largest_distance : float
        From a row to a representative, over the scale of that one, at most.
    n_rows : int
        Rows in all.
    n_representatives : int
        Representatives.
    rounds : int
        Rounds in which uncovered rows were added.

    Examples
    --------
    >>> from beltrami.partitions import Coverage
    >>> print(Coverage(0.9987, 3.25, 2_000_000, 50_000, 2))
    99.87 % of 2,000,000 rows covered by 50,000 representatives (2 rounds; farthest at 3.3 scales)
    """

    share: float
    largest_distance: float
    n_rows: int
    n_representatives: int
    rounds: int

    def __str__(self) -> str:
        rounds = f"{self.rounds} round{'s' if self.rounds != 1 else ''}"
        share = np.floor(1e4 * self.share + _ROUNDING) / 100
        farthest = abs(np.ceil(10 * self.largest_distance - _ROUNDING) / 10)  # no -0.0
        return (
            f"{share:.2f} % of {self.n_rows:,} rows covered by {self.n_representatives:,} "
            f"representatives ({rounds}; farthest at {farthest:.1f} scales)"
        )


@dataclass(frozen=True, slots=True)
class Pace:
    """How long each pass over the rows took.

    Attributes
    ----------
    seconds : dict of str to float
        By pass.
    processor_seconds : dict of str to float
        Of this process alone, by all its threads: what workers of a cluster take is not in it.
    rows : dict of str to int
        Rows that it went over.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    processor_seconds: dict[str, float] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, seconds: float, processor_seconds: float, n_rows: int) -> None:
        """Count the time of a pass, or of one more round of it."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        held = self.processor_seconds.get(name, 0.0)
        self.processor_seconds[name] = held + processor_seconds
        self.rows[name] = self.rows.get(name, 0) + n_rows

    def by_pass(self) -> dict[str, dict[str, float]]:
        """Return what each pass took and went over, as JSON can hold it."""
        return {
            str(name): {
                "seconds": seconds,
                "processor_seconds": self.processor_seconds[name],
                "rows": self.rows[name],
            }
            for name, seconds in self.seconds.items()
        }
