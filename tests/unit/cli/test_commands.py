import subprocess
import sys

import pytest
from typer.testing import CliRunner

import beltrami
from beltrami.cli.__main__ import main
from beltrami.cli.application import app

runner = CliRunner()


def test_help_lists_the_commands():
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "demo" in result.output
    assert "reproduce" in result.output


@pytest.mark.parametrize("command", ["demo", "reproduce"])
def test_every_command_explains_itself_with_an_example(command):
    result = runner.invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert f"beltrami {command}" in result.output


def test_version():
    assert runner.invoke(app, ["--version"]).output.strip() == f"beltrami {beltrami.__version__}"


def test_one_figure_is_drawn(tmp_path):
    result = runner.invoke(app, ["reproduce", "thesis-a1", "--out", str(tmp_path)])
    assert result.exit_code == 0
    assert (tmp_path / "thesis-a1.png").exists()


def test_a_wrong_name_is_one_line_on_stderr_and_exit_code_one(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["beltrami", "reproduce", "nothing", "--out", str(tmp_path)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    message = capsys.readouterr().err
    assert "there is no reproduction 'nothing'" in message
    assert "thesis-a3" in message
    assert len(message.splitlines()) == 1


def test_wrong_usage_is_exit_code_two():
    done = subprocess.run(
        [sys.executable, "-m", "beltrami.cli", "demo", "--no-such-option"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
