"""The studio's benchmarks at toy size, and that they would see what they look for."""

import pytest
from benchmarks.studio import kills, load

from beltrami.project.record.events import Event, Labelled, TakenBack, now

EVENTS = [
    Event(1, now(), "ann", Labelled((3, 4), ("a",), "api", (None,), 1)),
    Event(2, now(), "ann", TakenBack(1)),
]
ACKNOWLEDGED = kills.Acknowledged(1, "ann", "label", (3, 4), "a")
SAVED = load.Saved(1, "ann", 3, "a", 1.0)


def test_what_is_in_the_project_is_not_called_lost():
    assert ACKNOWLEDGED.is_in(EVENTS)
    assert kills.Acknowledged(2, "ann", "undo").is_in(EVENTS)
    assert load.Saved(2, "ann", -1, "", 1.0).is_in(EVENTS)
    one_row = [Event(1, now(), "ann", Labelled((3,), ("a",), "key", (None,), 1))]
    assert SAVED.is_in(one_row)


@pytest.mark.parametrize(
    "lost",
    [
        kills.Acknowledged(3, "ann", "label", (3, 4), "a"),
        kills.Acknowledged(2, "ann", "label", (3, 4), "a"),
        kills.Acknowledged(1, "ben", "label", (3, 4), "a"),
        kills.Acknowledged(1, "ann", "label", (3,), "a"),
        kills.Acknowledged(1, "ann", "label", (3, 4), "b"),
        kills.Acknowledged(1, "ann", "label", (3, 4), None),
        load.Saved(1, "ann", 5, "a", 1.0),
        load.Saved(1, "ann", -1, "", 1.0),
    ],
    ids=["never written", "number", "user", "rows", "label", "no label", "row", "not taken back"],
)
def test_what_is_missing_or_another_is_lost(lost):
    assert not lost.is_in(EVENTS)


def test_a_lost_event_and_a_file_that_stays_are_faults(tmp_path):
    kills.write_data(tmp_path / "data.csv")
    (tmp_path / "errors.txt").touch()
    trail = kills.Trail.of(tmp_path)
    assert kills.faults_of(trail) == []
    trail.acknowledged.append(ACKNOWLEDGED)
    (tmp_path / "data.beltrami-lock").touch()
    faults = kills.faults_of(trail)
    assert len(faults) == 1
    assert "1 acknowledged event(s) lost" in faults[0]
    trail.acknowledged.clear()
    (tmp_path / "left").touch()
    trail.source.write_bytes(trail.source.read_bytes().replace(b"r299", b"r300"))
    faults = kills.faults_of(trail)
    assert [one.split(":")[0] for one in faults] == [
        "the data were changed",
        "files after it was closed",
    ]


@pytest.mark.slow
def test_two_kills_lose_nothing(tmp_path):
    record = kills.kill_many(2, tmp_path)
    assert record["kills"] == 2
    assert record["violations"] == []
    assert "killed while people label" in kills.render(record)


@pytest.mark.slow
def test_three_people_at_once_lose_nothing(tmp_path):
    found = load.measure(600, 3, 3.0, 0.2, tmp_path)
    assert (found["lost"], found["served_to_two"], found["failures"]) == (0, 0, [])
    assert found["given"]["by_the_state"] == found["given"]["by_the_project"]
    assert found["saved"] > 3
