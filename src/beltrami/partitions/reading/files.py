"""Partitions that are files, read by arrow's dataset scanner in batches."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from beltrami.core.errors import CorruptDataError, InvalidInputError
from beltrami.core.types import IndexVector
from beltrami.partitions.reading.casting import as_types, with_types
from beltrami.partitions.rows import require_held
from beltrami.tables.model import few_of

_ENDS = 2**16  # bytes at both ends of a file that belong to its fingerprint
_IPC_START = 8  # bytes of an arrow file before its first message
_ROWS = 2**12  # read at a time where some rows are looked up


@dataclass(frozen=True, slots=True)
class FilePartition:
    """A file of rows.

    Attributes
    ----------
    name : str
        Its path below the folder of all.
    path : str
        The whole path.
    kind : {"parquet", "arrow", "csv", "tsv"}
        How it is read.
    delimiter : str or None
        What separates the fields of a csv; None for a comma.
    """

    name: str
    path: str
    kind: str
    delimiter: str | None = None

    @property
    def is_text(self) -> bool:
        """Whether types are guessed from what is written."""
        return self.kind in {"csv", "tsv"}

    def schema(self) -> Any:
        """Return the names and arrow types of its columns; of a csv as its beginning looks."""
        schema = self._opened({}).schema.remove_metadata()
        twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
        if twice:
            raise InvalidInputError(
                f"{self.name} has columns of one name: {few_of(twice)}. Rename them."
            )
        if not schema.names:
            raise InvalidInputError(f"{self.name} has no columns. Remove the file.")
        return schema

    def head(self, n_rows: int) -> Any:
        """Return its first rows, with types as they are."""
        import pyarrow as pa

        try:
            return self._opened({}).head(n_rows, use_threads=False).replace_schema_metadata()
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise CorruptDataError(path=self.path, reason=str(error)) from error

    def batches(self, types: Mapping[str, Any], n_rows: int) -> Iterator[Any]:
        """Yield its rows in batches, as the model of this room says."""
        import pyarrow as pa

        try:
            opened = self._opened(types)
            held = [name for name in types if name in opened.schema.names]
            scanner = opened.scanner(
                columns=held,
                batch_size=n_rows,
                use_threads=False,
                batch_readahead=0,
                fragment_readahead=0,
                cache_metadata=False,
            )
            for batch in scanner.to_batches():
                if batch.num_rows:
                    batch.validate(full=True)
                    yield as_types(pa.Table.from_batches([batch]), types, self.name)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise CorruptDataError(path=self.path, reason=str(error)) from error

    def count(self) -> int:
        """Return how many rows it has, of a csv by reading it once."""
        import pyarrow as pa

        try:
            return int(self._opened({}).count_rows(use_threads=False))
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise CorruptDataError(path=self.path, reason=str(error)) from error

    def rows(self, places: IndexVector, types: Mapping[str, Any]) -> Any:
        """Return some rows, all columns of them; of parquet only groups that hold some are read."""
        import pyarrow as pa

        parts: list[Any] = [self.schema().empty_table()]
        start = 0
        try:
            for n_rows, scan in self._pieces(types):
                end = None if n_rows is None else start + n_rows
                if end is None or _between(places, start, end).size:
                    for batch in scan():
                        batch.validate(full=True)
                        own = _between(places, start, start + batch.num_rows)
                        parts.append(pa.Table.from_batches([batch]).take(own - start))
                        start += batch.num_rows
                        if start > places[-1]:
                            break
                start = start if end is None else end
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise CorruptDataError(path=self.path, reason=str(error)) from error
        require_held(places, start, self.name)
        found = pa.concat_tables(parts[1:] or parts).replace_schema_metadata()
        return with_types(found, types, self.name)

    def _pieces(self, types: Mapping[str, Any]) -> Iterator[tuple[int | None, Any]]:
        """Yield what can be read by itself: how many rows it has, where known, and its scan."""
        options = {
            "batch_size": _ROWS,
            "use_threads": False,
            "batch_readahead": 0,
            "fragment_readahead": 0,
            "cache_metadata": False,
        }
        for fragment in self._opened(types).get_fragments():
            if self.kind != "parquet":
                yield None, lambda one=fragment: one.to_batches(**options)
                continue
            for group in fragment.row_groups:
                own = fragment.subset(row_group_ids=[group.id])
                yield group.num_rows, lambda one=own: one.to_batches(**options)

    def block_bytes(self) -> int:
        """Return what is decoded at a time: of parquet a group of rows, of arrow a batch."""
        import pyarrow.parquet as pq

        if self.is_text:
            return _ENDS
        if self.kind == "arrow":
            return _largest_batch(self.path)
        facts = pq.read_metadata(self.path)
        sizes = (facts.row_group(place).total_byte_size for place in range(facts.num_row_groups))
        return max(sizes, default=0)

    def fingerprint(self) -> str:
        """Return a hash of size, time of change and both ends, where parquet keeps its numbers."""
        path = Path(self.path)
        try:
            facts = path.stat()
            digest = hashlib.blake2b(f"{facts.st_size} {facts.st_mtime_ns}".encode())
            with path.open("rb") as file:
                digest.update(file.read(_ENDS))
                file.seek(max(facts.st_size - _ENDS, 0))
                digest.update(file.read(_ENDS))
        except OSError as error:
            raise InvalidInputError(
                f"{self.name} cannot be read ({error.strerror or error}). Put it back, or leave it "
                "out."
            ) from error
        return digest.hexdigest()[:40]

    def _opened(self, types: Mapping[str, Any]) -> Any:
        import pyarrow as pa
        import pyarrow.dataset as ds

        if Path(self.path).stat().st_size == 0:
            raise InvalidInputError(f"{self.name} is empty: it has 0 bytes. Remove it.")
        try:
            return ds.dataset(self.path, format=self._format(types))
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise CorruptDataError(path=self.path, reason=str(error)) from error

    def _format(self, types: Mapping[str, Any]) -> Any:
        import pyarrow.csv as arrow_csv
        import pyarrow.dataset as ds

        if self.kind == "parquet":
            options = ds.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)
            return ds.ParquetFileFormat(default_fragment_scan_options=options)
        if self.kind == "arrow":
            return ds.IpcFileFormat()
        delimiter = "\t" if self.kind == "tsv" else self.delimiter or ","
        return ds.CsvFileFormat(
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(column_types=dict(types)),
        )


def _largest_batch(path: str) -> int:
    """Return what the largest batch of an arrow file takes, as it is stored and as it is read.

    Only where batches begin is looked at. A file of another form counts as a whole.
    """
    import pyarrow as pa

    largest = 0
    try:
        with pa.memory_map(path) as file:
            file.seek(_IPC_START)
            while True:
                body = pa.ipc.read_message(file).body
                largest = max(largest, 0 if body is None else body.size)
    except EOFError:
        return 2 * largest
    except (pa.ArrowException, OSError):
        return Path(path).stat().st_size


def _between(places: IndexVector, start: int, end: int) -> IndexVector:
    """Return the places of a stretch."""
    low, high = np.searchsorted(places, [start, end])
    return places[low:high]
