"""Rows of partitions as people know them."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from pyarrow import feather
from tests.support.partitions import blob_table, write_parts

from beltrami.core.errors import CorruptDataError, InvalidInputError, MemoryBudgetError
from beltrami.partitions import find_partitions
from beltrami.partitions.crews.crew import ThreadCrew
from beltrami.partitions.crews.passes import Passes
from beltrami.partitions.people.fetching import fetch_rows

PARTS = np.array([3, 0, 3, 1, 0, 3])
ROWS = np.array([149, 7, 2, 0, 7, 149])


def fetch(partitions, parts=PARTS, rows=ROWS, types=None, prints=None):
    prints = prints or {one.name: one.fingerprint() for one in partitions}
    passes = Passes(ThreadCrew(2))
    return fetch_rows(partitions, prints, np.array(parts), np.array(rows), types or {}, passes)


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv", "tsv"])
def test_rows_come_in_the_order_that_they_are_asked_for_with_all_their_columns(tmp_path, kind):
    table = blob_table().append_column("note", pa.array([f"row {k}" for k in range(600)]))
    for part in range(4):
        piece, path = table.slice(150 * part, 150), tmp_path / f"{part}.{kind}"
        if kind == "parquet":
            pq.write_table(piece, path, row_group_size=40)
        elif kind == "feather":
            feather.write_feather(piece, str(path), chunksize=40)
        else:
            sign = "," if kind == "csv" else "\t"
            arrow_csv.write_csv(piece, path, arrow_csv.WriteOptions(delimiter=sign))
    found = fetch(find_partitions(tmp_path), types={"x0": pa.float64()})
    assert found.names == tuple(table.column_names)
    ids = (150 * PARTS + ROWS).tolist()
    assert found.columns.column("id").to_pylist() == ids
    assert found.columns.column("note").to_pylist() == [f"row {k}" for k in ids]
    wanted = table.column("x0").to_numpy()[ids]
    assert found.columns.column("x0").to_numpy() == pytest.approx(wanted, rel=1e-6)


def test_only_the_groups_of_rows_that_are_needed_are_read(tmp_path):
    path = tmp_path / "0.parquet"
    pq.write_table(blob_table(), path, row_group_size=100, compression="none")
    group = pq.read_metadata(path).row_group(3).column(1)
    content = bytearray(path.read_bytes())
    begin = group.data_page_offset
    content[begin : begin + group.total_compressed_size] = b"\xff" * group.total_compressed_size
    path.write_bytes(bytes(content))
    (one,) = find_partitions(tmp_path)
    assert one.rows(np.array([50, 450]), {}).column("id").to_pylist() == [50, 450]
    with pytest.raises(CorruptDataError, match=r"0\.parquet"):
        one.rows(np.array([50, 350]), {})


def test_a_partition_that_has_changed_is_refused_by_name(tmp_path):
    partitions = find_partitions(write_parts(tmp_path, blob_table()))
    prints = {one.name: one.fingerprint() for one in partitions}
    os.utime(tmp_path / "part-1.parquet", ns=(1, 1))
    with pytest.raises(InvalidInputError, match=r"part-1\.parquet: it has changed"):
        fetch(partitions, prints=prints)
    assert fetch(partitions, [0], [3], prints=prints).n_rows == 1


def test_columns_of_several_types_are_joined_and_gaps_are_gaps(tmp_path):
    pq.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"a": [0.5], "b": [7]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"c": [True]}), tmp_path / "2.parquet")
    found = fetch(find_partitions(tmp_path), [2, 1, 0], [0, 0, 1]).columns.to_pylist()
    assert found == [
        {"a": None, "b": None, "c": True},
        {"a": 0.5, "b": "7", "c": None},
        {"a": 2.0, "b": "y", "c": None},
    ]


def test_a_row_that_is_not_there_is_said(tmp_path):
    (one, *_) = find_partitions(write_parts(tmp_path, blob_table()))
    with pytest.raises(CorruptDataError, match="row 150 is asked for, and there are 150"):
        one.rows(np.array([3, 150]), {})


def test_memory_is_estimated_before_rows_are_read(tmp_path, monkeypatch):
    partitions = find_partitions(write_parts(tmp_path, blob_table()))
    monkeypatch.setattr("beltrami.core.machine.memory.available_bytes", lambda: 100)
    with pytest.raises(MemoryBudgetError, match="the columns of 6 rows"):
        fetch(partitions)
