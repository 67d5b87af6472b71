"""Workers of a Dask cluster: the scheduler is sent the task once, then a call for each partition.

What is lost without a fault of the partition is asked for again, however often, as long as anything
comes back. A partition at which workers died is asked for alone, so that only its own deaths are
counted; past a number that kills at random do not reach it is named, and the rest goes on.
"""

import socket
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from beltrami.core.errors import BeltramiError, InvalidInputError
from beltrami.core.telling.progress import track
from beltrami.partitions.crews.crew import Task, is_full, perform
from beltrami.partitions.model import Failure, Partition
from beltrami.tables.model import few_of

_MOST_DEATHS = 20
"""Workers that may die at a partition before it counts as what kills them."""
_MOST_FAULTS = 3
"""Times that the cluster may fail at a partition in a way that may be the partition's own."""
_MOST_ROUNDS = 50
"""Times in a row that everything is asked for and nothing comes back."""
_PATIENCE_S = 300.0
"""That nobody works before the job is given up."""
_LOOK_S = 2.0
"""Between two looks at who works, while nothing comes back."""
_DEAD = frozenset({"closed", "failed"})
"""Of processes that keep a worker alive: those that will not start another."""
_PACKAGES = ("beltrami", "numpy", "scipy", "pyarrow")
"""On which the bytes of the results rest."""


