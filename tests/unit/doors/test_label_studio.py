"""Tasks of Label Studio are written as its documents say, and read as it writes them."""

import json
import xml.etree.ElementTree as ET

import pytest
from tests.support.door_rows import opened, said, send, take

from beltrami.core.errors import InvalidInputError

ANSWERS = [("a", "ann", "key"), ('"b" & <c>', "bob", "area"), None, ("a", "ann", "key")]


def choice(*labels, name="kind", **more):
    return {"from_name": name, "to_name": "x", "type": "choices"} | {
        "value": {"choices": list(labels)},
        **more,
    }


def annotation(*labels, by=1, at="2026-01-02T03:04:05Z", **more):
    return {"id": 7, "completed_by": by, "result": [choice(*labels)], "updated_at": at} | more


def task(name, *annotations, **data):
    return {"id": 99, "data": {"key": name} | data, "annotations": list(annotations)}


@pytest.fixture
def project(tmp_path):
    with opened(["r0", "r1", "r2", "r3"], tmp_path / "p.beltrami") as project:
        yield project


@pytest.fixture
def come(project, tmp_path):
    """Take tasks into the project."""

    def come(*tasks, **more):
        (tmp_path / "tasks.json").write_text(json.dumps(list(tasks)))
        return take(project, tmp_path / "tasks.json", **more)

    return come


def test_tasks_have_the_documented_form(tmp_path):
    with opened(4, tmp_path / "p.beltrami", ANSWERS) as first:
        path = send(first, "label-studio", tmp_path)
    tasks = json.loads(path.read_text(encoding="utf-8"))
    assert [one["data"]["id"] for one in tasks] == ["0", "1", "2", "3"]
    view = ET.fromstring((tmp_path / "out.config.xml").read_text(encoding="utf-8"))
    control, shown = view.find("Choices"), view.find("*[@value]")
    choices = {one.get("value") for one in control}
    for one in tasks:
        assert set(one) == {"id", "data", "annotations", "predictions"}
        assert shown.get("value").removeprefix("$") in one["data"]
        for made in one["annotations"]:
            (result,) = made["result"]
            assert (result["from_name"], result["type"]) == (control.get("name"), "choices")
            assert result["to_name"] == control.get("toName") == shown.get("name")
            assert set(result["value"]["choices"]) <= choices
            assert "completed_by" not in made  # must be a user there


def test_annotators_keep_their_names(come, project):
    come(
        task("r0", annotation("a", by={"id": 3, "email": "ann@b.org"})),
        task("r1", annotation("b", by=12)),
        task("r2", annotation("c", by={"id": 4, "first_name": "Al", "last_name": "Bo"})),
        task("r3", annotation("c", by=None)),
    )
    assert {name: user for name, (_, user, _) in said(project).items()} == {
        "r0": "ann@b.org",
        "r1": "user 12",
        "r2": "Al Bo",
        "r3": "me",
    }
    assert {given.how for given in project.state.labels.values()} == {"import"}


def test_of_several_annotators_the_newest_counts(come, project):
    early, late = "2026-01-01T00:00:00Z", "2026-01-01T02:00:00+01:00"
    taken = come(
        task("r0", annotation("new", by=2, at=late), annotation("old", by=1, at=early)),
        task("r1", annotation("same", by=1), annotation("same", by=2)),
    )
    assert said(project) == {"r0": ("new", "user 2", False), "r1": ("same", "user 2", False)}
    assert taken.n_disputed == 1
    assert "1 row(s) have different labels in tasks.json; the newest one counts." in taken.lines()


def test_what_is_no_finished_choice_of_one_class_stays_out(come, project):
    rectangle = {"type": "rectanglelabels", "from_name": "box", "value": {"rectanglelabels": ["z"]}}
    come(
        task("r0", annotation("a", was_cancelled=True)),
        task("r1", annotation("a", "b")),
        task("r2", annotation("c") | {"result": [rectangle, choice("c")]}),
        {"id": 5, "data": {"key": "r3"}, "predictions": [{"result": [choice("p")]}]},
    )
    assert said(project) == {"r2": ("c", "user 1", False)}


def test_a_label_that_was_changed_there_is_of_who_changed_it(tmp_path, project):
    with opened(["r0", "r1", "r2", "r3"], tmp_path / "q.beltrami", ANSWERS) as first:
        path = send(first, "label-studio", tmp_path)
    tasks = json.loads(path.read_text())
    for one in (tasks[0], tasks[3]):
        one["annotations"][0]["completed_by"] = {"email": "eve@b.org"}
    tasks[0]["annotations"][0]["result"][0]["value"]["choices"] = ["changed"]
    path.write_text(json.dumps(tasks))
    take(project, path)
    assert said(project)["r0"] == ("changed", "eve@b.org", False)
    assert said(project)["r3"] == ("a", "ann", False)


def test_one_of_several_questions_is_named(come, project):
    two = annotation("a") | {"result": [choice("a"), choice("loud", name="tone")]}
    with pytest.raises(InvalidInputError, match="several questions, 'kind', 'tone'"):
        come(task("r0", two))
    come(task("r0", two), label_column="tone")
    assert said(project)["r0"][0] == "loud"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[{}", "no JSON"),
        ("", "empty"),
        ("[]", "neither tasks of Label Studio nor records"),
        ('[{"key": "r0", "choice": "a", "annotator": 1}]', "not JSON-MIN"),
        ('[{"data": {"key": "r0"}}, 3]', "item 2 of tasks.json is no task"),
        ('[{"data": {"key": "r0"}, "annotations": [{}]}]', "without results"),
        ('[{"data": {"key": "r0"}, "annotations": []}]', "no completed annotation"),
    ],
)
def test_a_broken_file_changes_nothing(project, tmp_path, text, words):
    (tmp_path / "tasks.json").write_text(text)
    n_events = len(project.events)
    with pytest.raises(InvalidInputError, match=words):
        take(project, tmp_path / "tasks.json")
    assert len(project.events) == n_events


@pytest.mark.parametrize("label", ["two\nlines", "x" * 201, "a\x1bb"])
def test_a_class_that_no_project_takes_stops_the_whole_import(come, project, label):
    with pytest.raises(InvalidInputError, match="says of 'r1' cannot be taken"):
        come(task("r0", annotation("fine")), task("r1", annotation(label)))
    assert not project.state.labels
