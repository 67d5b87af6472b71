"""What may be allocated: estimated before it is taken."""

import os
from pathlib import Path

from beltrami.core.errors import MemoryBudgetError

_FALLBACK_BYTES = 4 * 2**30
_GROUP = Path("/sys/fs/cgroup")


def available_bytes() -> int:
    """Return the memory that this process could still take, in bytes.

    The kernel's own estimate where it has one (it counts reclaimable caches), capped by the
    control group's limit, else the free pages.
    """
    candidates = [value for value in (_meminfo_available(), _cgroup_available()) if value]
    if candidates:
        return min(candidates)
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):  # pragma: no cover - not on this platform
        return _FALLBACK_BYTES


def _meminfo_available() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:  # pragma: no cover - not on Linux
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None  # pragma: no cover - a kernel older than 3.14


def _cgroup_available() -> int | None:
    try:
        limit = (_GROUP / "memory.max").read_text(encoding="ascii").strip()
        used = (_GROUP / "memory.current").read_text(encoding="ascii").strip()
        shares = (_GROUP / "memory.stat").read_text(encoding="ascii").split()
    except OSError:
        return None
    if limit == "max":
        return None
    # Pages of files read earlier count as used, and are given up as soon as memory is wanted.
    facts = dict(zip(shares[::2], shares[1::2], strict=False))
    return max(int(limit) - int(used) + int(facts.get("inactive_file", 0)), 1)


def budget_bytes() -> int:
    """Return how much one step may take: a quarter of the available memory."""
    return available_bytes() // 4


def require_memory(needed_bytes: float, *, what: str, instead: str) -> None:
    """Raise `MemoryBudgetError` when a step would take more than the budget.

    Parameters
    ----------
    needed_bytes : float
        What the step is about to allocate.
    what : str
        The step, as the subject of a sentence.
    instead : str
        What the user can do, as a sentence.

    Raises
    ------
    MemoryBudgetError
        When the step does not fit; nothing has been allocated then.
    """
    budget = budget_bytes()
    if needed_bytes > budget:
        raise MemoryBudgetError(
            what=what, needed_bytes=needed_bytes, budget_bytes=budget, instead=instead
        )
