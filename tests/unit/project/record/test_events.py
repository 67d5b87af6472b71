"""Events are checked when they are made and when they are read."""

import json

import pytest
from tests.support.histories import AT, event

from beltrami.core.errors import InvalidInputError
from beltrami.project.record.audit_events import AuditAnswered, AuditDrawn, RiskSet
from beltrami.project.record.checks import check_name
from beltrami.project.record.events import (
    ClassAdded,
    Event,
    InputSeen,
    Kept,
    Labelled,
    Marked,
    Renamed,
    RolesChanged,
    TakenBack,
    now,
)

BODIES = [
    Labelled((3, 1), ("x", None), "key", ("y",), 1),
    Labelled((), ("x",), "file", (None,), 2),
    Labelled((0,), ("x",), "import", (None,), 1),
    Marked((4,), "skip", 1),
    Kept((4, 9), "twins", "a | b", 1),
    Kept((), "spelling", "a | A", 1),
    ClassAdded("Käse"),
    Renamed("a", "b"),
    TakenBack(7),
    RolesChanged({"label": "kind", "ignore": ["a"]}),
    InputSeen(1, "data.csv"),
    InputSeen(2, None),
    AuditDrawn(1, 9, (3, 1), ("x", "y"), "0a", 0.05, 7, 1),
    AuditAnswered(2, 3, None, 1),
    RiskSet(None),
]


@pytest.mark.parametrize("body", BODIES, ids=lambda one: type(one).__name__)
def test_an_event_comes_back_from_its_text(body):
    one = event(5, body)
    again = Event.read(one.number, one.at, one.user, one.kind, one.text)
    if isinstance(body, RolesChanged):
        assert again.body.options == body.options
    else:
        assert again == one


def test_the_text_is_json_without_surprises():
    assert json.loads(event(1, BODIES[0]).text) == {
        "rows": [3, 1],
        "labels": ["x", None],
        "how": "key",
        "old": ["y"],
        "input": 1,
    }


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("dance", "{}", "no events of kind 'dance'"),
        ("class", "{", "no JSON"),
        ("class", "[" * 100_000, "no JSON"),
        ("class", "[]", "a class has name, and this one list"),
        ("class", "{}", "a class has name"),
        ("class", '{"name":"x","extra":1}', "extra, name"),
        ("class", '{"name":3}', "is a text"),
        ("undo", '{"event":true}', "not True"),
        ("undo", '{"event":0}', "not 0"),
        ("mark", '{"rows":[1.5],"mark":"skip","input":1}', "whole numbers"),
        ("mark", '{"rows":[true],"mark":"skip","input":1}', "whole numbers"),
        ("mark", '{"rows":"12","mark":"skip","input":1}', "whole numbers"),
        ("mark", '{"rows":[-1],"mark":"skip","input":1}', "below it"),
        ("mark", '{"rows":[1,2,1],"mark":"skip","input":1}', "more than once: 1"),
        ("mark", '{"rows":[1],"mark":"wink","input":1}', "must be one of skip, unsure"),
        ("kept", '{"rows":[1],"about":"taste","value":"a","input":1}', "about='taste' must be"),
        ("kept", '{"rows":[1],"about":"label","value":null,"input":1}', "is a text"),
        ("kept", '{"rows":[1,1],"about":"label","value":"a","input":1}', "more than once"),
        ("kept", '{"rows":[1],"about":"label","value":"%s","input":1}' % ("a" * 2001), "may have"),
        ("label", '{"rows":[1],"labels":["x"],"how":"guess","old":[null],"input":1}', "how="),
        ("label", '{"rows":[1,2,3],"labels":["x","y"],"how":"key","old":[null],"input":1}', "2 l"),
        ("label", '{"rows":[1],"labels":[""],"how":"key","old":[null],"input":1}', "empty"),
        ("label", '{"rows":[1],"labels":["x"],"how":"key","old":[null],"input":0}', "input"),
        ("rename", '{"name":"x","to":"x"}', "called so already"),
        ("roles", '{"options":[]}', "names and values"),
        ("input", '{"input":1,"source":""}', "place of the data"),
    ],
    ids=str,
)
def test_what_was_not_written_by_us_is_refused_in_words(kind, text, said):
    with pytest.raises(InvalidInputError, match=said):
        Event.read(1, AT, "ann", kind, text)


@pytest.mark.parametrize("at", ["", "yesterday", "2026-01-02", "2026-01-02T03:04:05+01:00", 3])
def test_times_are_in_utc(at):
    with pytest.raises(InvalidInputError, match="no time in UTC"):
        Event(1, at, "ann", TakenBack(1))


def test_the_present_is_a_time_to_the_microsecond():
    assert len(now()) == len("2026-01-02T03:04:05.678901+00:00")
    Event(1, now(), "ann", TakenBack(1))


@pytest.mark.parametrize(
    "name",
    ["", "  ", "a\nb", "a\tb", "\x1b[31m", "a\u202eb", "\ud800", "x" * 201, None, 3],
    ids=repr,
)
def test_names_that_nobody_can_read_are_refused(name):
    with pytest.raises(InvalidInputError, match="name"):
        check_name(name, "class")


@pytest.mark.parametrize("name", ["x", "a b", "Käse", "日本", "-1", "=x", "<b>", "x" * 200])
def test_other_names_are_kept_as_they_are(name):
    assert check_name(name, "class") == name
