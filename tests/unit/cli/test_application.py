import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

import beltrami
from beltrami.cli.application import app

COMMANDS = sorted(typer.main.get_command(app).commands)
runner = CliRunner()


def test_help_lists_the_commands():
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "label" in COMMANDS
    for command in COMMANDS:
        assert f" {command} " in result.output


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(command):
    result = runner.invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert f"Example: beltrami {command}" in result.output


def test_version():
    assert runner.invoke(app, ["--version"]).output.strip() == f"beltrami {beltrami.__version__}"


def test_one_figure_is_drawn(tmp_path):
    result = runner.invoke(app, ["reproduce", "thesis-a1", "--out", str(tmp_path)])
    assert result.exit_code == 0
    assert (tmp_path / "thesis-a1.png").exists()


def test_a_wrong_name_is_one_line_on_stderr_and_exit_code_one(shell):
    message = shell.refused("reproduce", "nothing", "--out", ".")
    assert "there is no reproduction 'nothing'" in message
    assert "thesis-a3" in message
    assert len(shell.err.splitlines()) == 1


def test_wrong_usage_is_exit_code_two():
    done = subprocess.run(
        [sys.executable, "-m", "beltrami.cli", "demo", "--no-such-option"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
