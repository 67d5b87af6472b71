"""Print the lowest version of every library that pyproject.toml allows, as pins for pip.

``name>=1.2`` of the package's own needs becomes ``name==1.2``; what the tests need is left free,
so that a user's pandas and polars are as new as these pins allow.
"""

import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def lowest(requirements: list[str]) -> list[str]:
    """Return pins at the lower bounds; a requirement without one is refused."""
    found = []
    for one in requirements:
        name, bound, version = one.partition(">=")
        if not bound:
            sys.exit(f"{one!r} in pyproject.toml has no lower bound (>=), so nothing tests it.")
        found.append(f"{name.strip()}=={version.strip()}")
    return found


if __name__ == "__main__":
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    sys.stdout.write("\n".join(lowest(project["project"]["dependencies"])) + "\n")
