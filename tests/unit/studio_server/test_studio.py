"""A studio from end to end, without a browser: labels in, answers, questions and results out."""

import csv
import io
import time
import urllib.request

import numpy as np
import pytest
from tests.support.studio_client import Client

import beltrami as bt
from beltrami.labelling.main_job import label_rows
from beltrami.labelling.options import LearningOptions
from beltrami.project import open_project
from beltrami.project.record.state import replay
from beltrami.studio_server.handle import Studio
from beltrami.studio_server.wire.telling import tell_state, tell_why_no_question
from beltrami.tables import TableOptions

pytestmark = pytest.mark.usefixtures("few_trees")

OPTIONS = LearningOptions()


def write_moons(path):
    moons = bt.two_moons(120, random_state=0)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x", "y2", "note", "kind"])
        for row, (point, target) in enumerate(zip(moons.points, moons.targets, strict=True)):
            label = f"moon {target}" if row % 12 == 0 else ""
            writer.writerow([*point, f"remark {row}", label])
    return path


TABLE = TableOptions(label="kind", features=("x", "y2"), min_classes=0)


@pytest.fixture
def source(tmp_path):
    return write_moons(tmp_path / "moons.csv")


@pytest.fixture
def opened(source):
    with Studio.open(source, TABLE, OPTIONS) as studio:
        client = Client(studio.url)
        client.settled()
        yield client


@pytest.fixture(scope="module")
def calm(tmp_path_factory, few_trees):
    """A studio in which nothing is changed."""
    path = write_moons(tmp_path_factory.mktemp("calm") / "moons.csv")
    with Studio.open(path, TABLE, OPTIONS) as studio:
        client = Client(studio.url)
        client.settled()
        yield client


def test_labels_of_the_file_are_answered_for_every_row(calm):
    state = calm.settled()
    assert (state["rows"], state["given"], state["has_learned"]) == (120, 10, True)
    assert [one["name"] for one in state["classes"]] == ["moon 0", "moon 1"]
    assert sum(one["labelled"] for one in state["classes"]) == 110
    assert "110 rows labelled from your 10 labels" in state["headline"]


def test_a_label_is_saved_answered_and_taken_back(opened):
    before = opened.ask("/api/answers")
    saved = opened.ask("/api/labels", {"rows": [5, 6], "label": "a third moon"})
    assert saved["given"] == 12
    state = opened.settled()
    assert state["version"] == saved["saved"]
    assert [one["given"] for one in state["classes"]][-1] == 2
    undone = opened.ask("/api/undo", {})
    assert undone["undone"] == {
        "kind": "label",
        "rows": [5, 6],
        "count": 2,
        "label": "a third moon",
    }
    assert opened.settled()["given"] == 10
    after = opened.ask("/api/answers")
    assert after[32:] == before[32:]  # all but the header: the same answers to the byte
    assert opened.refused("/api/undo", {})[0] == 409


def test_rows_show_what_they_hold_and_what_is_known(calm):
    item = calm.ask("/api/rows?rows=12,13")["rows"]
    assert [one["row"] for one in item] == [12, 13]
    assert item[0]["label"] == "moon 0"
    assert item[0]["how"] == "file"
    assert item[1]["label"] is None
    assert item[1]["guess"] in {"moon 0", "moon 1"}
    assert item[1]["confidence"] + item[1]["second_confidence"] == pytest.approx(1.0, abs=1e-3)
    assert {cell["name"]: cell["value"] for cell in item[1]["cells"]}["note"] == "remark 13"


def test_questions_are_rows_without_a_label_and_each_comes_once(opened):
    asked = [opened.ask("/api/question")["question"] for _ in range(4)]
    rows = [one["row"] for one in asked]
    assert len(set(rows)) == 4
    assert all(row % 12 for row in rows)
    assert all(one["reason"] and one["settles"] >= 1 for one in asked)
    opened.ask("/api/labels", {"rows": rows[:1], "label": "moon 1", "how": "key"})
    opened.ask("/api/marks", {"rows": rows[1:2], "mark": "unsure"})
    opened.ask("/api/marks", {"rows": rows[2:3], "mark": "skip"})
    more = [opened.ask("/api/question")["question"]["row"] for _ in range(3)]
    assert not set(more) & set(rows[:3])


