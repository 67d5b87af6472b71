"""The folder of the store: limits, several processes at once, and what killed ones leave."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from beltrami.core.errors import InvalidInputError
from beltrami.core.store import Parcel, Store, folder
from beltrami.core.store.folder import NoRoomError, usual_store
from beltrami.core.store.parcels import UnusableParcelError

MIB = 2**20
A, B, C = ("a" * 40, "b" * 40, "c" * 40)


def parcel(number: float, n_bytes: int = MIB) -> Parcel:
    return Parcel({"x": np.full(n_bytes // 8, number)}, {"number": number})


def number_of(store: Store, key: str) -> float:
    found = store.get("thing", key)
    assert (found.arrays["x"] == found.facts["number"]).all()
    return found.facts["number"]


def test_what_is_put_is_got_and_the_folder_is_private(tmp_path: Path):
    store = Store(tmp_path / "deep" / "store")
    assert store.entries() == []
    assert store.clear() == []
    store.put("thing", A, parcel(1))
    assert number_of(store, A) == 1
    assert store.folder.stat().st_mode & 0o777 == 0o700
    with pytest.raises(FileNotFoundError):
        store.get("thing", B)
    with pytest.raises(FileNotFoundError):
        store.get("other", A)


def test_of_what_is_beyond_the_limit_the_least_recently_used_goes(tmp_path: Path):
    store = Store(tmp_path, limit_bytes=int(2.5 * MIB))
    for place, key in enumerate((A, B)):
        store.put("thing", key, parcel(place))
        os.utime(store.folder / f"thing-{key}.arrays", (place, place))
    number_of(store, A)  # read, and so used last
    store.put("thing", C, parcel(2))
    assert {entry.path.name[6] for entry in store.entries()} == {"a", "c"}


def test_room_is_made_before_a_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = Store(tmp_path, limit_bytes=int(2.5 * MIB))
    store.put("thing", A, parcel(0))
    store.put("thing", B, parcel(1))
    real = folder.write_parcel

    def count_before(*arguments):
        assert sum(entry.n_bytes for entry in store.entries()) < 1.5 * MIB
        real(*arguments)

    monkeypatch.setattr(folder, "write_parcel", count_before)
    store.put("thing", C, parcel(2))
    assert len(store.entries()) == 2


def test_what_alone_is_beyond_the_limit_is_not_written_and_drives_nothing_out(tmp_path: Path):
    store = Store(tmp_path, limit_bytes=2 * MIB)
    store.put("thing", A, parcel(1))
    with pytest.raises(NoRoomError, match=r"^4\.1 MiB are more than the limit of 2\.0 MiB"):
        store.put("thing", B, parcel(2, 4 * MIB))
    assert [entry.path.name[6] for entry in store.entries()] == ["a"]


def test_half_of_the_free_disk_is_left_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = Store(tmp_path)
    monkeypatch.setattr(Store, "free_bytes", lambda _: 2 * MIB)
    with pytest.raises(NoRoomError, match=r"^1\.1 MiB are more than half of the free 2\.0 MiB"):
        store.put("thing", A, parcel(1))
    assert store.entries() == []


def test_files_of_others_are_neither_counted_nor_removed(tmp_path: Path):
    others = ["notes.txt", "thing-1.arrays", f"Thing-{A}.arrays", f"thing-{A}.arrays.txt"]
    for name in others:
        (tmp_path / name).write_bytes(bytes(5 * MIB))
    (tmp_path / f"thing-{B}.arrays").symlink_to(tmp_path / "notes.txt")
    store = Store(tmp_path, limit_bytes=2 * MIB)
    store.put("thing", A, parcel(1))
    assert [entry.noun for entry in store.entries()] == ["thing"]
    assert [entry.noun for entry in store.clear()] == ["thing"]
    assert all((tmp_path / name).exists() for name in others)


def test_a_full_disk_leaves_the_old_entry_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    store = Store(tmp_path)
    store.put("thing", A, parcel(1))

    def write_half(path: Path, *_: object) -> None:
        path.write_bytes(bytes(1000))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(folder, "write_parcel", write_half)
    with pytest.raises(OSError, match="No space"):
        store.put("thing", A, parcel(2))
    assert number_of(store, A) == 1
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_that_is_full_raises_while_writing():
    from beltrami.core.store.parcels import write_parcel

    with pytest.raises(OSError, match="No space"):
        write_parcel(Path("/dev/full"), A, parcel(1))


KILLED = """
import os, sys
from pathlib import Path
from beltrami.core.store import Parcel, Store, folder
def die(path, *_):
    path.write_bytes(bytes(1000))
    os._exit(9)
