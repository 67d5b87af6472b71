"""A real cluster of two worker processes gives the bytes of one process, whatever happens to it."""

import os
import signal

import pyarrow.parquet as pq
import pytest
from tests.support.partitions import blob_table, write_parts, written

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.partitions.answered import Answered

distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as opened,
    ):
        yield opened


def label(source, out, client, **options):
    settings = {"method": "poisson", "n_representatives": 150} | options
    return bt.label_partitions(source, "kind", out=out, client=client, **settings)


def test_two_workers_give_the_bytes_of_one_process(tmp_path, client):
    source = write_parts(tmp_path / "in", blob_table())
    label(source, tmp_path / "one", _threads())
    label(source, tmp_path / "two", client)
    assert written(tmp_path / "one") == written(tmp_path / "two")
    assert len(written(tmp_path / "two")) == 4


def test_a_worker_that_is_killed_is_replaced_and_a_poisoned_partition_is_named(tmp_path, client):
    source = write_parts(tmp_path / "in", blob_table())
    (source / "part-1.parquet").write_bytes(b"PAR1 and then nothing PAR1")
    alone = label(source, tmp_path / "one", _threads())
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    found = label(source, tmp_path / "two", client)
    assert [one.name for one in found.failures] == ["part-1.parquet"]
    assert written(tmp_path / "one") == written(tmp_path / "two")
    assert alone.counts == found.counts


def test_a_frame_of_the_users_own_pipeline_is_labelled(tmp_path, client):
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(blob_table().to_pandas(), npartitions=3)
    found = label(frame[frame.x0 > -100], tmp_path / "out", client)
    assert [path.name for path in found.written] == [f"part-0000{k}.parquet" for k in range(3)]
    assert sum(pq.read_metadata(path).num_rows for path in found.written) == 600
    assert found.representatives().n_rows == found.coverage.n_representatives
    assert (found.suggest(2).columns["settles"] > 1).all()
    with pytest.raises(InvalidInputError, match="came from a dask DataFrame"):
        Answered.open(found.out)


def test_labels_beside_reach_the_workers_of_a_cluster(tmp_path, client):
    source = write_parts(tmp_path / "in", blob_table())
    sides = {"id": [100, 400], "label": ["c0", "c1"]}
    alone = label(source, tmp_path / "one", _threads(), labels=sides)
    found = label(source, tmp_path / "two", client, labels=sides)
    assert found.counts["given"] == 26
    assert written(tmp_path / "one") == written(tmp_path / "two")
    assert alone.counts == found.counts


def _threads():
    """Return a crew of this process, though a client is in force."""
    from beltrami.partitions.crew import ThreadCrew

    return ThreadCrew(2)
