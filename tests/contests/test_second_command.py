"""The benchmark of the cache: what it measures, what it refuses, what it writes."""

import json
from pathlib import Path

import pytest
from benchmarks.front_door import second_command as bench

SECONDS = {"label": 10.0, "suggest": 1.5, "label without": 9.8, "suggest without": 9.0}


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Commands that write the same table every time and take the seconds above."""
    written = dict.fromkeys(SECONDS, "a table")

    def run(arguments: list[str], cache: Path, prefix: tuple[str, ...] = ()) -> tuple[float, float]:
        name = arguments[0] + (" without" if "--no-cache" in arguments else "")
        Path(arguments[3]).write_text(written[name])
        (cache / "graph").write_bytes(bytes(2**20))
        if prefix:
            import cProfile

            cProfile.run("None", prefix[-1])
        return SECONDS[name], 2 * SECONDS[name]

    monkeypatch.setattr(bench, "run", run)
    monkeypatch.setattr(bench, "write_problem", lambda path, _: path.write_text(""))
    return written


def test_ratios_are_taken_within_rounds_and_the_mark_is_judged(
    commands: dict[str, str], tmp_path: Path
):
    assert commands
    bench.main(["--rows", "100", "--rounds", "2", "--out", str(tmp_path)])
    page = (tmp_path / "second_command.md").read_text()
    assert "**0.150** (the mark is 0.2: held)" in page
    assert "disturbs less, 0.150" in page
    assert "takes 6.0 times as long" in page
    assert "storing: +2.0%" in page
    record = json.loads((tmp_path / "second_command.json").read_text())
    assert [one["cache MiB"] for one in record["rounds"]] == [1.0, 1.0]


def test_a_table_that_differs_ends_the_benchmark(commands: dict[str, str], tmp_path: Path):
    commands["suggest without"] = "another table"
    with pytest.raises(SystemExit, match="`suggest` writes something else"):
        bench.hold_round(tmp_path / "data", tmp_path)


def test_the_stages_are_functions_that_there_are():
    root = Path(bench.__file__).parents[2] / "src" / "beltrami"
    for place, function in bench.STAGES.values():
        if not place.startswith("<"):
            assert f"def {function}(" in (root / place).read_text()