def test_a_trial_counts_changes_and_leaves_all_as_it_was(opened):
    before = opened.ask("/api/answers")
    rows = [row for row in range(120) if row % 12 == 1]
    assert opened.ask("/api/trial", {"rows": rows, "label": "moon 0"})["changes"] > 0
    assert opened.ask("/api/answers") == before


def test_classes_are_added_renamed_and_merged(opened):
    opened.ask("/api/classes", {"add": "new"})
    opened.ask("/api/classes", {"rename": "moon 0", "to": "left"})
    assert [one["name"] for one in opened.settled()["classes"]] == ["left", "moon 1", "new"]
    assert opened.refused("/api/classes", {"rename": "new", "to": "left"})[0] == 409
    opened.ask("/api/classes", {"rename": "new", "to": "left", "merge": True})
    assert [one["gone"] for one in opened.settled()["classes"]] == [False, False, True]
    for _ in range(3):
        opened.ask("/api/undo", {})
    names = [one["name"] for one in opened.settled()["classes"] if not one["gone"]]
    assert names == ["moon 0", "moon 1"]


def test_columns_can_be_seen_searched_coloured_by_and_corrected(opened):
    told = opened.ask("/api/data")
    roles = {one["name"]: one["role"] for one in told["columns"]}
    assert roles == {"x": "feature", "y2": "feature", "note": "ignored", "kind": "label"}
    assert opened.ask("/api/search?text=REMARK%2017")["rows"] == [17]
    frame = opened.ask("/api/column?name=x")
    assert frame[4] == 4
    opened.ask("/api/roles", {"features": ["x"]})
    time.sleep(0.2)
    opened.settled()
    roles = {one["name"]: one["role"] for one in opened.ask("/api/data")["columns"]}
    assert roles["y2"] == "ignored"
    assert opened.settled()["given"] == 10


def test_the_result_is_named_after_the_data(calm):
    headers = {"Authorization": f"Bearer {calm.token}"}
    request = urllib.request.Request(calm.base + "/api/labels", None, headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.headers["Content-Disposition"] == (
            "attachment; filename*=UTF-8''moons-labels.csv"
        )


def test_columns_remember_what_was_asked_of_them(opened):
    opened.ask("/api/roles", {"features": ["x", "y2"], "categories": ["y2"], "ignore": ["note"]})
    time.sleep(0.2)
    opened.settled()
    told = opened.ask("/api/data")
    asked = {one["name"]: one["asked"] for one in told["columns"]}
    assert asked == {"x": None, "y2": "categories", "note": "ignore", "kind": None}
    assert told["has_named_features"]


def test_the_data_view_says_by_which_embeddings_rows_are_compared(source, tmp_path):
    np.save(tmp_path / "vectors.npy", bt.two_moons(120, random_state=0).points)
    with bt.studio(source, "kind", embeddings=tmp_path / "vectors.npy") as studio:
        client = Client(studio.url)
        client.settled()
        told = client.ask("/api/data")
        assert "rows are compared by the embeddings in vectors.npy alone" in told["lines"]
        assert not told["can_change"]
        reasons = {one["name"]: one["reason"] for one in told["columns"]}
        assert reasons["note"] == reasons["x"] == "vectors.npy is used alone"
    np.save(tmp_path / "vectors.npy", bt.two_moons(120, random_state=1).points)
    with bt.studio(source) as again:
        lines = Client(again.url).ask("/api/data")["lines"]
        assert "rows are compared by the embeddings in vectors.npy alone" in lines
        assert any(line.startswith("vectors.npy has changed since") for line in lines)


def test_how_the_project_was_opened_is_said_with_the_data_and_warns_of_nothing(calm):
    greeting = "a new project:"
    assert any(one.startswith(greeting) for one in calm.ask("/api/data")["lines"])
    assert not any(one.startswith(greeting) for one in calm.settled()["warnings"])


def test_the_first_sentence_and_the_queue_say_what_is_awaited(source):
    table = TableOptions(features=("x", "y2"), ignore=("kind",), min_classes=0)
    with Studio.open(source, table, OPTIONS) as studio:
        desk, client = studio._desk, Client(studio.url)
        client.settled()
        desk.learning.stop()  # nothing is learned any more
        for row, name in enumerate("aab"):
            desk.label("me", [row], name, "key")
            said = tell_state(desk, "me")["headline"]
            assert ("one class" in said) == (name == "a")
        assert said == "3 labels of 2 classes so far; the first answers are being worked out."
        assert "learns from your first labels" in tell_why_no_question(desk, is_over=False)
        assert "set aside" in tell_why_no_question(desk, is_over=True)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/labels", {"rows": [120], "label": "x"}, 400),
        ("/api/labels", {"rows": [-1], "label": "x"}, 400),
        ("/api/labels", {"rows": [], "label": "x"}, 400),
        ("/api/labels", {"rows": [True], "label": "x"}, 400),
        ("/api/labels", {"rows": [1], "label": ""}, 400),
        ("/api/labels", {"rows": [1], "label": "x" * 300}, 400),
        ("/api/labels", {"rows": [1]}, 400),
        ("/api/labels", {"rows": [1], "label": "x", "how": "guess"}, 400),
        ("/api/labels", ["rows"], 400),
        ("/api/marks", {"rows": [1], "mark": "odd"}, 400),
        ("/api/classes", {"rename": "nobody", "to": "x"}, 400),
        ("/api/roles", {"features": ["nothing"]}, 400),
        ("/api/roles", {"colour": ["x"]}, 400),
        ("/api/rows?rows=a", None, 400),
        ("/api/rows?rows=500", None, 400),
        ("/api/column?name=nothing", None, 404),
        ("/api/picture?row=1&side=96", None, 404),
        ("/api/search?text=", None, 400),
        ("/api/nothing", None, 404),
        ("/static/../desk.py", None, 404),
    ],
)
def test_what_makes_no_sense_is_refused_in_words_and_saves_nothing(calm, path, body, status):
    code, words = calm.refused(path, body)
    assert code == status
    assert words
    assert calm.ask("/api/state")["given"] == 10


