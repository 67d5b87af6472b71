"""The command line inside the test's own process, in a folder of files."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from beltrami.cli.__main__ import main

N = 40

STAGE_LINE = re.compile(r"^\[\d+/\d+\] .*: \d+\.\d s\n", re.MULTILINE)
"""What a command says of each stage where stderr is no terminal."""


def two_groups(
    label: Callable[[int], Any] = lambda i: "ab"[i % 2] if i < 12 else "",
    n: int = N,
    x: Callable[[int], Any] | None = None,
    column: str = "x",
) -> str:
    """Return a table of two far groups, even and odd rows; by default twelve rows are labelled."""
    x = x or (lambda i: f"{i % 2 * 4 + i / n:.3f}")
    rows = [f"r{i},{x(i)},{i * 7 % 10 / 3:.3f},{label(i)}" for i in range(n)]
    return "\n".join([f"id,{column},y,label", *rows, ""])


class Outcome(NamedTuple):
    """The exit code of a command and what it printed."""

    code: int
    out: str
    err: str


class Shell:
    """A folder of files, and the command line inside it.

    Calling the shell runs a command, checks its exit code and returns its stdout; ``err`` holds
    what it wrote to stderr, and ``stages`` the lines among it that say what each stage took.
    """

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys
        self.err = self.stages = ""
        self.enter(folder)

    def __call__(self, *arguments: str, code: int = 0) -> str:
        outcome = self.run(*arguments)
        self.err = outcome.err
        assert outcome.code == code, outcome.err
        return outcome.out

    def enter(self, folder: Path) -> None:
        """Go to a folder, where the next commands run."""
        self.folder = folder
        self._monkeypatch.chdir(folder)

    def run(self, *arguments: str) -> Outcome:
        """Run a command, whatever its exit code."""
        self._monkeypatch.setattr(sys, "argv", ["beltrami", *arguments])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = self._capsys.readouterr()
        self.err, self.stages = STAGE_LINE.sub("", err), "".join(STAGE_LINE.findall(err))
        return Outcome(code, out, self.err)

    def refused(self, *arguments: str) -> str:
        """Run a command that must fail and leave no file; return its one message."""
        before = self.names()
        code, out, err = self.run(*arguments)
        assert code == 1, err
        assert not out
        assert self.names() == before
        assert "Traceback" not in err
        (message,) = [line for line in err.splitlines() if line.startswith("beltrami: ")]
        assert err.rstrip().endswith(message)
        return message

    def files(self, contents: dict[str, Any]) -> None:
        """Write files: arrays as .npy, texts as they are."""
        for name, content in contents.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            if isinstance(content, np.ndarray):
                np.save(path, content, allow_pickle=True)
            else:
                path.write_text(content, encoding="utf-8")

    def names(self) -> set[str]:
        """Return the names of all files and folders."""
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}
