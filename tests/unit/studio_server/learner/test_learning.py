"""The learner's thread: what it shows rests on what it learned, whatever comes in between."""

import socket
import time

import numpy as np
import pytest
from tests.support.patience import PATIENCE_S, wait_until

import beltrami as bt
from beltrami.core.errors import BeltramiError
from beltrami.labelling.main_job import make_learner
from beltrami.labelling.options import LearningOptions
from beltrami.project import open_project
from beltrami.studio_server.desk import Desk
from beltrami.studio_server.handle import Studio
from beltrami.tables import TableOptions

OPTIONS = LearningOptions("poisson", n_questions=0)


class Deaf:
    """Nobody listens."""

    def tell_progress(self, message):
        pass

    say = send_places = send_answers = tell_progress

    def tell_state(self):
        pass


def write_rows(path, labels):
    rng = np.random.default_rng(0)
    lines = ["a,b,c,kind"]
    lines += [",".join(map(str, [*rng.normal(size=3).round(4), one])) for one in labels]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def open_desk(tmp_path):
    desks = []

    def open_one(labels):
        path = write_rows(tmp_path / "rows.csv", labels)
        project = open_project(path, TableOptions(label="kind", min_classes=0))
        desks.append(Desk(project, Deaf(), ("ann",), OPTIONS))
        desks[-1].open()
        wait_for(desks[-1])
        return desks[-1]

    yield open_one
    for one in desks:
        one.close()


def wait_for(desk):
    def is_up_to_date():
        learning = desk.learning
        assert learning.phase != "failed", learning.failure
        return learning.phase == "ready" and learning.answers.version == desk.project.state.number

    wait_until(is_up_to_date)


def by_command(desk, path):
    """Return the bytes that the command writes for the labels of a desk."""
    from beltrami.labelling.main_job import conclude

    intake = open_project(desk.project.path, TableOptions(min_classes=0), read_only=True).intake
    learner = make_learner(intake, OPTIONS)
    learner.fit(intake.points, intake.labels, sample_weight=intake.weights)
    return conclude(intake, learner, OPTIONS).write(path).read_bytes()


def two_classes(n=60):
    return ["pq"[row % 2] if row < 10 else "" for row in range(n)]


def test_a_label_that_is_saved_while_the_result_is_made_is_learned_after_it(
    open_desk, monkeypatch, tmp_path
):
    desk = open_desk(two_classes())
    desk.label("ann", [20], "p", "key")
    wait_for(desk)
    settle = desk.learning.learner.settle

    def settle_while_somebody_labels():
        settle()
        monkeypatch.undo()
        desk.label("ann", [21], "a third", "key")

    monkeypatch.setattr(desk.learning.learner, "settle", settle_while_somebody_labels)
    first = desk.export().result(PATIENCE_S)
    assert "a third" not in first.read_text()
    wait_for(desk)
    assert "a third" in desk.learning.learner.classes_
    second = desk.export().result(PATIENCE_S)
    assert second.read_bytes() == by_command(desk, tmp_path / "theirs.csv")


def test_where_labels_never_cease_a_question_and_a_result_come_nevertheless(open_desk, monkeypatch):
    desk = open_desk(two_classes(80))
    learning, coming, left_at_question = desk.learning, iter(range(30, 70)), []
    catch_up, choose = learning._catch_up, learning._choose_questions

    def count_left():
        return 70 - max([29, *desk.project.state.labels]) - 1

    def catch_up_while_somebody_labels():
        catch_up()
        if (row := next(coming, None)) is not None:
            desk.label("ann", [row], "p", "key")

    def choose_and_count():
        left_at_question.append(count_left())
        choose()

    monkeypatch.setattr(learning, "_catch_up", catch_up_while_somebody_labels)
    monkeypatch.setattr(learning, "_choose_questions", choose_and_count)
    desk.label("ann", [20], "p", "key")
    learning.want_questions()
    assert learning.do(count_left).result(PATIENCE_S) > 30
    while count_left():
        time.sleep(0.02)
    wait_for(desk)
    assert left_at_question[0] > 30


def test_a_class_that_is_renamed_while_all_is_judged_ends_nothing(open_desk, monkeypatch):
    desk = open_desk(two_classes())
    desk.label("ann", [20], "p", "key")
    wait_for(desk)
    settle = desk.learning.learner.settle

    def settle_while_somebody_renames():
        settle()
        monkeypatch.undo()
        desk.rename_class("ann", "p", "renamed", merge=False)

    monkeypatch.setattr(desk.learning.learner, "settle", settle_while_somebody_renames)
    desk.learning.do(desk.learning.settle).result(PATIENCE_S)
    wait_for(desk)
    assert set(desk.learning.beliefs.classes) == {"renamed", "q"}


