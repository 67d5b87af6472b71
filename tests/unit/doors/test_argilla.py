"""Records of Argilla are written as its client reads them, and read as it writes them."""

import json
from uuid import UUID

import pytest
from tests.support.door_rows import bare_outcome, opened, said, send, take

from beltrami.core.errors import InvalidInputError
from beltrami.doors.argilla import write_records

PERSON = "0b1f6c3e-6d0e-4d3f-9a52-5d1c3f1c7a11"


def record(name, *responses, question="kind", **more):
    return {"id": name, "fields": {"text": "t"}, "responses": {question: list(responses)}} | more


def response(value, **more):
    return {"value": value, "user_id": PERSON} | more


@pytest.fixture
def project(tmp_path):
    with opened(["r0", "r1", "r2", "r3"], tmp_path / "p.beltrami") as project:
        yield project


@pytest.fixture
def come(project, tmp_path):
    def come(*records, **more):
        (tmp_path / "records.json").write_text(json.dumps(list(records)))
        return take(project, tmp_path / "records.json", **more)

    return come


def test_records_have_the_form_of_the_client(tmp_path):
    with opened(3, tmp_path / "p.beltrami", [("a", "ann", "key"), None, ("b", "bob", "area")]) as p:
        path = send(p, "argilla", tmp_path)
        write_records(bare_outcome(p.intake), tmp_path / "out.jsonl")
    records = json.loads(path.read_text())
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == records
    for one in records:
        assert set(one) == {"id", "fields", "metadata", "suggestions", "responses", "vectors"}
        assert all(isinstance(value, str) for value in one["fields"].values())
        for made in one["responses"].get("label", ()):
            assert set(made) == {"value", "user_id", "status"}
            UUID(made["user_id"])
    assert records[1]["responses"] == {}


def test_submitted_responses_come_in(come, project):
    taken = come(
        record("r0", response("a", status="submitted")),
        record("r1", response("b", status="draft")),
        record("r2", response("c", status="discarded"), response("d")),
        record("r3", response(["a", "b"])),
    )
    assert said(project) == {"r0": ("a", PERSON, False), "r2": ("d", PERSON, False)}
    assert taken.n_disputed == 0


def test_responses_of_older_versions_are_read(come, project):
    old = [{"user_id": PERSON, "status": "submitted", "values": {"kind": {"value": "x"}}}]
    draft = [{"user_id": PERSON, "status": "draft", "values": {"kind": {"value": "y"}}}]
    first = {"external_id": "r0", "fields": {}, "responses": old}
    come(first, {"external_id": "r1", "fields": {}, "responses": draft})
    assert said(project) == {"r0": ("x", PERSON, False)}


def test_ids_may_stand_in_the_metadata(come, project):
    come(record(PERSON, response("a"), metadata={"row": "r2"}))
    assert said(project) == {"r2": ("a", PERSON, False)}


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([record("r0", response("a")), {"id": 3}], "item 2 of records.json is no record"),
        ([record("r0")], "no response"),
        ([record("r0", 3)], "record 1 of records.json has a response that is none"),
        ([{"fields": {}, "responses": [3]}], "a response that is none"),
        ([record("r0", response("a")), record("r1", response("b"), question="q")], "several"),
    ],
)
def test_a_broken_file_changes_nothing(come, project, records, words):
    with pytest.raises(InvalidInputError, match=words):
        come(*records)
    assert not project.state.labels
