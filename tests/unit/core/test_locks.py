"""One holder of a file at a time, and none after a kill."""

import os
import signal
import subprocess
import sys

import pytest

from beltrami.core.locks import FileLock, LockHeldError, NoLocksError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the system has no such locks")


def test_a_second_holder_is_told_who_the_first_is(tmp_path):
    path = tmp_path / "lock"
    lock = FileLock.take(path, b"first")
    with pytest.raises(LockHeldError) as error:
        FileLock.take(path, b"second")
    assert error.value.holder == b"first"
    lock.release()
    assert not path.exists()
    FileLock.take(path, b"third").release()


def test_a_holder_that_is_killed_leaves_no_lock(tmp_path):
    path = tmp_path / "lock"
    code = (
        "import sys, time; from pathlib import Path; from beltrami.core.locks import FileLock;"
        "FileLock.take(Path(sys.argv[1]), b'one'); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(LockHeldError):
            FileLock.take(path, b"two")
        os.kill(holder.pid, signal.SIGKILL)
    FileLock.take(path, b"two").release()


def test_a_file_system_without_locks_is_told_from_a_file_that_cannot_be_made(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError):
        FileLock.take(tmp_path / "missing" / "lock", b"")

    def refuse(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(NoLocksError, match="No locks available"):
        FileLock.take(tmp_path / "lock", b"")
