"""What was known after the events of a project, where its file has a table `measures`.

It follows from the events and may be missing or spoiled: what makes no sense is left out.
"""

import json
import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from beltrami.project.file import connect_to_read
from beltrami.report.page.work import Measured

_COUNTS = ("given", "accepted", "left", "unreached", "held_out")
_SHARES = ("expected", "accuracy", "low", "high")


def read_measured(path: Path, number: int) -> tuple[Measured, ...]:
    """Return what was known after events up to one, in their order."""
    try:
        with closing(connect_to_read(path.resolve())) as connection:
            rows = connection.execute(
                "SELECT event, facts FROM measures WHERE event <= ? ORDER BY event", (number,)
            ).fetchall()
    except sqlite3.Error:  # a project without the table
        return ()
    found = (_measured(event, facts) for event, facts in rows)
    return tuple(one for one in found if one is not None)


def _measured(event: Any, facts: Any) -> Measured | None:
    try:
        known = json.loads(facts)
        n_given, n_accepted, n_left, n_unreached, n_held_out = (known[name] for name in _COUNTS)
        shares = [known[name] for name in _SHARES]
    except (TypeError, ValueError, KeyError, RecursionError):
        return None
    counts = (event, n_given, n_accepted, n_left, n_unreached)
    if not all(type(one) is int and one >= 0 for one in (*counts, n_held_out)):
        return None
    if not all(one is None or (type(one) in (int, float) and 0 <= one <= 1) for one in shares):
        return None
    expected, accuracy, low, high = (math.nan if one is None else float(one) for one in shares)
    return Measured(*counts, expected, accuracy, low, high, n_held_out)
