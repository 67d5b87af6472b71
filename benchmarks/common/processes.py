"""A measurement in a process of its own, so that its memory and its first calls are its own."""

import subprocess
import sys

from benchmarks.common.command import BENCHMARKS


def run_module(module: str, *arguments: str) -> str:
    """Run a module of this folder and return the last line that it prints."""
    command = [sys.executable, "-W", "ignore", "-m", f"benchmarks.{module}", *arguments]
    done = subprocess.run(
        command, cwd=BENCHMARKS.parent, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{module} {' '.join(arguments)} failed: {done.stderr[-800:]}")
    return done.stdout.splitlines()[-1]
