"""Fixtures and settings that every test shares."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The first call of a compiled kernel takes seconds, so examples have no deadline.
settings.register_profile("beltrami", deadline=None, max_examples=25)
settings.load_profile("beltrami")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run try more random tables than every run does."""
    parser.addoption("--fuzz", type=int, default=200, help="Random tables and audits to try.")


@pytest.fixture
def n_fuzzed(request: pytest.FixtureRequest) -> int:
    """How many random tables a test tries."""
    return int(request.config.getoption("--fuzz"))


@pytest.fixture
def data_folder() -> Path:
    """The folder with the papers' data sets; the test is skipped where there is none."""
    folder = os.environ.get("BELTRAMI_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("BELTRAMI_DATA names no folder with the papers' data sets")
    return Path(folder)


@pytest.fixture
def threads_in_force(monkeypatch: pytest.MonkeyPatch) -> str:
    """The number of threads, in the environment too; numba takes no other while its own run."""
    import numba
    from benchmarks.common.threads import THREAD_VARIABLES

    number = str(numba.config.NUMBA_NUM_THREADS)
    for variable in THREAD_VARIABLES:  # put back afterwards
        monkeypatch.setenv(variable, number)
    return number
