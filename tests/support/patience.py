"""Waiting for what another thread, process or page will do, as long as a busy machine may need."""

import time
from collections.abc import Callable

PATIENCE_S = 60.0
"""Before something that never comes is called a failure; what comes is never waited for longer."""


def wait_until(holds: Callable[[], object], *, pause_s: float = 0.02) -> None:
    """Return when something holds; raise where it does not within the patience."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, f"did not come true within {PATIENCE_S:g} s"
        time.sleep(pause_s)