def test_a_file_without_labels_begins_with_rows_that_cover_the_map(source):
    table = TableOptions(features=("x", "y2"), ignore=("kind",), min_classes=0)
    with Studio.open(source, table, OPTIONS) as studio:
        client = Client(studio.url)
        state = client.settled()
        assert (state["given"], state["has_learned"]) == (0, False)
        assert state["headline"].startswith("No labels yet")
        first, second = (client.ask("/api/question")["question"]["row"] for _ in range(2))
        client.ask("/api/labels", {"rows": [first], "label": "a"})
        assert not client.settled()["has_learned"]
        bare = list(csv.DictReader(io.StringIO(client.ask("/api/labels").decode())))
        assert [one["label"] for one in bare if one["label"]] == ["a"]
        client.ask("/api/labels", {"rows": [second], "label": "b"})
        assert client.settled()["has_learned"]
        client.ask("/api/undo", {})
        assert not client.settled()["has_learned"]


def test_whatever_people_do_state_replay_command_and_export_agree(source, tmp_path):
    """Random events of two users, with undo, rename, merge and areas, ended by an export."""
    rng = np.random.default_rng(0)
    with Studio.open(source, TABLE, OPTIONS) as studio:
        client, desk = Client(studio.url), studio._desk
        client.settled()
        for _ in range(60):
            user = ("ann", "bob")[rng.integers(2)]
            names = desk.project.state.class_names
            rows = rng.choice(120, rng.integers(1, 6), replace=False).tolist()
            name = str(rng.choice([*names, "x", "y"]))
            match rng.integers(8):
                case 0:
                    desk.undo(user)
                case 1 if len(names) > 3:
                    desk.rename_class(user, names[-1], names[0], merge=True)
                case 2:
                    desk.mark(user, rows, "unsure")
                case 3:
                    desk.label(user, rows, name, "area")
                case 4:
                    desk.label(user, rows, None, "key")
                case _:
                    desk.label(user, rows[:1], name, "key")
        exported = client.ask("/api/labels")
        project = desk.project
        state, again = project.snapshot(), replay(project.events)
        path = project.path
    assert again == state
    reopened = open_project(path, TableOptions(min_classes=0), read_only=True)
    assert reopened.state.labels == state.labels
    target = tmp_path / "labels.csv"
    label_rows(reopened.intake, OPTIONS).write(target)
    assert target.read_bytes() == exported


