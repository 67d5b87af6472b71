"""One kill: a folder and a command enter, what was wrong afterwards leaves."""

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.robustness.wholeness import fault_of

PATIENCE_S = 180.0
_ORDERLY = {signal.SIGTERM: (143, -signal.SIGTERM), signal.SIGKILL: (-signal.SIGKILL,)}


@dataclass(frozen=True)
class Command:
    """What is run, in which folder, and what it wrote when nobody killed it."""

    name: str
    arguments: tuple[str, ...]
    inputs: dict[str, str]
    results: Path
    seconds: float


@dataclass(frozen=True)
class Kill:
    """How one run is killed."""

    command: Command
    number: signal.Signals
    while_writing: bool
    has_results: bool
    seed: int


@dataclass(frozen=True)
class Trace:
    """What became of it."""

    kill: Kill
    code: int
    n_temporary: int
    faults: tuple[str, ...]


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file that is no temporary one."""
    paths = (path for path in folder.rglob("*") if path.is_file() and not _is_hidden(path, folder))
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(paths)
    }


def temporary_files(folder: Path) -> list[str]:
    """Return what a killed run left over; the journal of a long run is no such thing."""
    hidden = (path for path in folder.rglob("*") if path.is_file() and _is_hidden(path, folder))
    return sorted(path.name for path in hidden if path.parent.name != ".journals")


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def begin(arguments: tuple[str, ...], folder: Path) -> subprocess.Popen[str]:
    """Start a command in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "beltrami.cli", *arguments],
        cwd=folder,
        env=os.environ | {"BELTRAMI_CACHE": ""},  # every run does all the work
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_once(kill: Kill, base: Path, folder: Path) -> Trace:
    """Run a command in a copy of a folder, kill it, look around, and run it to its end."""
    shutil.copytree(kill.command.results if kill.has_results else base, folder)
    before = digests(folder)
    there = _stamps(folder)
    process = begin(kill.command.arguments, folder)
    _wait(kill, process, folder, there)
    process.send_signal(kill.number)
    try:
        errors = process.communicate(timeout=PATIENCE_S)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        errors = process.communicate()[1]
        return Trace(kill, process.returncode, 0, (f"no end {PATIENCE_S:.0f} s after the signal",))
    left = temporary_files(folder)
    faults = _faults_of_end(kill, process.returncode, errors, left)
    faults += _faults_of_files(kill.command, folder, before)
    if left or kill.seed % 8 == 0:
        faults += _faults_of_next_run(kill.command, folder)
    if not faults:
        shutil.rmtree(folder)
    return Trace(kill, process.returncode, len(left), tuple(faults))


def _stamps(folder: Path) -> set[tuple[str, int, int]]:
    """Return names, sizes and times: whatever is written shows."""
    stamps = set()
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            with suppress(OSError):  # renamed meanwhile
                facts = path.stat()
                stamps.add((str(path), facts.st_size, facts.st_mtime_ns))
    return stamps


def _wait(
    kill: Kill, process: subprocess.Popen[str], folder: Path, there: set[tuple[str, int, int]]
) -> None:
    """Return at a random moment of the whole run, or soon after a file was begun."""
    chance, started = random.Random(kill.seed), time.monotonic()
    if not kill.while_writing:
        end = started + chance.uniform(0.0, 1.05 * kill.command.seconds)
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        return
    while process.poll() is None and time.monotonic() < started + PATIENCE_S:
        if _stamps(folder) - there:
            time.sleep(chance.choice((0.0, 0.0005, 0.002, 0.01)))
            return
        time.sleep(0.0002)


def _faults_of_end(kill: Kill, code: int, errors: str, left: list[str]) -> list[str]:
    faults = []
    if "Traceback" in errors:
        faults.append(f"traceback: {errors[-600:]}")
    is_refusal = code == 1 and errors.startswith("beltrami: ")
    if code not in (0, *_ORDERLY[kill.number]) and not is_refusal:
        faults.append(f"exit code {code}: {errors[-600:]}")
    if kill.number == signal.SIGTERM and left:
        faults.append(f"left after SIGTERM: {left}")
    return faults


def _faults_of_files(command: Command, folder: Path, before: dict[str, str]) -> list[str]:
    faults, now = [], digests(folder)
    for name, digest in command.inputs.items():
        if now.get(name) != digest:
            faults.append(f"the input {name} was changed")
    for name, digest in now.items():
        if name in command.inputs or before.get(name) == digest:
            continue
        fault = fault_of(folder / name, command.results / name)
        if fault:
            faults.append(f"{name} is not whole: {fault}")
    return faults + [f"{name} is gone" for name in before if name not in now]


def _faults_of_next_run(command: Command, folder: Path) -> list[str]:
    process = begin(command.arguments, folder)
    errors = process.communicate()[1]
    if process.returncode == 1 and errors.startswith("beltrami: "):  # it keeps what is there
        for name in digests(folder).keys() - command.inputs.keys():
            (folder / name).unlink()
        process = begin(command.arguments, folder)
        errors = process.communicate()[1]
    if process.returncode:
        return [f"the next run ended with {process.returncode}: {errors[-600:]}"]
    left = temporary_files(folder)
    faults = [f"left after the next run: {left}"] if left else []
    return faults + _faults_of_files(command, folder, {})


def environment_note() -> dict[str, object]:
    """Return what the numbers depend on."""
    return {"processors": os.cpu_count(), "python": sys.version.split()[0]}
