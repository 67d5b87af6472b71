"""Run the blocks of one page in order, in this process; started once a page by ``runs``.

Reads a list of blocks as JSON from the file named first, and writes what each printed and drew
into the folder named second. Runs in an empty folder, whose name is cut out of what is shown.
"""

import contextlib
import io
import json
import linecache
import re
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from book.warnings_in_words import show_in_words

DPI, SHOWN_DPI = 160, 88
"""Dots per inch of the figures, and those at which a page shows them."""

SAVED = "saved"
"""Mark of figures that were shown beneath an earlier block."""

_STAGE = re.compile(r"^\[\d+/\d+\] .*: [\d.]+ s\n", re.MULTILINE)
"""What a command says of its stages where there is no terminal; on one the line vanishes."""

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
TRACEBACK = "Traceback (most recent call last)"


def main(job: Path, folder: Path) -> None:
    """Run the blocks of a job until one fails, and note what each printed and drew."""
    page: dict[str, Any] = json.loads(job.read_text("utf-8"))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    results = []
    for number, block in enumerate(page["blocks"]):
        start = time.perf_counter()
        if block["language"] == "python":
            printed, failure = _run_python(block, namespace, page["page"])
            figures = _saved_figures(folder, number, namespace)
        else:
            printed, failure = _run_shell(block["source"])
            figures = []
        if TRACEBACK in printed and failure is None:
            failure = "it prints a traceback:\n" + printed
        seconds = round(time.perf_counter() - start, 3)
        results.append(
            {"printed": _cleaned(printed), "figures": figures, "seconds": seconds}
            | ({"failure": _cleaned(failure)} if failure is not None else {})
        )
        (folder / "results.json").write_text(json.dumps(results), "utf-8")
        if failure is not None:
            break


def _run_python(block: dict[str, Any], names: dict[str, Any], page: str) -> tuple[str, str | None]:
    printed = io.StringIO()
    name = f"<{page}, line {block['line']}>"
    linecache.cache[name] = (
        len(block["source"]), None, block["source"].splitlines(keepends=True), name
    )  # fmt: skip
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        show_in_words()
        try:
            exec(compile(block["source"], name, "exec"), names)
        except BaseException as error:  # noqa: BLE001
            trace = error.__traceback__.tb_next if error.__traceback__ else None
            lines = traceback.format_exception(type(error), error, trace)
            return printed.getvalue(), printed.getvalue() + "".join(lines)
    return printed.getvalue(), None


def _run_shell(source: str) -> tuple[str, str | None]:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", source],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    failed = f"{done.stdout}\nexit code {done.returncode}" if done.returncode else None
    return done.stdout, failed


def _saved_figures(folder: Path, number: int, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Save the figures that are open in pyplot or have a name, each once, and close them."""
    if "matplotlib.figure" not in sys.modules:
        return []
    from matplotlib import pyplot as plt
    from matplotlib.figure import Figure

    open_ones = [plt.figure(index) for index in plt.get_fignums()]
    named = [thing for thing in names.values() if isinstance(thing, Figure)]
    saved = []
    for figure in dict.fromkeys(open_ones + named):
        if figure.get_gid() == SAVED:
            continue
        name = f"{number + 1}-{len(saved) + 1}.png"
        figure.savefig(folder / name, dpi=DPI, bbox_inches="tight", metadata={"Software": None})
        figure.set_gid(SAVED)
        saved.append({"name": name, "width": _width(folder / name) * SHOWN_DPI // DPI})
    plt.close("all")
    return saved


def _width(picture: Path) -> int:
    """Return the width that the head of a PNG file states."""
    return int.from_bytes(picture.read_bytes()[16:20], "big")


def _cleaned(text: str) -> str:
    """Return text without colours, lines that a terminal loses and the name of the folder."""
    text = _STAGE.sub("", _CONTROL.sub("", text))
    here = str(Path.cwd())
    text = text.replace(here + "/", "").replace(here, ".")
    lines = [line.rstrip("\r").rsplit("\r", 1)[-1].rstrip() for line in text.split("\n")]
    return "\n".join(lines).strip("\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
