"""``beltrami label`` on a folder of tables."""

import json

import pyarrow.parquet as pq
from tests.support.partitions import blob_table, write_parts


def test_a_folder_of_parquet_is_labelled_by_partitions(shell, tmp_path):
    source = write_parts(tmp_path / "in", blob_table())
    arguments = ("label", str(source), "--label", "kind", "-o", str(tmp_path / "out"))
    found = json.loads(shell(*arguments, "--method", "poisson", "--memory", "3GiB", "--json"))
    assert found["counts"]["rows"] == 600
    assert found["coverage"]["share"] == 1
    assert sum(pq.read_metadata(path).num_rows for path in found["written"]) == 600


def test_a_poisoned_partition_is_named_and_the_exit_code_is_one(shell, tmp_path):
    source = write_parts(tmp_path / "in", blob_table())
    (source / "part-2.parquet").write_bytes(b"PAR1 and then nothing PAR1")
    arguments = ("label", str(source / "*.parquet"), "--label", "kind", "-o", str(tmp_path / "out"))
    said = shell(*arguments, "--method", "poisson", code=1)
    assert "failed: part-2.parquet" in said
    assert len(list((tmp_path / "out").glob("*.parquet"))) == 3


def test_what_partitions_do_not_have_is_refused(shell, tmp_path):
    source = write_parts(tmp_path / "in", blob_table())
    shell("label", str(source), "--label", "kind", "--report", "page.html", code=2)
    assert "--report" in shell.err
