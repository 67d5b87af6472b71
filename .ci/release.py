"""Check that a release can be handed out: built, installed in clean environments, tried from there.

One command (`make release-check`) builds the wheel and the source distribution, installs them on
every supported Python that this machine has, and runs demo, label and studio from what was
installed. It prints a table of what was checked, and ends with 1 where something failed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "out" / "release"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
_TOKEN = "a-token-of-the-release-check"
_PATIENCE_S = 120
_ROWS = "x,y,kind\n" + "".join(
    f"{i % 7 + 10 * (i % 2)},{i % 5 + 10 * (i % 2)},{'ab'[i % 2] if i < 6 else ''}\n"
    for i in range(60)
)


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Checks:
    """What was checked, how it ended, and how long it took."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str, float]] = []

    def check(self, where: str, what: str, work: Callable[[], str | None]) -> bool:
        """Do one thing and note how it ended; what fails does not keep the others from running."""
        say(f"{where}: {what} ...")
        started = time.monotonic()
        try:
            said = work() or "good"
            is_good = True
        except (subprocess.CalledProcessError, OSError, AssertionError) as error:
            output = getattr(error, "output", None) or ""
            said, is_good = f"FAILED: {error} {output[-600:]}", False
        self.rows.append((where, what, said, time.monotonic() - started))
        return is_good

    def skip(self, where: str, why: str) -> None:
        """Note what could not be checked here."""
        self.rows.append((where, "", f"skipped: {why}", 0.0))

    def tell(self) -> int:
        """Print the table; return how many checks failed."""
        for where, what, said, seconds in self.rows:
            say(f"| {where} | {what} | {said} | {seconds:.0f} s |")
        n_failed = sum(said.startswith("FAILED") for _, _, said, _ in self.rows)
        say(f"{len(self.rows)} rows, {n_failed} failed")
        return n_failed


def run(*command: str | Path, folder: Path = ROOT) -> str:
    """Run a command and return what it printed."""
    done = subprocess.run(
        [str(one) for one in command],
        cwd=folder,
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.stdout


def last_line(said: str) -> str:
    """Return the last line that says something."""
    return said.strip().splitlines()[-1].strip("= ")


def require_one_version() -> str:
    """Return the version, which the package and the changelog must agree on."""
    found = re.search(r'__version__ = "(.+)"', (ROOT / "src/beltrami/__init__.py").read_text())
    assert found, "src/beltrami/__init__.py states no version"
    version = found[1]
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"## {version}" in changelog, f"CHANGELOG.md has no section of {version}"
    return version


def build(tools: Path) -> str:
    """Build wheel and source distribution, and return their sizes."""
    shutil.rmtree(OUT, ignore_errors=True)
    run(sys.executable, "-m", "venv", tools)
    run(tools / "bin/python", "-m", "pip", "install", "--quiet", "build")
    run(tools / "bin/python", "-m", "build", "--outdir", OUT)
    return ", ".join(
        f"{one.name} {one.stat().st_size / 1e6:.1f} MB" for one in sorted(OUT.iterdir())
    )


def install(python: str, place: Path, *what: str) -> str:
    """Install into a new environment; return its size."""
    run(python, "-m", "venv", place)
    run(place / "bin/python", "-m", "pip", "install", "--quiet", *what)
    size = sum(one.stat().st_size for one in place.rglob("*") if one.is_file())
    return f"{size / 1e6:.0f} MB installed"


def label(beltrami: Path, folder: Path) -> str:
    """Label a small table, and look at what was written."""
    folder.mkdir()
    (folder / "rows.csv").write_text(_ROWS)
    run(beltrami, "label", "rows.csv", "--label", "kind", "--out", "labels.csv", folder=folder)
    lines = (folder / "labels.csv").read_text().splitlines()
    assert len(lines) == 61, f"{len(lines)} lines were written, 61 are due"
    return "61 lines"


def studio(beltrami: Path, folder: Path) -> str:
    """Open the studio on a small table, and ask it for its state."""
    folder.mkdir()
    (folder / "rows.csv").write_text(_ROWS)
    command = [beltrami, "studio", "rows.csv", "--label", "kind", "--no-browser", "--token", _TOKEN]
    with (folder / "said").open("w") as said:
        server = subprocess.Popen(command, cwd=folder, stdout=said, stderr=subprocess.STDOUT)
    try:
        address = _address_in(folder / "said", server)
        asked = urllib.request.Request(
            f"{address}/api/state", headers={"Authorization": f"Bearer {_TOKEN}"}
        )
        with urllib.request.urlopen(asked, timeout=_PATIENCE_S) as answer:
            return f"answers with {len(json.load(answer))} facts"
    finally:
        server.terminate()
        server.wait(_PATIENCE_S)


def _address_in(said: Path, server: "subprocess.Popen[bytes]") -> str:
    """Wait until the studio says where it is."""
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        found = re.search(r"http://127\.0\.0\.1:\d+", said.read_text())
        if found:
            return found[0]
        assert server.poll() is None, f"the studio ended: {said.read_text()[-600:]}"
        time.sleep(0.2)
    raise AssertionError(f"the studio gave no address: {said.read_text()[-600:]}")


def pythons() -> dict[str, str]:
    """Return the interpreters of supported versions that can be found."""
    found: dict[str, str] = {}
    places = os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv"
    for version in VERSIONS:
        own = sorted(Path(places).glob(f"versions/{version}.*/bin/python"))
        python = str(own[-1]) if own else shutil.which(f"python{version}")
        if python:
            found[version] = python
    return found


def main() -> int:
    """Check everything, and say what came of it."""
    checks, found = Checks(), pythons()
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        checks.check("source", "one version everywhere", require_one_version)
        if not checks.check("source", "wheel and sdist", lambda: build(work / "tools")):
            return checks.tell()
        wheel, sdist = next(OUT.glob("*.whl")), next(OUT.glob("*.tar.gz"))
        for version in VERSIONS:
            if version not in found:
                checks.skip(f"Python {version}", "not on this machine")
                continue
            try_wheel(checks, f"Python {version}", found[version], wheel, work / version)
        python, first = next(iter(found.values())), f"Python {next(iter(found))}"
        checks.check(first, "sdist", lambda: install(python, work / "sdist", str(sdist)))
        checks.check(first, "[all]", lambda: install(python, work / "all", f"{wheel}[all]"))
    checks.check(
        "oldest libraries",
        "make test-minimum",
        lambda: last_line(run("make", "-s", "--no-print-directory", "test-minimum")),
    )
    return checks.tell()


def try_wheel(checks: Checks, where: str, python: str, wheel: Path, place: Path) -> None:
    """Install the wheel into an environment of its own, and use it as a person would."""
    if not checks.check(where, "install", lambda: install(python, place, str(wheel))):
        return
    beltrami, folder = place / "bin/beltrami", place / "tried"
    folder.mkdir()
    checks.check(where, "demo", lambda: run(beltrami, "demo", "--out", folder / "demo")[:0])
    checks.check(where, "label", lambda: label(beltrami, folder / "label"))
    checks.check(where, "studio", lambda: studio(beltrami, folder / "studio"))


if __name__ == "__main__":
    sys.exit(bool(main()))
