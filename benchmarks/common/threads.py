"""Threads of a contest: as many for every side, set before a library reads them."""

import os

from beltrami.core.machine.threads import usable_cpus

THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip


def set_threads(count: int) -> None:
    """Set the number of threads; to be called before any library that reads it is loaded."""
    for variable in THREAD_VARIABLES:
        os.environ[variable] = str(count)


def threads() -> int:
    """Return the number of threads that every side may use."""
    return int(os.environ.get("OMP_NUM_THREADS", usable_cpus()))
