"""One result: state, replay, a learner that was taught live, and the command give the same."""

import random
import subprocess
import sys
import warnings
from contextlib import closing

import numpy as np
import pytest

from beltrami.core.errors import BeltramiWarning
from beltrami.labelling.main_job import conclude, label_rows, make_learner
from beltrami.labelling.options import LearningOptions
from beltrami.project import open_project
from beltrami.project.file import read_project
from beltrami.project.record.events import Labelled
from beltrami.project.record.state import replay, weight_of
from beltrami.tables import TableOptions

pytestmark = pytest.mark.usefixtures("few_trees")

N = 90
CLASSES = ("a", "b", "c")


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(3)
    points = rng.normal(size=(N, 3)) + 3 * np.eye(3)[np.arange(N) % 3]
    lines = [
        f"r{i},{','.join(f'{one:.4f}' for one in points[i])},{CLASSES[i % 3] if i < 9 else ''}"
        for i in range(N)
    ]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["id,x,y,z,label", *lines, ""]))
    return path


def do_something(project, chance):
    """Let one of two people do something."""
    user, row, what = chance.choice(("ann", "bob")), chance.randrange(N), chance.random()
    names = project.state.class_names
    if what < 0.5:
        truth = CLASSES[row % 3]
        return project.label(
            user, [row], truth if truth in names else names[row % len(names)], "key"
        )
    if what < 0.6:
        area = [one for one in range(row, min(row + 9, N)) if one % 3 == row % 3]
        return project.label(user, area, chance.choice(names), "area")
    if what < 0.65:
        return project.label(user, [row], None, "click")
    if what < 0.7:
        return project.mark(user, [row], chance.choice(("skip", "unsure")))
    if what < 0.73 and len(names) > 2:
        return project.rename_class(user, names[0], names[1], merge=True)
    if what < 0.76:
        return project.rename_class(user, names[-1], f"class {len(project.events)}")
    return project.undo(user)


class Live:
    """A learner that hears of every change, as that of the studio does."""

    def __init__(self, project, options):
        self._learner = make_learner(project.data, options).start(project.data.points)
        self._taught = {}

    def hear(self, state):
        wanted = {row: (one.label, weight_of(one.how)) for row, one in state.labels.items()}
        rows = [row for row in {*wanted, *self._taught} if wanted.get(row) != self._taught.get(row)]
        told = [wanted.get(row, (None, 1.0)) for row in rows]
        if rows:
            self._learner.update(rows, [one[0] for one in told], [one[1] for one in told])
        self._taught = wanted

    def settled(self):
        return self._learner.settle()


def test_five_hundred_events_give_the_same_bytes_whichever_way(data, shell):
    chance, options = random.Random(1), LearningOptions(n_questions=5)
    project = open_project(data, TableOptions(min_classes=0), user="ann")
    with closing(project), warnings.catch_warnings():
        warnings.simplefilter("ignore", BeltramiWarning)
        live = Live(project, options)
        while len(project.events) < 500:
            do_something(project, chance)
            if len(project.events) % 120 == 0:
                live.hear(project.state)
        live.hear(project.state)
        export = conclude(project.intake, live.settled(), options).write(data.with_name("live.csv"))
        fresh = label_rows(project.intake, options).write(data.with_name("fresh.csv"))
        state = project.snapshot()
    assert state == replay(read_project(project.path).events)
    assert sum(event.kind == "undo" for event in project.events) > 80
    assert any(event.kind == "rename" for event in project.events)
    shell("label", "--project", "data.beltrami", "-o", "command.csv", "--ask", "5")
    for path in (fresh, data.with_name("command.csv")):
        assert path.read_bytes() == export.read_bytes()
        facts = path.with_name(f"{path.name}.meta.json").read_bytes()
        assert facts == export.with_name("live.csv.meta.json").read_bytes()
    columns = export.read_text().splitlines()[0]
    assert columns.endswith('"ask_rank","how","annotator","updated_at"')


def test_a_result_says_who_gave_a_label_how_and_when(data):
    with closing(open_project(data, user="ann")) as project:
        event = project.label("ann", [20, 21], "a", "area")
        assert isinstance(event.body, Labelled)
        found = label_rows(project.intake, LearningOptions(n_questions=0)).columns
    assert found["how"][[0, 20, 40]].tolist() == ["file", "area", None]
    assert found["annotator"][[0, 20, 40]].tolist() == ["file", "ann", None]
    assert found["updated_at"][20] == event.at
    assert found["source"][[20, 40]].tolist() == ["human", "propagated"]


def test_another_process_writes_the_same_bytes(data):
    options = LearningOptions("regularized", n_questions=3)
    with closing(open_project(data, user="ann")) as project:
        project.label("ann", [20, 21], ["a", "b"], "area")
        project.label("bob", [30], "c", "key")
        mine = label_rows(project.intake, options).write(data.with_name("mine.csv"))
    command = ["label", "--project", "data.beltrami", "-o", "theirs.csv", "-q", "--no-cache"]
    subprocess.run(
        [sys.executable, "-m", "beltrami", *command, "--method", "regularized", "--ask", "3"],
        cwd=data.parent,
        check=True,
    )
    assert data.with_name("theirs.csv").read_bytes() == mine.read_bytes()
