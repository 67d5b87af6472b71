"""What a job will take: memory enters, how many rows learn and how many partitions at a time leave.

How many partitions are worked on at a time changes no result. How many rows learn does.
"""

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from beltrami.core.errors import InvalidInputError, MemoryBudgetError
from beltrami.core.machine import memory
from beltrami.core.machine.threads import resolve_jobs
from beltrami.partitions.model import Partition, Survey
from beltrami.partitions.options import PartitionOptions
from beltrami.partitions.reading.layout import Layout
from beltrami.partitions.reading.survey import batch_rows
from beltrami.tables.columns.kinds import is_text

MOST_REPRESENTATIVES = 50_000
_LEAST_REPRESENTATIVES = 500
_LEAST_BESIDE, _MOST_BESIDE = 2, MOST_REPRESENTATIVES // 5
"""Rows without a label that learn beside those with one: at least, and where there are many."""
_FIT_BYTES = 24 * 2**10
"""That a fit takes for each representative, beside the numbers of the row, at most."""
_FIT_COPIES = 12
"""Copies of the representatives that a fit makes on the way, at most."""
_BATCH_COPIES = 8
"""Copies of a batch that a pass makes."""
_ANSWER_BYTES = 96 * 2**20
"""That answering a block takes, or hashing the ids of a partition."""
_SETTLE_BYTES = 16
"""Of a number of a representative, in what a partition sums while they settle."""
_SHARED_BYTES = 24
"""Of the same, in what all partitions share meanwhile."""
_WRITTEN_BYTES = {"parquet": 48, "csv": 53}
"""Of a row of the results, at most about, beside its id and, in csv, three labels."""
_GROUP_BYTES = 4096
"""Of what parquet says of a group of rows, at most about, beside its labels."""
_HELD_STEP = 2**28
"""Steps in which the memory that a process holds is counted."""
_DIGITS = 20
"""Of an id that is a number, at most."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a job is done.

    Attributes
    ----------
    budget_bytes : int
        That the process may hold.
    n_jobs : int
        Partitions at a time.
    n_representatives : int
        Rows that learn, at most.
    """

    budget_bytes: int
    n_jobs: int
    n_representatives: int

    def __str__(self) -> str:
        return (
            f"memory: {self.budget_bytes / 2**30:.2f} GiB; at most {self.n_representatives:,} rows "
            f"learn, {self.n_jobs} partition(s) at a time"
        )


def make_plan(
    options: PartitionOptions, layout: Layout, partitions: Sequence[Partition], survey: Survey
) -> Plan:
    """Share the memory out, or say that it does not suffice.

    All rows with a label learn, and some without one must beside them: they cover the others.
    Rows that learn come before partitions at a time, since they alone change what is answered.
    """
    budget = _budget(options)
    room = budget - held_bytes()
    each = _bytes_each(layout, max((one.block_bytes() for one in partitions), default=0))
    row = _FIT_BYTES + _FIT_COPIES * layout.dtype.itemsize * layout.n_columns
    fewest = min(survey.n_given + _LEAST_BESIDE, survey.total)
    wanted = options.n_representatives
    if wanted is None:
        wanted = max(MOST_REPRESENTATIVES, survey.n_given + _MOST_BESIDE)
        least = max(_LEAST_REPRESENTATIVES, fewest)
    else:
        _require_room(wanted, fewest, survey.n_given)
        least = wanted
    if room < each + least * row:
        raise MemoryBudgetError(
            what=f"labelling with {least:,} rows that learn",
            needed_bytes=budget - room + each + least * row,
            budget_bytes=budget,
            instead="Raise --memory, let fewer rows learn (--representatives), leave out labels, "
            "or write parquet with smaller row groups.",
        )
    n = int(min(wanted, (room - each) // row))  # whatever number of partitions is worked on
    numbers = n * layout.n_columns
    n_answered = (room - n * row) // each
    n_settled = (room - _SHARED_BYTES * numbers) // (each + _SETTLE_BYTES * numbers)
    n_jobs = min(resolve_jobs(options.n_jobs), n_answered, n_settled)
    return Plan(budget, int(max(n_jobs, 1)), n)


def room_of(options: PartitionOptions) -> int:
    """Return the bytes that a job may take beside what this process holds now."""
    return _budget(options) - held_bytes()


def _budget(options: PartitionOptions) -> int:
    return options.memory or memory.available_bytes() // 2


def n_at_a_time(room: int, layout: Layout, block: int) -> int:
    """Return how many partitions are looked at a time where memory has room for so much.

    - `block`: bytes that are decoded at a time of the largest.
    """
    return max(room // _bytes_each(layout, block), 1)


def _bytes_each(layout: Layout, block: int) -> int:
    """Return what a partition takes while it is worked on."""
    width = layout.n_columns * max(layout.dtype.itemsize, 8)
    return batch_rows(layout.n_columns) * width * _BATCH_COPIES + block + _ANSWER_BYTES


def _require_room(wanted: int, fewest: int, n_given: int) -> None:
    """Refuse fewer rows that learn than have a label."""
    if wanted < fewest:
        raise InvalidInputError(
            f"{n_given:,} rows have a label, and all of them learn, so that at most {wanted:,} "
            "would leave nobody to stand for rows without one. Let at least "
            f"{fewest:,} learn (--representatives), or leave the limit out."
        )


def held_bytes() -> int:
    """Return the memory that this process holds now, with what it will load.

    It is rounded up, so that two runs of a job make the same plan.
    """
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:  # pragma: no cover - not on Linux
        return _HELD_STEP
    return -(-pages * os.sysconf("SC_PAGE_SIZE") // _HELD_STEP) * _HELD_STEP


def require_space(out: Path, form: str, layout: Layout, survey: Survey) -> str:
    """Return how much will be written, or raise where the disk has no room for it."""
    folder = out
    while not folder.exists():
        folder = folder.parent
    needed = _written_bytes(form, layout, survey)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise InvalidInputError(
            f"the results of {survey.total:,} rows take up to {needed / 2**30:.2f} GiB, and "
            f"{str(folder)!r} has {free / 2**30:.2f} GiB left. Free some, or name another folder."
        )
    return f"disk: up to {needed / 2**30:.2f} GiB will be written, {free / 2**30:.1f} GiB are free"


def _written_bytes(form: str, layout: Layout, survey: Survey) -> int:
    """Return how large the results become, at most about."""
    n_rows, role = survey.total, layout.roles.id
    texts = [json.dumps(str(one), ensure_ascii=False) for one in survey.labels]  # with quotes
    longest = max((len(one.encode()) for one in texts), default=0)
    rows = n_rows * _WRITTEN_BYTES[form]
    if form == "csv":
        has_texts = role is not None and is_text(layout.types[role])
        return rows + 3 * n_rows * longest + (survey.id_bytes if has_texts else n_rows * _DIGITS)
    most = batch_rows(layout.n_columns)
    group = _GROUP_BYTES + 3 * min(len(texts), most) * (longest + 4)
    n_groups = n_rows // most + len(survey.n_rows)
    return rows + 2 * (survey.id_bytes or 8 * n_rows) + n_groups * group
