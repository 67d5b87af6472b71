"""Who works on partitions: threads of this process, or the workers of a Dask cluster.

A task is called with each partition, and with what belongs to it. What it returns depends on them
alone: how many work at a time and in which order does not matter.
"""

import errno
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, Protocol

from beltrami.core.errors import BeltramiError
from beltrami.core.machine.threads import thread_limit
from beltrami.core.telling.progress import listen
from beltrami.partitions.model import Failure, Partition

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})

Task = Callable[[Partition, Any], Any]


class Crew(Protocol):
    """Whoever works on partitions."""

    def work(
        self, task: Task, partitions: Sequence[Partition], extras: Sequence[Any]
    ) -> Iterator[tuple[int, Any]]:
        """Yield the place of each partition with what came of it, as they become ready.

        That is a `Failure` where the partition cannot be worked on.
        """

    def hold_to(self, n_at_a_time: int) -> None:
        """Work on at most so many partitions at a time in this process."""

    def require_sight(self, marker: Path) -> None:
        """Raise where those who work do not see a file of this process, now or later."""


def perform(task: Task, partition: Partition, extra: Any) -> Any:
    """Work on one partition, on one thread, so that the bits are the same everywhere.

    A full disk is no fault of the partition, and ends the job.
    """
    try:
        with listen(lambda _: None), thread_limit(1):
            return task(partition, extra)
    except (BeltramiError, OSError, ValueError, ArithmeticError, MemoryError) as error:
        if is_full(error):
            raise
        return Failure(partition.name, str(error) or type(error).__name__)


def is_full(error: BaseException) -> bool:
    """Say whether an error is that of a disk without room."""
    return isinstance(error, OSError) and error.errno in _FULL


class ThreadCrew:
    """Threads of this process."""

    def __init__(self, n_threads: int) -> None:
        self._n_threads = n_threads

    def hold_to(self, n_at_a_time: int) -> None:
        """Use at most so many threads."""
        self._n_threads = min(self._n_threads, n_at_a_time)

    def require_sight(self, marker: Path) -> None:
        """Raise nothing: threads see what their process sees."""

    def work(
        self, task: Task, partitions: Sequence[Partition], extras: Sequence[Any]
    ) -> Iterator[tuple[int, Any]]:
        """Yield what came of each partition."""
        pool = ThreadPoolExecutor(self._n_threads)
        try:
            pairs = enumerate(zip(partitions, extras, strict=True))
            futures = {pool.submit(perform, task, *pair): place for place, pair in pairs}
            for future in as_completed(futures):
                yield futures.pop(future), future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
