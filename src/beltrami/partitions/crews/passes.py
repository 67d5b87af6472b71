"""A pass over partitions: a task enters, what it found in each leaves, with the time it took."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.core.telling.progress import track
from beltrami.partitions.crews.crew import Crew, Task
from beltrami.partitions.model import Failure, Pace, Partition


class Passes:
    """Passes over partitions, and the partitions that could not be worked on so far."""

    def __init__(self, crew: Crew) -> None:
        self.crew = crew
        self.pace = Pace()
        self.failures: list[Failure] = []

    def over(
        self,
        title: str,
        task: Task,
        partitions: Sequence[Partition],
        extras: Sequence[Any] | None = None,
        n_rows: Sequence[int] | None = None,
        on_result: Callable[[int, Any], None] | None = None,
        is_rest: bool = False,
    ) -> list[Any]:
        """Return what a task found in each partition, None where it failed, now or before.

        - `n_rows`: rows of each, for progress and pace; None counts partitions.
        - `on_result`: takes place and result as soon as there is one; the list then holds none.
        - `is_rest`: whether others are done, so that it is no end if all of these fail.
        """
        began, busy = time.perf_counter(), time.process_time()
        found: list[Any] = [None] * len(partitions)
        n_found = 0
        units = [1] * len(partitions) if n_rows is None else list(n_rows)
        with track(title, total=sum(units)) as advance:
            given = [None] * len(partitions) if extras is None else extras
            for place, result in self._of_those_left(task, partitions, given):
                if isinstance(result, Failure):
                    self.failures.append(result)
                elif on_result is None:
                    found[place] = result
                    n_found += 1
                else:
                    on_result(place, result)
                    n_found += 1
                advance(units[place])
        self.failures.sort(key=lambda one: one.name)
        if partitions and not n_found and not is_rest:
            raise InvalidInputError(
                f"none of {len(partitions)} partition(s) could be worked on. {self.failures[0]}"
            )
        spent = time.perf_counter() - began, time.process_time() - busy
        self.pace.add(title, *spent, sum(units))
        return found

    def _of_those_left(
        self, task: Task, partitions: Sequence[Partition], extras: Sequence[Any]
    ) -> Iterator[tuple[int, Any]]:
        """Yield what came of the partitions that have not failed yet."""
        failed = {one.name for one in self.failures}
        places = [place for place, one in enumerate(partitions) if one.name not in failed]
        left, own = [partitions[place] for place in places], [extras[place] for place in places]
        for turn, result in self.crew.work(task, left, own):
            yield places[turn], result
