"""The past through the server: events, the curve, moments that are looked at and returned to."""

import pytest
from tests.support.histories import AT, event, labelled
from tests.support.studio_client import Client
from tests.unit.studio_server.test_auditing import TABLE, answer_round, write_moons

from beltrami.labelling.options import LearningOptions
from beltrami.project.record.audit_events import AuditAnswered, AuditDrawn, RiskSet
from beltrami.project.record.events import (
    ClassAdded,
    InputSeen,
    Kept,
    Marked,
    Renamed,
    Returned,
    RolesChanged,
    TakenBack,
)
from beltrami.project.record.measures import Measure
from beltrami.project.record.state import ClassSlot, Given, State
from beltrami.studio_server.event_words import say_event, say_why
from beltrami.studio_server.handle import Studio

pytestmark = pytest.mark.usefixtures("few_trees")

FRAME_HEAD = 32


@pytest.fixture
def studio(tmp_path):
    path, truth = write_moons(tmp_path / "moons.csv")
    with Studio.open(path, TABLE, LearningOptions()) as opened:
        client = Client(opened.url)
        client.settled()
        yield client, truth, opened._desk


def say(client, row, label, how="key"):
    """Label a row; return the number of the event."""
    return client.ask("/api/labels", {"rows": [row], "label": label, "how": how})["saved"]


def answers(client):
    """Return the answers of all rows as a fresh fit gives them, without what counts changes."""
    client.audit()
    return client.ask("/api/answers")[FRAME_HEAD:]


def test_events_are_listed_newest_first_with_who_how_and_what(studio):
    client, _, _ = studio
    say(client, 5, "moon 1")
    client.ask("/api/marks", {"rows": [7], "mark": "unsure"})
    client.ask("/api/undo", {})
    told = client.ask("/api/history")
    assert (told["count"], told["last"], told["users"]) == (6, 6, ["me"])
    assert [one["number"] for one in told["events"]] == [6, 5, 4, 3, 2, 1]
    undo, mark, label, file, *_ = told["events"]
    assert (undo["kind"], undo["words"], undo["row"]) == ("undo", "took back event 5", None)
    assert (mark["fate"], mark["words"]) == ("taken back", "said of row 7 that nobody can tell")
    assert (label["user"], label["how"], label["words"]) == (
        "me",
        "key",
        "called row 5 “moon 1”",
    )
    assert label["fate"] is None
    assert label["content"].startswith("x: ")
    assert (file["user"], file["words"]) == ("file", "brought labels of 20 rows")


def test_many_events_come_in_pages_and_may_be_of_one_person(studio):
    client, _, desk = studio
    for row in range(130):
        desk.project.mark("bob" if row % 2 else "me", [row], "skip")
    first, second = client.ask("/api/history"), client.ask("/api/history?from=100")
    numbers = [one["number"] for page in (first, second) for one in page["events"]]
    assert numbers == list(range(133, 0, -1))
    bobs = client.ask("/api/history?user=bob")
    assert bobs["count"] == 65
    assert {one["user"] for one in bobs["events"]} == {"bob"}
    assert client.ask("/api/history?user=nobody")["events"] == []
    assert client.ask("/api/history?from=500")["events"] == []


def test_the_curve_has_what_was_measured_with_its_range(studio):
    client, _, desk = studio
    say(client, 5, "moon 1")
    client.settled()
    client.audit()
    told = client.ask("/api/history/curve")
    point, report = told["points"][-1], desk.learning.beliefs.report
    assert (point["event"], point["given"], point["accepted"], point["way"]) == (4, 21, 219, True)
    assert point["accuracy"] == report.held_out_accuracy
    assert (point["low"], point["high"]) == report.bounds
    assert point["held_out"] == report.n_held_out > 0
    assert told["points"][0]["given"] == 20
    kept = desk.project.measures.all()
    assert [one.event for one in kept] == [one["event"] for one in told["points"]]


def test_a_moment_is_shown_as_it_was_and_nothing_is_changed(studio):
    client, _, desk = studio
    say(client, 5, "moon 1")
    moment = say(client, 9, "moon 0")
    then = answers(client)
    say(client, 30, "a third")
    client.ask("/api/classes", {"rename": "moon 0", "to": "left"})
    now, n_events = answers(client), len(desk.project.events)
    assert client.ask(f"/api/history/map?event={moment}")[FRAME_HEAD:] == then
    assert len(client.ask(f"/api/history/map?event={moment}&quick=1")) == FRAME_HEAD + len(then)
    told = client.ask(f"/api/history/moment?event={moment}")
    assert (told["given"], told["last"], told["same"]) == (22, n_events, False)
    assert [one["name"] for one in told["classes"]] == ["moon 0", "moon 1"]
    assert sum(one["given"] for one in told["classes"]) == 22
    assert told["changes"]["gone"] == 1
    assert told["changes"]["other"] == sum(
        one.label == "left" for one in desk.project.state.labels.values()
    )
    assert answers(client) == now
    assert len(desk.project.events) == n_events


