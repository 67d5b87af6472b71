"""``beltrami label`` on a folder of tables."""

import json

import pyarrow.parquet as pq
from tests.support.partitions import blob_table, blobs, write_parts


def test_a_folder_of_parquet_is_labelled_by_partitions(shell, tmp_path, monkeypatch):
    monkeypatch.setattr("beltrami.partitions.plan.held_bytes", lambda: 300 << 20)  # not the tests'
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


def test_an_audit_of_a_folder_draws_from_all_partitions_and_proves_something_of_all_rows(
    shell, tmp_path, monkeypatch
):
    monkeypatch.setattr("beltrami.partitions.auditing._MOST", 200)
    source, out = write_parts(tmp_path / "in", blob_table()), tmp_path / "out"
    shell("label", str(source), "--label", "kind", "-o", str(out), "--method", "poisson")
    sheet = tmp_path / "audit.csv"
    drawn = json.loads(
        shell("audit", str(out), "-n", "60", "--seed", "1", "-o", str(sheet), "--json")
    )
    assert drawn["n_accepted"] == 576
    ids = [int(line.split(",")[0].strip('"')) for line in sheet.read_text().splitlines()[1:]]
    assert {one // 150 for one in ids} == {0, 1, 2, 3}
    _, classes = blobs()
    lines = ["id,answer", *(f"{one},c{classes[one]}" for one in ids)]
    sheet.write_text("\n".join(lines))
    proof = json.loads(shell("audit", str(out), "--answers", str(sheet), "--json"))
    assert (proof["n_checked"], proof["n_wrong"], proof["n_accepted"]) == (60, 0, 576)
    assert 0.9 < proof["lower"] < 1


def test_an_audit_of_a_folder_that_lacks_answers_is_refused(shell, tmp_path):
    source, out = write_parts(tmp_path / "in", blob_table()), tmp_path / "out"
    shell("label", str(source), "--label", "kind", "-o", str(out), "--method", "poisson")
    (out / "part-1.parquet").unlink()
    shell("audit", str(out), code=1)
    assert "only what is missing is answered" in shell.err
