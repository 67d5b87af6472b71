"""Partitions that do not fit together: a clear word each, and nothing written."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from tests.support.partitions import blob_table, blobs, write_parts

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.partitions.reading.identity import IdRuns, hash_ids


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


def test_ids_twice_are_found_in_more_hashes_than_are_held_at_a_time(source, tmp_path, monkeypatch):
    monkeypatch.setattr("beltrami.partitions.reading.identity._HELD", 20)
    runs = IdRuns(tmp_path / "in", "a")
    for start in range(0, 90, 15):
        runs.add(pa.chunked_array([pa.array(range(start, start + 15))]))
    runs.write()
    sizes = [len(np.load(path)) for path in sorted((tmp_path / "in").glob("*.npy"))]
    assert sizes == [30, 30, 30, 0]
    for path in (tmp_path / "in").glob("*.npy"):
        path.unlink()
    monkeypatch.setattr("beltrami.partitions.reading.survey._ENTRIES", 100)
    monkeypatch.setattr("beltrami.partitions.reading.survey._LEAST_ROWS", 30)
    spoil(source, lambda t: t.set_column(0, "id", pa.array([*range(300, 448), 7, 300])))
    refuse(source, tmp_path, r"2 id\(s\).*such as 300 in .part-2\.parquet., .part-2\.parquet")


def test_a_label_column_of_another_spelling_is_refused(source, tmp_path):
    spoil(source, lambda table: table.rename_columns(["id", "x0", "x1", "x2", "Kind"]))
    refuse(source, tmp_path, "'Kind'")


def test_several_kinds_of_files_are_refused(source, tmp_path):
    (source / "more.csv").write_text("a,b\n1,2\n")
    refuse(source, tmp_path, "several kinds")


def with_kinds(tmp_path, kinds, **options):
    table = blob_table().set_column(4, "kind", pa.array(kinds))
    return write_parts(tmp_path / "in", table, **options)


def test_labels_of_one_class_are_refused(tmp_path):
    source = with_kinds(tmp_path, ["c0" if row < 60 else None for row in range(600)])
    refuse(source, tmp_path, r"all 60 labels in column 'kind' are of one class, 'c0'")


def test_no_label_at_all_is_said_with_all_rows(tmp_path):
    source = with_kinds(tmp_path, pa.array([None] * 600, pa.string()))
    refuse(source, tmp_path, "holds no label: all 600 rows are unlabelled")


def test_minus_ones_without_gaps_are_counted_in_all_rows(tmp_path):
    classes = blobs()[1]
    source = with_kinds(tmp_path, [int(classes[row]) if row < 60 else -1 for row in range(600)])
    refuse(source, tmp_path, "540 of 600 rows hold -1 in the label column 'kind'")


def test_texts_that_are_numbers_to_predict_are_refused_by_all_of_them(tmp_path):
    source = with_kinds(tmp_path, [f"{row}.5" if row < 60 else None for row in range(600)])
    refuse(source, tmp_path, "numbers that are not whole")


def test_classes_with_decimals_are_taken_as_in_one_table(tmp_path):
    names = ("3.5", "4.0", "4.5")
    kinds = [names[kind] if row % 40 == 0 else None for row, kind in enumerate(blobs()[1])]
    source = with_kinds(tmp_path, kinds, n_parts=12)
    found = bt.label_partitions(source, "kind", out=tmp_path / "out", method="poisson")
    assert not found.failures
    assert found.counts["given"] == 15
    assert set(found.labels) == set(names)


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


def test_a_column_that_is_spoiled_below_its_first_rows_names_its_partition(source, tmp_path):
    rows = pq.read_table(source / "part-2.parquet")
    for path in source.glob("*.parquet"):
        arrow_csv.write_csv(pq.read_table(path), path.with_suffix(".csv"))
        path.unlink()
    lines = (source / "part-2.csv").read_text().splitlines()
    lines[rows.num_rows - 3] = "1,2"
    (source / "part-2.csv").write_text("\n".join(lines))
    found = bt.label_partitions(source, "kind", out=tmp_path / "out", method="poisson")
    assert [one.name for one in found.failures] == ["part-2.csv"]
    assert found.counts["rows"] == 450


def test_foreign_files_folders_and_names_do_no_harm_and_what_is_not_read_is_said(source, tmp_path):
    for name in ("README", "_SUCCESS", ".part-0.parquet.crc", "part-0.parquet.crc", "notes.md"):
        (source / name).write_text("no table")
    for folder, name in (("a=1/b=x", "part-1.parquet"), ("größe ☃", "part-2.parquet")):
        (source / folder).mkdir(parents=True)
        (source / name).rename(source / folder / f"日本 {name}")
    extra = pq.read_table(source / "part-3.parquet").append_column("more", pa.array(["x"] * 150))
    pq.write_table(extra, source / "part-3.parquet")
    found = bt.label_partitions(
        source, "kind", out=tmp_path / "out", method="poisson", features=["x0", "x1", "x2"]
    )
    names = sorted(path.relative_to(tmp_path / "out").as_posix() for path in found.written)
    assert names == [
        "a=1/b=x/日本 part-1.parquet",
        "größe ☃/日本 part-2.parquet",
        "part-0.parquet",
        "part-3.parquet",
    ]
    notes = " ".join(found.notes)
    assert "'more': columns of some partitions only" in notes
    assert "'a', 'b': names in folders" in notes


@pytest.mark.parametrize("pattern", ["", "*.parquet", "**/*.parquet"])
def test_a_link_to_a_partition_that_is_gone_is_named(source, tmp_path, pattern):
    (source / "part-4.parquet").symlink_to(tmp_path / "gone.parquet")
    refuse(source / pattern, tmp_path, r"part-4\.parquet cannot be read")


def test_a_partition_of_0_bytes_is_named_and_the_rest_is_finished(source, tmp_path):
    (source / "part-9.parquet").write_bytes(b"")
    found = bt.label_partitions(source, "kind", out=tmp_path / "out", method="poisson")
    assert [str(one) for one in found.failures] == [
        "part-9.parquet: part-9.parquet is empty: it has 0 bytes. Remove it."
    ]
    assert found.counts["rows"] == 600


@pytest.mark.parametrize("out", ["in", "in/out", "in/a/b/out"])
def test_results_are_not_written_where_a_pattern_would_take_them_for_partitions(
    source, tmp_path, out
):
    message = "would be taken for partitions|is the folder of the input"
    with pytest.raises(InvalidInputError, match=message):
        bt.label_partitions(source / "**/*.parquet", "kind", out=tmp_path / out)
    assert sorted(path.name for path in source.iterdir()) == [f"part-{k}.parquet" for k in range(4)]


@pytest.mark.parametrize("texts", [["a", "b", "ab", "", "ba"], ["x" * k for k in range(40)]])
def test_hashes_of_different_texts_differ_and_of_equal_ones_are_equal(texts):
    ids = pa.chunked_array([pa.array(texts), pa.array(texts)])
    hashes = hash_ids(ids)
    assert len(np.unique(hashes)) == len(texts)
    assert (hashes[: len(texts)] == hashes[len(texts) :]).all()
