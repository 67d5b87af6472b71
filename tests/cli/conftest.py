"""The command line beside a small table."""

from contextlib import closing
from pathlib import Path

import pytest
from tests.support.command_line import Shell, two_groups

from beltrami.project import open_project


@pytest.fixture
def run(shell: Shell) -> Shell:
    """The command line in a folder with data.csv: two groups of points, twelve labels."""
    Path("data.csv").write_text(two_groups(), encoding="utf-8")
    return shell


@pytest.fixture
def project(shell: Shell) -> Path:
    """A project of the same table, in which two people labelled three rows."""
    shell.files({"data.csv": two_groups()})
    with closing(open_project(shell.folder / "data.csv", user="ann")) as opened:
        opened.label("ann", [20, 22], "a", "key")
        opened.label("bob", [21], "b", "area")
    return shell.folder / "data.beltrami"
