"""Making reproductions: what is done is skipped, several run beside each other, none is half done.

Names and a folder enter; files and outcomes leave. Every reproduction runs in a process of its own
on one thread, so that its numbers do not depend on what runs beside it.
"""

import hashlib
import multiprocessing
import queue
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

from beltrami.core.errors import BeltramiError, DatasetUnavailableError, InvalidInputError
from beltrami.core.files import read_json
from beltrami.core.machine.threads import thread_limit
from beltrami.core.telling.progress import ProgressEvent, listen
from beltrami.data.sets.registry import dataset_file
from beltrami_papers.model import Reproduction
from beltrami_papers.outcome import Outcome, Running, Tell
from beltrami_papers.registry import REPRODUCTIONS

JOURNALS = ".journals"
_TOLD_EVERY_S = 0.5
_PATIENCE_S = 0.2


def known_files(name: str, folder: Path, *, quick: bool) -> tuple[Path, ...]:
    """Return the files of an earlier run.

    - `quick`: a small run does not stand for a whole one, nor the other way round.
    """
    path = folder / f"{name}.json"
    try:
        record = read_json(path)
    except InvalidInputError:
        return ()
    if not isinstance(record, dict) or record.get("quick") is not quick:
        return ()
    files = [path.with_suffix(suffix) for suffix in (".png", ".md", ".json")]
    return tuple(file.resolve() for file in files if file.exists())


def run_one(name: str, folder: Path, *, quick: bool = False, again: bool = False) -> Outcome:
    """Make one reproduction and write it.

    - `again`: also where it is there from an earlier run, and from the beginning.
    """
    known = () if again else known_files(name, folder, quick=quick)
    if known:
        return Outcome(name, "known", known)
    entry = REPRODUCTIONS[name]
    if entry.is_rehearsed and not quick:
        _rehearse(name)
    started = time.perf_counter()
    journal = folder / JOURNALS / f"{name}{'-quick' if quick else ''}.jsonl"
    if again:
        journal.unlink(missing_ok=True)
    with thread_limit(1):
        reproduction = entry.make(quick=quick, journal=journal)
    spent = time.perf_counter() - started
    files = _with_circumstances(reproduction, name, spent, quick=quick).save(name, folder)
    journal.unlink(missing_ok=True)
    return Outcome(name, "made", tuple(files), spent)


def _rehearse(name: str) -> None:
    """Make a reproduction small in another process, for the kernels that it leaves compiled."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        pool.submit(_rehearsal, name).result()


def _rehearsal(name: str) -> None:
    """Make a reproduction small, and keep nothing of it."""
    with tempfile.TemporaryDirectory() as folder:
        run_one(name, Path(folder), quick=True)


def _with_circumstances(
    reproduction: Reproduction, name: str, seconds: float, *, quick: bool
) -> Reproduction:
    """Add to the record what the maker does not know of: the run and its input files."""
    if reproduction.record is None:
        return reproduction
    run = {"quick": quick, "wall_seconds": round(seconds, 1), "inputs": input_hashes(name)}
    return replace(reproduction, record={**reproduction.record, **run})


def input_hashes(name: str) -> dict[str, str]:
    """Return the files of data that a reproduction reads, with their SHA-256."""
    paths = (dataset_file(data) for data in REPRODUCTIONS[name].data)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path}


def run_many(
    names: Sequence[str],
    folder: Path,
    tell: Tell,
    *,
    quick: bool = False,
    again: bool = False,
    jobs: int = 1,
) -> list[Outcome]:
    """Make many reproductions, the longest first; one that fails does not stop the others."""
    order = sorted(names, key=lambda name: -REPRODUCTIONS[name].minutes)
    ended: dict[str, Outcome] = {}
    spawn = multiprocessing.get_context("spawn")
    with spawn.Manager() as manager:
        heard: queue.Queue[Running] = manager.Queue()
        # A process each, so that memory and processor time are of one reproduction.
        pool = ProcessPoolExecutor(
            min(jobs, max(1, len(order))), mp_context=spawn, max_tasks_per_child=1
        )
        try:
            settings = {"quick": quick, "again": again}
            tasks = {pool.submit(_in_a_process, n, folder, heard, settings): n for n in order}
            for outcome in _outcomes(tasks, heard, tell):
                ended[outcome.name] = outcome
                tell(outcome)
        except BaseException:
            for process in list(getattr(pool, "_processes", {}).values()):
                process.kill()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    return [ended[name] for name in names]


def _outcomes(
    tasks: dict[Future[Outcome], str], heard: "queue.Queue[Running]", tell: Tell
) -> Iterator[Outcome]:
    """Yield each outcome as it comes, and pass on what is heard meanwhile."""
    open_tasks = set(tasks)
    while open_tasks:
        done, open_tasks = wait(open_tasks, timeout=_PATIENCE_S, return_when=FIRST_COMPLETED)
        while not heard.empty():
            tell(heard.get())
        for task in done:
            try:
                yield task.result()
            except BrokenProcessPool:
                message = "its process was killed, as happens when memory runs out."
                yield Outcome(tasks[task], "failed", message=message)


def _in_a_process(
    name: str, folder: Path, heard: "queue.Queue[Running]", settings: dict[str, Any]
) -> Outcome:
    """Make one reproduction where nobody catches what it raises."""
    heard.put(Running(name))
    last = 0.0

    def pass_on(event: ProgressEvent) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > _TOLD_EVERY_S or event.done >= event.total:
            last = now
            heard.put(Running(name, event))

    try:
        with listen(pass_on):
            return run_one(name, folder, **settings)
    except DatasetUnavailableError as error:
        return Outcome(name, "left out", message=str(error))
    except BeltramiError as error:
        return Outcome(name, "failed", message=str(error))
    except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
        return Outcome(name, "failed", message=f"{type(error).__name__}: {error}")
