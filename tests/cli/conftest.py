"""The command line beside a small table."""

from pathlib import Path

import pytest
from tests.support.command_line import Shell, two_groups


@pytest.fixture
def run(shell: Shell) -> Shell:
    """The command line in a folder with data.csv: two groups of points, twelve labels."""
    Path("data.csv").write_text(two_groups(), encoding="utf-8")
    return shell
