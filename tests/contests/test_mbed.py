"""The measurements of Mbed run at toy size, so that none of them rots."""

import json
from pathlib import Path

import pytest
from benchmarks.common.pages import growth_exponent
from benchmarks.mbed import accuracy, gradient, new_points, scale

# Bridges in a toy graph are no news.
pytestmark = pytest.mark.filterwarnings("ignore")

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


def test_all_sides_of_the_gradient_agree_and_are_timed():
    found = gradient.contest(60, rounds=1, with_differences=True)
    assert set(found["seconds"]) == set(found["gaps"])
    assert max(found["gaps"].values()) < gradient.GAP
    assert all(times and min(times) > 0 for times in found["seconds"].values())


def test_a_side_that_answers_otherwise_is_not_timed(monkeypatch):
    monkeypatch.setattr(gradient, "straight", lambda mutual, Y: (1.0, 0 * Y))
    with pytest.raises(RuntimeError, match="differs"):
        gradient.contest(60, rounds=1, with_differences=False)


@pytest.mark.slow
def test_errors_of_both_modes_are_written(tmp_path, capsys, threads_in_force):
    asked = ["--quick", "--draws", "1", "--out", str(tmp_path)]
    accuracy.main([*asked, "--threads", threads_in_force])
    cell = json.loads((tmp_path / f"{accuracy.STEM}.json").read_text())["cells"][0]
    assert set(accuracy.MODES) <= set(cell["learners"])
    assert all(0 <= e <= 100 for found in cell["learners"].values() for e in found["errors"])
    assert "ahead in" in capsys.readouterr().out


@pytest.mark.slow
def test_a_size_is_measured():
    found = scale.measure(300, toy=True)
    assert found["seconds"] > 0
    assert found["row_error_force"] == 0  # all pairs are summed at this size
    assert found["wrong_percent"] < 30


def test_the_exponent_of_a_power_is_its_exponent():
    seconds = {n: 3e-9 * n**1.7 for n in (10, 200, 3000)}
    assert growth_exponent(seconds) == pytest.approx(1.7)


@pytest.mark.slow
def test_new_points_are_placed_and_compared():
    found = new_points.measure("digits", "practical", toy=True)
    assert found["overlap_on_joint"] >= 0.6


@pytest.mark.parametrize("module", [accuracy, gradient, scale, new_points])
def test_the_pages_are_those_of_the_records(module):
    record = json.loads((RESULTS / f"{module.STEM}.json").read_text())
    assert (RESULTS / f"{module.STEM}.md").read_text() == module.render(record)
