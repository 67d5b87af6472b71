"""Partitions in, every row answered, a file for each partition out."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from pyarrow import feather
from tests.support.partitions import blob_table, blobs, write_parts, written

import beltrami as bt
from beltrami.core.errors import CorruptDataError, InvalidInputError, MemoryBudgetError
from beltrami.labelling.kept.keeping import load_table_labeller
from beltrami.partitions.answers.applying import apply_to_parts
from beltrami.tables.reading.verbatim import read_texts


def label(source: Any, out: Path, **options: Any) -> Any:
    settings = {"n_representatives": 200, "method": "poisson"} | options
    return bt.label_partitions(source, "kind", out=out, **settings)


def guesses(found: Any) -> list[str]:
    return [
        one for path in found.written for one in pq.read_table(path).column("guess").to_pylist()
    ]


def test_clusters_far_apart_are_labelled_without_error(tmp_path):
    found = label(write_parts(tmp_path / "in", blob_table()), tmp_path / "out")
    assert guesses(found) == [f"c{kind}" for kind in blobs()[1]]
    assert found.counts == {
        "rows": 600, "given": 24, "labelled": 576, "abstained": 0, "unreached": 0
    }  # fmt: skip
    assert found.coverage.n_rows == 600
    assert 0.9 < found.coverage.share <= 1
    assert not found.failures


def test_a_label_that_a_person_gave_is_never_changed(tmp_path):
    table = blob_table()
    kinds = table.column("kind").to_pylist()
    wrong = {"c0": "c1", "c1": "c2", "c2": "c0"}[kinds[5]]
    kinds[5] = wrong
    table = table.set_column(4, "kind", pa.array(kinds))
    found = label(write_parts(tmp_path / "in", table), tmp_path / "out")
    row = pq.read_table(found.written[0]).slice(5, 1).to_pylist()[0]
    assert (row["label"], row["guess"], row["source"]) == (wrong, wrong, "human")
    assert row["second_label"] != wrong
    assert row["margin"] is None or row["margin"] < 0


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_results_are_the_same_bytes_whatever_the_number_of_threads(tmp_path, n_jobs):
    source = write_parts(tmp_path / "in", blob_table())
    label(source, tmp_path / "one", n_jobs=2)
    label(source, tmp_path / "other", n_jobs=n_jobs)
    assert written(tmp_path / "one") == written(tmp_path / "other")


def test_what_is_done_is_not_done_again(tmp_path):
    source = write_parts(tmp_path / "in", blob_table())
    first = label(source, tmp_path / "out")
    before = written(tmp_path / "out")
    times = [path.stat().st_mtime_ns for path in first.written]
    first.written[2].unlink()
    again = label(source, tmp_path / "out")
    assert written(tmp_path / "out") == before
    assert again.counts == first.counts
    changed = [path.stat().st_mtime_ns for path in again.written] != times
    assert changed
    assert (
        sum(a == path.stat().st_mtime_ns for a, path in zip(times, again.written, strict=True)) == 3
    )


def test_a_changed_input_is_noticed_and_the_results_are_kept(tmp_path):
    source = write_parts(tmp_path / "in", blob_table())
    label(source, tmp_path / "out")
    before = written(tmp_path / "out")
    pq.write_table(blob_table(150, seed=3), source / "part-1.parquet")
    with pytest.raises(InvalidInputError, match=r"part-1\.parquet has changed"):
        label(source, tmp_path / "out")
    with pytest.raises(InvalidInputError, match="coverage was"):
        label(source, tmp_path / "out", coverage=0.5)
    assert written(tmp_path / "out") == before


def test_a_folder_that_holds_something_else_is_not_written_into(tmp_path):
    source = write_parts(tmp_path / "in", blob_table())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with pytest.raises(InvalidInputError, match=r"thesis\.tex"):
        label(source, tmp_path / "out")
    for inside in (source, source / "labels"):
        with pytest.raises(InvalidInputError, match="folder of the input"):
            label(source, inside)


def test_a_corrupt_partition_is_named_and_the_rest_is_finished(tmp_path):
    source = write_parts(tmp_path / "in", blob_table())
    (source / "part-2.parquet").write_bytes(b"PAR1 and then nothing PAR1")
    found = label(source, tmp_path / "out")
    assert [one.name for one in found.failures] == ["part-2.parquet"]
    assert sorted(written(tmp_path / "out")) == [f"part-{k}.parquet" for k in (0, 1, 3)]
    assert found.counts["rows"] == 450
    assert any("part-2.parquet" in line for line in found.lines())


@pytest.mark.parametrize("kind", ["csv", "tsv", "feather"])
def test_other_forms_of_files_give_the_same_labels(tmp_path, kind):
    table = blob_table()
    (tmp_path / "in").mkdir()
    for part in range(3):
        piece, path = table.slice(200 * part, 200), tmp_path / "in" / f"{part}.{kind}"
        if kind == "feather":
            feather.write_feather(piece, str(path))
        else:
            sign = "," if kind == "csv" else "\t"
            arrow_csv.write_csv(piece, path, arrow_csv.WriteOptions(delimiter=sign))
    found = label(tmp_path / "in", tmp_path / "out")
    assert guesses(found) == [f"c{k}" for k in blobs()[1]]


def test_csv_is_written_where_it_is_asked_for(tmp_path):
    source = write_parts(tmp_path / "in", blob_table())
    found = label(str(source / "*.parquet"), tmp_path / "out", form="csv")
    assert [path.name for path in found.written] == [f"part-{k}.csv" for k in range(4)]
    assert arrow_csv.read_csv(found.written[3]).column("guess").to_pylist()[-1].startswith("c")


def test_rows_without_ids_are_numbered_through_all_partitions(tmp_path):
    source = write_parts(tmp_path / "in", blob_table().drop_columns(["id"]))
    found = label(source, tmp_path / "out")
    ids = [one for path in found.written for one in pq.read_table(path).column("id").to_pylist()]
    assert ids == list(range(600))


def test_a_partition_without_rows_gives_a_file_without(tmp_path):
    source = write_parts(tmp_path / "in", blob_table())
    pq.write_table(blob_table().slice(0, 0), source / "part-9.parquet")
    found = label(source, tmp_path / "out")
    assert pq.read_table(found.written[-1]).num_rows == 0
    assert pq.read_schema(found.written[-1]) == pq.read_schema(found.written[0])
    assert any("part-9.parquet" in note for note in found.notes)


def test_too_little_memory_is_said_before_anything_is_written(tmp_path):
    source = write_parts(tmp_path / "in", blob_table())
    with pytest.raises(MemoryBudgetError, match="--memory"):
        label(source, tmp_path / "out", memory="100MiB")
    assert not (tmp_path / "out").exists()


def test_no_more_rows_learn_than_may_and_labels_that_would_not_fit_are_counted(tmp_path):
    table, kinds = blob_table(), [f"c{k}" for k in blobs()[1][:300]] + [None] * 300
    source = write_parts(tmp_path / "in", table.set_column(4, "kind", pa.array(kinds)))
    found = label(source, tmp_path / "enough", n_representatives=310)
    assert found.coverage.n_representatives == 310
    with pytest.raises(InvalidInputError, match="300 rows have a label, and all of them learn"):
        label(source, tmp_path / "few", n_representatives=250)
    assert not (tmp_path / "few").exists()


def test_under_a_risk_unsure_rows_are_left_to_the_person(tmp_path):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(400, 2))
    kinds = [("a" if x[0] > 0 else "b") if row < 60 else None for row, x in enumerate(points)]
    table = pa.table({"x0": points[:, 0], "x1": points[:, 1], "kind": kinds})
    found = label(write_parts(tmp_path / "in", table), tmp_path / "out", risk=0.02)
    assert found.counts["abstained"] > 0
    rows = [row for path in found.written for row in pq.read_table(path).to_pylist()]
    left = [row for row in rows if row["source"] == "abstained"]
    assert all(row["label"] is None and row["guess"] is not None for row in left)


def test_a_job_that_is_taken_up_does_not_learn_again(tmp_path, monkeypatch):
    source = write_parts(tmp_path / "in", blob_table())
    first = label(source, tmp_path / "out")
    before = written(tmp_path / "out")
    first.written[1].unlink()

    def refuse(*_: Any) -> None:
        raise AssertionError("it learns again")

    monkeypatch.setattr(bt.ManifoldClassifier, "fit", refuse)
    again = label(source, tmp_path / "out")
    assert written(tmp_path / "out") == before
    assert again.lines() == first.lines()
    assert again.report.lines() == first.report.lines()


def test_the_labeller_beside_the_results_gives_their_probabilities(tmp_path):
    found = label(write_parts(tmp_path / "in", blob_table()), tmp_path / "out", method="auto")
    kept = bt.load(tmp_path / "out" / "_beltrami" / "labeller.beltrami")
    table = blob_table().slice(150, 150)
    points = np.stack([table.column(f"x{place}").to_numpy() for place in range(3)], axis=1)
    verdict, rows = kept.judge(points), pq.read_table(found.written[1])
    assert rows.column("confidence").to_pylist() == np.round(verdict.confidence, 6).tolist()
    assert rows.column("guess").to_pylist() == kept.classes_[verdict.codes].tolist()
    assert rows.column("unlike").to_pylist() == verdict.unlike.tolist()


def test_a_damaged_labeller_is_named(tmp_path):
    source = write_parts(tmp_path / "in", blob_table())
    found = label(source, tmp_path / "out")
    found.written[0].unlink()
    path = tmp_path / "out" / "_beltrami" / "labeller.beltrami"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(CorruptDataError, match=r"labeller\.beltrami"):
        label(source, tmp_path / "out")


def encrypted(held: bytes) -> bytes:
    flags = held.index(b"PK\x01\x02") + 8
    return held[:flags] + b"\x01" + held[flags + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda held: b"",
        lambda held: held[: len(held) // 2],
        lambda held: held[:2000] + bytes(255 - one for one in held[2000:2064]) + held[2064:],
        encrypted,
        lambda held: held.replace(b"parts", b"heads"),
    ],
    ids=["empty", "half", "flipped", "encrypted", "renamed"],
)
def test_damaged_representatives_are_named_and_chosen_anew_where_they_are_removed(tmp_path, damage):
    source = write_parts(tmp_path / "in", blob_table())
    found = label(source, tmp_path / "out")
    before = written(tmp_path / "out")
    found.written[0].unlink()
    path = tmp_path / "out" / "_beltrami" / "representatives.npz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(CorruptDataError, match=r"representatives\.npz.*removed"):
        label(source, tmp_path / "out")
    path.unlink()
    label(source, tmp_path / "out")
    assert written(tmp_path / "out") == before


@pytest.mark.parametrize(
    "seed", [None, np.random.default_rng(0), 1.5, -1, "3"], ids=lambda seed: type(seed).__name__
)
def test_a_seed_that_gives_other_rows_every_time_or_none_is_refused(tmp_path, seed):
    source = write_parts(tmp_path / "in", blob_table())
    with pytest.raises(InvalidInputError, match=r"random_state=.*whole number"):
        label(source, tmp_path / "out", random_state=seed)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("marker", [float("nan"), np.int64(7), 7, "7", None], ids=repr)
def test_whatever_marks_rows_without_a_label_the_results_can_be_asked_about(tmp_path, marker):
    kinds = [kind if row < 24 else None for row, kind in enumerate(blobs()[1].tolist())]
    kinds = [7 if row > 500 else kind for row, kind in enumerate(kinds)]
    source = write_parts(tmp_path / "in", blob_table().set_column(4, "kind", pa.array(kinds)))
    found = label(source, tmp_path / "out", unlabeled=marker, random_state=np.int64(3))
    assert found.counts["given"] == (24 if str(marker) == "7" else 123)
    assert len(found.suggest(2).columns["id"]) == 2
    assert found.save(tmp_path / "model.beltrami").is_file()


def test_rows_unlike_all_that_learned_are_left_to_the_person_and_counted(tmp_path):
    table, out = blob_table(), tmp_path / "out"
    label(write_parts(tmp_path / "before", table), tmp_path / "first", coverage=0.0)
    with np.load(tmp_path / "first" / "_beltrami" / "representatives.npz") as held:
        learned = 150 * held["parts"] + held["rows"]  # the same rows are drawn again
    strange = np.setdiff1d(np.arange(600), learned)[:5]
    far = table.column("x0").to_numpy().copy()
    far[strange] = 500.0
    table = table.set_column(1, "x0", pa.array(far))
    found = label(write_parts(tmp_path / "in", table), out, coverage=0.0)
    rows = [row for path in found.written for row in pq.read_table(path).to_pylist()]
    unlike = [row for row in rows if row["unlike"]]
    assert {row["id"] for row in unlike} >= set(strange.tolist())
    assert all(row["label"] is None and row["guess"] is not None for row in unlike)
    assert found.n_unlike == len(unlike) == found.counts["abstained"]
    assert any(f"{found.n_unlike:,} row(s) are unlike" in line for line in found.lines())


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_labels_are_counted_by_the_names_that_they_have_in_the_files(tmp_path, form):
    table = blob_table()
    is_first = pc.equal(table.column("kind"), "c0")
    table = table.set_column(4, "kind", is_first)
    found = label(write_parts(tmp_path / "in", table), tmp_path / "out", form=form)
    labeller = load_table_labeller(found.save(tmp_path / "m"))
    applied = apply_to_parts(
        labeller, str(tmp_path / "in"), tmp_path / "new", facts={}, form=form, n_jobs=1
    )
    for done, out, told in (
        (found, tmp_path / "out", found.labels),
        (applied, tmp_path / "new", applied.applied.tally.labels),
    ):
        texts = [one for path in done.written for one in read_texts(path)["label"] if one]
        assert set(texts) == {"true", "false"}
        assert told == Counter(texts)
        record = json.loads((out / "_beltrami" / "manifest.json").read_text())
        assert sum((Counter(one["labels"]) for one in record["done"].values()), Counter()) == told
