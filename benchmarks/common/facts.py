"""Where and with what a contest runs: no name of a machine, no path."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from beltrami.core.machine.threads import usable_cpus
from benchmarks.common.threads import threads

SEED = 0
"""Of every contest."""

_PACKAGES = (
    "numpy", "scipy", "scikit-learn", "numba", "faiss-cpu", "pynndescent", "pyamg", "threadpoolctl",
)  # fmt: skip


def circumstances() -> dict[str, Any]:
    """Return processor, threads, versions, seed, commit and date."""
    return {
        "cpu": _cpu_model(),
        "cores": usable_cpus(),
        "threads": threads(),
        "omp_wait_policy": os.environ.get("OMP_WAIT_POLICY", "default"),
        "python": platform.python_version(),
        "versions": {name: package_version(name) for name in _PACKAGES},
        "seed": SEED,
        "commit": _commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def warn_if_busy() -> None:
    """Say so where other work on the machine would spoil the clocks."""
    load = os.getloadavg()[0]
    if load > 1:
        print(f"the machine is busy (load {load:.1f}): do not publish these times")


def package_version(name: str) -> str:
    """Return the version of a package, or that it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
