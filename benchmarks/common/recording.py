"""A command in a terminal of its own, written down with the time of everything it shows."""

import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fcntl import ioctl
from itertools import pairwise
from pathlib import Path

_ELAPSED = re.compile(
    r"  (\d+)(?::(\d+))?(?::(\d+))? (?:s|min|h)(?:, about ([\d:]+) (s|min|h) left)?$"
)


@dataclass(frozen=True, slots=True)
class Recording:
    """What a command showed.

    Attributes
    ----------
    shown : tuple of (float, str)
        Seconds since it began, and what came then.
    seconds : float
        How long it ran.
    code : int
        Its exit code.
    """

    shown: tuple[tuple[float, str], ...]
    seconds: float
    code: int

    @property
    def text(self) -> str:
        """All that came."""
        return "".join(text for _, text in self.shown)

    @property
    def screen(self) -> list[str]:
        """The lines as a person sees them in the end, each as it was last rewritten."""
        lines = []
        for line in self.text.replace("\r\n", "\n").split("\n"):
            seen = ""
            for part in line.split("\r"):
                seen = part + seen[len(part) :]
            lines.append(seen.rstrip())
        return lines

    @property
    def updates(self) -> list[tuple[float, str]]:
        """The progress line, each time that it was drawn."""
        return [
            (when, part.rstrip())
            for when, text in self.shown
            for part in text.split("\r")
            if part.startswith("[")
        ]

    @property
    def longest_pause(self) -> float:
        """Seconds for which nothing came, the beginning and the end included."""
        times = [0.0, *(when for when, _ in self.shown), self.seconds]
        return max(after - before for before, after in pairwise(times))

    def left(self) -> list[tuple[float, float]]:
        """Return when a time left was shown, and how long it was."""
        found = []
        for when, line in self.updates:
            match = _ELAPSED.search(line)
            if match and match[4]:
                found.append((when, _seconds(match[4], match[5])))
        return found

    def page(self) -> str:
        """Return the recording as text, one line for each thing shown."""
        lines = []
        for when, text in self.shown:
            parts = [part.rstrip() for part in re.split(r"[\r\n]+", text)]
            lines += [f"{when:7.2f}  {part}" for part in parts if part]
        return "\n".join(lines) + "\n"


def record(
    command: Sequence[str], folder: Path, *, columns: int = 100, stop_after: float | None = None
) -> Recording:
    """Run a command in a pseudo-terminal.

    - `stop_after`: seconds after which it is interrupted, as by Ctrl-C.
    """
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = os.environ | {"TERM": "xterm"}
    environment.pop("COLUMNS", None)
    started = time.monotonic()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown: list[tuple[float, str]] = []
    while True:
        if stop_after is not None and time.monotonic() - started > stop_after:
            process.send_signal(signal.SIGINT)
            stop_after = None
        if select.select([ours], [], [], 0.05)[0]:
            try:
                data = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not data:
                break
            shown.append((time.monotonic() - started, data.decode("utf-8", "replace")))
    os.close(ours)
    code = process.wait()
    return Recording(tuple(shown), time.monotonic() - started, code)


def _seconds(text: str, unit: str) -> float:
    parts = [float(part) for part in text.split(":")]
    scale = {"s": 1.0, "min": 60.0, "h": 3600.0}[unit]
    return sum(part * scale / 60**place for place, part in enumerate(parts))
