"""The measurement of separation runs at toy size, so that it does not rot."""

import json
from pathlib import Path

import pytest
from benchmarks.separation import scale

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_size_is_measured():
    found = scale.measure(600, 0.003)
    assert found["seconds"] > 0
    assert found["gib"] > 0
    assert 0.5 <= found["purity"] <= 1
    assert found["mean_squared_error"] >= 0


def test_the_page_states_the_growth():
    record = json.loads((RESULTS / f"{scale.STEM}.json").read_text())
    page = scale.render(record)
    assert "Seconds grow as n^" in page
    assert page == (RESULTS / f"{scale.STEM}.md").read_text()
