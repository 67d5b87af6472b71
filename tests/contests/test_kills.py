"""Commands that are killed leave whole files; many more kills run outside the tests."""

from pathlib import Path

import pytest
from benchmarks.robustness.kills import kill_many
from benchmarks.robustness.wholeness import fault_of
from PIL import Image


@pytest.mark.slow
def test_killed_commands_leave_inputs_whole_results_and_no_debris(tmp_path: Path) -> None:
    found = kill_many(6, tmp_path, seed=5, jobs=2)
    assert found["violations"] == []
    assert found["kills"] == 6


def whole_files(folder: Path) -> list[Path]:
    folder.mkdir()
    (folder / "t.csv").write_text('id,label\n"a,b",1\nc,2\n')
    (folder / "t.json").write_text('{"a": 1, "b": 2}\n')
    (folder / "t.html").write_text("<html><body></body></html>\n")
    (folder / "t.md").write_text("# title\n\ntext\n")
    Image.new("L", (40, 40), 7).save(folder / "t.png")
    return sorted(folder.iterdir())


def test_half_a_file_is_told_from_a_whole_one(tmp_path: Path) -> None:
    for known in whole_files(tmp_path / "whole"):
        path = tmp_path / known.name
        content = known.read_bytes()
        path.write_bytes(content)
        assert fault_of(path, known) is None
        assert fault_of(path, tmp_path / "no such file") is None
        for n_bytes in (0, len(content) // 3, len(content) // 2):
            path.write_bytes(content[:n_bytes])
            assert fault_of(path, known) is not None, (known.name, n_bytes)
