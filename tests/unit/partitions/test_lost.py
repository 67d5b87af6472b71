"""Partitions that are lost on the way, for once or for good: what rests on them."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.partitions import blob_table, blobs, write_parts

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.partitions.reading.survey import SurveyTask


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
