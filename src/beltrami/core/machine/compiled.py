"""The compiler of the hot loops, loaded so that its threads sleep while they wait.

Kernels import ``njit`` and ``prange`` from here. By default OpenMP's threads spin at the end of
every parallel loop; on a machine that is busy with something else each such wait costs a time
slice, and a solve of a thousand short loops takes five times as long. The policy is read when the
library is loaded, so it is put in the environment for that moment only, and only where the user
has not chosen one. A process forked later goes on with one thread.

Compiled loops run without the interpreter's lock: others may go on, as the progress line does.
"""

import os
from contextlib import suppress
from functools import partial

import numba
from numba import get_thread_id, prange

from beltrami.core.machine.threads import survive_forks

__all__ = ["get_thread_id", "njit", "prange"]

njit = partial(numba.njit, nogil=True)

_POLICY = "OMP_WAIT_POLICY"


def _load_sleeping_threads() -> None:
    if _POLICY in os.environ:
        return
    os.environ[_POLICY] = "passive"
    try:
        with suppress(ImportError):  # another threading layer serves where OpenMP is missing
            import numba.np.ufunc.omppool  # noqa: F401
    finally:
        del os.environ[_POLICY]


_load_sleeping_threads()
survive_forks()
