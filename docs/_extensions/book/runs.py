"""Run pages, each in a process of its own, a few beside each other; keep what they printed.

A page is run again when its blocks, the package or this machinery changed.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

from book.blocks import Block
from book.colours import SETTINGS

LIMIT_S = 600
"""Seconds after which a page is stopped; pages take a thirtieth of it on a quiet machine."""


@dataclass(frozen=True, slots=True)
class PageRun:
    """What the blocks of a page did.

    Attributes
    ----------
    page : str
        Its name in the book.
    key : str
        Hash of all that decides what they do.
    results : list of dict
        What each block that was run printed, drew and took; the last one may hold a failure.
    folder : Path
        Where the figures are.
    is_new : bool
        Whether it was run now.
    """

    page: str
    key: str
    results: list[dict[str, Any]]
    folder: Path
    is_new: bool

    @property
    def seconds(self) -> float:
        """How long all blocks took together."""
        return sum(result["seconds"] for result in self.results)


def hash_of_sources(*folders: Path) -> str:
    """Return a hash of all files under some folders that can change what code does."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in {".py", ".jinja", ".css", ".js"} and path.is_file():
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
                digest.update(path.read_bytes())
    return digest.hexdigest()


def hash_of_machinery() -> str:
    """Return a hash of the modules that decide how a page is run."""
    names = ("blocks.py", "matplotlibrc", "page_run.py", "runs.py", "warnings_in_words.py")
    texts = [Path(__file__).with_name(name).read_bytes() for name in names]
    return hashlib.sha256(b"".join(texts)).hexdigest()


def run_pages(
    pages: Mapping[str, Sequence[Block]],
    folder: Path,
    package: str,
    *,
    n_jobs: int = 2,
    note: Callable[[str], None] = lambda _: None,
) -> dict[str, PageRun]:
    """Run the blocks of pages.

    Parameters
    ----------
    pages : mapping of str to sequence of Block
        Blocks by the name of their page.
    folder : Path
        Where results are kept.
    package : str
        Hash of the package.
    n_jobs : int, default=2
        Pages at a time; they share the machine's cores.
    note : callable
        Is told of each page when it is done, and how far all of them are.

    Returns
    -------
    dict of str to PageRun
        By page.
    """
    n_threads = max(1, (os.cpu_count() or 1) // n_jobs)

    places = count(1)

    def run(page: str) -> PageRun:
        done = _run(page, pages[page], folder / page, package, n_threads)
        how = f"{done.seconds:.1f} s" if done.is_new else "kept from the last build"
        note(f"page {next(places)} of {len(pages)}: {page}, {len(done.results)} blocks, {how}")
        return done

    with ThreadPoolExecutor(n_jobs) as pool:
        return {done.page: done for done in pool.map(run, pages)}


def _run(page: str, blocks: Sequence[Block], folder: Path, package: str, n_threads: int) -> PageRun:
    content = json.dumps([package, hash_of_machinery(), [asdict(block) for block in blocks]])
    key = hashlib.sha256(content.encode()).hexdigest()
    kept = folder / "key"
    if kept.is_file() and kept.read_text() == key:
        results = json.loads((folder / "results.json").read_text("utf-8"))
        return PageRun(page, key, results, folder, is_new=False)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    stopped = _run_apart(page, blocks, folder, n_threads)
    written = folder / "results.json"
    results = json.loads(written.read_text("utf-8")) if written.is_file() else []
    if stopped is not None and len(results) < len(blocks):
        results.append({"printed": "", "figures": [], "seconds": 0.0, "failure": stopped})
    results = [_checked(*pair) for pair in zip(blocks, results, strict=False)]
    written.write_text(json.dumps(results), "utf-8")
    if not any("failure" in result for result in results):
        kept.write_text(key)
    return PageRun(page, key, results, folder, is_new=True)


def _checked(block: Block, result: dict[str, Any]) -> dict[str, Any]:
    """Give each figure its words, or say that there are none."""
    words, figures = block.alt, result["figures"]
    if figures and not block.is_hidden and len(words) not in {1, len(figures)}:
        said = f"it leaves {len(figures)} figures open and has {len(words)} lines '# alt: ...'"
        return {"failure": said} | result
    for number, figure in enumerate(figures):
        figure["alt"] = words[number if len(words) > 1 else 0] if words else ""
    return result


def _run_apart(page: str, blocks: Sequence[Block], folder: Path, n_threads: int) -> str | None:
    """Run the blocks in a process and an empty folder of their own; return why it was stopped."""
    with tempfile.TemporaryDirectory(prefix="page-") as scratch:
        work, job = Path(scratch) / "work", Path(scratch) / "job.json"
        work.mkdir()
        job.write_text(json.dumps({"page": page, "blocks": [asdict(b) for b in blocks]}), "utf-8")
        try:
            done = subprocess.run(
                [sys.executable, "-m", "book.page_run", str(job), str(folder)],
                cwd=work,
                env=_environment(n_threads),
                timeout=LIMIT_S,
                capture_output=True,
                text=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"the page was stopped after {LIMIT_S} s"
    return f"the process ended with {done.returncode}: {done.stderr}" if done.returncode else None


def _environment(n_threads: int) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "BELTRAMI_DATA"}
    here = str(Path(sys.executable).parent)
    paths = [str(Path(__file__).parents[1]), kept.get("PYTHONPATH", "")]
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    return kept | {
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "PATH": here + os.pathsep + os.environ.get("PATH", ""),
        "MPLBACKEND": "Agg",
        "MATPLOTLIBRC": str(SETTINGS),
        "NO_COLOR": "1",
        "TERM": "dumb",
        "COLUMNS": "96",
        "PYTHONHASHSEED": "0",
        "BELTRAMI_CACHE": "",
        **dict.fromkeys(threads, str(n_threads)),
    }
