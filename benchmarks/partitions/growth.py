"""Pace of each pass, resident peak and certificate, as the rows grow; the exponent of each pass.

python -m benchmarks.partitions.growth --millions 2 5 10 20 --memory 3GiB --work FOLDER
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.partitions.made import error_of, write_made


def peak_bytes(pid: int, seen: dict[int, int]) -> None:
    """Note the high-water mark of each process in a tree."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            seen[pid] = max(seen.get(pid, 0), int(line.split()[1]) * 1024)
    for child in children:
        peak_bytes(int(child), seen)


def run(source: Path, out: Path, *options: str) -> dict[str, object]:
    """Label a folder by the command line, and watch what the process holds."""
    command = [sys.executable, "-m", "beltrami", "label", str(source), "--label", "kind"]
    command += ["-o", str(out), "--json", *options]
    began, seen = time.perf_counter(), {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            peak_bytes(process.pid, seen)
            time.sleep(0.1)
        text = process.stdout.read() if process.stdout else ""
    summary = json.loads(text)
    summary["seconds"] = time.perf_counter() - began
    summary["peak_gib"] = sum(seen.values()) / 2**30
    return summary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--millions", type=float, nargs="+", default=[0.5, 1, 2])
    parser.add_argument("--memory", default="3GiB")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--work", type=Path, default=Path("out/partitions"))
    parser.add_argument("--options", nargs="*", default=[])
    arguments = parser.parse_args()
    paces: dict[str, list[tuple[float, float]]] = {}
    for millions in arguments.millions:
        n_rows = int(millions * 1e6)
        source, out = arguments.work / "in", arguments.work / "out"
        for folder in (source, out):
            shutil.rmtree(folder, ignore_errors=True)
        write_made(source, n_rows)
        options = ["--memory", arguments.memory, "--jobs", arguments.jobs, *arguments.options]
        found = run(source, out, *options)
        found["error"] = error_of(out, n_rows)
        kept = ("seconds", "peak_gib", "error", "coverage", "rows_per_second", "failures")
        print(json.dumps({"rows": n_rows} | {name: found[name] for name in kept}), flush=True)
        for name, rate in found["rows_per_second"].items():
            paces.setdefault(name, []).append((n_rows, n_rows / rate))
    for name, pairs in paces.items():
        if len(pairs) > 1:
            slope = np.polyfit(*np.log(np.array(pairs)).T, 1)[0]
            print(f"{name}: seconds grow as rows to the power {slope:.2f}")


if __name__ == "__main__":
    main()
