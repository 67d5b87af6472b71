"""The file of a project: what it takes is on the disk, and what is wrong with it is said."""

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, suppress

import pytest
from tests.support.histories import labelled

from beltrami.project import file as project_file
from beltrami.project.errors import NotSavedError, ProjectError, ProjectInUseError
from beltrami.project.file import APPLICATION, FORMAT, ProjectFile, StoredInput, read_project
from beltrami.project.locking import lock_file
from beltrami.project.record.events import ClassAdded, TakenBack

INPUT = StoredInput(1, "{}", b"rows", b"ids")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data.beltrami"


def make(path, n=3):
    with closing(ProjectFile.open(path, "ann")) as made:
        made.append([("ann", ClassAdded(f"class {i}")) for i in range(n)], [INPUT])
    return path


def spoil(path, *statements):
    """Change a project as nobody should."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def in_another_process(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_events_and_inputs_come_back_as_they_were(path):
    with closing(ProjectFile.open(path, "ann")) as made:
        assert made.contents is None
        first = made.append([("ann", ClassAdded("x")), ("bob", labelled([3], "x"))], [INPUT])
        second = made.append([("bob", TakenBack(2))])
    assert [one.number for one in first + second] == [1, 2, 3]
    assert first[0].at == first[1].at
    with closing(ProjectFile.open(path, "ann")) as again:
        assert again.contents.events == first + second
        (stored,) = again.contents.inputs
        assert (stored.facts, stored.rows, stored.ids) == ("{}", b"rows", b"ids")
        (third,) = again.append([("ann", TakenBack(1))])
    assert read_project(path).events == [*first, *second, third]


def test_nothing_is_left_beside_a_closed_project(path):
    make(path)
    read_project(path)
    assert [one.name for one in path.parent.iterdir()] == ["data.beltrami"]


def test_the_file_says_what_it_is_and_how_it_is_written(path):
    with closing(ProjectFile.open(make(path), "ann")) as made:
        made.append([("ann", ClassAdded("y"))])
        connection = made._connection
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
        assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.execute("PRAGMA busy_timeout").fetchone() == (5000,)


@pytest.mark.parametrize("table", ["events", "inputs"])
@pytest.mark.parametrize("verb", ["UPDATE {} SET seal = ''", "DELETE FROM {}"])
def test_a_project_only_ever_grows(path, verb, table):
    make(path)
    with pytest.raises(sqlite3.IntegrityError, match="only ever grows"):
        spoil(path, verb.format(table))


def test_an_append_is_whole_or_nothing(path):
    with closing(ProjectFile.open(make(path), "ann")) as made:
        with pytest.raises(ProjectInUseError):  # the second input has the number of the first
            made.append([("ann", ClassAdded("y"))], [INPUT])
        (event,) = made.append([("ann", ClassAdded("z"))])
    assert event.number == 4
    assert [one.body.name for one in read_project(path).events][3:] == ["z"]


def test_many_threads_write_one_after_the_other(path):
    with closing(ProjectFile.open(path, "ann")) as made:
        made.append([("ann", ClassAdded("x"))])

        def work(name):
            for i in range(20):
                made.append([(name, ClassAdded(f"{name} {i}"))])

        threads = [threading.Thread(target=work, args=(f"user {i}",)) for i in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    events = read_project(path).events
    assert [one.number for one in events] == list(range(1, 162))
    names = [one.body.name for one in events if one.user == "user 3"]
    assert names == [f"user 3 {i}" for i in range(20)]


def test_a_second_writer_is_refused_and_told_who_has_it(path):
    with closing(ProjectFile.open(make(path), "ann")):
        with pytest.raises(ProjectInUseError, match=rf"process {os.getpid()}, user 'ann', since"):
            ProjectFile.open(path, "bob")
        code = (
            "import sys; from pathlib import Path\n"
            "from beltrami.project.file import ProjectFile\n"
            "ProjectFile.open(Path(sys.argv[1]), 'bob')"
        )
        other = in_another_process(code, path)
        assert other.returncode == 1
        assert "ProjectInUseError" in other.stderr
        assert "--read-only" in other.stderr
    ProjectFile.open(path, "bob").close()


def test_two_that_share_a_file_all_the_same_do_not_write_over_each_other(path, monkeypatch):
    monkeypatch.setattr(project_file, "lock_project", lambda *_: _NoLock())
    with (
        closing(ProjectFile.open(make(path), "ann")) as one,
        closing(ProjectFile.open(path, "bob")) as two,
    ):
        one.append([("ann", ClassAdded("y"))])
        with pytest.raises(ProjectInUseError, match="not saved"):
            two.append([("bob", ClassAdded("z"))])
    assert len(read_project(path).events) == 4


class _NoLock:
    def release(self):
        pass


def test_a_lock_whose_holder_is_gone_holds_nobody_up(path):
    make(path)
    lock_file(path).write_text('{"process": 1}')
    ProjectFile.open(path, "ann").close()
    assert not lock_file(path).exists()


def test_others_read_while_one_writes(path):
    with closing(ProjectFile.open(make(path), "ann")) as made:
        made.append([("ann", ClassAdded("y"))])
        code = (
            "import sys; from pathlib import Path\n"
            "from beltrami.project.file import read_project\n"
            "print(len(read_project(Path(sys.argv[1])).events))"
        )
        assert in_another_process(code, path).stdout == "4\n"
        made.append([("ann", ClassAdded("z"))])
        assert len(read_project(path).events) == 5


def test_a_closed_project_takes_nothing(path):
    made = ProjectFile.open(path, "ann")
    made.close()
    made.close()
    with pytest.raises(ProjectError, match="is closed"):
        made.append([("ann", ClassAdded("x"))])
    assert not path.exists()


def test_an_empty_or_half_made_file_is_made_anew(path):
    path.touch()
    assert len(read_project(make(path)).events) == 3
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    assert path.stat().st_size > 0
    with pytest.raises(ProjectError, match="never finished"):
        read_project(path)
    assert len(read_project(make(path)).events) == 3


def test_a_project_that_is_not_there_cannot_be_read(path):
    with pytest.raises(ProjectError, match="there is no project"):
        read_project(path)


def both_ways(path):
    """Return what is said when a project is opened to write and to read."""
    before = sorted((one.name, one.read_bytes()) for one in path.parent.iterdir() if one.is_file())
    with pytest.raises(ProjectError) as writing:
        ProjectFile.open(path, "ann")
    with pytest.raises(ProjectError) as reading:
        read_project(path)
    after = sorted((one.name, one.read_bytes()) for one in path.parent.iterdir() if one.is_file())
    assert after == before
    assert str(writing.value) == str(reading.value)
    return str(writing.value)


def test_other_files_are_no_projects(path):
    path.write_text("id,label\n" * 1000)
    assert "is no project, nor any database" in both_ways(path)
    path.unlink()
    spoil(path, "CREATE TABLE mine (x)")
    assert "database of another program" in both_ways(path)
    path.unlink()
    path.mkdir()
    assert "is no file" in both_ways(path)


def test_a_newer_format_is_not_touched(path):
    spoil(make(path), f"PRAGMA user_version = {FORMAT + 1}")
    assert "newer version of Beltrami (format 2; this one reads 1)" in both_ways(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "UPDATE events SET body = replace(body, 'class 1', 'class 7') WHERE number = 2",
            "event 2",
        ),
        ("UPDATE events SET user = 'eve' WHERE number = 3", "event 3"),
        ("DELETE FROM events WHERE number = 2", "event 2"),
        ("UPDATE inputs SET rows = x'00'", "input 1"),
        ("UPDATE inputs SET facts = x'00'", "input 1"),
        ("UPDATE inputs SET ids = NULL", "input 1"),
        ("UPDATE events SET body = x'ff' WHERE number = 1", "event 1"),
    ],
)
def test_a_change_that_we_did_not_make_is_found(path, change, said):
    make(path)
    triggers = [
        f"DROP TRIGGER {table}_{verb}"
        for table in ("events", "inputs")
        for verb in ("UPDATE", "DELETE")
    ]
    spoil(path, *triggers, change)
    message = both_ways(path)
    assert f"is damaged ({said}" in message
    assert "Put back a copy" in message


def test_a_sealed_event_of_an_unknown_kind_is_damage_too(path):
    make(path)
    row = ("4", "2026-01-02T03:04:05.678901+00:00", "ann", "dance", "{}")
    with closing(sqlite3.connect(path)) as connection:
        (seal,) = connection.execute("SELECT seal FROM events WHERE number = 3").fetchone()
        sealed = (*row, project_file._seal(seal, *row))
        connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", sealed)
        connection.commit()
    assert "event 4: there are no events of kind 'dance'" in both_ways(path)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_cut_file_is_damaged(path, share):
    make(path, 400)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert "is damaged" in both_ways(path)


def test_spoiled_bytes_never_change_an_event(path):
    make(path, 200)
    content = path.read_bytes()
    known = read_project(path).events
    for place in range(100, len(content), 997):
        spoiled = bytearray(content)
        spoiled[place] ^= 0x20
        path.write_bytes(spoiled)
        with suppress(ProjectError):
            assert read_project(path).events == known


FILL = """
import sys
from pathlib import Path
from beltrami.project.errors import NotSavedError
from beltrami.project.record.events import ClassAdded
from beltrami.project.file import ProjectFile
made = ProjectFile.open(Path(sys.argv[1]), "ann")
n_saved = 0
try:
    for i in range(100_000):
        made.append([("ann", ClassAdded(f"{i} " + "x" * 150))])
        n_saved += 1
