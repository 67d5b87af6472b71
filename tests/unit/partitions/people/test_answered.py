"""Labelled partitions, looked at by people: questions, checks, labels beside, the whole circle."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from tests.support.partitions import blob_table, blobs, write_parts, written

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.partitions.people.answered import Answered
from beltrami.partitions.people.asking import suggest_in
from beltrami.partitions.people.checking import check_in
from beltrami.partitions.representing.masses import Masses


def label(source: Any, out: Path, **options: Any) -> Any:
    settings = {"n_representatives": 100, "method": "poisson"} | options
    return bt.label_partitions(source, "kind", out=out, **settings)


@pytest.fixture
def noted() -> pa.Table:
    """Blobs with a column that nobody compares rows by."""
    table = blob_table()
    notes = pa.array([f"row {k}" for k in range(table.num_rows)])
    return table.append_column("note", notes)


def answer(found: Any, out: Path, **options: Any) -> Any:
    return label(found, out, features=["x0", "x1", "x2"], **options)


@pytest.fixture
def found(tmp_path, noted):
    return answer(write_parts(tmp_path / "in", noted), tmp_path / "out")


def test_representatives_are_seen_with_their_own_columns_and_learn_as_in_the_job(found):
    folder = Answered.open(found.out)
    intake = folder.intake()
    assert intake.table.names == ("id", "x0", "x1", "x2", "kind", "note")
    ids = intake.ids.tolist()
    assert intake.table.columns.column("note").to_pylist() == [f"row {one}" for one in ids]
    assert intake.points is folder.chosen.points
    assert (intake.labels[:24] != np.array(None)).all()
    fit = suggest_in(folder, 3)
    told = found.suggest(3)
    assert fit.columns["id"].tolist() == told.columns["id"].tolist()
    assert fit.columns["settles"].tolist() == told.columns["settles"].tolist()
    assert found.representatives().n_rows == 100


def test_masses_sum_to_all_rows_whether_all_were_looked_at_or_some(tmp_path, found, monkeypatch):
    masses = Masses.of(Answered.open(found.out).chosen)
    assert (masses.n_looked, masses.n_rows) == (600, 600)
    assert masses.each.sum() == pytest.approx(600)
    assert masses.words().endswith("all of them were looked at")
    monkeypatch.setattr("beltrami.partitions.representing.settling._ROWS_EACH", 3)
    source = write_parts(tmp_path / "more", blob_table(3000))
    masses = Masses.of(Answered.open(label(source, tmp_path / "other").out).chosen)
    assert 300 <= masses.n_looked < 600
    assert masses.each.sum() == pytest.approx(3000)
    assert "drawn from all with equal chance" in masses.words()


def test_where_all_rows_learn_each_stands_for_itself(tmp_path):
    source = write_parts(tmp_path / "in", blob_table(200))
    found = label(source, tmp_path / "out", n_representatives=200)
    assert (Masses.of(Answered.open(found.out).chosen).each == 1).all()


def test_what_a_question_settles_is_counted_in_the_whole(tmp_path):
    table = blob_table(3000, n_labels=0)
    classes = blobs(3000)[1]
    kinds = [f"c{kind}" if kind < 2 and row < 20 else None for row, kind in enumerate(classes)]
    table = table.set_column(4, "kind", pa.array(kinds, pa.string()))
    found = label(write_parts(tmp_path / "in", table), tmp_path / "out")
    first = found.suggest(1, "cover")
    assert classes[first.columns["id"][0]] == 2
    n_there = (classes == 2).sum()
    assert n_there / 2 < first.columns["settles"][0] <= n_there
    assert first.lines()[-1].startswith("counted: a row settles those of all 3,000 rows")


def test_no_row_is_a_representative_twice(tmp_path):
    rng = np.random.default_rng(0)
    columns = {f"x{k}": rng.standard_cauchy(4000) for k in range(3)}
    kinds = ["a" if k % 2 else "b" for k in range(20)] + [None] * 3980
    source = write_parts(tmp_path / "in", pa.table(columns | {"kind": kinds}))
    found = label(source, tmp_path / "out", n_representatives=2000)
    assert found.coverage.rounds > 0
    chosen = Answered.open(found.out).chosen
    assert len(set(zip(chosen.parts, chosen.rows, strict=True))) == len(chosen.rows) == 2000


def test_rows_that_no_representative_covers_are_counted_and_shown(tmp_path, noted):
    far = {f"x{k}": pa.array([200.0 + 30 * k], pa.float32()) for k in range(3)}
    odd = pa.table({"id": [9000], **far, "kind": [None], "note": ["far away"]}, noted.schema)
    source = write_parts(tmp_path / "in", pa.concat_tables([noted, odd]))
    found = answer(source, tmp_path / "out", coverage=0.95)
    checks = check_in(Answered.open(found.out))
    assert checks.n_strays == round((1 - found.coverage.share) * 601) > 0
    assert checks.stray_ids[0] == 9000
    assert np.all(np.diff(checks.ratios) <= 0)
    said = "\n".join(checks.lines())
    assert said.startswith("what follows is about 100 representatives of 601 rows, with all 24")
    assert f"covers: at most {checks.n_strays} of 601" in said
    assert "far away" in said


def test_a_label_that_looks_wrong_is_shown_with_what_the_row_is(tmp_path, noted):
    kinds = noted.column("kind").to_pylist()
    kinds[5] = {"c0": "c1", "c1": "c2", "c2": "c0"}[kinds[5]]
    noted = noted.set_column(4, "kind", pa.array(kinds))
    found = answer(write_parts(tmp_path / "in", noted), tmp_path / "out")
    checks = check_in(Answered.open(found.out))
    assert checks.record()["issues"][0]["id"] == 5
    assert any("note: row 5" in line for line in checks.lines())


def test_results_find_their_rows_where_both_have_moved(tmp_path, found):
    shutil.move(str(tmp_path), str(tmp_path.with_name("moved")))
    folder = Answered.open(tmp_path.with_name("moved") / "out")
    assert folder.table().n_rows == 100
    shutil.move(str(tmp_path.with_name("moved") / "in"), str(tmp_path))


def test_a_partition_that_has_changed_or_gone_is_refused_by_name(tmp_path, found):
    pq.write_table(blob_table(150, seed=3), tmp_path / "in" / "part-1.parquet")
    with pytest.raises(InvalidInputError, match=r"part-1\.parquet: it has changed"):
        Answered.open(found.out).table()
    (tmp_path / "in" / "part-1.parquet").unlink()
    with pytest.raises(InvalidInputError, match=r"part-1\.parquet cannot be read"):
        Answered.open(found.out).table()


def test_a_job_without_representatives_says_so(tmp_path, found):
    (found.out / "_beltrami" / "representatives.npz").unlink()
    with pytest.raises(InvalidInputError, match="no representatives yet"):
        Answered.open(found.out)


def sheet(path: Path, rows: dict[Any, str]) -> Path:
    table = pa.table({"id": list(rows), "label": list(rows.values())})
    arrow_csv.write_csv(table, path)
    return path


@pytest.mark.parametrize("has_ids", [True, False])
def test_labels_beside_come_on_top_by_ids_or_by_numbers_of_rows(tmp_path, has_ids):
    table = blob_table(n_labels=0)
    if has_ids:
        table = table.set_column(0, "id", pa.array([f"n{k}" for k in range(600)]))
    else:
        table = table.drop_columns(["id"])
    place = table.column_names.index("kind")
    kinds = ["c7" if k == 5 else None for k in range(600)]
    source = write_parts(tmp_path / "in", table.set_column(place, "kind", pa.array(kinds)))
    rows = [5, 149, 150, 599, *range(200, 220)]
    classes = blobs()[1]
    given = {(f"n{row}" if has_ids else row): f"c{classes[row]}" for row in rows}
    found = label(source, tmp_path / "out", labels=sheet(tmp_path / "ask.csv", given))
    assert found.counts["given"] == 24
    told = [one for path in found.written for one in pq.read_table(path).to_pylist()]
    assert [place for place, one in enumerate(told) if one["source"] == "human"] == sorted(rows)
    assert [one["guess"] for one in told] == [f"c{kind}" for kind in classes]
    learned = Answered.open(found.out).intake()
    assert int(learned.is_given.sum()) == 24


def test_labels_may_stand_beside_partitions_that_have_none(tmp_path):
    source = write_parts(tmp_path / "in", blob_table().drop_columns(["kind"]))
    classes = blobs()[1]
    given = sheet(tmp_path / "ask.csv", {row: str(classes[row]) for row in range(0, 600, 20)})
    found = bt.label_partitions(
        source, out=tmp_path / "out", labels=given, n_representatives=100, method="poisson"
    )
    assert found.counts["given"] == 30
    guesses = [one for path in found.written for one in pq.read_table(path).column("guess")]
    assert [one.as_py() for one in guesses] == classes.tolist()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["5", "600", "x"], r"2 of 3 ids with a label are those of no row .*'600', 'x'"),
        (["5", "7", "5"], r"1 id\(s\) occur more than once in ask.csv: '5'"),
        (["5", "", "7"], "ids in ask.csv"),
    ],
)
def test_ids_of_no_row_or_twice_are_refused_before_anything_is_written(tmp_path, rows, message):
    source = write_parts(tmp_path / "in", blob_table())
    (tmp_path / "ask.csv").write_text("\n".join(["id,label", *(f"{one},c1" for one in rows)]))
    with pytest.raises(InvalidInputError, match=message):
        label(source, tmp_path / "out", labels=tmp_path / "ask.csv")
    assert not (tmp_path / "out").exists()


def test_labels_of_another_type_are_refused(tmp_path):
    classes = blobs()[1].tolist()
    table = blob_table().set_column(4, "kind", pa.array(classes[:24] + [None] * 576))
    source = write_parts(tmp_path / "in", table)
    for name, cell in (("whole", "2"), ("odd", "two")):
        (tmp_path / f"{name}.csv").write_text(f"id,label\n30,{cell}\n")
    assert label(source, tmp_path / "a", labels=tmp_path / "whole.csv").counts["given"] == 25
    with pytest.raises(InvalidInputError, match="of type int64, and a label beside them is 'two'"):
        label(source, tmp_path / "b", labels=tmp_path / "odd.csv")


def test_other_labels_beside_are_another_job(tmp_path):
    source = write_parts(tmp_path / "in", blob_table())
    first = sheet(tmp_path / "ask.csv", {30: "c1"})
    label(source, tmp_path / "out", labels=first)
    before = written(tmp_path / "out")
    assert label(source, tmp_path / "out", labels=first).counts["given"] == 25
    with pytest.raises(InvalidInputError, match="labels was"):
        label(source, tmp_path / "out", labels=sheet(tmp_path / "ask.csv", {30: "c2"}))
    assert written(tmp_path / "out") == before
