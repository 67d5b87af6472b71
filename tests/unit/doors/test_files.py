"""Files for other tools are whole or not there, and never in the place of something else."""

import json

import numpy as np
import pytest
from tests.support.door_rows import FILES, bare_outcome, opened, send

from beltrami.core.errors import InvalidInputError
from beltrami.doors import cleanlab
from beltrami.doors.files import read_json_items, write_folder, write_json_items
from beltrami.doors.forms import FORMS, find_form, guess_form

FOLDERS = ("datasets", "cleanlab")


@pytest.fixture
def outcome(tmp_path):
    with opened(4, tmp_path / "p.beltrami", [("a", "ann", "key"), None, ("b", "bob", "key")]) as p:
        yield bare_outcome(p.intake)


@pytest.mark.parametrize("name", ["out.json", "out.jsonl"])
@pytest.mark.parametrize("items", [[], [{"a": 1}], [{"a": "x\u2028y\n"}, {"b": [None, 1.5]}]])
def test_items_come_back(tmp_path, name, items):
    write_json_items(tmp_path / name, iter(items))
    if items or name == "out.json":
        assert read_json_items(tmp_path / name) == items


def test_what_is_not_finite_is_null(tmp_path):
    write_json_items(tmp_path / "out.json", [{"a": float("nan"), "b": [float("inf")]}])
    assert read_json_items(tmp_path / "out.json") == [{"a": None, "b": [None]}]


def test_a_list_that_ends_early_leaves_what_was_there(tmp_path):
    def items():
        yield 1
        raise KeyboardInterrupt

    (tmp_path / "out.json").write_text("before")
    with pytest.raises(KeyboardInterrupt):
        write_json_items(tmp_path / "out.json", items())
    assert (tmp_path / "out.json").read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_is_replaced_when_all_of_it_is_there(tmp_path):
    def fail(place):
        raise KeyboardInterrupt

    target = tmp_path / "out"
    write_folder(target, {"a": lambda place: place.write_text("1")})
    with pytest.raises(KeyboardInterrupt):
        write_folder(target, {"a": lambda place: place.write_text("2"), "b": fail})
    assert (target / "a").read_text() == "1"
    write_folder(target, {"a": lambda place: place.write_text("2")})
    assert (target / "a").read_text() == "2"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("form", FOLDERS)
def test_a_folder_of_other_things_is_not_replaced(form, outcome, tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    FORMS[form].write(outcome, target)
    (target / "mine").write_text("")
    with pytest.raises(InvalidInputError, match="not ours, such as 'mine'"):
        FORMS[form].write(outcome, target)
    with pytest.raises(InvalidInputError, match="not ours"):
        FORMS[form].check(target, ())


@pytest.mark.parametrize("form", FILES)
def test_no_input_is_written_over(form, tmp_path):
    target = tmp_path / FILES[form]
    for place in FORMS[form].beside(target):
        with pytest.raises(InvalidInputError, match="is the input"):
            FORMS[form].check(target, (place,))


def test_the_name_says_the_form(tmp_path):
    with pytest.raises(InvalidInputError, match=r"must end in \.json"):
        FORMS["label-studio"].check(tmp_path / "out.csv", ())
    with pytest.raises(InvalidInputError, match="there is no form 'excel'; there are csv"):
        find_form("excel")


@pytest.mark.parametrize("form", FILES)
def test_the_form_of_a_file_is_found(form, tmp_path):
    with opened(4, tmp_path / "p.beltrami", [("a", "ann", "key"), None]) as project:
        path = send(project, form, tmp_path)
    assert guess_form(path) == ("csv" if form == "parquet" else form)


def test_cleanlab_gets_codes_and_gaps(outcome, tmp_path):
    FORMS["cleanlab"].write(outcome, tmp_path / "out")
    labels = np.load(tmp_path / "out" / cleanlab.LABELS)
    assert labels.tolist() == [0, -1, 1, -1]
    assert np.load(tmp_path / "out" / cleanlab.PROBABILITIES).shape == (4, 2)
    assert json.loads((tmp_path / "out" / cleanlab.CLASSES).read_text()) == ["a", "b"]


@pytest.mark.parametrize("spoiled", [cleanlab.LABELS, cleanlab.CLASSES, cleanlab.IDS])
def test_arrays_that_do_not_belong_together_are_refused(outcome, tmp_path, spoiled):
    target = tmp_path / "out"
    FORMS["cleanlab"].write(outcome, target)
    if spoiled == cleanlab.LABELS:
        np.save(target / spoiled, np.array([0, 7, -1, 0]))
    else:
        (target / spoiled).write_text("[]")
    with pytest.raises(InvalidInputError, match="do not belong together"):
        FORMS["cleanlab"].read(target, None)


def test_the_dataset_knows_its_classes(outcome, tmp_path):
    import pyarrow.parquet as pq

    FORMS["datasets"].write(outcome, tmp_path / "out")
    (path,) = (tmp_path / "out").rglob("*.parquet")
    table = pq.read_table(path)
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert features["label"] == {"names": ["a", "b"], "_type": "ClassLabel"}
    assert table.column("label").to_pylist() == [0, None, 1, None]
    assert (tmp_path / "out" / "README.md").read_text().startswith("---\nconfigs:\n")
