"""Audits of a project: rounds come back whole, stay with their rows, and are never taken back."""

from contextlib import closing

import pytest
from tests.support.histories import history, labelled

from beltrami.core.errors import InvalidInputError
from beltrami.project import open_project
from beltrami.project.record.audit_events import AuditAnswered, AuditDrawn, RiskSet
from beltrami.project.record.audits import Audits
from beltrami.project.record.chronicle import Chronicle
from beltrami.project.record.events import Renamed, TakenBack
from beltrami.project.record.state import replay
from beltrami.tables import TableOptions

N = 200
SAID = {row: "ab"[row % 2] for row in range(8, N)}


def write(path, rows):
    lines = [f"r{i},{i % 7},{i / 10},{'ab'[i % 2] if i < 8 else ''}" for i in rows]
    path.write_text("\n".join(["id,x,y,label", *lines, ""]))
    return path


@pytest.fixture
def data(tmp_path):
    return write(tmp_path / "data.csv", range(N))


def opened(source):
    return closing(open_project(source, TableOptions(min_classes=0), user="ann"))


def answer_all(project, wrong=0):
    """Answer the open round by the truth, some of it otherwise."""
    for place, row in enumerate(project.state.audits.left):
        right = "ab"[row % 2]
        project.answer_audit("ann", row, {"a": "b", "b": "a"}[right] if place < wrong else right)


def after(*steps):
    """Return the audits that events amount to, whichever way."""
    events = history(*steps)
    fast = Chronicle()
    for one in events:
        fast.apply(one)
    assert fast.state == replay(events) == Chronicle(events).state
    return fast.state.audits


DRAWN = AuditDrawn(1, 9, (3, 1), ("a", "b"), "rest", None, 0, 1)
ROUND = [("ann", DRAWN), ("bob", AuditAnswered(1, 1, "a", 1)), ("bob", AuditAnswered(1, 3, "a", 1))]


def test_a_round_comes_back_when_its_last_row_has_an_answer():
    begun = after(*ROUND[:2])
    assert (begun.left, dict(begun.answers)) == ((3,), {1: "a"})
    assert begun.trail.rounds[0].answers is None
    done = after(*ROUND)
    assert done.trail.rounds[0].answers == ("a", "a")
    assert (done.left, done.trail.rounds[0].n_wrong) == ((), 1)


def test_a_further_draw_closes_an_open_round_with_blanks():
    audits = after(*ROUND[:2], ("ann", DRAWN))
    assert audits.trail.rounds[0].answers == (None, "a")
    assert audits.left == (3, 1)


def test_a_rename_goes_on_in_answers_and_no_round_is_of_the_labels_of_now():
    audits = after(*ROUND, ("ann", Renamed("a", "c")))
    (one,) = audits.trail.rounds
    assert (one.said, one.answers, one.rest) == (("c", "b"), ("c", "c"), "")
    steps = [("ann", labelled([0], "a")), ("ann", Renamed("a", "b")), *ROUND, ("ann", TakenBack(2))]
    (one,) = after(*steps).trail.rounds  # answered while both were one
    assert (one.said, one.rest) == (("a", "b"), "")
    assert one.answers == (None, None)  # who said "a" may have meant "b": it proves nothing


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (AuditAnswered(1, 1, "a", 1), "already"),
        (AuditAnswered(1, 2, "a", 1), "not drawn"),
        (AuditAnswered(2, 3, "a", 1), "no round"),
    ],
)
def test_an_answer_that_no_round_waits_for_is_refused(body, said):
    with pytest.raises(InvalidInputError, match=said):
        after(*ROUND[:2], ("ann", body))


def test_audits_and_risks_are_kept_and_cannot_be_taken_back(data):
    with opened(data) as project:
        project.set_risk("ann", 0.1)
        drawn = project.draw_audit("ann", SAID, 0.1, seed=4)
        answer_all(project, wrong=1)
        assert project.undo("ann") is None
        state = project.snapshot()
        assert state == replay(project.events)
        assert (drawn.body.risk, drawn.body.seed) == (0.1, 4)
    with opened(data) as again:
        assert again.state == state
        assert again.state.risk == 0.1
        proof = again.state.audits.trail.certificate(SAID)
    assert (proof.n_checked, proof.n_wrong, proof.n_accepted) == (65, 1, N - 8)


def test_an_open_round_is_answered_before_the_next_unless_labels_have_changed(data):
    with opened(data) as project:
        project.draw_audit("ann", SAID, None, 0)
        first = project.state.audits.open_rows
        with pytest.raises(InvalidInputError, match="65 of 65 rows of the open round"):
            project.draw_audit("ann", SAID, None, 1)
        project.draw_audit("ann", SAID | {next(iter(SAID.keys() - set(first))): "b2"}, None, 1)
        assert not set(first).intersection(project.state.audits.open_rows)
        assert [one.pool for one in project.state.audits.trail.rounds] == [1, 2]


def test_an_answer_is_a_class_of_the_project(data):
    with opened(data) as project:
        project.draw_audit("ann", SAID, None, 0)
        row = project.state.audits.left[0]
        with pytest.raises(InvalidInputError, match=r"no class 'A'; there are"):
            project.answer_audit("ann", row, "A")
        project.answer_audit("ann", row, None)
        assert row not in project.state.audits.left


def test_rounds_stay_with_their_rows_when_the_data_change(data):
    with opened(data) as project:
        project.draw_audit("ann", SAID, None, 0)
        answer_all(project)
        (before,) = project.state.audits.trail.rounds
    order = [row for row in reversed(range(N)) if row != before.rows[0]]
    write(data, order)
    with opened(data) as project:
        (now,) = project.state.audits.trail.rounds
        ids = project.data.ids.tolist()
        assert [ids[row] for row in now.rows[1:]] == [f"r{row}" for row in before.rows[1:]]
        assert now.rows[0] >= project.n_rows  # gone, and still counted
        assert now.answers == before.answers


@pytest.mark.parametrize(
    "change",
    [{"rows": ()}, {"rows": (3, 3)}, {"said": ("a",)}, {"n_pool": 1}, {"pool": 0}, {"risk": 2},
     {"seed": -1}, {"rest": None}, {"said": ("a", "")}, {"input": 0}],
    ids=str,
)  # fmt: skip
def test_a_draw_that_cannot_be_is_refused(change):
    told = {"pool": 1, "n_pool": 9, "rows": (3, 1), "said": ("a", "b"), "rest": "", "risk": None}
    with pytest.raises(InvalidInputError):
        AuditDrawn(**(told | {"seed": 0, "input": 1} | change))


@pytest.mark.parametrize("risk", [2, -0.1, "much", True, float("nan")])
def test_a_risk_is_a_share(risk):
    with pytest.raises(InvalidInputError, match="must be a number from 0 to 1"):
        RiskSet(risk)


def test_nothing_was_audited_at_first():
    assert Audits().left == ()
    with pytest.raises(InvalidInputError, match="no round"):
        Audits().answer(1, "a", ["a"], 1)


def test_a_class_that_an_audit_was_answered_by_is_not_removed(data):
    with opened(data) as project:
        project.add_class("ann", "c")
        project.draw_audit("ann", SAID, None, 0)
        project.answer_audit("ann", project.state.audits.left[0], "c")
        with pytest.raises(InvalidInputError, match="answered 'c' in an audit"):
            project.remove_class("ann", "c")
        answer_all(project)
        assert project.state.audits.trail.open_round is None
        with pytest.raises(InvalidInputError, match="answered 'c' in an audit"):
            project.remove_class("ann", "c")
