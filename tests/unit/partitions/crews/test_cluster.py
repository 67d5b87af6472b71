"""A real cluster of two worker processes gives the bytes of one process, whatever happens to it."""

import importlib
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.support.partitions import blob_table, write_parts, written

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.core.telling.progress import listen
from beltrami.core.telling.stages import Stage
from beltrami.partitions.crews import cluster as room
from beltrami.partitions.crews.cluster import ClusterLostError, DaskCrew
from beltrami.partitions.crews.crew import ThreadCrew
from beltrami.partitions.model import Failure
from beltrami.partitions.people.answered import Answered
from beltrami.partitions.reading.files import FilePartition


def needed(name):
    """Import a package of the extra `cluster`; where all tests are to run it must be there."""
    if os.environ.get("CI") == "true":
        return importlib.import_module(name)
    return pytest.importorskip(name, reason="the extra `cluster` is not installed")


dask, distributed = needed("dask"), needed("distributed")

pytestmark = pytest.mark.filterwarnings("ignore")

THREADS = ThreadCrew(2)
"""Threads of this process, though a client is in force."""


@pytest.fixture(scope="module")
def client():
    """Two workers that come back however often they die; a cluster else gives up who dies often."""
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as opened,
    ):
        yield opened


def label(source, out, client, **options):
    settings = {"method": "poisson", "n_representatives": 150} | options
    return bt.label_partitions(source, "kind", out=out, client=client, **settings)


def kill_one(client):
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


@dataclass(frozen=True)
class Deadly:
    """Ends its worker at partitions of some name, as often as a folder does not hold a file."""

    name: str
    folder: Path
    times: int

    def __call__(self, partition, extra):
        """Leave a trace and die, or answer."""
        if partition.name == self.name:
            for turn in range(self.times):
                trace = self.folder / f"died-{turn}"
                if not trace.exists():
                    trace.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
        return partition.name, extra


def parts(n):
    return [FilePartition(f"{place}.parquet", "", "parquet") for place in range(n)]


def test_two_workers_give_the_bytes_of_one_process_though_one_is_killed_in_every_pass(
    tmp_path, client
):
    source = write_parts(tmp_path / "in", blob_table())
    label(source, tmp_path / "one", THREADS)
    seen = set()

    def kill(event):
        if event.title not in seen:
            seen.add(event.title)
            kill_one(client)

    with listen(lambda event: kill(event) if event.title in {Stage.DRAW, Stage.ANSWER} else None):
        found = label(source, tmp_path / "two", client)
    assert seen == {Stage.DRAW, Stage.ANSWER}
    assert not found.failures
    assert written(tmp_path / "one") == written(tmp_path / "two")
    assert len(written(tmp_path / "two")) == 4


def test_a_corrupt_partition_is_named_and_the_rest_is_the_same(tmp_path, client):
    source = write_parts(tmp_path / "in", blob_table())
    (source / "part-1.parquet").write_bytes(b"PAR1 and then nothing PAR1")
    alone = label(source, tmp_path / "one", THREADS)
    found = label(source, tmp_path / "two", client)
    assert [one.name for one in found.failures] == ["part-1.parquet"]
    assert written(tmp_path / "one") == written(tmp_path / "two")
    assert alone.counts == found.counts


@pytest.mark.slow
def test_the_task_is_sent_again_when_all_workers_that_held_it_are_gone(tmp_path, client):
    crew, came = DaskCrew(client), []
    for place, result in crew.work(_slow, parts(8), list(range(8))):
        if not came:
            for pid in client.run(os.getpid).values():
                os.kill(pid, signal.SIGKILL)
        came.append((place, result))
    assert sorted(came) == [(place, place) for place in range(8)]


def _slow(_, extra):
    import time

    time.sleep(0.1)
    return extra


@pytest.mark.slow
@pytest.mark.parametrize("times", [3, 100], ids=["seldom", "always"])
def test_a_partition_at_which_workers_die_is_poisoned_only_past_what_kills_at_random_reach(
    tmp_path, client, monkeypatch, times
):
    monkeypatch.setattr(room, "_MOST_DEATHS", 3)
    client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 1))
    task = Deadly("1.parquet", tmp_path, times)
    found = dict(DaskCrew(client).work(task, parts(4), list("abcd")))
    assert [found[place] for place in (0, 2, 3)] == [
        (f"{place}.parquet", letter) for place, letter in ((0, "a"), (2, "c"), (3, "d"))
    ]
    if times == 3:
        assert found[1] == ("1.parquet", "b")
    else:
        assert found[1] == Failure("1.parquet", "4 workers died at it, the last ones at it alone")


def test_where_nobody_works_the_job_is_given_up_with_a_word(monkeypatch):
    monkeypatch.setattr(room, "_PATIENCE_S", 0.5)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as empty,
        distributed.Client(empty, set_as_default=False) as opened,
    ):
        events = []
        with (
            listen(events.append),
            pytest.raises(ClusterLostError, match=r"nobody has worked for .*same command goes on"),
        ):
            list(DaskCrew(opened).work(_slow, parts(1), [None]))
        assert "waiting for workers" in {event.step for event in events}
    with pytest.raises(ClusterLostError, match="scheduler of the cluster is gone"):
        list(DaskCrew(opened).work(_slow, parts(1), [None]))


def test_a_worker_that_does_not_see_the_folder_is_said(tmp_path, client):
    marker = tmp_path / "lock"
    marker.write_text("mine")
    crew = DaskCrew(client)
    crew.require_sight(marker)
    marker.write_text("of another machine")
    with pytest.raises(InvalidInputError, match="does not see the folder of the results"):
        list(crew.work(_slow, parts(1), [None]))


