"""Partitions of a dask DataFrame: each is computed where it is worked on, whenever it is read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import IndexVector
from beltrami.partitions.model import Partition
from beltrami.partitions.reading.casting import as_types, with_types
from beltrami.partitions.rows import require_held


def is_dask_frame(source: Any) -> bool:
    """Say whether an object is a dask DataFrame, without importing dask."""
    kind = type(source)
    return kind.__module__.startswith("dask") and hasattr(source, "npartitions")


def frame_partitions(frame: Any) -> tuple[Partition, ...]:
    """Return the partitions of a dask DataFrame, named by their place as files would be."""
    width = max(len(str(frame.npartitions - 1)), 5)
    return tuple(
        FramePartition(f"part-{place:0{width}d}.parquet", str(one.key), one)
        for place in range(frame.npartitions)
        for one in frame.partitions[place].to_delayed()
    )


@dataclass(frozen=True, slots=True, eq=False)
class FramePartition:
    """A partition of a dask DataFrame.

    Attributes
    ----------
    name : str
        By its place.
    key : str
        Dask's own name of what is computed.
    content : dask.delayed.Delayed, pandas.DataFrame or None
        What computes it, or the rows themselves; None on the way to where they are.
    """

    name: str
    key: str
    content: Any

    def filled(self, content: Any) -> "FramePartition":
        """Return the same partition with other content."""
        return FramePartition(self.name, self.key, content)

    def _table(self) -> Any:
        import pyarrow as pa

        frame = self._computed() if hasattr(self.content, "compute") else self.content
        try:
            return pa.Table.from_pandas(frame, preserve_index=False)
        except pa.ArrowException as error:
            raise InvalidInputError(
                f"{self.name} has a column that mixes types ({error}). Give it one type."
            ) from error

    def schema(self) -> Any:
        """Return the names and arrow types of its columns."""
        return self._table().schema.remove_metadata()

    def head(self, n_rows: int) -> Any:
        """Return its first rows."""
        return self._table().slice(0, n_rows).replace_schema_metadata()

    def batches(self, types: Mapping[str, Any], n_rows: int) -> Iterator[Any]:
        """Yield its rows in batches."""
        table = self._table()
        for start in range(0, table.num_rows, n_rows):
            yield as_types(table.slice(start, n_rows), types, self.name)

    def rows(self, places: IndexVector, types: Mapping[str, Any]) -> Any:
        """Return some rows, all columns of them."""
        table = self._table().replace_schema_metadata()
        require_held(places, table.num_rows, self.name)
        return with_types(table.take(places), types, self.name)

    def block_bytes(self) -> int:
        """Return nothing: who computes a partition holds it anyway."""
        return 0

    def fingerprint(self) -> str:
        """Return dask's own name of what is computed."""
        return self.key

    def _computed(self) -> Any:
        try:
            return self.content.compute(scheduler="synchronous")
        except Exception as error:
            raise InvalidInputError(
                f"{self.name} cannot be computed ({type(error).__name__}: {error}). Compute that "
                "partition of the frame by itself, or give the client that holds it (client=)."
            ) from error
