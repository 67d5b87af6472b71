"""The journal of single results: a run that was stopped or killed goes on, and loses nothing."""

import json

import pytest

from beltrami_papers.journal import Journal

LINE = json.dumps({"key": "b", "error": 1.5})


def test_a_journal_goes_on_where_it_stopped(tmp_path):
    path, calls = tmp_path / "new" / "journal.jsonl", []

    def compute():
        calls.append(1)
        return {"error": 0.5}

    assert Journal.at(path).result("a", compute) == {"error": 0.5}
    assert Journal.at(path).result("a", compute) == {"error": 0.5}
    assert len(calls) == 1


@pytest.mark.parametrize("cut", range(1, len(LINE)))
def test_what_follows_a_line_cut_short_by_a_kill_is_kept(tmp_path, cut):
    path = tmp_path / "journal.jsonl"
    Journal.at(path).result("a", lambda: {"error": 0.5})
    with path.open("a") as file:
        file.write(LINE[:cut])
    Journal.at(path).result("c", lambda: {"error": 2.5})
    Journal.at(path).result("d", lambda: {"error": 3.5})
    assert Journal.at(path).known == {
        "a": {"error": 0.5},
        "c": {"error": 2.5},
        "d": {"error": 3.5},
    }


def test_a_line_that_lacks_only_its_end_counts(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text(LINE)
    Journal.at(path).result("c", lambda: {"error": 2.5})
    assert list(Journal.at(path).known) == ["b", "c"]


def test_without_a_file_results_are_kept_in_memory():
    journal = Journal.at(None)
    assert journal.result("a", lambda: {"error": 0.5}) == journal.known["a"] == {"error": 0.5}


def test_results_of_many_trials_are_computed_once_each(tmp_path):
    class Trial(str):
        key = property(str)

    path, trials = tmp_path / "journal.jsonl", [Trial("a"), Trial("b")]
    Journal.at(path).result("a", lambda: {"error": 0.5})
    results = Journal.at(path).results("a step", trials, lambda one: {"error": float(one == "b")})
    assert results == {"a": {"error": 0.5}, "b": {"error": 1.0}}
