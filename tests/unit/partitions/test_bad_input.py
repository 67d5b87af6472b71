"""Partitions that do not fit together: a clear word each, and nothing written."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.partitions import blob_table, write_parts

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.partitions.identity import hash_ids


@pytest.fixture
def source(tmp_path):
    return write_parts(tmp_path / "in", blob_table())


def spoil(source, change, name="part-2.parquet"):
    table = change(pq.read_table(source / name))
    pq.write_table(table, source / name)


def refuse(source, tmp_path, match):
    with pytest.raises(InvalidInputError, match=match):
        bt.label_partitions(source, "kind", out=tmp_path / "out", method="poisson")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


def test_a_missing_column_is_named_with_its_partition(source, tmp_path):
    spoil(source, lambda table: table.drop_columns(["x1"]))
    refuse(source, tmp_path, r"part-2\.parquet has no .x1")


def test_texts_where_others_have_numbers_are_refused(source, tmp_path):
    texts = pa.array(["n/a"] * 150)
    spoil(source, lambda table: table.set_column(2, "x1", texts))
    refuse(source, tmp_path, r"(?s)'x1'.*part-2\.parquet")


def test_ids_twice_over_partitions_are_named(source, tmp_path):
    ids = pa.array([7, *range(301, 450)])
    spoil(source, lambda table: table.set_column(0, "id", ids))
    refuse(source, tmp_path, r"such as 7 in .part-0\.parquet., .part-2\.parquet")


def test_a_label_column_of_another_spelling_is_refused(source, tmp_path):
    spoil(source, lambda table: table.rename_columns(["id", "x0", "x1", "x2", "Kind"]))
    refuse(source, tmp_path, "'Kind'")


def test_several_kinds_of_files_are_refused(source, tmp_path):
    (source / "more.csv").write_text("a,b\n1,2\n")
    refuse(source, tmp_path, "several kinds")


def test_labels_of_one_class_are_refused(tmp_path):
    table = blob_table()
    kinds = pa.array([one and "c0" for one in table.column("kind").to_pylist()])
    source = write_parts(tmp_path / "in", table.set_column(4, "kind", kinds))
    refuse(source, tmp_path, "c0")


def test_other_types_other_order_and_no_labels_are_read_and_said(source, tmp_path):
    def change(table):
        table = table.set_column(1, "x0", table.column("x0").cast(pa.float64()))
        return table.select(["kind", "x2", "x0", "id", "x1"]).drop_columns(["kind"])

    spoil(source, change)
    found = bt.label_partitions(source, "kind", out=tmp_path / "out", method="poisson")
    notes = " ".join(found.notes)
    assert "column 'x0' is float in part-0.parquet, double in part-2.parquet" in notes
    assert "1 of 4 partitions have no column 'kind'" in notes
    assert found.counts["rows"] == 600


@pytest.mark.parametrize("texts", [["a", "b", "ab", "", "ba"], ["x" * k for k in range(40)]])
def test_hashes_of_different_texts_differ_and_of_equal_ones_are_equal(texts):
    ids = pa.chunked_array([pa.array(texts), pa.array(texts)])
    hashes = hash_ids(ids)
    assert len(np.unique(hashes)) == len(texts)
    assert (hashes[: len(texts)] == hashes[len(texts) :]).all()