def test_a_moment_of_less_than_two_classes_is_its_labels(studio):
    client, _, desk = studio
    frame = client.ask("/api/history/map?event=2")[FRAME_HEAD:]
    assert set(frame[3 * desk.project.n_rows :]) == {3}  # reached by no label
    assert client.ask("/api/history/moment?event=2")["given"] == 0
    assert desk.learning.has_learned


def test_a_label_that_comes_while_a_moment_is_learned_goes_first(studio, monkeypatch):
    client, truth, desk = studio
    learner, came = desk.learning.learner, []
    fit = type(learner).fit_labels

    def fit_while_somebody_labels(self, *arguments):
        if not came:
            came.append(desk.label("me", [9], truth[9], "key"))
        return fit(self, *arguments)

    monkeypatch.setattr(type(learner), "fit_labels", fit_while_somebody_labels)
    client.ask("/api/history/map?event=3")
    assert desk.learning.answers.version >= came[0].number
    assert len(learner._given.values) == 21


def test_one_returns_and_comes_forth_again_with_the_same_answers(studio):
    client, _, desk = studio
    first = say(client, 5, "moon 1")
    then = answers(client)
    second = say(client, 9, "moon 0")
    later = answers(client)
    saved = client.ask("/api/history/return", {"event": first})
    assert (saved["saved"], saved["given"]) == (second + 1, 21)
    assert answers(client) == then
    newest = client.ask("/api/history")["events"]
    assert newest[0]["words"] == f"returned to the moment after event {first}"
    assert newest[1]["fate"] == "returned from"
    assert not client.ask("/api/history/curve")["points"][-2]["way"]
    client.ask("/api/history/return", {"event": second})
    assert answers(client) == later
    assert client.ask("/api/history")["events"][2]["fate"] is None
    assert 9 in desk.project.state.labels


@pytest.mark.parametrize(
    "body",
    [{}, {"event": None}, {"event": "3"}, {"event": 0}, {"event": -1}, {"event": 99},
     {"event": 1.5}, {"event": True}, {"event": 10**30}, []],
    ids=str,
)  # fmt: skip
def test_a_return_that_makes_no_sense_is_refused_in_words(studio, body):
    client, _, desk = studio
    status, words = client.refused("/api/history/return", body)
    assert status == 400
    assert words
    assert len(desk.project.events) == 3


def test_a_return_to_now_is_refused(studio):
    client, _, _ = studio
    assert "nothing to return from" in client.refused("/api/history/return", {"event": 3})[1]


@pytest.mark.parametrize(
    "path",
    ["moment", "moment?event=0", "moment?event=4", "moment?event=x", "map", "map?event=4",
     "map?event=-1", "map?event=", "map?event=1e3", "moment?event=99999999999999"],
)  # fmt: skip
def test_a_moment_that_was_not_is_refused_in_words(studio, path):
    client, _, _ = studio
    status, words = client.refused(f"/api/history/{path}")
    assert status == 400
    assert words.startswith("event must be a whole number from 1 to 3")


def test_nothing_is_told_of_an_open_round_but_how_many_were_answered(studio):
    """Whatever is answered, the history says the same until the round is complete."""
    client, truth, desk = studio
    desk.auditing.draw_seed = lambda: 7
    client.ask("/api/audit/draw", {})
    (one,) = desk.project.state.audits.trail.rounds
    row = client.ask("/api/audit/card")["card"]["row"]
    client.ask("/api/audit/answer", {"row": row, "answer": truth[row]})
    row = client.ask("/api/audit/card")["card"]["row"]
    client.ask("/api/audit/answer", {"row": row, "answer": None})
    told = client.ask("/api/history")["events"][:3]
    assert [one["words"] for one in told] == [
        "answered a row of the open round",
        "answered a row of the open round",
        "drew 65 rows to be checked blindly, round 1",
    ]
    assert all(one["row"] is None and one["content"] is None for one in told)
    assert client.ask("/api/history/curve")["audits"] == []
    answer_round(client, truth)
    told = client.ask("/api/history")["events"]
    assert told[63]["words"] == f"said in the audit that row {row} cannot be told"
    (proof,) = client.ask("/api/history/curve")["audits"]
    shown = client.audit()["certificate"]
    assert proof["lower"] == shown["lower"]
    assert (proof["n_checked"], proof["n_blank"], proof["n_pool"]) == (65, 1, 220)
    assert "of the 220 labels that it was drawn from were right" in proof["words"]
    assert one.answers is None


