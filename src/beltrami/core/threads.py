"""The one place that sets numbers of threads, and puts back what it found."""

import numbers
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from beltrami.core.errors import InvalidInputError

_limit: ContextVar[int | None] = ContextVar("beltrami_threads", default=None)


def usable_cpus() -> int:
    """Return the number of processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # pragma: no cover - not on Linux


def resolve_jobs(n_jobs: int | None) -> int:
    """Turn scikit-learn's ``n_jobs`` into a number of threads.

    ``None`` and -1 mean every usable processor, -2 all but one, and so on.

    Parameters
    ----------
    n_jobs : int or None
        As the user spelled it.

    Returns
    -------
    int
        At least one.
    """
    if n_jobs is None:
        return usable_cpus()
    if not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, bool):
        raise InvalidInputError(f"n_jobs={n_jobs!r} must be an integer or None.")
    if n_jobs == 0:
        raise InvalidInputError("n_jobs=0 has no meaning; use 1 for one thread, -1 for all.")
    if n_jobs < 0:
        return max(1, usable_cpus() + 1 + int(n_jobs))
    return int(n_jobs)


def threads_in_force() -> int:
    """Return the number of threads that the enclosing `thread_limit` allows, else all."""
    return _limit.get() or usable_cpus()


@contextmanager
def renewed_limit() -> Iterator[None]:
    """Apply the enclosing `thread_limit` to libraries that were loaded since it began.

    A limit can only be put on what is loaded. A function that loads a threaded library inside a
    limit runs it inside this.
    """
    threads = _limit.get()
    if threads is None:
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=threads):
        yield


@contextmanager
def thread_limit(n_jobs: int | None) -> Iterator[int]:
    """Limit BLAS, OpenMP and numba to ``n_jobs`` threads inside the block.

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn; ``None`` leaves everything as it is.

    Yields
    ------
    int
        The number of threads in force.
    """
    if n_jobs is None:
        yield usable_cpus()
        return
    import numba
    from threadpoolctl import threadpool_limits

    threads = resolve_jobs(n_jobs)
    with ExitStack() as stack:
        stack.callback(_limit.reset, _limit.set(threads))
        stack.enter_context(threadpool_limits(limits=threads))
        before = numba.get_num_threads()
        stack.callback(numba.set_num_threads, before)
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        yield threads


@contextmanager
def serial_blas() -> Iterator[None]:
    """Run small dense factorisations on one thread inside the block.

    A 100 x 100 eigenproblem makes thousands of parallel calls of microseconds each; on a busy
    machine every one of them waits for a thread, and the whole takes seconds instead of
    milliseconds.
    """
    # To find the libraries takes milliseconds, more than a small solve; only an import adds some.
    with _libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> Any:  # noqa: ARG001
    """Return the threaded libraries of this process, found anew when modules were imported."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
