"""Workers of a Dask cluster: the task is sent to all of them once, then a call for each partition.

A worker that dies loses what it was working on, and that is asked for again. A partition at which
workers die again and again is named, and the rest goes on.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.partitions.crew import Crew, Task, ThreadCrew, perform
from beltrami.partitions.model import Failure, Partition

_ATTEMPTS = 8
"""Times that the partitions that were lost are asked for again."""


class DaskCrew:
    """The workers of a `distributed.Client`."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def hold_to(self, n_at_a_time: int) -> None:
        """Change nothing: workers have memory of their own."""

    def work(
        self, task: Task, partitions: Sequence[Partition], extras: Sequence[Any]
    ) -> Iterator[tuple[int, Any]]:
        """Yield what came of each partition; those that were lost are asked for again."""
        reasons = dict.fromkeys(range(len(partitions)), "")
        for _ in range(_ATTEMPTS):
            if not reasons:
                return
            for place, result in self._once(task, partitions, extras, reasons):
                del reasons[place]
                yield place, result
        for place, reason in reasons.items():
            name = partitions[place].name
            yield place, Failure(name, f"workers were lost at it {_ATTEMPTS} times ({reason})")

    def _once(
        self,
        task: Task,
        partitions: Sequence[Partition],
        extras: Sequence[Any],
        reasons: dict[int, str],
    ) -> Iterator[tuple[int, Any]]:
        """Ask for what is missing once; yield what comes, and note why the rest does not."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker, as_completed
        from distributed.comm import CommClosedError

        lost = (KilledWorker, CancelledError, CommClosedError, TimeoutError, RuntimeError)
        try:
            shared = self._client.scatter(task, broadcast=True, hash=False)
            futures = {
                self._client.submit(
                    perform, shared, partitions[place], extras[place], pure=False
                ): place
                for place in list(reasons)
            }
        except lost as error:
            reasons.update(dict.fromkeys(reasons, type(error).__name__))
            return
        for future in as_completed(futures):
            place = futures.pop(future)
            try:
                result = future.result()
            except lost as error:
                reasons[place] = type(error).__name__
                continue
            future.release()
            yield place, result


@contextmanager
def crew_of(client: Any, n_threads: int) -> Iterator[Crew]:
    """Yield whoever works: the client given or in force, a cluster by its address, else threads.

    - `client`: a `distributed.Client`, "local", the address of a scheduler, a crew or None.
    """
    if client is None:
        client = _client_in_force()
    if client is None:
        yield ThreadCrew(n_threads)
    elif isinstance(client, ThreadCrew):
        yield client
    elif not isinstance(client, str):
        yield DaskCrew(client)
    else:
        with _opened(client, n_threads) as opened:
            yield DaskCrew(opened)


def _client_in_force() -> Any:
    """Return the client of the user's own program, where there is one."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


@contextmanager
def _opened(address: str, n_workers: int) -> Iterator[Any]:
    """Connect with a cluster, or start one on this machine."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise InvalidInputError(
            "a cluster needs Dask, which is not installed: pip install 'beltrami[cluster]'."
        ) from error
    if address == "local":
        with (
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=None, memory_limit=0
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(address)
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"no scheduler answers at {address!r} ({error}). Name one such as tcp://host:8786, or "
            "'local' for workers on this machine."
        ) from error
    with client:
        yield client
