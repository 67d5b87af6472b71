"""Making reproductions: what is done is skipped, what fails does not stop the others."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from beltrami.core.errors import DatasetUnavailableError
from beltrami.core.machine.threads import threads_in_force
from beltrami.core.telling.progress import track
from beltrami_papers import REPRODUCTIONS, Entry, Reproduction, run_many, run_one, running
from beltrami_papers.outcome import Outcome, Running
from beltrami_papers.running import JOURNALS, input_hashes, known_files

ENTRIES = {
    "name",
    "source",
    "data",
    "n",
    "settings",
    "seeds",
    "remarks",
    "seconds",
    "versions",
    "threads",
    "processor_seconds",
    "peak_memory_mib",
    "quick",
    "wall_seconds",
    "inputs",
}
SLOW = {
    "multi-manifold",
    "multi-manifold-real",
    "thesis-3.2-variants",
    "thesis-a9",
    "thesis-a10",
    "thesis-a12",
    "mbed-table-1",
    "mbed-table-2",
    "ssl-book",
    "now-it-helps",
}
"""Above a second and a half; each has a tiny run among the tests of its room."""

NEEDS_DATA = {name for name, entry in REPRODUCTIONS.items() if entry.data}


@pytest.fixture
def calls(monkeypatch):
    """A registry with one entry that counts how often it was made."""
    made = []

    def make(*, quick=False, journal=None):
        made.append(threads_in_force())
        journal.parent.mkdir(parents=True, exist_ok=True)
        journal.write_text("{}\n")
        return Reproduction(record={"found": len(made)}, table="# page\n")

    monkeypatch.setitem(REPRODUCTIONS, "one", Entry("a text", "a thing", make, data=("digits",)))
    return made


def test_what_is_there_is_not_made_again(calls, tmp_path):
    first = run_one("one", tmp_path)
    assert (first.state, [path.suffix for path in first.files]) == ("made", [".md", ".json"])
    assert run_one("one", tmp_path).state == "known"
    assert run_one("one", tmp_path).files == first.files
    assert len(calls) == 1
    assert run_one("one", tmp_path, again=True).state == "made"
    assert json.loads((tmp_path / "one.json").read_text())["found"] == 2


def test_a_small_run_does_not_stand_for_a_whole_one(calls, tmp_path):
    run_one("one", tmp_path, quick=True)
    assert known_files("one", tmp_path, quick=False) == ()
    assert run_one("one", tmp_path).state == "made"
    (tmp_path / "one.json").write_text('{"quick": fal')
    assert known_files("one", tmp_path, quick=False) == ()


def test_what_hangs_on_last_places_is_made_small_first_in_another_process(
    calls, monkeypatch, tmp_path
):
    entry = replace(REPRODUCTIONS["one"], is_rehearsed=True)
    monkeypatch.setitem(REPRODUCTIONS, "one", entry)
    rehearsed = []
    monkeypatch.setattr(running, "_rehearse", rehearsed.append)
    run_one("one", tmp_path / "small", quick=True)
    assert rehearsed == []
    run_one("one", tmp_path / "whole")
    run_one("one", tmp_path / "whole")
    assert rehearsed == ["one"]
    assert {name for name, one in REPRODUCTIONS.items() if one.is_rehearsed} - {"one"} == {
        "mbed-figure-2", "mbed-figure-3", "mbed-table-1", "mbed-table-2", "ssl-book",
    }  # fmt: skip


def test_a_run_takes_one_thread_and_leaves_no_journal(calls, tmp_path):
    run_one("one", tmp_path)
    assert calls == [1]
    assert list((tmp_path / JOURNALS).iterdir()) == []
    record = json.loads((tmp_path / "one.json").read_text())
    assert record["quick"] is False
    assert record["inputs"] == {}  # digits come with scikit-learn


def test_an_interrupted_run_leaves_its_journal_for_the_next(monkeypatch, tmp_path):
    seen = []

    def make(*, quick=False, journal=None):
        seen.append(journal.exists())
        journal.parent.mkdir(parents=True, exist_ok=True)
        journal.write_text("{}\n")
        if len(seen) == 1:
            raise KeyboardInterrupt
        return Reproduction(record={}, table="")

    monkeypatch.setitem(REPRODUCTIONS, "one", Entry("a text", "a thing", make))
    with pytest.raises(KeyboardInterrupt):
        run_one("one", tmp_path)
    assert not (tmp_path / "one.json").exists()
    run_one("one", tmp_path)
    assert seen == [False, True]


@pytest.mark.data
def test_input_files_are_named_by_their_hash(data_folder):
    hashes = input_hashes("mbed-table-2")
    assert set(hashes) >= {"lds_g50c.npz", "coil20.npz"}
    assert all(len(found) == 64 for found in hashes.values())
    assert str(data_folder) not in str(hashes)


def test_many_run_in_processes_and_a_missing_set_stops_nobody(monkeypatch, tmp_path):
    """Processes know the true registry only, so true entries are run."""
    monkeypatch.setenv("BELTRAMI_DATA", str(tmp_path))
    told = []
    ended = run_many(
        ["thesis-3.3", "mbed-figure-1"], tmp_path / "new", told.append, quick=True, jobs=2
    )
    assert [(outcome.name, outcome.state) for outcome in ended] == [
        ("thesis-3.3", "left out"),
        ("mbed-figure-1", "made"),
    ]
    assert "phoneme" in ended[0].message
    assert {file.name for file in ended[1].files} == {
        "mbed-figure-1.png",
        "mbed-figure-1.md",
        "mbed-figure-1.json",
    }
    begun = [one.name for one in told if isinstance(one, Running) and one.event is None]
    assert sorted(begun) == ["mbed-figure-1", "thesis-3.3"]
    assert {one.name for one in told if isinstance(one, Outcome)} == set(begun)


def test_a_failure_is_told_in_words(monkeypatch, tmp_path):
    import queue

    from beltrami_papers.running import _in_a_process

    def fails(*, quick=False, journal=None):
        with track("a step", total=1) as advance:
            advance(1)
        raise ZeroDivisionError("by nothing")

    def absent(*, quick=False, journal=None):
        raise DatasetUnavailableError("it is not here.")

    heard = queue.Queue()
    monkeypatch.setitem(REPRODUCTIONS, "fails", Entry("", "", fails))
    monkeypatch.setitem(REPRODUCTIONS, "absent", Entry("", "", absent))
    settings = {"quick": True, "again": False}
    ended = _in_a_process("fails", tmp_path, heard, settings)
    assert (ended.state, ended.message) == ("failed", "ZeroDivisionError: by nothing")
    assert heard.get() == Running("fails")
    assert heard.get().event.step == "a step"
    assert _in_a_process("absent", tmp_path, heard, settings).state == "left out"


def test_every_entry_says_what_it_shows_and_where_it_is_from():
    for name, entry in REPRODUCTIONS.items():
        assert entry.source, name
        assert entry.shows, name
        assert 0 < entry.minutes < 120, name
    assert {name for name, entry in REPRODUCTIONS.items() if not entry.in_all} == {
        "multi-manifold-full",
        "now-it-helps-full",
        "multi-manifold-real-full",
    }


def _entries():
    for name, entry in REPRODUCTIONS.items():
        if entry.in_all:
            yield pytest.param(name, marks=pytest.mark.slow if name in SLOW else ())


@pytest.mark.parametrize("name", list(_entries()))
def test_a_quick_run_leaves_its_files(name, quick_run, request, monkeypatch, tmp_path):
    if name in NEEDS_DATA:
        request.getfixturevalue("data_folder")
    found = quick_run(name)
    entry = replace(REPRODUCTIONS[name], make=lambda **_: found)
    monkeypatch.setitem(REPRODUCTIONS, name, entry)
    ended = run_one(name, tmp_path, quick=True)
    record = json.loads((tmp_path / f"{name}.json").read_text())
    assert set(record) >= ENTRIES
    assert record["name"] == name
    assert {path.suffix for path in ended.files} >= {".json", ".md"}
    page = (tmp_path / f"{name}.md").read_text()
    assert page.startswith(f"# {name}")
    assert str(Path.home()) not in page + json.dumps(record)
