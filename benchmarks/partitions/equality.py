"""The same bytes whatever happens: 1, 2 and 4 workers, shuffled order, workers and drivers killed.

python -m benchmarks.partitions.equality --worker-kills 20 --driver-kills 10
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import psutil
from distributed import Client, LocalCluster

import beltrami as bt
from beltrami.core.telling.progress import listen
from beltrami.core.telling.stages import Stage
from beltrami.partitions.crews.crew import ThreadCrew
from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances
from benchmarks.common.pages import table, versions_line, write_results
from benchmarks.partitions.made import write_made

os.environ["BELTRAMI_CACHE"] = ""  # every fit is made anew

STEM = "partitions_equality"

_OPTIONS = {"n_representatives": 2000, "n_jobs": 2}

_PASSES = {
    one.value
    for one in (
        Stage.SURVEY,
        Stage.DRAW,
        Stage.COVER,
        Stage.SETTLE,
        Stage.WITNESS,
        Stage.ANSWER,
    )
}


class ShuffledCrew(ThreadCrew):
    """Threads that take the partitions in another order."""

    def work(self, task, partitions, extras):
        """Yield the same as ever, from places in disorder."""
        order = random.Random(0).sample(range(len(partitions)), len(partitions))
        found = super().work(task, [partitions[k] for k in order], [extras[k] for k in order])
        for place, result in found:
            yield order[place], result


def results(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--parts", type=int, default=16)
    parser.add_argument("--worker-kills", type=int, default=20)
    parser.add_argument("--driver-kills", type=int, default=10)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--work", type=Path, default=Path("out/partitions-equality"))
    arguments = parser.parse_args()
    shutil.rmtree(arguments.work, ignore_errors=True)
    source = arguments.work / "in"
    write_made(source, arguments.rows, n_parts=arguments.parts)

    def label(name: str, client: object) -> dict[str, bytes]:
        began = time.perf_counter()
        out = arguments.work / name
        bt.label_partitions(source, "kind", out=out, client=client, **_OPTIONS)
        print(f"{name}: {time.perf_counter() - began:.1f} s", flush=True)
        return results(out)

    expected = label("one thread", ThreadCrew(1))
    found = {"two threads, partitions in disorder": label("shuffled", ShuffledCrew(2))}
    for n_workers in (1, 2, 4):
        with _cluster(LocalCluster, n_workers) as cluster, Client(cluster) as client:
            found[f"{n_workers} worker process(es)"] = label(f"{n_workers} workers", client)
    jobs, at_workers = _workers_killed(arguments.worker_kills, label)
    n_killed = at_workers.total()
    for turn, one in enumerate(jobs):
        found[f"{n_killed} workers killed in {len(jobs)} job(s): job {turn + 1}"] = one
    own, at_drivers = _drivers_killed(source, arguments.work / "driver", arguments.driver_kills)
    found[f"{at_drivers.total()} drivers killed and taken up again"] = own
    record = {
        "circumstances": circumstances(),
        "rows": arguments.rows,
        "parts": arguments.parts,
        "files": len(expected),
        "bytes": sum(map(len, expected.values())),
        "equal": {name: one == expected for name, one in found.items()},
        "workers_killed_while": dict(at_workers.most_common()),
        "drivers_killed_while": dict(at_drivers.most_common()),
    }
    write_results(arguments.out, STEM, record, render(record))
    print("all the same bytes" if all(record["equal"].values()) else "NOT the same bytes")


def render(record: dict) -> str:
    """Return the page."""
    lines = [(name, "yes" if one else "NO") for name, one in record["equal"].items()]
    workers, drivers = record["workers_killed_while"], record["drivers_killed_while"]
    kills = [
        (stage, str(workers.get(stage, 0)), str(drivers.get(stage, 0)))
        for stage in {**workers, **drivers}
    ]
    return (
        "# Partitions: the same bytes whatever happens\n\n"
        f"{record['rows']:,} rows in {record['parts']} partitions, labelled by one thread, and "
        "again under each of these circumstances; SIGKILL comes at random moments. All "
        f"{record['files']} files of answers, {record['bytes']:,} bytes, are compared.\n\n"
        f"{table(('circumstances', 'the same bytes'), lines)}\n"
        "What the job was at when a kill came:\n\n"
        f"{table(('stage', 'workers killed', 'drivers killed'), kills)}\n"
        f"{versions_line(record['circumstances'])}\n"
    )


def _cluster(kind: type, n_workers: int) -> object:
    return kind(n_workers=n_workers, threads_per_worker=1, dashboard_address=None, memory_limit=0)


def _workers_killed(
    n_kills: int, label: Callable[[str, object], dict]
) -> tuple[list[dict], Counter[str]]:
    """Label again and again by two workers of its own, any of which is killed at any moment.

    A pass that no kill has hit yet gets one soon after it has begun.
    """
    at: Counter[str] = Counter()
    found: list[dict] = []
    chance = random.Random(0)
    while at.total() < n_kills or not set(at) >= _PASSES:
        stage, wake, is_over = ["starting"], threading.Event(), threading.Event()

        def note(event: object, stage: list[str] = stage, wake: threading.Event = wake) -> None:
            is_due = event.title in _PASSES - set(at) and stage[0] != event.title
            stage[0] = event.title
            if is_due:
                wake.set()

        def kill(
            stage: list[str] = stage,
            wake: threading.Event = wake,
            is_over: threading.Event = is_over,
        ) -> None:
            left = n_kills
            while left:
                if wake.wait(chance.uniform(0.5, 6.0)):
                    wake.clear()
                    time.sleep(chance.uniform(0.0, 0.2))
                if is_over.is_set():
                    return
                workers = _worker_processes()
                if workers and stage[0] != "starting":
                    with suppress(OSError):
                        os.kill(chance.choice(workers), signal.SIGKILL)
                        at[stage[0]] += 1
                        left -= 1

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        with listen(note):
            found.append(label(f"workers killed {len(found)}", "local"))
        is_over.set()
        wake.set()
        killer.join()
        print(f"{at.total()} workers killed: {dict(at)}", flush=True)
    return found, at


def _worker_processes() -> list[int]:
    """Return the processes that Dask started for workers, whatever they are at."""
    found = []
    for one in psutil.Process().children():
        with suppress(psutil.Error):
            if "spawn_main" in " ".join(one.cmdline()):
                found.append(one.pid)
    return sorted(found)


def _drivers_killed(source: Path, out: Path, n_kills: int) -> tuple[dict, Counter[str]]:
    """Kill the process at random moments, and take the job up until it is done.

    Every kill waits for the next stage of a list, so that all are hit, and for a random time. Where
    the job is done before, the kill comes to a new beginning.
    """
    code = (
        "import beltrami as bt; from beltrami.core.telling.progress import listen\n"
        "with listen(lambda event: print(event.title, flush=True)):\n"
        f"    bt.label_partitions({str(source)!r}, 'kind', out={str(out)!r}, **{_OPTIONS!r})"
    )
    at: Counter[str] = Counter()
    chance = random.Random(0)
    targets = [*sorted(_PASSES), Stage.LEARN.value]
    while at.total() < n_kills or not set(at) >= _PASSES:
        target = targets[at.total() % len(targets)]
        with subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", code], stdout=subprocess.PIPE, text=True
        ) as process:
            said: list[str] = []
            has_come = threading.Event()

            def read(
                lines: Iterable[str] = process.stdout,
                said: list[str] = said,
                target: str = target,
                has_come: threading.Event = has_come,
            ) -> None:
                for line in lines:
                    said.append(line.strip())
                    if said[-1] == target:
                        has_come.set()
                has_come.set()

            reader = threading.Thread(target=read)
            reader.start()
            has_come.wait()
            time.sleep(chance.uniform(0.0, 1.0) ** 3)  # most passes are short
            is_over = process.poll() is not None
            process.kill()
            reader.join()
        if is_over:
            shutil.rmtree(out)
        else:
            at[said[-1]] += 1
        print(f"{at.total()} drivers killed: {dict(at)}", flush=True)
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], check=True, stdout=subprocess.DEVNULL
    )
    return results(out), at


if __name__ == "__main__":
    main()
