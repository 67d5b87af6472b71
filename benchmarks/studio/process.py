"""A studio in a process of its own, as a user starts it, and what a script asks of it."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_ADDRESS = re.compile(r"(http://[^/]+)/\?token=(\S+)")


@dataclass(frozen=True, slots=True)
class Running:
    """A studio that answers.

    Attributes
    ----------
    url : str
        The address that it printed.
    base : str
        The same without the token.
    token : str
        What lets one in.
    process : subprocess.Popen
        The process.
    """

    url: str
    base: str
    token: str
    process: "subprocess.Popen[str]"

    def ask(self, path: str, body: Any = None, timeout: float = 600.0) -> Any:
        """Return what the server answers to GET, or to POST where there is a body."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}"}
        if data is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.base + path, data, headers)
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            content = answer.read()
        return json.loads(content) if path.startswith("/api/") and content[:1] in b"{[" else content

    def wait_until_ready(self, seconds: float = 900.0) -> float:
        """Wait until all labels are learned and the map is drawn; return how long that took."""
        started = time.perf_counter()
        while time.perf_counter() - started < seconds:
            state = self.ask("/api/state")
            if state["phase"] == "failed":
                raise SystemExit(state["failure"])
            if state["phase"] == "ready" and state["has_map"] and not state["behind"]:
                return time.perf_counter() - started
            time.sleep(0.05)
        raise SystemExit("the studio was not ready in time")


@contextmanager
def running(source: Path, *options: str, cache: Path | None = None) -> Iterator[Running]:
    """Start a studio on a file, and end it."""
    command = [sys.executable, "-m", "beltrami.cli", "studio", str(source), "--no-browser"]
    environment = dict(os.environ)
    if cache is not None:
        environment["BELTRAMI_CACHE"] = str(cache)
    process = subprocess.Popen(
        [*command, *options],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if found := _ADDRESS.search(line):
                base, token = found.groups()
                yield Running(found.group(), base, token, process)
                break
        else:
            raise SystemExit("the studio ended before it printed its address")
    finally:
        process.kill()
        process.wait()
