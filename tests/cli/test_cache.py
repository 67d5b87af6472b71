"""Commands keep graph, eigenbasis and map: the second on a file takes them, and says the same."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.support.command_line import Shell, two_groups

from beltrami.core.store import recalling

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.fixture
def cached(shell: Shell, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch):
    """The command line with a store of its own, which keeps the smallest things too."""
    folder = tmp_path_factory.mktemp("cache") / "store"
    monkeypatch.setenv("BELTRAMI_CACHE", str(folder))
    monkeypatch.setattr(recalling, "LEAST_SECONDS", 0.0)
    shell.files({"data.csv": two_groups()})
    shell.cache = folder
    return shell


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*")}


COMMANDS = [
    ("label", "data.csv", "-o", "out.csv", "--report", "page.html"),
    ("suggest", "data.csv", "-o", "out.csv"),
    ("check", "data.csv", "-o", "out.csv"),
    ("report", "data.csv", "-o", "page.html"),
    ("map", "data.csv", "-o", "out.csv"),
    ("embed", "data.csv", "-o", "out.csv"),
    ("cluster", "data.csv", "-k", "2", "-o", "out.csv"),
]


def outputs(shell: Shell) -> dict[str, bytes]:
    """Return what a command wrote, without the seconds that a page tells of its methods."""
    found = {}
    for name in ("out.csv", "page.html"):
        path = shell.folder / name
        if path.exists():
            found[name] = path.read_bytes() if name == "out.csv" else b"a page"
            path.unlink()
    return found


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_results_are_the_same_bytes_with_and_without(cached: Shell, command):
    without = cached(*command, "--no-cache"), outputs(cached)
    assert not cached.cache.exists()
    first = cached(*command), outputs(cached)
    assert "as stored on" not in cached.err
    assert "graph" in {name.split("-")[0] for name in names(cached.cache)}
    second = cached(*command), outputs(cached)
    assert "graph: as stored on" in cached.err
    assert without == first == second


def test_another_command_takes_what_the_first_left(cached: Shell):
    cached("label", "data.csv", "-o", "out.csv")
    cached("suggest", "data.csv", "-o", "ask.csv")
    assert "graph: as stored on" in cached.err
    before = names(cached.cache)
    cached("suggest", "data.csv", "-o", "ask2.csv", "--no-cache")
    assert "as stored on" not in cached.err
    assert names(cached.cache) == before


def test_other_labels_of_the_same_rows_take_the_graph_and_other_rows_do_not(cached: Shell):
    cached("label", "data.csv", "-o", "out.csv")
    cached.files({"more.csv": two_groups(lambda i: "ab"[i % 2] if i < 20 else "")})
    cached("label", "more.csv", "-o", "out2.csv")
    assert "graph: as stored on" in cached.err
    cached.files({"other.csv": two_groups(n=41)})
    cached("label", "other.csv", "-o", "out3.csv")
    assert "graph: as stored on" not in cached.err
    cached("label", "data.csv", "-o", "out4.csv", "--seed", "1")
    assert "graph: as stored on" not in cached.err


def test_a_quiet_command_says_nothing_of_it(cached: Shell):
    for number in range(2):
        assert not cached("label", "data.csv", "-o", f"{number}.csv", "-q")
    assert cached.err == ""


def test_spoiled_files_cost_a_line_and_change_nothing(cached: Shell):
    said = cached("label", "data.csv", "-o", "out.csv")
    expected = (cached.folder / "out.csv").read_bytes()
    for path in cached.cache.iterdir():
        content = bytearray(path.read_bytes())
        content[-100] ^= 4
        path.write_bytes(content)
    assert cached("label", "data.csv", "-o", "out.csv") == said
    assert "warning: the graph stored in" in cached.err
    assert "made anew" in cached.err
    assert (cached.folder / "out.csv").read_bytes() == expected
    cached("label", "data.csv", "-o", "out.csv")
    assert "warning: the graph stored" not in cached.err


def test_a_folder_that_cannot_be_is_said_once(cached: Shell, monkeypatch: pytest.MonkeyPatch):
    (cached.folder / "file").write_text("")
    monkeypatch.setenv("BELTRAMI_CACHE", str(cached.folder / "file"))
    cached("label", "data.csv", "-o", "out.csv")
    assert cached.err.count("nothing is kept for the next command") == 1


def test_a_limit_that_is_no_number_is_refused(cached: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BELTRAMI_CACHE_GIB", "plenty")
    assert "must be a number of GiB" in cached.refused("label", "data.csv")


def test_small_tables_are_not_kept(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BELTRAMI_CACHE", str(tmp_path / "store"))
    monkeypatch.setattr(recalling, "LEAST_SECONDS", 1e9)
    shell.files({"data.csv": two_groups()})
    shell("suggest", "data.csv", "-o", "ask.csv")
    assert not (tmp_path / "store").exists()


def test_no_cache_may_stand_in_a_config_file(cached: Shell):
    cached.files({"settings.toml": "no-cache = true\n"})
    cached("label", "data.csv", "-o", "out.csv", "--config", "settings.toml")
    assert not cached.cache.exists()


def test_doctor_shows_and_clears_what_is_kept(cached: Shell):
    assert "entries  0" in cached("doctor", "--cache")
    cached("label", "data.csv", "-o", "out.csv")
    (cached.cache / "notes.txt").write_text("mine")
    shown = cached("doctor", "--cache")
    assert str(cached.cache) in shown
    assert "limit    4 GiB" in shown
    assert "graph" in shown
    facts = json.loads(cached("doctor", "--cache", "--json"))
    assert facts["bytes"] == sum(one["bytes"] for one in facts["entries"]) > 0
    n_entries = len(facts["entries"])
    cleared = json.loads(cached("doctor", "--clear-cache", "--json"))
    assert cleared["removed"] == {"entries": n_entries, "bytes": facts["bytes"]}
    assert names(cached.cache) == {"notes.txt"}
    assert "removed  0 entries" in cached("doctor", "--clear-cache")


def test_doctor_says_that_nothing_is_kept(shell: Shell):
    assert "nothing is kept" in shell("doctor", "--cache")
    assert json.loads(shell("doctor", "--clear-cache", "--json"))["folder"] is None


@pytest.mark.slow
def test_two_commands_at_once_agree(cached: Shell):
    import subprocess
    import sys

    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 5)) + 4 * (np.arange(300) % 2)[:, None]
    lines = [",".join(f"{x:.4f}" for x in row) for row in points]
    text = [f"{line},{'ab'[i % 2] if i < 20 else ''}" for i, line in enumerate(lines)]
    cached.files({"big.csv": "\n".join(["a,b,c,d,e,label", *text, ""])})
    runs = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "beltrami.cli",
                "label",
                "big.csv",
                "-o",
                f"{one}.csv",
                "--json",
            ],
            cwd=cached.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for one in range(2)
    ]
    for run in runs:
        _, err = run.communicate()
        assert run.returncode == 0, err
        assert b"warning" not in err
    first, second = ((cached.folder / f"{one}.csv").read_bytes() for one in range(2))
    assert first == second
