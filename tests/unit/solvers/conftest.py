"""Small systems run on one thread: starting two costs more than it brings on a busy machine."""

from collections.abc import Iterator

import pytest

from beltrami.core.threads import thread_limit


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with thread_limit(1):
        yield
