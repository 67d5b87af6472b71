"""`beltrami reproduce`: what is written, and what happens where data are missing."""

import pytest
from typer.testing import CliRunner

from beltrami.cli.__main__ import app
from beltrami.core.errors import DatasetUnavailableError
from beltrami.report.reproductions import Reproduction

runner = CliRunner()


def _there(*, quick=False):
    return Reproduction(record={"seconds": {"total": 1.5}, "quick": quick}, table="# there\n")


def _absent(*, quick=False):
    raise DatasetUnavailableError("the data set 'x' is not available.")


@pytest.fixture
def registry(monkeypatch):
    made = {"absent": _absent, "there": _there}
    monkeypatch.setattr("beltrami.report.reproductions.REPRODUCTIONS", made)


def test_all_goes_on_where_data_are_missing_and_says_so_in_one_line(registry, tmp_path):
    result = runner.invoke(app, ["reproduce", "all", "--out", str(tmp_path)])
    assert result.exit_code == 0
    assert (tmp_path / "there.md").read_text() == "# there\n"
    left_out = [line for line in result.stderr.splitlines() if line.startswith("absent")]
    assert len(left_out) == 1
    assert "the data set 'x' is not available" in left_out[0]
    assert "absent" not in result.stdout


def test_one_that_is_named_raises_the_loaders_error(registry, tmp_path):
    result = runner.invoke(app, ["reproduce", "absent", "--out", str(tmp_path)])
    assert isinstance(result.exception, DatasetUnavailableError)
    assert not list(tmp_path.iterdir())


def test_quick_reaches_the_reproduction_and_seconds_are_told(registry, tmp_path):
    result = runner.invoke(app, ["reproduce", "there", "--quick", "--out", str(tmp_path)])
    assert result.exit_code == 0
    assert '"quick": true' in (tmp_path / "there.json").read_text()
    names = [line.split()[-1] for line in result.stdout.splitlines()]
    assert names == [str(tmp_path / "there.json"), str(tmp_path / "there.md")]
    assert "total 1.5" in result.stderr
