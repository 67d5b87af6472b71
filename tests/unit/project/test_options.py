"""Options are kept with a project, and what is said later stands beside them."""

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from beltrami.core.errors import InvalidInputError
from beltrami.project.options import (
    NOT_KEPT,
    changes_beside,
    merge_options,
    options_record,
    read_options,
)
from beltrami.tables.options import DEFAULTS, TableOptions

SAID = TableOptions(
    label="kind",
    id="key",
    features=["a", "b"],
    text="c",
    ignore=["d"],
    unlabeled=-1,
    delimiter=";",
    decimal=",",
    impute=True,
)


def test_options_come_back_from_their_record():
    record = options_record(SAID, Path("/somewhere"))
    again = read_options(record, Path("/somewhere"))
    assert options_record(again, Path("/somewhere")) == record
    assert (again.label, again.features, again.text) == ("kind", ("a", "b"), ("c",))
    assert (again.unlabeled, again.impute) == ("-1", True)


@pytest.mark.parametrize("name", [one.name for one in fields(TableOptions)])
def test_every_option_comes_back_from_its_record_or_is_named_as_not_kept(name):
    usual = getattr(DEFAULTS, name)
    said = {type(None): "x", tuple: ("x",), bool: True, int: 7}[type(usual)]
    record = options_record(TableOptions(**{name: said}), Path("/somewhere"))
    again = read_options(record, Path("/somewhere"))
    is_kept = getattr(again, name) != usual
    assert is_kept == (name not in NOT_KEPT)
    assert is_kept == (record != options_record(DEFAULTS, Path("/somewhere")))


def test_gaps_and_matrices_are_not_kept():
    record = options_record(
        TableOptions(unlabeled=float("nan"), embeddings=np.eye(3), labels=["x.csv"]), Path("/")
    )
    assert record == options_record(DEFAULTS, Path("/"))


def test_places_are_seen_from_the_folder_of_the_project(tmp_path):
    (tmp_path / "data").mkdir()
    options = TableOptions(embeddings=tmp_path / "data" / "e.npy")
    record = options_record(options, tmp_path)
    assert record["embeddings"] == "data/e.npy"
    assert read_options(record, Path("/there")).embeddings == Path("/there/data/e.npy")


def test_a_column_and_a_model_are_kept_as_such_and_only_where_they_are_said(tmp_path):
    column = options_record(TableOptions(embeddings="v"), tmp_path)
    assert (column["embeddings"], column["embeddings_column"]) == (None, "v")
    assert read_options(column, tmp_path).embeddings == "v"
    model = TableOptions(text_model=tmp_path / "models" / "small")
    record = options_record(model, tmp_path, {"text_model": "12ab"})
    assert (record["text_model"], record["text_model_digest"]) == ("models/small", "12ab")
    assert read_options(record, Path("/there")).text_model == Path("/there/models/small")
    plain = options_record(DEFAULTS, tmp_path)
    assert not {"embeddings_column", "text_model", "embeddings_digest"} & set(plain)


def test_what_has_changed_at_its_place_is_said_by_name(tmp_path):
    options = TableOptions(embeddings=tmp_path / "e.npy")
    before = options_record(options, tmp_path, {"embeddings": "1"})
    now = options_record(options, tmp_path, {"embeddings": "2"})
    (line,) = changes_beside(before, now)
    assert line.startswith("e.npy has changed since")
    assert changes_beside(before, before) == []
    assert changes_beside(None, now) == []
    other = options_record(
        TableOptions(embeddings=tmp_path / "f.npy"), tmp_path, {"embeddings": "2"}
    )
    assert changes_beside(before, other) == []
    unknown = options_record(options, tmp_path)  # of a project that kept no hash
    assert changes_beside(unknown, now) == []


def test_what_rows_are_compared_by_is_said_last():
    vectors = TableOptions(embeddings="v", ignore=["d"])
    assert merge_options(TableOptions(text="body"), vectors).embeddings is None
    assert merge_options(TableOptions(text_model="m"), vectors).embeddings is None
    assert merge_options(TableOptions(ignore=["e"]), vectors).embeddings == "v"
    merged = merge_options(TableOptions(embeddings="v"), replace(SAID, text_model="m"))
    assert (merged.features, merged.text, merged.text_model) == ((), (), None)
    assert (merged.ignore, merged.label) == (("d",), "kind")


@pytest.mark.parametrize(
    "change",
    [{"label": 3}, {"ignore": "a"}, {"ignore": [1]}, {"impute": 1}, {"extra": None}],
    ids=str,
)
def test_a_record_that_we_did_not_write_is_refused(change):
    record = options_record(DEFAULTS, Path("/")) | change
    with pytest.raises(InvalidInputError, match="option"):
        read_options(record, Path("/"))


def test_what_is_said_now_wins_and_the_rest_is_kept():
    merged = merge_options(TableOptions(label="class", min_classes=0), SAID)
    assert (merged.label, merged.id, merged.features, merged.impute) == (
        "class",
        "key",
        ("a", "b"),
        True,
    )
    assert merged.min_classes == 0
    assert merge_options(DEFAULTS, SAID).unlabeled == -1
    assert merge_options(TableOptions(unlabeled=""), SAID).unlabeled == ""


def test_columns_are_said_together():
    merged = merge_options(TableOptions(numbers=["q"]), SAID)
    assert (merged.numbers, merged.features, merged.text, merged.ignore) == (("q",), (), (), ())
    assert merged.label == "kind"


def test_a_column_is_one_thing_at_a_time():
    assert merge_options(TableOptions(id="d"), SAID).ignore == ()
    assert merge_options(TableOptions(ignore=["key"]), SAID).id is None
    assert merge_options(TableOptions(label="a"), SAID).features == ("b",)
    assert merge_options(TableOptions(label="key"), SAID).id is None
