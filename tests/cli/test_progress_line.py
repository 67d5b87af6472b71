"""The progress line of the command line, in a real terminal and without one."""

import subprocess
import sys
import time

import pytest
from tests.support.command_line import STAGE_LINE, two_groups

pytest.importorskip("pty", reason="a pseudo-terminal needs a Unix")

from benchmarks.common.recording import record

COMMAND = [sys.executable, "-m", "beltrami.cli"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data.csv").write_text(two_groups(n=300), encoding="utf-8")
    return tmp_path


@pytest.fixture
def patience(folder):
    """Return what a busy machine may take; benchmarks.front_door.progress measures a quiet one."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "pass"], check=True, cwd=folder)
    return 4.0 + 40 * (time.monotonic() - began)


def test_label_in_a_terminal_shows_one_line_from_the_first_second(folder, patience):
    shown = record([*COMMAND, "label", "data.csv"], folder)
    assert shown.code == 0
    first, line = shown.updates[0]
    assert first < patience
    assert line.startswith("[1/8] loading the library  0 s")
    assert shown.longest_pause < patience
    stages = [line[:5] for _, line in shown.updates]
    assert stages == sorted(stages)
    assert any("left" in line for _, line in shown.updates)
    # It is gone in the end, and what was said on the way stands whole.
    assert not any(line.startswith("[") for line in shown.screen)
    assert "label: label" in shown.screen
    assert shown.screen[-1] == ""
    assert "written: data.labelled.csv" in shown.screen[-2]
    assert "\x1b" not in shown.text


@pytest.mark.slow
def test_a_quiet_command_shows_nothing_in_a_terminal(folder):
    shown = record([*COMMAND, "label", "data.csv", "-q"], folder)
    assert (shown.code, shown.text) == (0, "")


def test_an_interrupted_command_leaves_one_clean_line(folder):
    shown = record([*COMMAND, "label", "data.csv"], folder, stop_after=1.0)
    assert shown.code == 130
    said = [line for line in shown.screen if line]
    assert said[-1] == "beltrami: interrupted; nothing is left half written."
    assert not any(line.startswith("[") for line in said)


def test_a_narrow_terminal_never_wraps(folder):
    shown = record([*COMMAND, "map", "data.csv", "-o", "map.png"], folder, columns=40)
    assert shown.code == 0
    assert all(len(line) < 40 for _, line in shown.updates)


def test_without_a_terminal_every_stage_is_a_plain_line(folder):
    done = subprocess.run(
        [*COMMAND, "label", "data.csv", "--report", "page.html"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = STAGE_LINE.findall(done.stderr)
    assert [line.split(" ")[0] for line in lines] == [f"[{k}/10]" for k in range(1, 11)]
    assert "\r" not in done.stderr
    assert "[" not in done.stdout
    quiet = subprocess.run(
        [*COMMAND, "label", "data.csv", "-q", "-o", "other.csv"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (quiet.stdout, quiet.stderr) == ("", "")
