"""Partitions that are lost on the way, for once or for good: what rests on them."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.partitions import blob_table, blobs, write_parts, written

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.partitions.answers.answering import AnswerTask
from beltrami.partitions.people.answered import Answered
from beltrami.partitions.reading.files import FilePartition
from beltrami.partitions.reading.survey import SurveyTask
from beltrami.partitions.representing.covering import CoverTask
from beltrami.partitions.representing.drawing import DrawTask
from beltrami.partitions.representing.settling import SettleTask
from beltrami.partitions.representing.witnessing import WitnessTask


def label(source: Path, out: Path, **options: Any) -> Any:
    settings = {"n_representatives": 200, "method": "poisson", "n_jobs": 1} | options
    return bt.label_partitions(source, "kind", out=out, **settings)


def spread_table(*, has_ids: bool = True) -> pa.Table:
    """Return blobs with labels in every partition."""
    kinds = [f"c{kind}" if row % 10 == 0 else None for row, kind in enumerate(blobs()[1])]
    table = blob_table().set_column(4, "kind", pa.array(kinds, pa.string()))
    return table if has_ids else table.drop_columns(["id"])


def lose(monkeypatch: pytest.MonkeyPatch, task: Any, name: str) -> None:
    """Let a pass fail at a partition."""
    work = task.__call__

    def fail(self: Any, partition: Any, extra: Any = None) -> Any:
        if partition.name == name:
            raise OSError(5, "Input/output error")
        return work(self, partition, extra)

    monkeypatch.setattr(task, "__call__", fail)


def people(found: Any) -> set[int]:
    """Return the ids of the rows that a person labelled."""
    rows = [row for path in found.written for row in pq.read_table(path).to_pylist()]
    return {row["id"] for row in rows if row["source"] == "human"}


def spoil(path: Path) -> None:
    """Damage the numbers of a file, but not what says which columns it has."""
    content = bytearray(path.read_bytes())
    content[4:60] = b"\xff" * 56
    path.write_bytes(bytes(content))


@pytest.fixture
def ten(tmp_path):
    """Ten partitions without ids, of which one that is not among the first looks is damaged."""
    source = write_parts(tmp_path / "in", spread_table(has_ids=False), n_parts=10)
    spoil(source / "part-4.parquet")
    return source


@pytest.mark.parametrize("row", [511, 245, 200])
def test_row_numbers_of_labels_count_only_partitions_that_can_be_read(tmp_path, ten, row):
    first = label(ten, tmp_path / "first")
    assert [one.name for one in first.failures] == ["part-4.parquet"]
    again = label(ten, tmp_path / "again", labels={"id": [row], "label": ["c0"]})
    assert people(again) == people(first) | {row}
    assert again.counts["given"] == first.counts["given"] + (row not in people(first))
    assert any("go by numbers of rows through the 9 partitions" in one for one in again.notes)


def test_a_number_beyond_what_can_be_read_is_refused_and_it_is_said_what_is_not_counted(
    tmp_path, ten
):
    with pytest.raises(InvalidInputError, match=r"1 of 2 ids .*part-4\.parquet' cannot be read"):
        label(ten, tmp_path / "out", labels={"id": [5, 545], "label": ["c0", "c1"]})
    assert not (tmp_path / "out").exists()


def test_a_label_whose_partition_is_lost_afterwards_is_refused(tmp_path, monkeypatch):
    source = write_parts(tmp_path / "in", spread_table())
    lose(monkeypatch, SurveyTask, "part-1.parquet")
    with pytest.raises(InvalidInputError, match=r"2 label\(s\) .*part-1\.parquet.*Input/output"):
        label(source, tmp_path / "out", labels={"id": [155, 160, 7], "label": ["c0", "c1", "c2"]})
    found = label(source, tmp_path / "out", labels={"id": [7], "label": ["c2"]})
    assert 7 in people(found)


@pytest.mark.parametrize("task", [DrawTask, CoverTask, SettleTask, WitnessTask])
def test_what_was_learned_without_a_partition_is_learned_anew_once_it_can_be_read(
    tmp_path, monkeypatch, task
):
    source = write_parts(tmp_path / "in", spread_table())
    label(source, tmp_path / "one")
    with monkeypatch.context() as patched:
        lose(patched, task, "part-0.parquet")
        found = label(source, tmp_path / "two")
    assert [one.name for one in found.failures] == ["part-0.parquet"]
    assert Answered.open(tmp_path / "two").chosen.coverage.n_representatives == 200
    found = label(source, tmp_path / "two")
    assert not found.failures
    assert found.counts["rows"] == 600
    assert written(tmp_path / "two") == written(tmp_path / "one")


def test_what_others_taught_is_not_taken_for_what_these_representatives_did(tmp_path, monkeypatch):
    source = write_parts(tmp_path / "in", spread_table())
    found = []
    for out, task in (("two", SurveyTask), ("two", DrawTask), ("one", DrawTask)):
        with monkeypatch.context() as patched:
            lose(patched, task, "part-0.parquet")
            found.append(label(source, tmp_path / out).representatives().columns)
    assert written(tmp_path / "two") == written(tmp_path / "one")
    assert found[1].equals(found[2])
    assert not found[1].equals(found[0])


def test_a_job_that_chose_nothing_before_it_was_cut_short_may_lose_another_partition(
    tmp_path, monkeypatch
):
    source = write_parts(tmp_path / "in", spread_table())
    label(source, tmp_path / "one")

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("beltrami.partitions.job.settle", stop)
        with pytest.raises(KeyboardInterrupt):
            label(source, tmp_path / "two")
    with monkeypatch.context() as patched:
        lose(patched, SurveyTask, "part-1.parquet")
        label(source, tmp_path / "two")
    assert label(source, tmp_path / "two").counts["rows"] == 600
    assert written(tmp_path / "two") == written(tmp_path / "one")


@pytest.fixture
def cut_short(tmp_path, monkeypatch):
    """Return what labels partitions without ids until the first is answered, and no further."""
    work = AnswerTask.__call__

    def stop(self: Any, partition: Any, offset: int) -> Any:
        if partition.name != "part-0.parquet":
            raise KeyboardInterrupt
        return work(self, partition, offset)

    def begin(source: Path, **options: Any) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(AnswerTask, "__call__", stop)
            with pytest.raises(KeyboardInterrupt):
                label(source, tmp_path / "two", **options)

    return begin


def test_a_job_that_is_taken_up_without_a_partition_numbers_and_fills_the_others_as_before(
    tmp_path, monkeypatch, cut_short
):
    table = spread_table(has_ids=False)
    holed = table.column("x1").to_numpy().copy()
    holed[::7] = float("nan")
    table = table.set_column(1, "x1", pa.array(holed))
    source = write_parts(tmp_path / "in", table)
    label(source, tmp_path / "one")
    cut_short(source)
    with monkeypatch.context() as patched:
        lose(patched, SurveyTask, "part-1.parquet")
        found = label(source, tmp_path / "two")
    assert [one.name for one in found.failures] == ["part-1.parquet"]
    assert found.save(tmp_path / "model.beltrami").is_file()
    assert label(source, tmp_path / "two").counts["rows"] == 600
    assert written(tmp_path / "two") == written(tmp_path / "one")


def test_a_job_that_is_taken_up_reads_as_before_though_a_type_was_that_of_a_lost_partition(
    tmp_path, monkeypatch, cut_short
):
    source = write_parts(tmp_path / "in", spread_table(has_ids=False))
    wide = pq.read_table(source / "part-1.parquet")
    wide = wide.set_column(0, "x0", wide.column("x0").cast(pa.float64()))
    pq.write_table(wide, source / "part-1.parquet")
    label(source, tmp_path / "one")
    cut_short(source)
    read = FilePartition.schema

    def fail(self: Any) -> Any:
        if self.name == "part-1.parquet":
            raise OSError(5, "Input/output error")
        return read(self)

    with monkeypatch.context() as patched:
        patched.setattr(FilePartition, "schema", fail)
        label(source, tmp_path / "two")
    label(source, tmp_path / "two")
    assert written(tmp_path / "two") == written(tmp_path / "one")


def test_a_job_that_is_taken_up_refuses_row_numbers_that_would_mean_others(
    tmp_path, monkeypatch, cut_short
):
    source = write_parts(tmp_path / "in", spread_table(has_ids=False))
    labels = {"id": [5, 405], "label": ["c0", "c1"]}
    label(source, tmp_path / "one", labels=labels)
    cut_short(source, labels=labels)
    with monkeypatch.context() as patched:
        lose(patched, SurveyTask, "part-1.parquet")
        with pytest.raises(InvalidInputError, match=r"part-1\.parquet.* the labels beside"):
            label(source, tmp_path / "two", labels=labels)
    label(source, tmp_path / "two", labels=labels)
    assert written(tmp_path / "two") == written(tmp_path / "one")
