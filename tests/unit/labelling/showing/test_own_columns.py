"""The user's own columns beside ours."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import beltrami as bt
from beltrami.core.errors import RenamedColumnsWarning
from beltrami.labelling.showing.own_columns import columns_of_rows, own_columns
from beltrami.tables import Table, read_table

pytestmark = pytest.mark.usefixtures("few_trees")

OURS = ("id", "label", "guess")


def test_columns_are_handed_on_without_a_copy(tmp_path: Path) -> None:
    numbers = pa.array(np.arange(1000.0))
    table = Table("t", pa.table({"key": pa.array(map(str, range(1000))), "x": numbers}))
    own = own_columns(table, OURS, tmp_path / "t.csv", hidden={"key"})
    assert list(own) == ["x"]
    assert own["x"].chunk(0).buffers()[1].address == numbers.buffers()[1].address


def test_names_that_clash_are_prefixed_and_said(tmp_path: Path) -> None:
    names = ("Label ", "x", "guess", "data_guess", "X")
    table = Table("t", pa.table([[1, 2]] * 5, names=list(names)))
    with pytest.warns(RenamedColumnsWarning, match="'Label ' is called 'data_Label ', 'guess' is"):
        own = own_columns(table, OURS, tmp_path / "t.csv")
    assert list(own) == ["data_Label ", "x", "data_data_guess", "data_guess", "X"]


def test_rows_for_a_person_have_no_vectors_and_keep_their_types(tmp_path: Path) -> None:
    columns = {"n": [1, None, 3], "v": [[1.0], [2.0], [3.0]], "word": ["a", "b", "c"]}
    table = Table("t", pa.table(columns))
    found = columns_of_rows(table, [2, 1], OURS, tmp_path / "t.csv")
    assert {name: values.tolist() for name, values in found.items()} == {
        "n": [3, None],
        "word": ["c", "b"],
    }
    assert columns_of_rows(table, [], OURS, tmp_path / "t.csv")["n"].tolist() == []


def labelled(extra: dict[str, object] | None = None) -> "bt.Labelling":
    rng = np.random.default_rng(0)
    side = np.arange(40) % 2
    table = {
        "id": [f"r{i}" for i in range(40)],
        "x": rng.normal(size=40) + 8 * side,
        "label": ["ab"[i % 2] if i < 12 else None for i in range(40)],
    }
    return bt.label(table | (extra or {}), n_questions=2)


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "jsonl", "parquet", "feather"])
def test_labels_are_written_with_ones_own_columns(tmp_path: Path, ending: str) -> None:
    kinds = pa.array(["new", "old"] * 20).dictionary_encode()
    found = labelled({"kind": kinds, "v": list(np.arange(80.0).reshape(40, 2))})
    plain = read_table(found.write(tmp_path / f"plain.{ending}"))
    whole = read_table(found.write(tmp_path / f"whole.{ending}", with_data=True))
    assert whole.names == (*plain.names, "x", "kind", "v")
    assert whole.columns.column("kind").to_pylist() == ["new", "old"] * 20
    x = np.asarray(whole.columns.column("x").to_pylist(), dtype=float)
    assert x == pytest.approx(found.intake.table.columns.column("x").to_numpy())
    vector = whole.columns.column("v")[3].as_py()
    assert (json.loads(vector) if isinstance(vector, str) else vector) == [6.0, 7.0]


def test_own_columns_with_our_names_are_renamed_in_the_file(tmp_path: Path) -> None:
    found = labelled({"confidence": np.arange(40.0), "Guess": ["x", "y"] * 20})
    with pytest.warns(RenamedColumnsWarning, match="'confidence' is called 'data_confidence'"):
        path = found.write(tmp_path / "l.parquet", with_data=True)
    table = pq.read_table(path)
    assert table.column_names[-3:] == ["x", "data_confidence", "data_Guess"]
    assert json.loads(table.schema.metadata[b"own_columns"]) == [
        "x",
        "data_confidence",
        "data_Guess",
    ]


def test_a_label_column_of_another_name_stays_as_it_was(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kinds = ["ab"[i % 2] if i < 12 else None for i in range(40)]
    found = bt.label({"x": rng.normal(size=40) + 8 * (np.arange(40) % 2), "kind": kinds}, "kind")
    table = pq.read_table(found.write(tmp_path / "l.parquet", with_data=True))
    assert table.column("kind").to_pylist() == kinds
    assert table.column("label").null_count < 28
