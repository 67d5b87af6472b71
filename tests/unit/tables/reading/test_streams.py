import gzip
import os
import socket
from pathlib import Path

import pytest

from beltrami.core.errors import InvalidInputError, MemoryBudgetError
from beltrami.tables import read_table
from beltrami.tables.reading import streams
from beltrami.tables.reading.streams import unpacked_bytes

MIB = 2**20


def test_every_member_of_a_package_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * MIB) + gzip.compress(b"3,4\n"))
    assert unpacked_bytes(path) == 4 * MIB + 8


def test_counting_stops_where_no_memory_would_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * (10 * MIB)))
    monkeypatch.setattr(streams, "available_bytes", lambda: MIB)
    monkeypatch.setattr("beltrami.core.machine.memory.available_bytes", lambda: MIB)
    assert unpacked_bytes(path) == streams._BLOCK_BYTES
    with pytest.raises(MemoryBudgetError, match=r"t\.csv\.gz"):
        read_table(path)


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet", "t.npy", "t.csv.gz"])
def test_pipes_sockets_and_devices_are_refused_at_once(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    with pytest.raises(InvalidInputError, match="no regular file but a pipe"):
        read_table(path)
    path.unlink()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))  # such names must be short
        with pytest.raises(InvalidInputError, match="no regular file but a pipe"):
            read_table(path)
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(InvalidInputError, match="no regular file but a pipe"):
        read_table(path)


def test_links_that_lead_nowhere_or_in_a_circle_are_told(tmp_path: Path) -> None:
    loop, lost = tmp_path / "loop.csv", tmp_path / "lost.csv"
    loop.symlink_to(loop)
    lost.symlink_to(tmp_path / "gone.csv")
    for path in (loop, lost):
        with pytest.raises(InvalidInputError, match="link that leads nowhere, or in a circle"):
            read_table(path)
    with pytest.raises(InvalidInputError, match="no folder"):
        read_table(loop / "t.csv")


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd\xe9.csv"))
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InvalidInputError, match="not in UTF-8"):
        read_table(path)
