"""A label that a person gave is never lost or changed, whatever holds it: one table of cases."""

import csv
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.labelling import take_in
from beltrami.tables import TableOptions

pytestmark = pytest.mark.usefixtures("few_trees")

N = 60
SOURCES = ["csv", "tsv", "parquet", "jsonl", "pandas", "polars", "arrow", "dict"]
TYPED = SOURCES[2:]

# Every third row has nothing; the classes take turns on the others.
CASES = {
    "-1 among whole numbers": [-1, 0, 1],
    "none": ["none", "some"],
    "None": ["None", "some"],
    "NA": ["NA", "EU"],
    "null": ["null", "void"],
    "nan": ["nan", "bread"],
    "?": ["?", "!"],
    "-1 as a text": ["-1", "one"],
    "one number in two spellings": ["1", "1.0"],
    "decimals in two spellings": ["1.50", "1.5"],
    "leading zeros": ["01", "1", "001"],
    "true and false as texts": ["True", "False", "TRUE"],
    "emoji": ["\U0001f98a", "\u2764\ufe0f", "\u540d\u524d"],
    "inner and outer spaces": [" a", "a ", "a", "a b", "a  b"],
    "quotes and delimiters": ['say "hi"', "a,b", "a;b", "x\ty", "line\nbreak"],
    "dates": ["2020-01-01", "2020-01-02"],
    "times": ["2020-01-01T10:00:00Z", "2020-01-01 10:00:00", "2020-01-01T10:00"],
    "formulas": ["=1+1", "@x", "-x"],
}
ONLY_TYPED = {
    "truth values": [True, False],
    "whole floats": [0.0, 1.0],
    "small integers": [np.int8(3), np.int8(7)],
}


def labels_of(classes):
    return [None if i % 3 == 2 else classes[(i - i // 3) % len(classes)] for i in range(N)]


def columns(labels):
    rng = np.random.default_rng(0)
    return {"x": rng.normal(size=N), "z": rng.normal(size=N), "label": labels}


def stored(labels, source, folder, gap=None):
    """Return the table as a file or an object of that kind."""
    table = columns([gap if value is None else value for value in labels])
    if source in ("csv", "tsv"):
        path = folder / f"data.{source}"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="," if source == "csv" else "\t")
            writer.writerow(table)
            writer.writerows(zip(*table.values(), strict=True))
        return path
    if source == "jsonl":
        path = folder / "data.jsonl"
        rows = (dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True))
        text = "".join(json.dumps(row, default=float) + "\n" for row in rows)
        path.write_text(text, encoding="utf-8")
        return path
    if source == "parquet":
        pq.write_table(pa.table(table), folder / "data.parquet")
        return folder / "data.parquet"
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table, "dict": dict}
    return make[source](table)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("case", CASES)
def test_given_labels_come_in_as_they_are(case, source, tmp_path):
    wanted = labels_of(CASES[case])
    found = take_in(stored(wanted, source, tmp_path))
    assert found.labels.tolist() == wanted
    assert [type(one) for one in found.labels] == [type(one) for one in wanted]
    assert "labels: 40 given, 20 rows without one (20 empty cells)" in found.lines()


@pytest.mark.parametrize("source", TYPED)
@pytest.mark.parametrize("case", ONLY_TYPED)
def test_types_keep_their_meaning(case, source, tmp_path):
    wanted = labels_of(ONLY_TYPED[case])
    found = take_in(stored(wanted, source, tmp_path)).labels.tolist()
    assert found == wanted
    kind = bool if case == "truth values" else int
    assert {type(one) for one in found} == {kind, type(None)}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("gap", ["", "   "])
