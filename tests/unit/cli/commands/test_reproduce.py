"""`beltrami reproduce`: what is written and told, what is compared, what is refused."""

import json

import pytest
from typer.testing import CliRunner

from beltrami.cli.application import app
from beltrami.core.errors import DatasetUnavailableError, InvalidInputError
from beltrami_papers import REPRODUCTIONS, Entry, Outcome, Reproduction, Running

runner = CliRunner()


def _there(*, quick=False, journal=None):
    return Reproduction(record={"seconds": {"total": 1.5}, "found": 2.0}, table="# there\n")


def _absent(*, quick=False, journal=None):
    raise DatasetUnavailableError("the data set 'x' is not available.")


@pytest.fixture
def registry(monkeypatch):
    monkeypatch.setitem(REPRODUCTIONS, "there", Entry("a text", "a thing", _there))
    monkeypatch.setitem(REPRODUCTIONS, "absent", Entry("a text", "a thing", _absent))


def test_one_is_written_and_a_second_run_skips_it(registry, tmp_path):
    result = runner.invoke(app, ["reproduce", "there", "--quick", "--out", str(tmp_path)])
    assert result.exit_code == 0
    assert '"quick": true' in (tmp_path / "there.json").read_text()
    names = [line.split()[-1] for line in result.stdout.splitlines()]
    assert names == [str(tmp_path / "there.md"), str(tmp_path / "there.json")]
    assert "made in 0 s" in result.stderr
    again = runner.invoke(app, ["reproduce", "there", "--quick", "--out", str(tmp_path)])
    assert "there from an earlier run" in again.stderr


def test_one_that_is_named_raises_the_loaders_error(registry, tmp_path):
    result = runner.invoke(app, ["reproduce", "absent", "--out", str(tmp_path)])
    assert isinstance(result.exception, DatasetUnavailableError)
    assert not list(tmp_path.iterdir())


def test_runs_are_compared_and_a_difference_fails(registry, tmp_path):
    old = tmp_path / "old"
    command = ["reproduce", "there", "--out", str(tmp_path / "new"), "--against", str(old)]
    assert isinstance(runner.invoke(app, command).exception, InvalidInputError)
    old.mkdir()
    assert "not in both folders" in runner.invoke(app, command).stdout
    (old / "there.json").write_text(json.dumps({"found": 2.0, "seconds": {"total": 9}}))
    same = runner.invoke(app, command)
    assert same.exit_code == 0
    assert "agrees: 1 numbers" in same.stdout
    (old / "there.json").write_text(json.dumps({"found": 3.0}))
    other = runner.invoke(app, command)
    assert other.exit_code == 1
    assert "DIFFERS" in other.stdout
    assert "at found" in other.stdout


def _run_many(states):
    def run_many(names, folder, tell, *, quick, again, jobs):
        ended = []
        for name in names:
            tell(Running(name))
            ended.append(Outcome(name, states.get(name, "made"), message="because."))
            tell(ended[-1])
        return ended

    return run_many


@pytest.mark.parametrize(("state", "code"), [("left out", 0), ("failed", 1)])
def test_all_goes_on_and_says_what_is_missing(monkeypatch, tmp_path, state, code):
    states = {"thesis-3.3": state}
    monkeypatch.setattr("beltrami_papers.run_many", _run_many(states))
    result = runner.invoke(app, ["reproduce", "all", "--out", str(tmp_path)])
    assert result.exit_code == code
    assert result.stderr.count("because.") == 1
    assert "thesis-3.1               begins" in result.stderr
    assert "multi-manifold-full" not in result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"README.md", "summary.md"}


def test_the_list_names_all():
    result = runner.invoke(app, ["reproduce", "list"])
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(REPRODUCTIONS)
