import errno
import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beltrami.core.errors import FormulaCellsWarning, InvalidInputError
from beltrami.tables import read_table, write_table
from beltrami.tables.writing import table_facts

COLUMNS = {
    "id": np.array(["a", "b,c", 'd"e\nf'], dtype=object),
    "label": np.array(["u", None, "v"], dtype=object),
    "confidence": np.array([0.25, 0.5, np.nan]),
    "rank": np.array([3, 1, 2]),
    "reached": np.array([True, False, True]),
}
ENDINGS = (
    "parquet",
    "arrow",
    "feather",
    "csv",
    "tsv",
    "jsonl",
    "ndjson",
    "csv.gz",
    "tsv.gz",
    "jsonl.gz",
)
FACTS = {"seed": "0", "version": "1.2"}


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_is_read_again(ending: str, tmp_path: Path) -> None:
    path = tmp_path / "new" / f"out.{ending}"
    write_table(path, COLUMNS, FACTS)
    found = read_table(path).columns.to_pydict()
    assert found["id"] == COLUMNS["id"].tolist()
    assert found["label"] == ["u", None, "v"]
    assert found["rank"] == [3, 1, 2]
    assert found["reached"] == [True, False, True]
    assert found["confidence"][:2] == [0.25, 0.5]
    assert found["confidence"][2] is None or np.isnan(found["confidence"][2])
    side = path.with_name(path.name + ".meta.json")
    if ending in ("parquet", "arrow", "feather"):
        assert not side.exists()
    else:
        assert json.loads(side.read_text()) == FACTS
    again = tmp_path / f"again.{ending}"
    write_table(again, COLUMNS, FACTS)
    assert again.read_bytes() == path.read_bytes()


def test_facts_lie_inside_parquet_and_arrow(tmp_path: Path) -> None:
    write_table(tmp_path / "o.parquet", COLUMNS, FACTS)
    assert pq.read_schema(tmp_path / "o.parquet").metadata[b"version"] == b"1.2"
    write_table(tmp_path / "o.arrow", COLUMNS, FACTS)
    with pa.OSFile(str(tmp_path / "o.arrow")) as source:
        assert pa.ipc.open_file(source).schema.metadata[b"seed"] == b"0"


def test_lines_hold_plain_json_and_packages_no_time(tmp_path: Path) -> None:
    write_table(tmp_path / "o.jsonl", {"c": np.array([0.5, np.nan, np.inf])}, {})
    assert (tmp_path / "o.jsonl").read_text() == '{"c": 0.5}\n{"c": null}\n{"c": null}\n'
    write_table(tmp_path / "o.csv.gz", COLUMNS, {})
    assert (tmp_path / "o.csv.gz").read_bytes()[4:8] == bytes(4)


def test_many_rows_have_one_header(tmp_path: Path) -> None:
    write_table(tmp_path / "o.csv", {"a": np.arange(70_000)}, {})
    assert read_table(tmp_path / "o.csv").columns["a"].to_pylist() == list(range(70_000))


def test_lists_and_several_types_are_written(tmp_path: Path) -> None:
    columns = {"v": np.eye(2), "m": np.array([1, "a"], dtype=object)}
    write_table(tmp_path / "o.csv", columns, {})
    assert read_table(tmp_path / "o.csv").columns.to_pydict() == {
        "v": ["[1.0, 0.0]", "[0.0, 1.0]"],
        "m": ["1", "a"],
    }


@pytest.mark.parametrize("name", ["out.xlsx", "out", ".csv", "out.parquet.gz"])
def test_unknown_endings_are_refused_with_a_list(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"\.parquet.*\.csv"):
        write_table(tmp_path / name, COLUMNS, {})
    assert list(tmp_path.iterdir()) == []


def test_columns_of_unequal_length_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="differ in length"):
        write_table(tmp_path / "o.csv", {"a": np.arange(2), "b": np.arange(3)}, {})


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "jsonl.gz"])
def test_refusals_of_the_disk_are_said_and_leave_the_old_file(
    ending: str, tmp_path: Path, monkeypatch
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInputError, match="cannot be written"):
        write_table(tmp_path / "file" / f"o.{ending}", COLUMNS, {})
    (tmp_path / "file").unlink()
    path = tmp_path / f"o.{ending}"
    write_table(path, COLUMNS, {})
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("beltrami.core.files.Path.replace", full)
    with pytest.raises(InvalidInputError, match="No space left on device"):
        write_table(path, {"a": np.arange(3)}, {})
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before