def test_roles_may_change_again_while_the_rows_are_joined(open_desk):
    desk = open_desk(two_classes())
    desk.change_roles("ann", {"ignore": ("a",)})
    desk.change_roles("ann", {"ignore": ("b",)})
    time.sleep(0.1)
    wait_for(desk)
    assert desk.learning.learner.n_features_in_ == 2
    assert desk.export().result(PATIENCE_S).exists()


def test_with_many_classes_the_result_is_that_of_the_command(open_desk, tmp_path):
    labels = [f"class {row % 20:02}" if row < 60 else "" for row in range(300)]
    desk = open_desk(labels)
    desk.label("ann", [100, 101], "class 20", "area")
    wait_for(desk)
    assert desk.export().result(PATIENCE_S).read_bytes() == by_command(desk, tmp_path / "one.csv")
    for number in range(8, 21):
        desk.rename_class("ann", f"class {number:02}", "class 00", merge=True)
    wait_for(desk)
    assert desk.export().result(PATIENCE_S).read_bytes() == by_command(desk, tmp_path / "two.csv")
    assert desk.learning.phase == "ready"


def test_the_thread_rests_where_there_is_nothing_to_judge(open_desk):
    desk = open_desk(["p", "q", *[""] * 40])
    desk.label("ann", [5], "p", "key")
    wait_for(desk)
    desk.label("ann", [1, 5], None, "key")
    wait_for(desk)
    turns = []
    take_turn = desk.learning._take_turn
    desk.learning._take_turn = lambda: turns.append(1) or take_turn()
    desk.learning.wake()
    time.sleep(3.0)
    assert len(turns) < 20


def test_a_trial_teaches_nothing(open_desk):
    desk = open_desk(two_classes())
    before = len(desk.learning.learner._judgements)
    assert desk.count_changes(list(range(30, 60)), "p").result(PATIENCE_S) >= 0
    assert len(desk.learning.learner._judgements) == before
    assert len(desk.learning.learner._given.values) == 10


def test_where_learning_has_failed_labels_are_saved_and_handed_out(tmp_path):
    path = write_rows(tmp_path / "rows.csv", two_classes())

    def fail(_):
        raise BeltramiError("no learner today")

    table = TableOptions(label="kind", min_classes=0)
    with Studio.open(path, table, OPTIONS, make=fail) as studio:
        desk = studio._desk
        wait_until(lambda: desk.learning.phase == "failed")
        assert desk.learning.failure == "no learner today"
        desk.label("ann", [20], "p", "key")
        assert studio.labels[20] == "p"
        with pytest.raises(BeltramiError, match="no learner today"):
            desk.export().result(5)
        assert desk.export_bare().read_text().count("human") == 11


class Fussy:
    """Makes learners that cannot learn from some number of columns, or from labels."""

    def __init__(self, error, *, fails_late=False):
        self.error, self.fails_late, self.is_fussy = error, fails_late, False

    def __call__(self, intake):
        learner = make_learner(intake, OPTIONS)
        if self.is_fussy:
            self.is_fussy = False
            setattr(learner, "fit_labels" if self.fails_late else "start", self.fail)
        return learner

    def fail(self, *_):
        raise self.error


@pytest.mark.parametrize("fails_late", [False, True], ids=["at once", "when it learns"])
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (BeltramiError("two pieces are too few."), "two pieces are too few)"),
        (MemoryError(), "full"),
    ],
    ids=["words", "memory"],
)
def test_roles_that_cannot_be_learned_leave_the_learner_before_at_work(
    tmp_path, error, words, fails_late
):
    path = write_rows(tmp_path / "rows.csv", two_classes())
    project = open_project(path, TableOptions(label="kind", min_classes=0))
    make = Fussy(error, fails_late=fails_late)
    desk = Desk(project, Deaf(), ("ann",), OPTIONS, make=make)
    try:
        desk.open()
        wait_for(desk)
        before, make.is_fussy = desk.learning.learner, True
        desk.change_roles("ann", {"ignore": ("a",)})
        wait_until(lambda: any("cannot be compared" in one for one in desk.words))
        (said,) = [one for one in desk.words if "cannot be compared" in one]
        assert words in said
        assert "taken as before" in said
        assert project.options.ignore == ()
        desk.label("ann", [20], "p", "key")
        wait_for(desk)
        assert desk.learning.learner is before
        assert desk.learning.answers.n_given == 11
        assert desk.export().result(PATIENCE_S).read_bytes() == by_command(
            desk, tmp_path / "one.csv"
        )
        desk.change_roles("ann", {"ignore": ("b",)})  # and others can be chosen
        time.sleep(0.1)
        wait_for(desk)
        assert desk.learning.learner.n_features_in_ == 2
    finally:
        desk.close()


def test_a_port_that_is_taken_leaves_no_lock(tmp_path):
    path = write_rows(tmp_path / "rows.csv", two_classes())
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(BeltramiError, match="port"):
            bt.studio(path, "kind", port=taken.getsockname()[1])
    bt.studio(path, "kind").stop()