def test_what_was_proved_then_stays_while_a_return_makes_the_certificate_stale(studio):
    client, truth, desk = studio
    say(client, 5, truth[5])
    client.ask("/api/audit/draw", {})
    answer_round(client, truth)
    proved = client.audit()["certificate"]["lower"]
    client.ask("/api/history/return", {"event": 2})
    told = client.audit()
    assert told["certificate"] is None
    assert told["stale"]
    (proof,) = client.ask("/api/history/curve")["audits"]
    assert (proof["lower"], proof["given"]) == (proved, 21)
    assert len(desk.project.state.audits.trail.rounds) == 1
    client.ask("/api/history/return", {"event": proof["event"]})
    assert client.audit()["certificate"]["lower"] == proved  # the same labels again
    client.ask("/api/classes", {"rename": "moon 0", "to": "left"})
    client.ask("/api/history/return", {"event": proof["event"]})
    assert client.audit()["certificate"] is None


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (labelled([1, 2], "x", how="area"), "called 2 rows “x”"),
        (labelled([1, 2], "x", "y"), "gave 2 rows labels of 2 classes"),
        (labelled([1], None), "took the label of row r1 away"),
        (Marked((1,), "skip", 1), "passed over row r1"),
        (Kept((), "spelling", "x | X", 1), "looked at a doubt and kept “x | X”"),
        (Kept((1,), "label", "x", 1), "looked at a doubt of row r1 and kept “x”"),
        (ClassAdded("x"), "added the class “x”"),
        (Renamed("x", "y"), "gave “x” the name “y”"),
        (TakenBack(1200), "took back event 1,200"),
        (Returned(4), "returned to the moment after event 4"),
        (RolesChanged({}), "said how the table is to be read"),
        (InputSeen(1, None), "opened the data"),
        (InputSeen(3, "b.csv"), "opened the data, version 3"),
        (
            AuditDrawn(1, 9, (3, 1), ("a", "b"), "", None, 0, 1),
            "drew 2 rows to be checked blindly, round 2",
        ),
        (AuditAnswered(1, 1, "a", 1), "said in the audit that row r1 is “a”"),
        (RiskSet(None), "let every answer be accepted"),
        (RiskSet(0.05), "let at most 5 % of the accepted labels be wrong"),
    ],
    ids=str,
)
def test_an_event_is_said_in_words(body, words):
    one = event(5, body)
    name = "r1" if len(one.rows) == 1 or isinstance(body, AuditAnswered) else None
    assert say_event(one, name, 2) == words


def state_of(labels, how="key", number=1):
    """Return a state with labels by row; classes in the order of their letters."""
    names = sorted(set(labels.values()))
    given = {row: Given(name, "ann", how, AT, number) for row, name in labels.items()}
    return State(labels=given, classes=[ClassSlot(name) for name in names])


BEFORE = Measure(4, 4, 9, 0, 0, 0.9, 4, 1.0, 0.9, 1.0)
AFTER = Measure(9, 6, 9, 0, 0, 0.9, 6, 0.6, 0.5, 0.7)
FOUR = {0: "a", 1: "a", 2: "b", 3: "b"}


def test_why_it_fell_is_what_happened_and_no_more():
    then = state_of(FOUR)
    words = say_why(BEFORE, AFTER, then, state_of(FOUR | {4: "c", 5: "a"}), [])
    assert words.startswith("'c' got its first labels")
    assert "2 of 2 new labels answer questions" in words
    assert "chance" not in words
    words = say_why(BEFORE, AFTER, then, state_of(FOUR | {4: "a"}, how="area"), [])
    assert words == "Nothing that happened in between says why."
    other = state_of({0: "b", 1: "a", 2: "b"}, number=2)
    words = say_why(BEFORE, AFTER, then, other, [event(5, RolesChanged({}))])
    assert words == "1 label changed; 1 label went away; rows are compared by other columns since."


def test_a_rename_is_no_label_that_changed_and_ranges_that_overlap_may_be_chance():
    then = state_of(FOUR)
    renamed = state_of({0: "z", 1: "z", 2: "b", 3: "b"})
    renamed.classes = [ClassSlot("z"), ClassSlot("b")]
    wide = Measure(9, 6, 9, 0, 0, 0.9, 6, 0.8, 0.5, 0.95)
    words = say_why(BEFORE, wide, then, renamed, [])
    assert words == (
        "Nothing that happened in between says why. The ranges overlap: chance alone may be why."
    )


def test_a_fall_is_told_once_the_labels_are_judged(studio):
    client, truth, _ = studio
    client.audit()
    other = {"moon 0": "moon 1", "moon 1": "moon 0"}
    for row in range(1, 12):
        say(client, row, other[truth[row]])
    client.settled()
    client.audit()
    (fall,) = client.ask("/api/history/curve")["falls"]
    assert fall["from"] > fall["to"]
    assert (fall["since"], fall["event"]) == (3, 14)
    assert "11 of 11 new labels answer questions" in fall["words"]
