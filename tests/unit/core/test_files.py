import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from beltrami.core.errors import InvalidInputError
from beltrami.core.files import atomic_path, read_json, require_no_input, write_text


def test_text_is_written_in_utf8_and_missing_folders_are_made(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "note.txt"
    write_text(target, "Borůvka\n")
    assert target.read_bytes() == "Borůvka\n".encode()
    assert [path.name for path in target.parent.iterdir()] == ["note.txt"]


@pytest.mark.parametrize("interruption", [ValueError, KeyboardInterrupt])
def test_an_interruption_leaves_the_old_file_and_no_debris(
    tmp_path: Path, interruption: type[BaseException]
) -> None:
    target = tmp_path / "note.txt"
    target.write_text("old")

    def write_half() -> None:
        with atomic_path(target) as temporary:
            temporary.write_text("half of the n")
            assert target.read_text() == "old"
            raise interruption

    with pytest.raises(interruption):
        write_half()
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]


def test_the_temporary_file_is_a_hidden_neighbour_with_the_same_suffix(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "table.parquet") as temporary:
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".parquet"
        assert temporary.name.startswith(".")


def test_new_files_obey_the_umask_and_old_ones_keep_their_permissions(tmp_path: Path) -> None:
    target = tmp_path / "note.txt"
    before = os.umask(0o027)
    try:
        write_text(target, "new")
        assert target.stat().st_mode & 0o777 == 0o640
        target.chmod(0o600)
        write_text(target, "newer")
        assert target.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_an_output_that_is_a_link_is_written_through(tmp_path: Path) -> None:
    real, link = tmp_path / "elsewhere" / "real.txt", tmp_path / "link.txt"
    real.parent.mkdir()
    real.write_text("old")
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert [path.name for path in real.parent.iterdir()] == ["real.txt"]


def test_a_link_that_leads_nowhere_yet_is_written_through_too(tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to("later.txt")
    write_text(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "later.txt").read_text() == "new"


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    loop = tmp_path / "loop.txt"
    loop.symlink_to(loop)
    with pytest.raises(InvalidInputError, match="circle"):
        write_text(loop, "new")
    require_no_input(tmp_path / "out.txt", [loop])


def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe.txt", tmp_path / "link.txt"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for target in (pipe, link):
        with pytest.raises(InvalidInputError, match="no regular file"):
            write_text(target, "new")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_long_names_are_no_longer_for_being_temporary(tmp_path: Path) -> None:
    for letter in "aé":
        target = tmp_path / (letter * (250 // len(letter.encode())) + ".txt")
        write_text(target, "new")
        assert target.read_text() == "new"
        target.unlink()
    assert not list(tmp_path.iterdir())


def test_the_next_writer_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    target = tmp_path / "note.txt"
    killed = (
        "import os, signal, sys; from pathlib import Path\n"
        "from beltrami.core.files import atomic_path\n"
        "with atomic_path(Path(sys.argv[1])) as temporary:\n"
        "    temporary.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", killed, str(target)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    write_text(tmp_path / "other.txt", "not the same target")
    assert len(list(tmp_path.iterdir())) == 2
    write_text(target, "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["note.txt", "other.txt"]


def test_a_writer_at_work_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "note.txt"
    with atomic_path(target) as first:
        first.write_text("first")
        write_text(target, "second")
        assert first.read_text() == "first"
    assert target.read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]


def test_files_of_the_user_are_never_taken_for_debris(tmp_path: Path) -> None:
    own = [".note-0123456789abcdef.txt", ".note.txt", "note-0123456789abcdef.txt", ".note-1.txt"]
    for name in own:
        (tmp_path / name).write_text("mine")
    write_text(tmp_path / "note.txt", "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*own, "note.txt"])


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\xff"])
def test_what_is_no_json_is_refused_by_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InvalidInputError, match=r"record.json' is no JSON that we wrote"):
        read_json(path)
    with pytest.raises(InvalidInputError, match="No such file"):
        read_json(tmp_path / "missing.json")
