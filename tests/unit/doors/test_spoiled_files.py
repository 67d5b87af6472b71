"""Whatever stands in a file of another tool, it is read or refused in one sentence."""

import copy
import json
import random

import pytest

from beltrami.core.errors import BeltramiError
from beltrami.doors.answers import Clues, Reading
from beltrami.doors.forms import FORMS

JUNK = (None, 3, -1.5, True, "", "r0", [], [3], [None], {}, {"value": 1}, [[]], {"choices": 3})
CLUES = Clues(frozenset({"r0", "r1"}), "id", "label")


def task(name):
    who, result = {"id": 1, "email": "a@b.org"}, {"from_name": "label", "type": "choices"}
    result |= {"to_name": "row", "value": {"choices": ["a"]}, "meta": {"annotator": "ann"}}
    annotation = {"result": [result], "completed_by": who, "updated_at": "2026-01-02T03:04:05Z"}
    return {"id": 1, "data": {"id": name, "text": "t"}, "annotations": [annotation]}


def record(name):
    responses = {"label": [{"value": "a", "user_id": "u", "status": "submitted"}]}
    metadata = {"annotator": "ann", "updated_at": "2026-01-02"}
    return {"id": name, "fields": {"text": "t"}, "metadata": metadata, "responses": responses}


def older(name):
    responses = [{"user_id": "u", "status": "submitted", "values": {"label": {"value": "a"}}}]
    return {"external_id": name, "fields": {"text": "t"}, "metadata": None, "responses": responses}


def places(value, way=()):
    """Return the ways to all parts of a value."""
    yield way
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*way, key))


def spoil(value, rng):
    """Return a value in which one part is something else, or is gone."""
    *way, last = rng.choice([one for one in places(value) if one])
    spoiled = copy.deepcopy(value)
    part = spoiled
    for key in way:
        part = part[key]
    if rng.random() < 0.2:
        del part[last]
    else:
        part[last] = rng.choice(JUNK)
    return spoiled


@pytest.mark.parametrize(
    ("form", "make"),
    [("label-studio", task), ("argilla", record), ("argilla", older)],
    ids=["tasks", "records", "older records"],
)
def test_a_spoiled_file_is_read_or_refused(form, make, tmp_path):
    rng, path, n_read = random.Random(0), tmp_path / "file.json", 0
    for _ in range(400):
        items = [make("r0"), make("r1")]
        for _ in range(rng.choice((1, 1, 2, 5))):
            items = spoil(items, rng) if any(items) else items
        path.write_text(json.dumps(items))
        try:
            reading = FORMS[form].read(path, CLUES)
        except BeltramiError:
            continue
        assert isinstance(reading, Reading)
        assert all(type(one.id) is type(one.label) is str for one in reading.answers)
        n_read += 1
    assert 40 < n_read < 400