folder.write_parcel = die
Store(Path(sys.argv[1])).put("thing", "a" * 40, Parcel({}, {}))
"""


def test_the_next_writer_removes_what_a_killed_one_left_of_any_key(tmp_path: Path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    (debris,) = tmp_path.iterdir()
    assert debris.name.startswith(".")
    Store(tmp_path).put("thing", B, parcel(1))
    assert not debris.exists()
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    Store(tmp_path).clear()
    assert not list(tmp_path.iterdir())


HAMMER = """
import sys
from pathlib import Path
import numpy as np
from beltrami.core.store import Parcel, Store
from beltrami.core.store.parcels import UnusableParcelError
store, me = Store(Path(sys.argv[1]), limit_bytes=int(2.5 * 2**20)), int(sys.argv[2])
rng, taken = np.random.default_rng(me), 0
for turn in range(60):
    key = "abcd"[rng.integers(4)] * 40
    if rng.random() < 0.5:
        number = float(1000 * me + turn)
        x = np.full(2**17 // 2, number)
        store.put("thing", key, Parcel({"x": x, "y": x[::-1]}, {"number": number, "key": key}))
    try:
        found = store.get("thing", key)
    except FileNotFoundError:
        continue
    assert found.facts["key"] == key
    assert (found.arrays["x"] == found.facts["number"]).all()
    taken += 1
    if rng.random() < 0.1:
        store.drop("thing", key)
print(taken)
"""


def test_four_processes_in_one_folder_never_read_anything_half_written(tmp_path: Path):
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", HAMMER, str(tmp_path), str(me)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for me in range(4)
    ]
    for run in runs:
        out, err = run.communicate()
        assert run.returncode == 0, err
        assert int(out) > 5
    entries = Store(tmp_path).entries()
    assert sum(entry.n_bytes for entry in entries) <= 2.5 * MIB
    assert len(list(tmp_path.iterdir())) == len(entries)


def test_an_entry_that_is_removed_while_it_is_read_is_read_to_its_end(tmp_path: Path):
    store = Store(tmp_path)
    store.put("thing", A, parcel(7))
    from beltrami.core.store import parcels

    real, gone = parcels._require_size, []

    def remove_meanwhile(*arguments):
        store.clear()
        gone.append(True)
        real(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parcels, "_require_size", remove_meanwhile)
        assert number_of(store, A) == 7
    assert gone
    assert store.entries() == []


def test_a_folder_that_may_only_be_read_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = Store(tmp_path)
    store.put("thing", A, parcel(7))

    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "utime", refuse)
    assert number_of(store, A) == 7


def test_a_folder_in_the_place_of_an_entry_is_no_entry(tmp_path: Path):
    (tmp_path / f"thing-{A}.arrays").mkdir()
    store = Store(tmp_path, limit_bytes=MIB // 2)
    with pytest.raises((OSError, UnusableParcelError)):
        store.get("thing", A)
    store.drop("thing", A)
    assert store.clear() == []


def test_the_usual_folder_is_where_the_platform_keeps_caches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(folder.sys, "platform", "linux")
    assert usual_store({}).folder == tmp_path / ".cache" / "beltrami"
    assert usual_store({"XDG_CACHE_HOME": "/x"}).folder == Path("/x/beltrami")
    assert usual_store({"XDG_CACHE_HOME": "x"}).folder == tmp_path / ".cache" / "beltrami"
    monkeypatch.setattr(folder.sys, "platform", "darwin")
    assert usual_store({}).folder == tmp_path / "Library" / "Caches" / "beltrami"
    monkeypatch.setattr(folder.sys, "platform", "win32")
    assert usual_store({"LOCALAPPDATA": "/local"}).folder == Path("/local/beltrami")
    assert usual_store({}).folder == tmp_path / "AppData" / "Local" / "beltrami"
    assert usual_store({"BELTRAMI_CACHE": "~/here"}).folder == tmp_path / "here"
    assert usual_store({"BELTRAMI_CACHE": "here"}).folder == Path.cwd() / "here"


def test_nobody_is_given_a_store_who_wants_none_or_has_no_home(monkeypatch: pytest.MonkeyPatch):
    assert usual_store({"BELTRAMI_CACHE": " "}) is None
    assert usual_store({"BELTRAMI_CACHE": "x", "BELTRAMI_CACHE_GIB": "0"}) is None

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert usual_store({}) is None


def test_the_limit_is_a_number_of_gib():
    assert usual_store({"BELTRAMI_CACHE": "x"}).limit_bytes == 4 * 2**30
    store = usual_store({"BELTRAMI_CACHE": "x", "BELTRAMI_CACHE_GIB": "0.5"})
    assert store.limit_bytes == 2**29
    for bad in ("much", "-1", "nan", "inf", "1e400"):
        with pytest.raises(InvalidInputError, match="must be a number of GiB"):
            usual_store({"BELTRAMI_CACHE": "x", "BELTRAMI_CACHE_GIB": bad})
