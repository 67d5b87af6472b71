import os
from pathlib import Path

import pytest

from beltrami.core.files import atomic_path, write_text


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
