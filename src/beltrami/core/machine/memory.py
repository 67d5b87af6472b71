"""What may be allocated: estimated before it is taken."""

import os
from pathlib import Path

from beltrami.core.errors import MemoryBudgetError
from beltrami.core.machine.threads import usable_cpus

_FALLBACK_BYTES = 4 * 2**30  # where the system tells nothing
_GROUP = Path("/sys/fs/cgroup")
_TAKEN = Path("/proc/self/statm")

SCRATCH_BYTES = 128 * 2**20
"""Address space that one call of the linear algebra libraries may ask for beside its matrices."""


def available_bytes() -> int:
    """Return the memory that this process could still take, in bytes.

    The kernel's own estimate where it has one (it counts reclaimable caches), capped by the
    control group's limit and by that on the address space, else the free pages.
    """
    sources = (_meminfo_available(), _cgroup_available(), _free_address_space())
    candidates = [value for value in sources if value]
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


def _free_address_space() -> int | None:
    try:
        import resource
    except ImportError:  # pragma: no cover - not on Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(_TAKEN.read_text(encoding="ascii").split()[0])
    except OSError:  # pragma: no cover - not on Linux
        return None
    return max(limit - pages * resource.getpagesize(), 1)


def fit_bytes() -> int:
    """Return the address space that a fit asks for beside its data: libraries, stacks, heaps."""
    return 2 * SCRATCH_BYTES + SCRATCH_BYTES * usable_cpus()


def require_address_space(needed_bytes: float, *, what: str) -> None:
    """Raise `MemoryBudgetError` where a limit on the address space leaves too little.

    Libraries of linear algebra that are refused their scratch space wait for it for ever, or end
    the process; nothing can be caught then.
    """
    left = _free_address_space()
    if left is not None and needed_bytes > left:
        raise MemoryBudgetError(
            what=what,
            needed_bytes=needed_bytes,
            budget_bytes=left,
            instead="That is what the limit on the address space leaves: raise it (ulimit -v), or "
            "limit the memory in use instead, by a control group.",
        )


_SHARE = 0.25


def budget_bytes() -> int:
    """Return how much one step may take: a quarter of the available memory."""
    return int(_SHARE * available_bytes())


def require_memory(needed_bytes: float, *, what: str, instead: str, share: float = _SHARE) -> None:
    """Raise `MemoryBudgetError` when a step would take more than the budget.

    `what` is the subject of the message's first sentence, `instead` the last: what the user can do.
    `share` of the available memory is the budget: all of it for a step that grows as the data do,
    and without which there is no answer.
    """
    budget = int(share * available_bytes())
    if needed_bytes > budget:
        raise MemoryBudgetError(
            what=what, needed_bytes=needed_bytes, budget_bytes=budget, instead=instead
        )