except NotSavedError as error:
    print(n_saved, error)
    if len(sys.argv) > 2:
        Path(sys.argv[2]).unlink()
        made.append([("ann", ClassAdded("there is room again"))])
made.close()
"""


def test_a_file_that_may_not_grow_is_said_and_nothing_is_acknowledged(path):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2**18, 2**18))\n"
    told = in_another_process(limit + FILL, path)
    assert told.returncode == 0, told.stderr
    n_saved, message = told.stdout.split(" ", 1)
    assert "this was not saved" in message
    assert "free some space" in message
    assert len(read_project(path).events) == int(n_saved) > 10


def test_a_full_disk_is_said_and_writing_goes_on_when_there_is_room(tmp_path):
    script = tmp_path / "fill.py"
    script.write_text(FILL)
    room = tmp_path / "room"
    room.mkdir()
    count = (
        "from pathlib import Path; from beltrami.project.file import read_project; "
        f"print(len(read_project(Path({str(room / 'p.beltrami')!r})).events))"
    )
    commands = [
        f"mount -t tmpfs -o size=600k tmpfs {room}",
        f"head -c 300000 /dev/zero > {room}/ballast",
        f"{sys.executable} {script} {room}/p.beltrami {room}/ballast",
        f'{sys.executable} -c "{count}"',
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
    said, n_events = told.stdout.splitlines()
    assert "The disk is full: free some space" in said
    assert int(n_events) == int(said.split()[0]) + 1


def test_a_folder_that_may_not_be_written_is_said(path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    make(path)
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ProjectError, match=r"Permission denied.*--project.*--read-only"):
        ProjectFile.open(path, "ann")


def test_a_project_that_may_not_be_written_is_said(path, monkeypatch):
    make(path)
    connect = project_file._connect

    def connect_to_read(place, **_):
        connection = connect(place)
        connection.execute("PRAGMA query_only = ON")
        return connection

    monkeypatch.setattr(project_file, "_connect", connect_to_read)
    with (
        closing(ProjectFile.open(path, "ann")) as made,
        pytest.raises(NotSavedError, match=r"not saved.*--read-only"),
    ):
        made.append([("ann", ClassAdded("y"))])
    assert len(read_project(path).events) == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a mount of its own")
def test_a_project_in_a_folder_that_cannot_be_written_is_read_all_the_same(tmp_path):
    make(tmp_path / "p.beltrami")
    code = (
        "import sys; from pathlib import Path\n"
        "from beltrami.project.file import read_project, ProjectFile\n"
        "print(len(read_project(Path(sys.argv[1])).events))\n"
        "ProjectFile.open(Path(sys.argv[1]), 'ann')"
    )
    script = tmp_path / "read.py"
    script.write_text(code)
    commands = f"mount --bind -o ro {tmp_path} {tmp_path} && mount -o remount,bind,ro {tmp_path}"
    commands += f" && {sys.executable} {script} {tmp_path}/p.beltrami"
    told = subprocess.run(
        ["unshare", "-rm", "sh", "-ec", commands], capture_output=True, text=True, check=False
    )
    if "unshare" in told.stderr or "mount:" in told.stderr:
        pytest.skip("no read-only folder can be made here")
    assert told.stdout == "3\n"
    assert "cannot be written (Read-only file system)" in told.stderr
