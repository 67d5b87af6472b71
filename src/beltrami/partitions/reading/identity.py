"""Ids that occur twice, found in bounded memory: sorted hashes on disk, then a look at the few.

Each partition writes the sorted hashes of its ids, in runs. All of them are compared range by range
of hashes, as many at a time as the memory holds. Equal hashes are only suspects: the ids themselves
are read again in the partitions that hold them, by whoever works on these.
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.files import atomic_path
from beltrami.partitions.crews.passes import Passes
from beltrami.partitions.model import Partition
from beltrami.partitions.rows import Keys, mixed
from beltrami.tables.model import decode_categories, few_of

_SUSPECTS = 1000
_BASE = np.uint64(1099511628211)
_ID_ROWS = 2**16
_HELD = 2**22
"""Hashes of a partition that are held at a time."""
_TITLE = "comparing ids"


class IdRuns:
    """The hashes of the ids of one partition, on their way to files."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, _file_name(name)
        self._parts: list[Keys] = []
        self._n_held = self._n_written = 0

    def add(self, ids: Any) -> None:
        """Take the ids of a batch."""
        self._parts.append(hash_ids(ids))
        self._n_held += len(ids)
        if self._n_held >= _HELD:
            self.write()

    def write(self) -> None:
        """Write all that came since the last time, sorted."""
        hashes = np.concatenate([np.zeros(0, np.uint64), *self._parts])
        hashes.sort()
        path = self._folder / f"{self._name}-{self._n_written}.npy"
        self._parts.clear()
        self._n_held, self._n_written = 0, self._n_written + 1
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            header = np.lib.format.header_data_from_array_1_0(hashes)
            np.lib.format.write_array_header_1_0(file, header)
            file.write(hashes.data)  # of a full disk `np.save` would not say that it is full


def _file_name(name: str) -> str:
    """Return how the files of a partition begin."""
    return hashlib.blake2b(name.encode(), digest_size=12).hexdigest()


def hash_ids(ids: Any) -> Keys:
    """Return a 64-bit hash of each id; texts by a polynomial in their bytes."""
    import pyarrow as pa

    values = decode_categories(ids)
    if pa.types.is_integer(values.type):
        return mixed(values.fill_null(0).to_numpy().astype(np.int64).view(np.uint64))
    texts = values.cast(pa.large_string()).combine_chunks()
    if isinstance(texts, pa.ChunkedArray):
        texts = pa.concat_arrays(texts.chunks) if texts.num_chunks else pa.array([], texts.type)
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    lengths = np.diff(ends)
    if data is None or not len(texts) or ends[-1] == ends[0]:
        return mixed(lengths.astype(np.uint64))
    letters = np.frombuffer(data, dtype=np.uint8)[ends[0] : ends[-1]].astype(np.uint64)
    places = np.arange(len(letters)) - np.repeat(ends[:-1] - ends[0], lengths)
    with np.errstate(over="ignore"):
        powers = np.cumprod(np.full(int(lengths.max()), _BASE, dtype=np.uint64), dtype=np.uint64)
        # Sums of all letters before a place, whose differences wrap around as the sums do.
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum((letters + 1) * powers[places])])
        own = sums[ends[1:] - ends[0]] - sums[ends[:-1] - ends[0]]
        return mixed(own + lengths.astype(np.uint64))


@dataclass(frozen=True, slots=True, eq=False)
class SuspectTask:
    """What a worker needs to know to name ids whose hashes are suspect.

    Attributes
    ----------
    column : str
        Of the ids.
    kind : arrow type
        As which it is read.
    suspects : ndarray of uint64
        Hashes, sorted.
    """

    column: str
    kind: Any
    suspects: Keys

    def __call__(self, partition: Partition, _: None = None) -> list[Any]:
        """Return the ids of a partition, as often as they stand in it."""
        found = []
        for batch in partition.batches({self.column: self.kind}, _ID_ROWS):
            ids = batch.column(self.column)
            places = np.flatnonzero(_holds(self.suspects, hash_ids(ids)))
            found += [ids[int(row)].as_py() for row in places]
        return found


def require_own_ids(
    partitions: Sequence[Partition],
    folder: Path,
    column: str,
    kind: Any,
    budget_bytes: float,
    passes: Passes,
) -> None:
    """Raise where an id occurs twice, in one partition or in several, and name them."""
    runs: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.glob("*.npy")):
        runs[path.stem.split("-")[0]].append(path)
    own_runs = [runs[_file_name(one.name)] for one in partitions]
    suspects = _equal_hashes([path for own in own_runs for path in own], budget_bytes)
    if not suspects.size:
        return
    pairs = zip(partitions, own_runs, strict=True)
    holders = [one for one, own in pairs if _any_holds(own, suspects)]
    found = passes.over(_TITLE, SuspectTask(column, kind, suspects), holders)
    lost = [one.name for one, ids in zip(holders, found, strict=True) if ids is None]
    if lost:
        why = next(one for one in passes.failures if one.name == lost[0])
        raise InvalidInputError(
            f"some ids seem to occur more than once, and those of {len(lost)} partition(s) cannot "
            f"be read again ({why}). Mend it, or leave it out."
        )
    places: dict[Any, list[str]] = defaultdict(list)
    for partition, ids in zip(holders, found, strict=True):
        for one in ids:
            places[one].append(partition.name)
    twice = {name: where for name, where in places.items() if len(where) > 1}
    if twice:
        name, where = min(twice.items(), key=lambda pair: str(pair[0]))
        counted = f"at least {len(twice):,}" if len(suspects) == _SUSPECTS else f"{len(twice):,}"
        raise InvalidInputError(
            f"{counted} id(s) in column {column!r} occur more than once, such as {name!r} in "
            f"{few_of(sorted(where))}. Every row needs an id of its own: make them different, name "
            f"another column, or ignore it to go by row numbers (--ignore {column})."
        )


def _equal_hashes(runs: list[Path], budget_bytes: float) -> Keys:
    """Return hashes that occur more than once in sorted runs, at most some."""
    opened = [np.load(path, mmap_mode="r", allow_pickle=False) for path in runs]
    total = sum(len(one) for one in opened)
    n_ranges = max(int(np.ceil(3 * 8 * total / max(budget_bytes, 2**20))), 1)
    borders = [int(2**64 * place / n_ranges) for place in range(1, n_ranges)]
    cuts = [
        np.concatenate([[0], np.searchsorted(one, np.array(borders, np.uint64)), [len(one)]])
        for one in opened
    ]
    found: list[Keys] = []
    for place in range(n_ranges):
        parts = [
            one[int(cut[place]) : int(cut[place + 1])]
            for one, cut in zip(opened, cuts, strict=True)
        ]
        hashes = np.sort(np.concatenate(parts))
        found.append(np.unique(hashes[1:][hashes[1:] == hashes[:-1]]))
        if sum(map(len, found)) >= _SUSPECTS:
            break
    return np.concatenate(found)[:_SUSPECTS]


def _any_holds(runs: list[Path], suspects: Keys) -> bool:
    """Say whether any of some hashes stands in sorted runs."""
    opened = (np.load(path, mmap_mode="r", allow_pickle=False) for path in runs)
    return any(bool(_holds(own, suspects).any()) for own in opened)


def _holds(sorted_hashes: Keys, wanted: Keys) -> Any:
    """Return which of some hashes stand in a sorted list."""
    if not len(sorted_hashes):
        return np.zeros(len(wanted), dtype=bool)
    places = np.minimum(np.searchsorted(sorted_hashes, wanted), len(sorted_hashes) - 1)
    return np.asarray(sorted_hashes)[places] == wanted
