"""What a reproduction leaves: a figure, a record, a table, and the files they become.

Results enter; ``NAME.png``, ``NAME.md`` and ``NAME.json`` leave, each written whole or not at all.
"""

import json
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from matplotlib.figure import Figure

import beltrami
from beltrami.core.files import write_text
from beltrami.core.machine.threads import threads_in_force
from beltrami.report.pictures.figures import save_figure


@dataclass(frozen=True, slots=True, eq=False)
class Reproduction:
    """What came out of one reproduction.

    Attributes
    ----------
    figure : Figure or None
        The picture.
    record : dict or None
        Settings, seeds, versions, times and numbers, ready for JSON.
    table : str or None
        The numbers as a page of Markdown.
    """

    figure: Figure | None = None
    record: dict[str, Any] | None = None
    table: str | None = None

    def save(self, name: str, folder: Path) -> list[Path]:
        """Write what there is."""
        written = []
        if self.figure is not None:
            written.append(save_figure(self.figure, folder / f"{name}.png"))
        # The record comes last: where it is, the others are.
        for text, suffix in ((self.table, "md"), (self._json(), "json")):
            if text is not None:
                path = folder / f"{name}.{suffix}"
                write_text(path, text)
                written.append(path.resolve())
        return written

    def _json(self) -> str | None:
        return None if self.record is None else record_text(self.record)


def record_text(record: dict[str, Any]) -> str:
    """Return a record as JSON with one line per entry, and per item of a list of entries."""
    lines = []
    for key, value in record.items():
        body = json.dumps(value, ensure_ascii=False)
        if isinstance(value, list) and value and isinstance(value[0], dict):
            items = (f"  {json.dumps(item, ensure_ascii=False)}" for item in value)
            body = "[\n" + ",\n".join(items) + "\n ]"
        lines.append(f" {json.dumps(key)}: {body}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


@dataclass(frozen=True, slots=True, eq=False)
class StageClock:
    """Seconds of each named stage; a stage that runs again adds to its time.

    Attributes
    ----------
    seconds : dict of str to float
        What was measured so far.
    """

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the block to a stage."""
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - started
            self.seconds[name] = self.seconds.get(name, 0.0) + spent

    def rounded_seconds(self) -> dict[str, float]:
        """Return the seconds to a tenth, with their total."""
        named = {name: round(spent, 1) for name, spent in self.seconds.items()}
        return {**named, "total": round(sum(self.seconds.values()), 1)}


def circumstances() -> dict[str, Any]:
    """Return versions, threads, processor time and peak memory of this process so far.

    Processor time beyond the wall-clock time on an idle machine tells a busy one.
    """
    return {
        "versions": {
            "beltrami": beltrami.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "python": platform.python_version(),
        },
        "threads": threads_in_force(),
        "processor_seconds": round(time.process_time(), 1),
        "peak_memory_mib": _peak_memory_mib(),
    }


def _peak_memory_mib() -> int | None:
    try:
        import resource
    except ImportError:  # pragma: no cover - not on Windows
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit
