"""Peak memory of a process, by the system's own count of what is resident."""

import ctypes
import gc
import resource
import sys
from collections.abc import Callable
from pathlib import Path

_STATUS = Path("/proc/self/status")
GIB = 2**30


def added_mb(call: Callable[[], object]) -> float:
    """Return the megabytes that a call adds at its peak, its result included.

    Run it once at small size before, so that compilers and imports have had their share.
    """
    gc.collect()
    before = restart_peak()
    result = call()
    peak = peak_bytes()
    del result
    return max(0.0, (peak - before) / 1e6)


def restart_peak() -> int:
    """Set the high-water mark to the present size where the system allows, and return the size."""
    if not _STATUS.exists():
        return peak_bytes()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:  # give back what was freed before, or the call would reuse it unseen
        trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _field("VmRSS")


def peak_bytes() -> int:
    """Return the most that this process held since it began or since `restart_peak`."""
    if _STATUS.exists():
        return _field("VmHWM")
    return _bytes_of(resource.RUSAGE_SELF)


def children_peak_bytes() -> int:
    """Return the most that one of the processes held that this one started and that have ended."""
    return _bytes_of(resource.RUSAGE_CHILDREN)


def _bytes_of(whose: int) -> int:
    largest = resource.getrusage(whose).ru_maxrss
    return largest if sys.platform == "darwin" else 1024 * largest


def _field(name: str) -> int:
    lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))
