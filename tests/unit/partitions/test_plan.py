"""What a job on partitions takes: memory, rows that learn, partitions at a time."""

import threading
import time
from collections import Counter
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pyarrow as pa
import pytest
from tests.support.partitions import blob_table, blobs, plain_layout, write_parts, written

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.moments import Moments
from beltrami.partitions import plan
from beltrami.partitions.model import Survey
from beltrami.partitions.options import PartitionOptions
from beltrami.partitions.plan import make_plan
from beltrami.partitions.reading.files import FilePartition
from beltrami.partitions.reading.survey import SurveyTask

GIB = 2**30


@pytest.fixture(autouse=True)
def _held(monkeypatch):
    monkeypatch.setattr("beltrami.partitions.plan.held_bytes", lambda: 300 << 20)


def survey(n_rows, n_given):
    """Return what is known of rows of which some have a label."""
    labels = Counter({"a": n_given // 2, "b": n_given - n_given // 2})
    return Survey((n_rows,), Moments.none(2), labels)


def planned(n_rows, n_given, n_representatives=None, memory=64 * GIB, n_jobs=4):
    """Return the plan of a job on rows of two columns."""
    options = PartitionOptions(memory, n_representatives, n_jobs=n_jobs)
    return make_plan(options, plain_layout(), (), survey(n_rows, n_given))


def test_beside_more_labels_than_learn_as_a_rule_there_is_room_for_rows_without_one():
    assert planned(10**7, 1000).n_representatives == 50_000
    assert planned(10**7, 60_000).n_representatives == 70_000
    assert 60_002 <= planned(10**7, 60_000, memory=2 * GIB).n_representatives < 70_000


def test_how_many_rows_learn_does_not_depend_on_how_many_partitions_are_worked_on():
    plans = [planned(10**7, 1000, memory=GIB, n_jobs=n_jobs) for n_jobs in (1, 2, 16)]
    assert len({one.n_representatives for one in plans}) == 1
    assert plans[0].n_representatives < 50_000
    assert plans[0].n_jobs == 1


def test_fewer_rows_that_learn_than_have_a_label_are_refused():
    with pytest.raises(InvalidInputError, match=r"300 rows have a label.*at least 302"):
        planned(600, 300, 250)
    assert planned(600, 300, 302).n_representatives == 302
    assert planned(300, 300, 300).n_representatives == 300


@pytest.mark.parametrize("n", [0, -5, 2.5, "many"])
def test_a_number_of_rows_that_learn_that_is_none_is_refused(n):
    with pytest.raises(InvalidInputError, match=f"n_representatives={n!r} must be"):
        PartitionOptions(n_representatives=n)
    assert PartitionOptions(n_representatives=np.int64(5)).n_representatives == 5


def test_partitions_are_settled_at_a_time_as_memory_holds_the_sums_of_each():
    widths = {f"x{place}": 1 for place in range(256)}
    wide = replace(plain_layout(), widths=widths, dtype=np.dtype(np.float32))
    plans = [
        make_plan(PartitionOptions(gib * GIB, n_jobs=16), wide, (), survey(10**7, 10))
        for gib in (6, 64)
    ]
    assert [one.n_representatives for one in plans] == [50_000, 50_000]
    sums, batch = 2 * 8 * 256 * 50_000, 8 * 8 * 256 * 8192
    assert 8 < plans[0].n_jobs < 6 * GIB // (sums + batch + 96 * 2**20)
    assert plans[1].n_jobs == 16


def test_the_survey_takes_as_many_partitions_at_a_time_as_memory_holds(tmp_path, monkeypatch):
    look, lock, at_work = SurveyTask.__call__, threading.Lock(), [0]
    seen = []

    def counted(self, *given):
        with lock:
            at_work[0] += 1
            seen.append(at_work[0])
        time.sleep(0.1)
        try:
            return look(self, *given)
        finally:
            with lock:
                at_work[0] -= 1

    monkeypatch.setattr(SurveyTask, "__call__", counted)
    source = write_parts(tmp_path / "in", blob_table(), 8)
    given = {"n_representatives": 100, "method": "poisson", "n_jobs": 8}
    bt.label_partitions(source, "kind", out=tmp_path / "out", memory="460MiB", **given)
    assert max(seen) == 1
    seen.clear()
    bt.label_partitions(source, "kind", out=tmp_path / "more", memory="8GiB", **given)
    assert max(seen) > 1


@pytest.mark.parametrize("compression", [None, "lz4"])
def test_what_is_decoded_at_a_time_of_an_arrow_file_is_its_largest_batch(tmp_path, compression):
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=200_000)})
    sizes = {}
    for n_rows in (10_000, 200_000):
        path = tmp_path / f"{n_rows}.arrow"
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with pa.ipc.new_file(str(path), table.schema, options=options) as file:
            file.write_table(table, max_chunksize=n_rows)
        sizes[n_rows] = FilePartition(path.name, str(path), "arrow").block_bytes()
    for n_rows, n_bytes in sizes.items():
        assert 8 * n_rows <= n_bytes <= 20 * n_rows
    (tmp_path / "bad.arrow").write_bytes(b"ARROW1 and then nothing")
    assert FilePartition("bad", str(tmp_path / "bad.arrow"), "arrow").block_bytes() == 23


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["", 'third kind of "thing", '])
@pytest.mark.parametrize("ids", ["numbers", "texts", None])
def test_no_more_is_written_than_was_said_and_not_much_less(tmp_path, monkeypatch, form, name, ids):
    n, said = 1200, []
    names = {
        "numbers": np.arange(n) * 10**12,
        "texts": [sha256(bytes(row)).hexdigest()[:36] for row in range(n)],
    }
    kinds = [f"{name}c{kind}" if row < 40 else None for row, kind in enumerate(blobs(n)[1])]
    table = blob_table(n).set_column(4, "kind", pa.array(kinds))
    table = table.drop_columns(["id"]) if ids is None else table.set_column(0, "id", [names[ids]])
    forecast = plan._written_bytes
    monkeypatch.setattr(plan, "_written_bytes", lambda *g: said.append(forecast(*g)) or said[-1])
    source, out = write_parts(tmp_path / "in", table, 2), tmp_path / "out"
    settings = {"n_representatives": 100, "method": "poisson", "form": form}
    bt.label_partitions(source, "kind", out=out, **settings)
    size = sum(map(len, written(out).values()))
    assert size <= said[0] <= 2.5 * size