def test_blank_cells_are_gaps_everywhere(gap, source, tmp_path):
    wanted = labels_of(["NA", "EU"])
    assert take_in(stored(wanted, source, tmp_path, gap)).labels.tolist() == wanted


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("classes", "marker"), [(["a", "b", "?"], "?"), ([0, 1, -1], -1)])
def test_the_marker_that_the_user_names_is_a_gap_everywhere(classes, marker, source, tmp_path):
    labels = labels_of(classes)
    wanted = [None if value == marker else value for value in labels]
    found = take_in(stored(labels, source, tmp_path), TableOptions(unlabeled=marker))
    assert found.labels.tolist() == wanted
    n = labels.count(marker)
    counted = f"labels: {40 - n} given, {20 + n} rows without one (20 empty cells, {n} marked "
    assert any(line.startswith(counted) for line in found.lines())


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("classes", [[0, 1, -1], ["a", "b", "-1"]])
def test_minus_one_without_any_gap_is_asked_about_everywhere(classes, source, tmp_path):
    labels = [classes[i % 3] for i in range(N)]
    data = stored(labels, source, tmp_path)
    with pytest.raises(InvalidInputError, match=r'20 of 60 rows hold -1.*unlabeled=.*unlabeled=""'):
        take_in(data)
    assert take_in(data, TableOptions(unlabeled="")).labels.tolist() == labels
    marked = take_in(data, TableOptions(unlabeled=-1)).labels.tolist()
    assert marked == [None if str(value) == "-1" else value for value in labels]


@pytest.mark.parametrize(
    ("column", "classes"),
    [
        (np.ma.array([0, 1, 2] * 20, mask=[0, 0, 1] * 20), [0, 1]),
        (pd.Categorical([3, 7, None] * 20), [3, 7]),
        (pd.Series([3, 7, None] * 20, dtype="Int64"), [3, 7]),
        (pd.Series([True, False, None] * 20, dtype="boolean"), [True, False]),
        (pd.Series([3, 7, None] * 20), [3, 7]),
        (pl.Series([3, 7, None] * 20), [3, 7]),
        (pl.Series(["u", "v", None] * 20, dtype=pl.Categorical), ["u", "v"]),
    ],
)
def test_columns_of_libraries_keep_their_gaps_and_classes(column, classes):
    found = take_in(columns(column)).labels.tolist()
    assert found == [*classes, None] * 20
    assert [type(one) for one in found[:2]] == [type(one) for one in classes]


@pytest.mark.parametrize("source", ["csv", "parquet", "pandas"])
@pytest.mark.parametrize("case", ["-1 among whole numbers", "none", "decimals in two spellings"])
def test_given_labels_stay_human_and_are_written_as_they_were(case, source, tmp_path):
    wanted = labels_of(CASES[case])
    data = stored(wanted, source, tmp_path)
    found = bt.label(data, method="neighbors", n_questions=0)
    assert (found.counts["given"], found.counts["rows"]) == (40, N)
    assert found.facts["labels"] == "40 given, 20 rows without one (20 empty cells)"
    own = found.columns
    for value, label, who in zip(wanted, own["label"], own["source"], strict=True):
        assert who == ("propagated" if value is None else "human")
        assert label == value if value is not None else label in CASES[case]
    with found.write(tmp_path / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    told = [row["label"] if row["source"] == "human" else None for row in rows]
    assert told == [None if value is None else str(value) for value in wanted]


def test_labels_of_a_side_file_are_kept_as_they_are_written(tmp_path):
    wanted = labels_of(["None", "NA", "?", "-1", "1.50", "1.5"])
    lines = [f"{row},{value}" for row, value in enumerate(wanted) if value is not None]
    (tmp_path / "side.csv").write_text("id,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    data = {name: values for name, values in columns(wanted).items() if name != "label"}
    for own in ({}, {"label": [""] * N}, {"label": ["old", ""] * 30}):
        found = take_in(data | own, TableOptions(labels=tmp_path / "side.csv")).labels.tolist()
        older = own.get("label", [""] * N)
        assert found == [value or old or None for value, old in zip(wanted, older, strict=True)]


def test_what_was_left_out_and_how_columns_were_read_is_among_the_facts():
    table = columns(labels_of(["a", "b"])) | {
        "price": [f"${i * i:,}" for i in range(N)],
        "half": [f"{i * i}%" if i % 2 else f"{i * i + 0.5}" for i in range(N)],
        "town": [None if i % 9 == 0 else ["None", "Graz"][i % 2] for i in range(N)],
    }
    found = bt.label(table, method="neighbors", n_questions=0).facts["treatment"]
    assert "column 'price' is read as numbers: '$1,024' is 1024" in found
    assert "'half' is ignored: its numbers are not all written in one way" in found
    assert "'town': 7 of 60 cells hold nothing" in found
