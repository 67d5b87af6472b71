"""Measures beside the events: they come back, may be lost, and stand in the way of no label."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from beltrami.project import open_project
from beltrami.project.file import read_project
from beltrami.project.record import measures as module
from beltrami.project.record.measures import Measure, Measures
from beltrami.tables import TableOptions

PLAIN = Measure(3, 2, 5, 1, 0, 0.9)
JUDGED = replace(PLAIN, held_out=2, accuracy=0.5, low=0.01, high=0.99)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "data.csv").write_text("x,y,label\n0.3,1,a\n1.7,5,b\n2.2,3,\n0.9,2,\n")
    with opened(tmp_path / "data.csv"):
        pass
    return tmp_path / "data.beltrami"


def opened(source, **options):
    return closing(open_project(source, TableOptions(min_classes=0), user="ann", **options))


def all_of(path):
    return Measures(path, is_read_only=True).all()


def test_measures_come_back_and_leave_the_events_alone(path):
    before = read_project(path).events
    with opened(path) as project:
        assert project.measures.all() == []  # such as a project of an earlier version
        project.measures.keep(PLAIN)
        project.measures.keep(replace(PLAIN, event=1))
        project.label("ann", [2], "a", "key")
        assert [one.event for one in project.measures.all()] == [1, 3]
    assert all_of(path) == [replace(PLAIN, event=1), PLAIN]
    assert read_project(path).events[: len(before)] == before
    assert sorted(one.name for one in path.parent.iterdir()) == ["data.beltrami", "data.csv"]


def test_what_was_judged_stays_and_replaces_what_was_not(path):
    with opened(path) as project:
        for one in (PLAIN, JUDGED, PLAIN):
            project.measures.keep(one)
        assert project.measures.all() == [JUDGED]
    assert all_of(path) == [JUDGED]
    assert JUDGED.is_judged
    assert not PLAIN.is_judged


def test_a_table_that_was_deleted_is_made_again(path):
    with opened(path) as project:
        project.measures.keep(PLAIN)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE measures")
    assert all_of(path) == []
    with opened(path) as project:
        project.measures.keep(JUDGED)
    assert all_of(path) == [JUDGED]


@pytest.mark.parametrize(
    "facts",
    ["", "[]", "{}", "[" * 100_000, PLAIN.facts.replace("0.9", "7"), PLAIN.facts.replace("5", "-5"),
     PLAIN.facts.replace("0.9", "NaN"), PLAIN.facts.replace('"accuracy": null', '"accuracy": 1'),
     PLAIN.facts.replace("5", "true"), PLAIN.facts.replace("given", "taken"), None, b"\xff"],
    ids=["empty", "list", "nothing", "deep", "no share", "below 0", "nan", "no range", "no number",
         "another name", "none", "bytes"],
)  # fmt: skip
def test_a_measure_that_makes_no_sense_is_not_read(path, facts):
    with opened(path) as project:
        project.measures.keep(replace(PLAIN, event=2))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        stored = "x" if facts is None else facts
        connection.execute("INSERT INTO measures VALUES (7, ?)", (stored,))
        connection.commit()
    assert [one.event for one in all_of(path)] == [2]
    assert Measure.read(7, facts) is None
    assert Measure.read("7", PLAIN.facts) is None
    assert Measure.read(7, PLAIN.facts) == replace(PLAIN, event=7)


def test_after_a_full_disk_a_measure_comes_with_the_next_one_and_labels_go_on(path, monkeypatch):
    def fail(_):
        raise sqlite3.OperationalError("database or disk is full")

    with opened(path) as project:
        with monkeypatch.context() as patch:
            patch.setattr(module, "_connect", fail)
            project.measures.keep(PLAIN)
        project.label("ann", [2], "a", "key")
        assert project.measures.all() == all_of(path) == []  # nobody is told what may be lost
        project.measures.keep(replace(PLAIN, event=4))
        assert [one.event for one in project.measures.all()] == [PLAIN.event, 4]
    assert [one.event for one in all_of(path)] == [PLAIN.event, 4]


def test_a_measure_waits_for_nobody_who_writes(path):
    with opened(path) as project, closing(sqlite3.connect(path)) as other:
        other.isolation_level = None
        other.execute("BEGIN IMMEDIATE")
        project.measures.keep(PLAIN)
        other.execute("ROLLBACK")
        project.label("ann", [2], "a", "key")
    assert all_of(path) == []


def test_who_only_reads_keeps_none(path):
    with opened(path) as project:
        project.measures.keep(PLAIN)
    with opened(path, read_only=True) as watched:
        watched.measures.keep(JUDGED)
        assert watched.measures.all() == [PLAIN]
    with opened(path) as project:
        project.close()
        project.measures.keep(JUDGED)  # the learner may be a moment late
    assert all_of(path) == [PLAIN]
