"""How long a command takes is said before, and a short time still gives labels."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from beltrami.cli.__main__ import main
from beltrami.front_door import forecast

N = 40


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """The command line in a folder with a table: returns what is said on both streams."""
    monkeypatch.chdir(tmp_path)
    x = np.arange(N) % 2 * 4 + np.arange(N) / N
    rows = [f"{x[i]:.3f},{i * 7 % 10},{'ab'[i % 2] if i < 12 else ''}" for i in range(N)]
    Path("data.csv").write_text("\n".join(["x,y,label", *rows, ""]), encoding="utf-8")

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["beltrami", *arguments])
        main_code = 0
        try:
            main()
        except SystemExit as stop:
            main_code = stop.code or 0
        said = capsys.readouterr()
        assert main_code == 0, said.err
        return said

    return command


def test_a_long_job_is_forecast_before_it_begins(run, monkeypatch):
    assert "about" not in run("label", "data.csv").err
    monkeypatch.setattr(forecast, "WORTH_SAYING", 0.0)
    said = run("label", "data.csv", "--report", "page.html")
    assert "seconds: 40 rows, 2 columns, 12 labels of 2 classes" in said.err
    assert "about" not in run("label", "data.csv", "-q").err


def test_a_budget_that_is_spent_at_once_gives_labels_and_says_what_was_left_out(run):
    said = run("label", "data.csv", "--budget", "0.001", "--json", "--report", "page.html")
    found = json.loads(said.out)
    assert found["counts"]["labelled"] == N - 12
    assert any("methods were left out for time" in line for line in found["warnings"])
    assert "methods were left out for time" in Path("page.html").read_text(encoding="utf-8")
    assert (
        "! 6 of 7 methods were left out for time"
        in run("label", "data.csv", "--budget", "0.001").out
    )
