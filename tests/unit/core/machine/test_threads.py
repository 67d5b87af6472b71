import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.threads import (
    map_ranges,
    resolve_jobs,
    serial_blas,
    thread_limit,
    threads_in_force,
    usable_cpus,
)

pytestmark = pytest.mark.usefixtures("few_trees")


def _blas_threads() -> list[int]:
    """Threads of BLAS with threads of its own; on those of OpenMP it goes by OpenMP's limits."""
    return [
        pool["num_threads"]
        for pool in threadpool_info()
        if pool["user_api"] == "blas" and pool.get("threading_layer") != "openmp"
    ]


def test_n_jobs_counts_as_in_scikit_learn() -> None:
    cpus = usable_cpus()
    assert cpus >= 1
    assert resolve_jobs(None) == resolve_jobs(-1) == cpus
    assert resolve_jobs(-2) == max(1, cpus - 1)
    assert resolve_jobs(-10_000) == 1
    assert resolve_jobs(3) == 3


@pytest.mark.parametrize("bad", [0, 1.5, "2", True])
def test_n_jobs_without_a_meaning_is_refused(bad: object) -> None:
    with pytest.raises(InvalidInputError, match="n_jobs="):
        resolve_jobs(bad)  # type: ignore[arg-type]


def test_limits_hold_inside_and_are_put_back_after_an_error() -> None:
    before = numba.get_num_threads(), _blas_threads(), threads_in_force()

    def fail_inside() -> None:
        with thread_limit(1) as threads:
            assert threads == threads_in_force() == 1
            assert numba.get_num_threads() == 1
            assert set(_blas_threads()) == {1}
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_inside()
    assert (numba.get_num_threads(), _blas_threads(), threads_in_force()) == before


def test_nested_limits_return_to_the_outer_one() -> None:
    with thread_limit(2):
        with thread_limit(1):
            assert threads_in_force() == 1
        assert threads_in_force() == 2


def test_none_changes_nothing() -> None:
    before = numba.get_num_threads(), _blas_threads()
    with thread_limit(None) as threads:
        assert threads == usable_cpus()
        assert (numba.get_num_threads(), _blas_threads()) == before


def test_more_threads_than_numba_has_are_not_asked_of_it() -> None:
    with thread_limit(10_000):
        assert numba.get_num_threads() == numba.config.NUMBA_NUM_THREADS


def test_serial_blas_is_serial_and_ends() -> None:
    before = _blas_threads()
    with serial_blas():
        assert set(_blas_threads()) == {1}
    assert _blas_threads() == before


def test_limits_that_overlap_end_with_what_the_first_had_found() -> None:
    with threadpool_limits(limits=3, user_api="blas"):
        first, second = ExitStack(), ExitStack()
        first.enter_context(serial_blas())
        second.enter_context(thread_limit(2))
        assert set(_blas_threads()) == {1}
        first.close()
        assert set(_blas_threads()) == {2}
        second.close()
        assert set(_blas_threads()) == {3}


def test_limits_reach_blas_from_every_python_thread() -> None:
    def seen_inside() -> set[int]:
        with thread_limit(1):
            return set(_blas_threads())

    with threadpool_limits(limits=3, user_api="blas"):
        assert seen_inside() == {1}
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(seen_inside).result() == {1}
        assert set(_blas_threads()) == {3}


def test_fits_in_several_threads_leave_blas_as_it_was() -> None:
    from beltrami.front_door.classifier import ManifoldClassifier

    points = np.random.default_rng(0).normal(size=(60, 4))
    points[:30] += 3
    y = np.where(np.arange(60) % 10 == 0, np.arange(60) < 30, -1)

    def fitted(n_jobs: int | None) -> object:
        return ManifoldClassifier("poisson", random_state=0, n_jobs=n_jobs).fit(points, y)

    with threadpool_limits(limits=3, user_api="blas"):
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(fitted, [None, 1, 2, None]))
        assert set(_blas_threads()) == {3}


def test_a_block_that_the_garbage_collector_ends_inside_another_does_not_wait_for_itself():
    done = subprocess.run(
        [sys.executable, "-c", ABANDONED], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "ended\n", done.stderr


ABANDONED = """
import gc
from beltrami.core.machine import threads

def block():
    with threads.serial_blas():
        yield

class Ring:
    pass

ring = Ring()
ring.own, ring.block = ring, block()
next(ring.block)
del ring
before = threads._libraries
def collecting():
    gc.collect()
    return before()
threads._libraries = collecting
with threads.serial_blas():
    pass
print("ended")
"""


def test_ranges_run_openmp_on_one_thread_each() -> None:
    import faiss  # noqa: F401 - it brings a library with threads of its own

    def threads(begin: int, stop: int) -> int:
        libraries = [each for each in threadpool_info() if each["user_api"] == "openmp"]
        return max((each["num_threads"] for each in libraries), default=1)

    before = threads(0, 1)
    with thread_limit(2):
        assert set(map_ranges(threads, 8, 2)) == {1}
    assert threads(0, 1) == before