texts = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    ending=st.sampled_from(ENDINGS),
    rows=st.lists(
        st.tuples(st.integers(-(2**53), 2**53), st.floats(allow_nan=False), texts.map("x".__add__)),
        min_size=1,
        max_size=6,
    ),
)
def test_numbers_and_texts_come_back_unchanged(
    ending: str, rows: list[tuple[int, float, str]], tmp_path: Path
) -> None:
    integers, floats, words = (list(column) for column in zip(*rows, strict=True))
    if "json" in ending:  # JSON has no infinity
        floats = [value if np.isfinite(value) else 0.5 for value in floats]
    columns = {
        "i": np.array(integers),
        "f": np.array([*floats]),
        "t": np.array(words, dtype=object),
    }
    path = tmp_path / f"o.{ending}"
    write_table(path, columns, {})
    found = read_table(path).columns.to_pydict()
    assert found == {"i": integers, "f": floats, "t": words}


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "- a note", "\t=1"]
NO_FORMULAS = ["-1", "+3.5", "-1e5", "-.5", "-12%", "-1.000,5", "-", "=", "a=b", "", None, " =1"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
def test_cells_that_a_spreadsheet_would_run_are_announced_and_not_changed(
    ending: str, tmp_path: Path
) -> None:
    path = tmp_path / f"o.{ending}"
    labels = np.array([*FORMULAS, *NO_FORMULAS], dtype=object)
    columns = {"id": np.arange(len(labels)) - 5, "label": labels, "=x": np.ones(len(labels))}
    with pytest.warns(FormulaCellsWarning, match=r"\(7, such as '=x' in the column '=x'\)"):
        write_table(path, columns, FACTS)
    assert table_facts(path) == FACTS | {"formula_cells": "7, such as '=x' in the column '=x'"}
    written = [str(one) for one in read_table(path).columns.column("label").to_pylist()]
    assert written[: len(FORMULAS)] == FORMULAS


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_nothing_is_announced_where_nothing_would_run(ending: str, tmp_path: Path) -> None:
    labels = [] if ending == "csv" else FORMULAS
    column = np.array([*labels, *NO_FORMULAS], dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_table(tmp_path / f"o.{ending}", {"label": column, "x": -np.ones(len(column))}, FACTS)
    assert "formula_cells" not in table_facts(tmp_path / f"o.{ending}")


def test_facts_in_a_pipe_are_no_facts(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.csv.meta.json")
    assert table_facts(tmp_path / "t.csv") == {}


def test_arrow_columns_of_any_type_are_written_as_they_are(tmp_path: Path) -> None:
    columns = {
        "kind": pa.chunked_array([pa.array(["a", None]), pa.array(["b"])]).dictionary_encode(),
        "vector": pa.array([[1.0, float("nan")], None, []]),
        "record": pa.array([{"x": 1}, None, {"x": 2}]),
        "plain": np.arange(3),
    }
    write_table(tmp_path / "t.csv", columns, {})
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines() == [
        '"kind","vector","record","plain"',
        '"a","[1.0, NaN]","{""x"": 1}",0',
        ",,,1",
        '"b","[]","{""x"": 2}",2',
    ]
    write_table(tmp_path / "t.jsonl", columns, {})
    first = (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert json.loads(first) == {"kind": "a", "vector": [1.0, None], "record": {"x": 1}, "plain": 0}
    with pytest.warns(FormulaCellsWarning, match="'=1'"):
        write_table(tmp_path / "u.csv", {"x": pa.array(["=1"]).dictionary_encode()}, {})


def test_rows_become_text_in_blocks_without_a_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {"a": np.arange(50), "b": np.array([f"x {i}" for i in range(50)], dtype=object)}
    for ending in ("csv", "jsonl"):
        write_table(tmp_path / f"whole.{ending}", columns, {})
        with monkeypatch.context() as patch:
            patch.setattr("beltrami.tables.writing._BLOCK_CELLS", 6)
            write_table(tmp_path / f"parts.{ending}", columns, {})
        whole = (tmp_path / f"whole.{ending}").read_bytes()
        assert (tmp_path / f"parts.{ending}").read_bytes() == whole
