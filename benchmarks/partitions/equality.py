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
from pathlib import Path

from distributed import Client, LocalCluster

import beltrami as bt
from beltrami.partitions.crew import ThreadCrew
from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances
from benchmarks.common.pages import table, versions_line, write_results
from benchmarks.partitions.made import write_made

STEM = "partitions_equality"

_OPTIONS = {"n_representatives": 2000, "method": "poisson"}


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
    with _cluster(LocalCluster, 2) as cluster, Client(cluster) as client:
        killed, jobs = _with_kills(client, arguments.worker_kills, label)
    for turn, one in enumerate(jobs):
        found[f"{killed} workers killed in {len(jobs)} job(s): job {turn + 1}"] = one
    n_killed, own = _driver_killed(source, arguments.work / "driver", arguments.driver_kills)
    found[f"{n_killed} drivers killed and taken up again"] = own
    record = {
        "circumstances": circumstances(),
        "rows": arguments.rows,
        "parts": arguments.parts,
        "files": len(expected),
        "bytes": sum(map(len, expected.values())),
        "equal": {name: one == expected for name, one in found.items()},
    }
    write_results(arguments.out, STEM, record, render(record))
    print("all the same bytes" if all(record["equal"].values()) else "NOT the same bytes")


def render(record: dict) -> str:
    """Return the page."""
    lines = [(name, "yes" if one else "NO") for name, one in record["equal"].items()]
    return (
        "# Partitions: the same bytes whatever happens\n\n"
        f"{record['rows']:,} rows in {record['parts']} partitions, labelled by one thread, and "
        "again under each of these circumstances; SIGKILL comes at random moments. All "
        f"{record['files']} files of answers, {record['bytes']:,} bytes, are compared.\n\n"
        f"{table(('circumstances', 'the same bytes'), lines)}\n"
        f"{versions_line(record['circumstances'])}\n"
    )


def _cluster(kind: type, n_workers: int) -> object:
    return kind(n_workers=n_workers, threads_per_worker=1, dashboard_address=None, memory_limit=0)


def _with_kills(client: object, n_kills: int, label: object) -> tuple[int, list]:
    """Label again and again while workers are killed, until so many are."""
    killed, found, turn = 0, [], 0
    while killed < n_kills:
        is_over = threading.Event()

        def kill(is_over: threading.Event = is_over) -> None:
            nonlocal killed
            chance = random.Random(killed)
            while not is_over.wait(chance.uniform(0.3, 2.0)) and killed < n_kills:
                try:
                    pids = list(client.run(os.getpid).values())
                    os.kill(chance.choice(pids), signal.SIGKILL)
                    killed += 1
                except (OSError, RuntimeError, IndexError, ValueError):
                    continue

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        found.append(label(f"workers killed {turn}", client))
        is_over.set()
        killer.join()
        turn += 1
    print(f"{killed} workers were killed over {turn} job(s)", flush=True)
    return killed, found


def _driver_killed(source: Path, out: Path, n_kills: int) -> tuple[int, dict[str, bytes]]:
    """Kill the process at random moments, and take the job up until it is done.

    Where it is done before its kill, the kill comes to a new beginning.
    """
    code = (
        f"import beltrami as bt; bt.label_partitions({str(source)!r}, 'kind', out={str(out)!r}, "
        f"n_representatives={_OPTIONS['n_representatives']}, method={_OPTIONS['method']!r})"
    )
    chance, n_killed = random.Random(0), 0
    while n_killed < n_kills:
        with subprocess.Popen([sys.executable, "-c", code]) as process:
            try:
                process.wait(chance.uniform(1.5, 12.0))
                shutil.rmtree(out)
            except subprocess.TimeoutExpired:
                process.kill()
                n_killed += 1
    subprocess.run([sys.executable, "-c", code], check=True)
    return n_killed, results(out)


if __name__ == "__main__":
    main()
