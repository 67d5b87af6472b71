"""How long a command takes is said before, and a short time still gives labels."""

import json
from pathlib import Path

from tests.support.command_line import N

from beltrami.front_door.deciding import forecast


def test_a_long_job_is_forecast_before_it_begins(run, monkeypatch):
    run("label", "data.csv")
    assert "about" not in run.err
    monkeypatch.setattr(forecast, "WORTH_SAYING", 0.0)
    run("label", "data.csv", "--report", "page.html")
    assert "seconds: 40 rows, 2 columns, 12 labels of 2 classes" in run.err
    run("label", "data.csv", "-q")
    assert "about" not in run.err


def test_a_budget_that_is_spent_at_once_gives_labels_and_says_what_was_left_out(run):
    out = run("label", "data.csv", "--budget", "0.001", "--json", "--report", "page.html")
    found = json.loads(out)
    assert found["counts"]["labelled"] == N - 12
    assert any("methods were left out for time" in line for line in found["warnings"])
    assert "methods were left out for time" in Path("page.html").read_text(encoding="utf-8")
    assert "! 6 of 7 methods were left out for time" in run(
        "label", "data.csv", "--budget", "0.001"
    )
