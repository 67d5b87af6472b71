"""Fixtures of the tests of data sets."""

import pytest


@pytest.fixture
def any_content(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of the data folder may hold what a test has written there."""
    monkeypatch.setattr("beltrami.data.sets.registry.require_published", lambda _: None)
