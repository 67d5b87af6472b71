"""The contest of k-means with bounds runs at toy size, so that it does not rot."""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.constrained import __main__ as page
from benchmarks.constrained import sides

# The peer's own warnings are no news.
pytestmark = pytest.mark.filterwarnings("ignore")

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"
needs_peer = pytest.mark.skipif(
    not sides.has_peer(), reason="k-means-constrained, of the group constrained, is not installed"
)


def test_ours_alone_is_measured_and_keeps_its_bound():
    found = sides.alone(1500, rounds=1)
    assert found["forced"] > 100
    assert found["smallest"] >= found["least"]
    assert found["moves"][sides.WARM] < found["moves"][sides.COLD]
    assert all(times and min(times) > 0 for times in found["seconds"].values())
    held = {one["about"]: one["met"] for one in page.marks(found)}
    assert held["points of the smallest cluster"]
    assert not held["points that the bounds force away from the nearest centre"]  # needs more


@needs_peer
@pytest.mark.parametrize("scaled", [False, True])
def test_both_sides_start_alike_and_are_compared(scaled):
    row = sides.beside(200, rounds=2, scaled=scaled)
    assert set(row["seconds"]) == {"ours", "peer"}
    assert 0.8 < row["sum ratio"] < 1.1
    assert row["time ratio"] > 0
    assert max(row["handed over"]) <= 1 + 1e-12


@needs_peer
def test_a_side_that_breaks_the_bound_is_not_compared(monkeypatch):
    monkeypatch.setattr(sides, "peer", lambda points, least, start: np.zeros(len(points), int))
    with pytest.raises(RuntimeError, match="peer left a cluster of 0"):
        sides.beside(200, rounds=1, scaled=False)


def test_the_page_is_written(tmp_path, monkeypatch, capsys, threads_in_force):
    monkeypatch.setattr(sides, "has_peer", lambda: False)
    asked = ["--toy", "--rounds", "1", "--out", str(tmp_path)]
    page.main([*asked, "--threads", threads_in_force])
    record = json.loads((tmp_path / f"{page.STEM}.json").read_text())
    assert (tmp_path / f"{page.STEM}.md").read_text() == page.render(record)
    assert "peer is skipped" in capsys.readouterr().out


def test_the_page_is_that_of_the_record():
    record = json.loads((RESULTS / f"{page.STEM}.json").read_text())
    assert (RESULTS / f"{page.STEM}.md").read_text() == page.render(record)
