"""A small run of every reproduction, made once for all tests that look at it."""

from collections.abc import Callable
from functools import cache

import pytest

from beltrami.core.machine.threads import thread_limit
from beltrami_papers import REPRODUCTIONS, Reproduction


@pytest.fixture(scope="session")
def quick_run() -> Callable[[str], Reproduction]:
    """Makes a reproduction at its small size, by name."""

    @cache
    def make(name: str) -> Reproduction:
        with thread_limit(1):
            return REPRODUCTIONS[name].make(quick=True)

    return make