def test_a_worker_of_another_version_is_said_before_any_work(tmp_path, client, monkeypatch):
    versions = client.get_versions(packages=["beltrami", "scipy", "pyarrow"])
    worker = next(iter(versions["workers"]))
    for held, told in ((None, "not at all"), ("0.0.1", "0.0.1")):
        versions["workers"][worker]["packages"]["beltrami"] = held
        monkeypatch.setattr(client, "get_versions", lambda **_: versions)
        with pytest.raises(InvalidInputError, match=re.escape(f"{worker} has beltrami {told}")):
            label(write_parts(tmp_path / "in", blob_table()), tmp_path / "out", client)
    assert not (tmp_path / "out").exists()


def test_a_frame_of_the_users_own_pipeline_gives_the_bytes_of_the_same_rows_in_files(
    tmp_path, client
):
    dd = needed("dask.dataframe")
    table = blob_table()
    frame = dd.from_pandas(table.to_pandas(), npartitions=3)
    kept = frame[frame.x0 > -100]
    (tmp_path / "in").mkdir()
    for place in range(3):
        rows = table.slice(200 * place, 200)
        pq.write_table(rows, tmp_path / "in" / f"part-{place:05d}.parquet")
    label(tmp_path / "in", tmp_path / "files", THREADS)
    for name, one, who in (
        ("frame", kept, client),
        ("persisted", kept.persist(), client),
        ("threads", kept, THREADS),
    ):
        found = label(one, tmp_path / name, who)
        assert [path.name for path in found.written] == [f"part-0000{k}.parquet" for k in range(3)]
        assert written(tmp_path / name) == written(tmp_path / "files"), name


@pytest.mark.parametrize("on_dask", [True, False])
def test_a_partition_of_a_frame_that_cannot_be_computed_is_named(tmp_path, client, on_dask):
    dd = needed("dask.dataframe")
    frame = dd.from_pandas(blob_table().to_pandas(), npartitions=3)
    broken = frame.map_partitions(_missing_key, meta=frame._meta)
    found = label(broken, tmp_path / "out", client if on_dask else THREADS)
    assert [one.name for one in found.failures] == ["part-00001.parquet"]
    assert "KeyError" in found.failures[0].reason
    assert len(found.written) == 2


def test_labelled_frames_are_asked_about_but_not_opened_again(tmp_path, client):
    dd = needed("dask.dataframe")
    frame = dd.from_pandas(blob_table().to_pandas(), npartitions=3)
    found = label(frame, tmp_path / "out", client)
    assert found.representatives().n_rows == found.coverage.n_representatives
    assert (found.suggest(2).columns["settles"] > 1).all()
    with pytest.raises(InvalidInputError, match="came from a dask DataFrame"):
        Answered.open(found.out)


def test_frames_that_only_the_cluster_holds_are_asked_about_as_long_as_it_does(tmp_path, client):
    dd = needed("dask.dataframe")
    frame = dd.from_pandas(blob_table().to_pandas(), npartitions=3)
    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        found = label(other.persist(frame), tmp_path / "out", other)
        assert found.representatives().n_rows == found.coverage.n_representatives
        assert found.suggest(2).columns["id"].tolist()
    (tmp_path / "out" / "_beltrami" / "representatives.parquet").unlink()
    with pytest.raises(ClusterLostError, match="scheduler of the cluster is gone"):
        found.representatives()


def test_ids_twice_in_frames_that_only_the_cluster_holds_are_named(tmp_path, client):
    dd = needed("dask.dataframe")
    rows = blob_table().to_pandas()
    rows.loc[300, "id"] = 7
    frame = dd.from_pandas(rows, npartitions=3)
    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        message = r"such as 7 in .part-00000\.parquet., .part-00001\.parquet"
        with pytest.raises(InvalidInputError, match=message):
            label(other.persist(frame), tmp_path / "out", other)


def test_labels_beside_reach_the_workers_of_a_cluster(tmp_path, client):
    source = write_parts(tmp_path / "in", blob_table())
    sides = {"id": [100, 400], "label": ["c0", "c1"]}
    alone = label(source, tmp_path / "one", THREADS, labels=sides)
    found = label(source, tmp_path / "two", client, labels=sides)
    assert found.counts["given"] == 26
    assert written(tmp_path / "one") == written(tmp_path / "two")
    assert alone.counts == found.counts


def _missing_key(rows):
    if 200 in rows.index:
        raise KeyError("no such column")
    return rows


@pytest.mark.slow
def test_a_driver_that_is_killed_leaves_what_the_next_one_takes_up(tmp_path, client):
    source = write_parts(tmp_path / "in", blob_table(), n_parts=6)
    label(source, tmp_path / "one", THREADS)
    code = (
        "import os, signal, sys, beltrami as bt\n"
        "from beltrami.core.telling.progress import listen\n"
        "def end(event):\n"
        "    if event.title == 'answering every row' and event.done:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "with listen(end):\n"
        "    bt.label_partitions(sys.argv[1], 'kind', out=sys.argv[2], client=sys.argv[3],\n"
        "        method='poisson', n_representatives=150)\n"
    )
    address = client.scheduler.address
    arguments = [sys.executable, "-W", "ignore", "-c", code, source, tmp_path / "two", address]
    ended = subprocess.run(arguments, check=False, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    label(source, tmp_path / "two", client)
    assert written(tmp_path / "one") == written(tmp_path / "two")
