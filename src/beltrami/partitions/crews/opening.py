"""Who is to work: a client, a word or an address enters, a crew leaves for as long as it works."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.partitions.crews.cluster import DaskCrew
from beltrami.partitions.crews.crew import Crew, ThreadCrew


@contextmanager
def crew_of(client: Any, n_threads: int) -> Iterator[Crew]:
    """Yield whoever works: the client given or in force, a cluster by its address, else threads.

    - `client`: a `distributed.Client`, "local", the address of a scheduler, a crew or None.
    """
    if client is None:
        client = _client_in_force()
    if client is None:
        yield ThreadCrew(n_threads)
    elif isinstance(client, ThreadCrew | DaskCrew):
        yield client
    elif client == "local":
        with _opened_here(n_threads) as crew:
            yield crew
    elif isinstance(client, str):
        with _connected(client) as crew:
            yield crew
    else:
        yield DaskCrew(client)


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
def _opened_here(n_workers: int) -> Iterator[DaskCrew]:
    """Start workers on this machine, whenever they are ready.

    Their memory is not watched, a compiled loop that holds the interpreter is no news, and a worker
    that is lost is replaced: of all this their log would speak. One that dies often comes back each
    time; a cluster else ends what just came back when a death of 15 seconds ago is looked after.
    """
    dask, distributed = _dask()
    options = {
        "distributed.admin.tick.limit": "1 hour",
        "distributed.deploy.lost-worker-timeout": "1 hour",
    }
    with (
        dask.config.set(options),
        distributed.LocalCluster(
            n_workers=0,
            threads_per_worker=1,
            dashboard_address=None,
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield DaskCrew(client, cluster, n_workers)


@contextmanager
def _connected(address: str) -> Iterator[DaskCrew]:
    """Connect with the scheduler of a cluster."""
    _, distributed = _dask()
    try:
        client = distributed.Client(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"no scheduler answers at {address!r} ({error}). Name one such as tcp://host:8786, or "
            "'local' for workers on this machine."
        ) from error
    with client:
        yield DaskCrew(client)


def _dask() -> tuple[Any, Any]:
    try:
        import dask
        import distributed
    except ImportError as error:
        raise InvalidInputError(
            "a cluster needs Dask, which is not installed: pip install 'beltrami[cluster]'."
        ) from error
    return dask, distributed
