"""The browser that opens reports in tests; run as a module, it installs one where none is found."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DOWNLOADED = Path(sys.prefix) / "browsers"
"""Where playwright puts a browser: in the environment, which `make clean` removes."""

_MINUTE = 60


def find_browser() -> str | None:
    """Return a Chromium on the path, else the one that was downloaded into this environment."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    names = ("chrome", "headless_shell", "chrome-headless-shell", "Chromium")
    return next(
        (
            str(path)
            for path in sorted(DOWNLOADED.rglob("*"))
            if path.name in names and path.is_file()
        ),
        None,
    )


def install_browser() -> None:
    """Install one: on a build machine by the system, elsewhere a copy of playwright's own."""
    if os.environ.get("CI") == "true" and shutil.which("apt-get") and os.geteuid() == 0:
        _try("apt-get", "update")
        _try("apt-get", "install", "-y", "--no-install-recommends", "chromium")
    if find_browser() is None and _try(
        sys.executable, "-m", "pip", "install", "--group", "browser"
    ):
        _try(sys.executable, "-m", "playwright", "install", "--only-shell", "chromium")


def _try(*command: str) -> bool:
    environment = os.environ | {"PLAYWRIGHT_BROWSERS_PATH": str(DOWNLOADED)}
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, timeout=5 * _MINUTE, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


if __name__ == "__main__":
    if find_browser() is None:
        install_browser()
    missing = "none found, and none could be installed: tests/browser is skipped"
    sys.stdout.write(f"browser: {find_browser() or missing}\n")