def test_a_learner_shows_its_rows_and_keeps_the_types_of_its_classes():
    moons = bt.two_moons(100, random_state=0)
    y = np.where(np.arange(100) % 10 == 0, moons.targets, -1)
    learner = bt.ManifoldClassifier("poisson", random_state=0).fit(moons.points, y)
    with learner.studio({"note": [f"row {row}" for row in range(100)]}) as page:
        client = Client(page.url)
        client.settled()
        item = client.ask("/api/rows?rows=3")["rows"][0]
        assert {"name": "note", "value": "row 3", "unusual": None} in item["cells"]
        client.ask("/api/labels", {"rows": [3], "label": "1"})
        assert page.labels[3] == 1
    assert page.labels[3] == 1


def test_a_learner_keeps_its_risk_in_the_studio():
    moons = bt.two_moons(100, random_state=0)
    y = np.where(np.arange(100) % 10 == 0, moons.targets, -1)
    learner = bt.ManifoldClassifier("poisson", risk=0.05, random_state=0).fit(moons.points, y)
    with learner.studio() as page:
        Client(page.url).settled()
        assert page._desk.learning.learner.risk == 0.05


def write_marked(path):
    lines = [f"{k % 7},{k * 3 % 11},{'1' if k % 3 else '-1'}" for k in range(60)]
    path.write_text("x,y2,kind\n" + "\n".join(lines) + "\n")
    return path


def test_whether_minus_one_is_a_class_is_asked_on_the_page(tmp_path):
    path = write_marked(tmp_path / "marked.csv")
    with Studio.open(path, TABLE, OPTIONS) as studio:
        client = Client(studio.url)
        state = client.settled()
        assert state["marker"] == {"value": "-1", "column": "kind", "n_rows": 20}
        assert (state["given"], state["has_learned"]) == (40, False)
        assert any("--unlabeled" in line for line in client.ask("/api/data")["lines"])
        assert client.refused("/api/roles", {"unlabeled": 3})[0] == 400
        assert client.refused("/api/roles", {"unlabeled": "9" * 201})[0] == 400
        client.ask("/api/roles", {"unlabeled": ""})
        state = client.settled()
        assert (state["given"], state["marker"]) == (60, None)
        assert {one["name"]: one["given"] for one in state["classes"]} == {"1": 40, "-1": 20}
    with Studio.open(path, TABLE, OPTIONS) as studio:  # it was said once for all
        assert Client(studio.url).ask("/api/state")["marker"] is None


def test_minus_one_marks_rows_without_a_label_once_somebody_says_so(tmp_path):
    path = write_marked(tmp_path / "marked.csv")
    with Studio.open(path, TABLE, OPTIONS) as studio:
        client = Client(studio.url)
        client.settled()
        client.ask("/api/roles", {"unlabeled": "-1"})
        state = client.settled()
        assert (state["given"], state["marker"]) == (40, None)


def test_minus_one_is_a_class_where_a_learner_was_taught_it():
    moons = bt.two_moons(60, random_state=0)
    names = np.where(moons.targets == 0, "-1", "1")
    learner = bt.ManifoldClassifier(unlabeled="", random_state=0).fit(moons.points, names)
    with learner.studio() as page:
        assert set(page.labels.values()) == {"-1", "1"}
        assert len(page.labels) == 60


def test_a_class_that_no_row_has_is_removed_and_comes_back(opened):
    opened.ask("/api/classes", {"add": "mooon 1"})
    assert opened.refused("/api/classes", {"remove": "moon 1"})[0] == 400
    opened.ask("/api/classes", {"remove": "mooon 1"})
    state = opened.settled()
    assert [(one["name"], one["gone"]) for one in state["classes"]][2:] == [("mooon 1", True)]
    assert opened.refused("/api/classes", {"remove": "mooon 1"})[0] == 400
    opened.ask("/api/labels", {"rows": [5], "label": "mooon 1"})
    assert [(one["name"], one["given"]) for one in opened.settled()["classes"]][2:] == [
        ("mooon 1", 1)
    ]
    opened.ask("/api/undo", {})
    assert opened.ask("/api/undo", {})["undone"]["kind"] == "remove"
    assert not opened.settled()["classes"][2]["gone"]
