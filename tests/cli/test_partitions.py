"""``beltrami label`` on a folder of tables."""

import csv
import json
import shlex

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
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
    monkeypatch.setattr("beltrami.partitions.people.auditing._MOST", 200)
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


def test_an_audit_of_a_folder_is_to_prove_what_its_risk_promised(shell, tmp_path):
    source, out = write_parts(tmp_path / "in", blob_table()), tmp_path / "out"
    choices = ("--method", "poisson", "--risk", "0.1")
    shell("label", str(source), "--label", "kind", "-o", str(out), *choices)
    sheet = tmp_path / "audit.csv"
    shell("audit", str(out), "-n", "60", "--seed", "1", "-o", str(sheet))
    ids = [int(line.split(",")[0].strip('"')) for line in sheet.read_text().splitlines()[1:]]
    _, classes = blobs()
    sheet.write_text("\n".join(["id,answer", *(f"{one},c{classes[one]}" for one in ids)]))
    said = shell("audit", str(out), "--answers", str(sheet))
    assert "90 % is proved.\nThe target is 90 %, because the labels were accepted by a" in said


def test_an_audit_of_a_folder_that_lacks_answers_is_refused(shell, tmp_path):
    source, out = write_parts(tmp_path / "in", blob_table()), tmp_path / "out"
    shell("label", str(source), "--label", "kind", "-o", str(out), "--method", "poisson")
    (out / "part-1.parquet").unlink()
    shell("audit", str(out), code=1)
    assert "only what is missing is answered" in shell.err


def test_an_audit_of_a_folder_with_a_file_that_nobody_answered_names_it(shell, tmp_path):
    source, out = write_parts(tmp_path / "in", blob_table()), tmp_path / "out"
    shell("label", str(source), "--label", "kind", "-o", str(out), "--method", "poisson")
    (out / "more.parquet").write_bytes((out / "part-1.parquet").read_bytes())
    shell("audit", str(out), code=1)
    assert "holds 1 file(s) that are no answers of its job: 'more.parquet'" in shell.err
    (out / "part-1.parquet").unlink()
    shell("audit", str(out), code=1)
    assert "lacks the answers of 'part-1.parquet'" in shell.err


def noted(tmp_path, n=600):
    """Return a folder of partitions with a column of notes, and the options that label it."""
    table = blob_table(n)
    table = table.append_column("note", pa.array([f"remark {k}" for k in range(n)]))
    options = ("--label", "kind", "--features", "x0,x1,x2", "--method", "poisson")
    return write_parts(tmp_path / "in", table), options


def test_questions_of_a_folder_are_answered_in_a_sheet_that_labels_the_folder(shell, tmp_path):
    source, options = noted(tmp_path)
    label = ("label", str(source), *options, "--representatives", "100")
    shell(*label, "-o", "out")
    told = json.loads(shell("suggest", "out", "-n", "5", "-o", "ask.csv", "--json"))
    assert (told["n_rows"], told["n_representatives"], told["n_looked_at"]) == (600, 100, 600)
    assert sum(one["settles"] for one in told["questions"]) <= 600
    said = shell("suggest", "out", "-n", "5", "-o", "ask.csv")
    assert "counted: a row settles those of all 600 rows" in said
    command = f"beltrami label in {shlex.join(options[:4])} --representatives 100 --method poisson"
    assert f"then: {command} --labels ask.csv -o NEW" in said
    with (tmp_path / "ask.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert all(one["note"] == f"remark {one['id']}" for one in rows)
    lines = [f"{one['id']},c{blobs()[1][int(one['id'])]}" for one in rows]
    (tmp_path / "ask.csv").write_text("\n".join(["id,label", *lines]))
    found = json.loads(shell(*label, "--labels", "ask.csv", "-o", "new", "--json"))
    assert found["counts"]["given"] == 29


def test_a_check_of_a_folder_says_what_it_is_about_and_shows_rows(shell, tmp_path):
    source, options = noted(tmp_path)
    shell("label", str(source), *options, "--representatives", "100", "-o", "out")
    said = shell("check", "out", "-o", "issues.csv").splitlines()
    assert said[0] == "what follows is about 100 representatives of 600 rows, with all 24 labels " \
        "among them"  # fmt: skip
    assert any(line.startswith("rows that no representative covers: at most") for line in said)
    facts = json.loads(shell("check", "out", "--json"))
    assert (facts["n_rows"], facts["n_representatives"]) == (600, 100)


def test_the_sheet_of_an_audit_shows_what_rows_are_and_not_what_we_said(shell, tmp_path):
    source, options = noted(tmp_path)
    shell("label", str(source), *options, "-o", "out")
    said = shell("audit", "out", "-n", "20", "-o", "audit.csv")
    assert "what the rows are: from the partitions that were labelled" in said
    with (tmp_path / "audit.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["id", "answer", "x0", "x1", "x2", "note"]
    assert all(one["note"] == f"remark {one['id']}" for one in rows)
    (source / "part-0.parquet").unlink()
    said = shell("audit", "out", "-n", "20", "-o", "audit.csv")
    assert "only ids" in said
    assert "part-0.parquet" in said


@pytest.mark.parametrize("command", ["suggest", "check", "studio"])
def test_partitions_without_labels_and_other_readings_are_refused(shell, tmp_path, command):
    source, options = noted(tmp_path)
    shell(command, str(source), code=1)
    assert f"beltrami label {source} -o OUT" in shell.err
    shell("label", str(source), *options, "--representatives", "100", "-o", "out")
    shell(command, "out", "--label", "kind", "--features", "x0", "--seed", "3", code=1)
    assert "Leave out --features, --seed" in shell.err


def test_a_folder_of_csv_files_is_looked_at_as_well(shell, tmp_path):
    table = blob_table().drop_columns(["id"])
    (tmp_path / "in").mkdir()
    for part in range(3):
        arrow_csv.write_csv(table.slice(200 * part, 200), tmp_path / "in" / f"{part}.csv")
    options = ("--label", "kind", "--method", "poisson", "--representatives", "100")
    shell("label", "in", *options, "-o", "out")
    shell("suggest", "out", "-n", "3", "-o", "ask.csv")
    with (tmp_path / "ask.csv").open() as file:
        ids = [int(one["id"]) for one in csv.DictReader(file)]
    points, _ = blobs()
    kept = pq.read_table(tmp_path / "out" / "_beltrami" / "representatives.parquet")
    place = kept.column("id").to_pylist().index(ids[0])
    assert kept.column("x1")[place].as_py() == pytest.approx(points[ids[0], 1], rel=1e-6)


def test_partitions_of_our_own_answers_are_refused(run, tmp_path):
    run("label", "data.csv", "--with-data", "-o", "answers/part.csv")
    run("label", "answers/part*.csv", "-o", "again", code=1)
    assert "labels are our own answers" in run.err
