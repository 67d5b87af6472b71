"""A folder of results: one job at a time, nothing taken for a result that is none."""

import os
import signal
import subprocess
import sys

import pytest
from tests.support.partitions import blob_table, write_parts, written

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.partitions.manifest import FOLDER, Manifest
from beltrami.partitions.reading.files import FilePartition


def label(source, out):
    return bt.label_partitions(source, "kind", out=out, method="poisson", n_representatives=150)


def manifest(out):
    return Manifest(out, {"a.parquet": "1"}, {"form": "parquet"}, {})


def test_a_second_job_on_a_folder_is_refused_while_the_first_works_and_not_after_its_kill(tmp_path):
    code = (
        "import sys, time; from pathlib import Path\n"
        "from beltrami.partitions.manifest import Manifest\n"
        "with Manifest(Path(sys.argv[1]), {'a.parquet': '1'}, {'form': 'parquet'}, {}).held():\n"
        "    print('held', flush=True); time.sleep(60)\n"
    )
    command = [sys.executable, "-c", code, tmp_path / "out"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as first:
        assert first.stdout.readline() == b"held\n"
        with (
            pytest.raises(InvalidInputError, match=rf"process {first.pid} on .*Wait for it"),
            manifest(tmp_path / "out").held(),
        ):
            pass
        os.kill(first.pid, signal.SIGKILL)
    with manifest(tmp_path / "out").held():
        assert (tmp_path / "out" / FOLDER / "lock").read_text().startswith(f"process {os.getpid()}")
    assert not list((tmp_path / "out").iterdir())


def test_what_killed_writers_left_is_no_result_and_is_removed_at_the_next_start(tmp_path):
    source = write_parts(tmp_path / "in", blob_table())
    label(source, tmp_path / "out")
    before = written(tmp_path / "out")
    debris = tmp_path / "out" / ".part-7.beltrami-0123456789abcdef.parquet"
    debris.write_bytes(b"half")
    hashes = tmp_path / "out" / FOLDER / "ids-killed"
    hashes.mkdir()
    (hashes / "some.npy").write_bytes(b"hashes")
    label(source, tmp_path / "out")
    assert written(tmp_path / "out") == before
    assert sorted(path.name for path in (tmp_path / "out" / FOLDER).iterdir()) == [
        "labeller.beltrami", "manifest.json", "representatives.npz"
    ]  # fmt: skip


def test_a_folder_that_cannot_be_written_is_said(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("beltrami.partitions.manifest.FileLock.take", refuse)
    with (
        pytest.raises(InvalidInputError, match=r"cannot be written \(Permission denied\)"),
        manifest(tmp_path / "out").held(),
    ):
        pass


def test_where_the_file_system_has_no_locks_a_job_works_all_the_same(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    source = write_parts(tmp_path / "in", blob_table())
    assert label(source, tmp_path / "out").counts["rows"] == 600


def test_folders_that_were_made_for_nothing_are_taken_away(tmp_path):
    with pytest.raises(ZeroDivisionError), manifest(tmp_path / "new" / "out").held():
        raise ZeroDivisionError
    assert not (tmp_path / "new").exists()


def test_a_partition_that_can_be_read_again_gives_the_bytes_as_if_it_always_could(
    tmp_path, monkeypatch
):
    source = write_parts(tmp_path / "in", blob_table())
    label(source, tmp_path / "one")
    read = FilePartition.batches

    def fail(self, *arguments):
        if self.name == "part-1.parquet":
            raise OSError(5, "Input/output error")
        return read(self, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(FilePartition, "batches", fail)
        found = label(source, tmp_path / "two")
    assert [one.name for one in found.failures] == ["part-1.parquet"]
    assert label(source, tmp_path / "two").counts["rows"] == 600
    assert written(tmp_path / "two") == written(tmp_path / "one")
    with monkeypatch.context() as patched:
        patched.setattr(FilePartition, "batches", fail)
        label(source, tmp_path / "two")
    assert written(tmp_path / "two") == written(tmp_path / "one")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="a small disk is made as Linux does")
def test_a_disk_that_is_full_in_the_middle_leaves_whole_files_and_room_for_the_rest(tmp_path):
    table = blob_table(24_000).drop_columns(["id"])
    source = write_parts(tmp_path / "in", table, n_parts=12)
    label(source, tmp_path / "one")
    room = tmp_path / "room"
    room.mkdir()
    code = (
        "import os, sys, beltrami as bt, pyarrow.parquet as pq\n"
        "from beltrami.partitions import job\n"
        "job.require_space = lambda *_: ''\n"
        "room = sys.argv[2]\n"
        "def label():\n"
        "    return bt.label_partitions(sys.argv[1], 'kind', out=room + '/out', method='poisson',\n"
        "        n_representatives=150)\n"
        "try: label()\n"
        "except bt.BeltramiError as error: print(error)\n"
        "held = [name for name in os.listdir(room + '/out') if name[0] not in '_.']\n"
        "print(0 < len(held) < 12, all(pq.read_metadata(f'{room}/out/{n}') for n in held))\n"
        "os.remove(room + '/ballast')\n"
        "again = label()\n"
        "print(len(again.failures), len(again.written))\n"
        "same = [one.read_bytes() == open(f'{sys.argv[3]}/{one.name}', 'rb').read()\n"
        "    for one in again.written]\n"
        "print(all(same))\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    size = sum(map(len, written(tmp_path / "one").values()))
    commands = [
        f"mount -t tmpfs -o size={2 * size} tmpfs {room}",
        f"head -c {size + size // 2} /dev/zero > {room}/ballast",
        f"{sys.executable} -W ignore {script} {source} {room} {tmp_path / 'one'}",
    ]
    told = subprocess.run(
        ["unshare", "-rm", "sh", "-ec", " && ".join(commands)],
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in told.stderr or "mount:" in told.stderr:
        pytest.skip("no small disk can be made here")
    assert told.returncode == 0, told.stderr
    said, *facts = told.stdout.splitlines()
    assert "is full" in said
    assert "the same command goes on" in said
    assert facts == ["True True", "0 12", "True"]
