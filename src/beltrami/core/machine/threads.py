"""The one place that sets numbers of threads, and puts back what it found."""

import ctypes
import numbers
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import count
from typing import Any, TypeVar

from beltrami.core.errors import InvalidInputError

_Result = TypeVar("_Result")

_limit: ContextVar[int | None] = ContextVar("beltrami_threads", default=None)


class _Survivor(threading.local):
    """Whether this Python thread was carried over a fork, without the threads that it had led."""

    is_alone = False


_survivor = _Survivor()


def usable_cpus() -> int:
    """Return the number of processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # pragma: no cover - not on Linux


def resolve_jobs(n_jobs: int | None) -> int:
    """Turn scikit-learn's ``n_jobs`` into a number of threads.

    ``None`` and -1 mean every usable processor, -2 all but one, and so on.
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
    return 1 if _survivor.is_alone else _limit.get() or usable_cpus()


@contextmanager
def thread_limit(n_jobs: int | None) -> Iterator[int]:
    """Limit BLAS, OpenMP and numba to ``n_jobs`` threads inside the block, and yield their number.

    ``None`` leaves everything as it is; other numbers mean what they mean in scikit-learn. In a
    forked process it is one.
    """
    if n_jobs is None:
        yield 1 if _survivor.is_alone else usable_cpus()
        return
    import numba

    threads = 1 if _survivor.is_alone else resolve_jobs(n_jobs)
    with ExitStack() as stack:
        stack.callback(_limit.reset, _limit.set(threads))
        stack.enter_context(_limited_libraries(threads))
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
    with _blas.at_most(1):
        yield


def map_ranges(work: Callable[[int, int], _Result], total: int, size: int) -> list[_Result]:
    """Return ``work(begin, stop)`` of consecutive ranges of at most `size` of `total`, in order.

    The ranges are shared by Python threads, and BLAS and OpenMP run on one thread inside each:
    dense products of tall blocks keep every core busy that way, and on a busy machine no thread
    waits for another.
    The work must let go of the interpreter. The ranges do not depend on the number of threads.
    """
    ranges = [(begin, min(begin + size, total)) for begin in range(0, total, size)]
    workers = min(threads_in_force(), len(ranges))
    with serial_blas():
        if workers <= 1:
            return [work(*each) for each in ranges]
        return _share_out(work, ranges, workers)


def _share_out(
    work: Callable[[int, int], _Result], ranges: list[tuple[int, int]], workers: int
) -> list[_Result]:
    """Return the work of ranges, which this thread and others take one by one."""
    results: dict[int, _Result] = {}
    turns = count()

    def take_turns() -> None:
        while (turn := next(turns)) < len(ranges):
            results[turn] = work(*ranges[turn])

    with ThreadPoolExecutor(workers - 1, initializer=_limit_openmp) as pool:
        others = [pool.submit(take_turns) for _ in range(workers - 1)]
        try:
            with _libraries().limit(limits=1, user_api="openmp"):
                take_turns()
            for one in others:
                one.result()
        except BaseException:
            turns = count(len(ranges))  # nobody begins another
            raise
    return [results[turn] for turn in range(len(ranges))]


def _limit_openmp() -> None:
    """Hold OpenMP to one thread for what this Python thread will call."""
    _libraries().limit(limits=1, user_api="openmp")


@contextmanager
def _limited_libraries(threads: int) -> Iterator[None]:
    """Limit BLAS, for the whole process, and OpenMP, for this thread."""
    with _blas.at_most(threads), _libraries().limit(limits=threads, user_api="openmp"):
        yield


def _block_lock() -> Any:
    """Return a lock that its own thread may take again.

    The garbage collector may end an abandoned block of this thread while it holds the lock.
    """
    return threading.RLock()


class _BlasLimit:
    """The limits on BLAS, which has one number of threads for the whole process.

    Blocks of several Python threads overlap and end in any order. The first to come notes what it
    found, the lowest limit is in force, and the last to go puts back what the first had found.
    """

    def __init__(self) -> None:
        self._lock = _block_lock()
        self._limits: dict[object, int] = {}  # by block
        self._before: dict[str, tuple[Any, int]] = {}  # each library and its threads, by path

    @contextmanager
    def at_most(self, threads: int) -> Iterator[None]:
        key = object()
        with self._lock:
            self._limits[key] = threads
            for library in _libraries().select(user_api="blas").lib_controllers:
                self._before.setdefault(library.filepath, (library, library.num_threads))
            self._apply()
        try:
            yield
        finally:
            with self._lock:
                self._limits.pop(key, None)  # a fork forgets it
                self._apply()

    def forget(self) -> None:
        """Put back what was found, whatever blocks are open: their threads did not survive."""
        self._lock = _block_lock()
        self._limits.clear()
        self._apply()

    def _apply(self) -> None:
        lowest = min(self._limits.values(), default=None)
        for library, before in list(self._before.values()):
            wanted = before if lowest is None else lowest
            # To set even the same number may free what products of other threads rest on.
            if library.num_threads != wanted:
                _set_threads(library, wanted)
        if lowest is None:
            self._before.clear()


def _set_threads(library: Any, threads: int) -> None:
    """Set the number of threads of a library, from whichever Python thread.

    threadpoolctl lets one Python thread set those of OpenBLAS, and does nothing for all others
    while it lives. Here a lock says who may, so control is taken, and given back.
    """
    release = getattr(library, "clear_controlling_thread", None)  # since threadpoolctl 3.8
    if release is not None:
        release(force=True)
    library.set_num_threads(threads)
    if release is not None:
        release()


_blas = _BlasLimit()


def _libraries() -> Any:
    """Return the threaded libraries of this process, found anew when modules were imported."""
    # To find them takes milliseconds, more than a small solve; only an import adds some.
    return _libraries_of(len(sys.modules))


@lru_cache(maxsize=1)
def _libraries_of(n_modules: int) -> Any:  # noqa: ARG001
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def survive_forks() -> None:
    """Let forked processes run on one thread where threads had been started before the fork.

    A fork copies one thread and none of those that it led. GNU's OpenMP would wait for them for
    ever, and numba ends such a process by a signal, for which `multiprocessing.Pool` waits. On one
    thread nobody is waited for, and the results are the same.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_go_on_alone)


def _go_on_alone() -> None:
    """Set up the one thread of a forked process."""
    import numba

    _blas.forget()
    try:
        layer = numba.threading_layer()
    except ValueError:  # no compiled loop has run yet: the process starts threads of its own
        return
    _survivor.is_alone = True
    if layer == "omp":
        from numba.np.ufunc import omppool

        # This is where numba notes to which process its threads belong.
        ctypes.CFUNCTYPE(None, ctypes.c_int)(omppool.launch_threads)(1)
    numba.set_num_threads(1)
    _libraries().limit(limits=1, user_api="openmp")