class ClusterLostError(BeltramiError, RuntimeError):
    """A cluster that does not work any more; what was done is kept."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what}. What is done is kept: once the cluster works, the same command goes on."
        )


@dataclass(frozen=True, slots=True)
class _Lost:
    """What did not come back, and what may be held against the partition."""

    reason: str
    n_deaths: int = 0
    n_faults: int = 0


@dataclass(frozen=True, slots=True)
class _Sight:
    """A file of the driver by which a worker knows that it sees the same folder."""

    path: Path
    content: bytes


@dataclass(frozen=True, slots=True)
class _Blind:
    """A worker does not see the folder of the results."""

    host: str


class DaskCrew:
    """The workers of a `distributed.Client`.

    - `own`: the cluster behind it where it is ours, with `n_workers`: who is missing is replaced.
    """

    def __init__(self, client: Any, own: Any = None, n_workers: int = 1) -> None:
        self._client, self._own, self._n_workers = client, own, n_workers
        self._sight: _Sight | None = None

    def hold_to(self, n_at_a_time: int) -> None:
        """Keep at most so many workers of our own; those of others have memory of their own."""
        self._n_workers = min(self._n_workers, n_at_a_time)
        self._keep_up()

    def require_sight(self, marker: Path) -> None:
        """Raise where workers have other versions; what they do later raises where they are blind.

        - `marker`: a file in the folder that they are to write into.
        """
        self._sight = _Sight(marker, marker.read_bytes())
        self._await_workers()
        _require_versions(self._client.get_versions(packages=list(_PACKAGES)))

    def work(
        self, task: Task, partitions: Sequence[Partition], extras: Sequence[Any]
    ) -> Iterator[tuple[int, Any]]:
        """Yield what came of each partition; those that were lost are asked for again."""
        together, alone = list(range(len(partitions))), list[int]()
        deaths, faults = Counter[int](), Counter[int]()
        n_idle = 0
        while together or alone:
            asked, together = together or [alone.pop(0)], []
            is_idle, reason = True, ""
            for place, came in self._ask(task, partitions, extras, asked):
                if not isinstance(came, _Lost):
                    is_idle = False
                    yield place, came
                    continue
                reason = came.reason
                deaths[place] += came.n_deaths
                faults[place] += came.n_faults
                is_idle = is_idle and came == _Lost(reason)
                if deaths[place] > _MOST_DEATHS:
                    told = f"{deaths[place]} workers died at it, the last ones at it alone"
                    yield place, Failure(partitions[place].name, told)
                elif faults[place] >= _MOST_FAULTS:
                    yield place, Failure(partitions[place].name, reason)
                else:
                    (alone if came.n_deaths else together).append(place)
            n_idle = n_idle + 1 if is_idle else 0
            self._require_hope(n_idle, reason)

    def _require_hope(self, n_idle: int, reason: str) -> None:
        """Wait the longer the more often nothing came back, and give up in the end."""
        if n_idle > _MOST_ROUNDS:
            raise ClusterLostError(f"the cluster lost all work {n_idle} times in a row ({reason})")
        time.sleep(0.1 * n_idle)

    def _ask(
        self,
        task: Task,
        partitions: Sequence[Partition],
        extras: Sequence[Any],
        asked: Sequence[int],
    ) -> Iterator[tuple[int, Any]]:
        """Yield what comes of some partitions, or why it does not."""
        self._await_workers()
        try:
            shared = self._send(task)
            calls = [self._call(shared, partitions[place], extras[place]) for place in asked]
            futures = self._client.compute(calls)
        except _losses(OSError, RuntimeError) as error:
            yield from ((place, _Lost(_told(error))) for place in asked)
            return
        finished: SimpleQueue[Any] = SimpleQueue()
        open_ones = {one.key: (one, place) for one, place in zip(futures, asked, strict=True)}
        del futures, calls
        for future, _ in open_ones.values():
            future.add_done_callback(finished.put)
        try:
            while open_ones:
                try:
                    future = finished.get(timeout=_LOOK_S)
                except Empty:
                    self._await_workers()
                    continue
                _, place = open_ones.pop(future.key)
                came = _outcome(future, shared.key, partitions[place])
                future.release()
                yield place, came
        finally:
            for future, _ in open_ones.values():
                future.release()

    def _send(self, task: Task) -> Any:
        """Give the task to the scheduler, which gives it to others where those that held it die.

        What is scattered is lost with its holder, and a scatter waits long for one that is dying.
        """
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # it is sent once
            return self._client.submit(_itself, task, pure=False)

    def _call(self, shared: Any, partition: Partition, extra: Any) -> Any:
        """Return the call for one partition; one of a frame waits for what computes its rows."""
        from dask.delayed import delayed

        content = getattr(partition, "content", None)
        light = partition if content is None else partition.filled(None)  # type: ignore[attr-defined]
        work = delayed(_perform, pure=False, traverse=False)
        return work(shared, light, extra, self._sight, content)

    def _await_workers(self) -> None:
        """Return once somebody works; say in the progress that nobody does, and give up at last."""
        if self._keep_up():
            return
        began, told = time.monotonic(), 0.0
        with track("waiting for workers", total=_PATIENCE_S) as advance:
            while not self._keep_up():
                waited = time.monotonic() - began
                if waited > _PATIENCE_S:
                    raise ClusterLostError(f"nobody has worked for {waited:.0f} seconds")
                advance(waited - told)
                told = waited
                time.sleep(0.2)

    def _keep_up(self) -> int:
        """Return how many work; have those of our own replaced that are missing for good."""
        if self._client.status in {"closed", "closing"}:
            raise ClusterLostError("the scheduler of the cluster is gone")
        try:
            n = len(self._client.nthreads())
        except _losses(OSError, RuntimeError, ValueError):
            return 0  # between two connections with the scheduler
        if self._own is not None and n != self._n_workers:
            self._replace_lost(n)
        return n

    def _replace_lost(self, n_working: int) -> None:
        """Start workers of our own in the place of those that do not come back."""
        n_dead = sum(one.status.name in _DEAD for one in self._own.workers.values())
        if n_dead > _MOST_DEATHS and not n_working:
            raise ClusterLostError(
                f"{n_dead} workers died while they were started on this machine (a script that "
                "starts some does its work under `if __name__ == '__main__':`)"
            )
        self._own.scale(self._n_workers + n_dead)


def _itself(task: Task) -> Task:  # pragma: no cover - runs in workers
    """Return the task, by which a worker holds it for all of its calls."""
    return task


def _perform(
    task: Task, partition: Any, extra: Any, sight: _Sight | None, content: Any
) -> Any:  # pragma: no cover - runs in workers
    """Work on one partition in a worker."""
    if sight is not None:
        try:
            is_seen = sight.path.read_bytes() == sight.content
        except OSError:
            is_seen = False
        if not is_seen:
            return _Blind(socket.gethostname())
    return perform(task, partition if content is None else partition.filled(content), extra)


def _losses(*others: type[Exception]) -> tuple[type[Exception], ...]:
    """Return what is raised where a connection or what was sent is lost, and others."""
    from concurrent.futures import CancelledError

    from distributed.comm import CommClosedError

    return (CancelledError, CommClosedError, TimeoutError, *others)


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _outcome(future: Any, shared_key: str, partition: Partition) -> Any:
    """Return what came of a call, or why nothing did."""
    from distributed import KilledWorker

    try:
        result = future.result()
    except KilledWorker as error:
        n_deaths = 0 if error.task == shared_key else error.allowed_failures + 1
        return _Lost(f"{n_deaths} workers died at it", n_deaths=n_deaths)
    except _losses() as error:
        return _Lost(_told(error))
    except OSError as error:
        if is_full(error):
            raise
        return _Lost(_told(error), n_faults=1)
    except Exception as error:  # noqa: BLE001 - a user's pipeline may raise whatever it likes
        return Failure(partition.name, _told(error))
    if isinstance(result, _Blind):
        raise InvalidInputError(
            f"a worker on {result.host} does not see the folder of the results under the path "
            "that it has here, so nothing that it writes would arrive. Name a folder that all "
            "machines share, under one path."
        )
    return result


def _require_versions(versions: dict[str, Any]) -> None:
    """Raise where the scheduler or a worker has not the packages of this process."""
    own = versions["client"]["packages"]
    others = {"the scheduler": versions["scheduler"], **versions["workers"]}
    told = []
    for who, facts in others.items():
        held = (facts or {}).get("packages", {})
        told += [
            f"{who} has {name} {held.get(name) or 'not at all'} and this process {own[name]}"
            for name in _PACKAGES
            if held.get(name) != own[name]
        ]
    if told:
        raise InvalidInputError(
            f"the machines of the cluster have other packages: {few_of(told)}. Results would not "
            "be the same bytes everywhere: install the same versions there."
        )
