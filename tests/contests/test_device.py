"""The benchmark of devices runs, at toy size, on torch's processor."""

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed: make test-device")


@pytest.mark.usefixtures("few_trees")
def test_every_stage_is_timed_and_agrees(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchmarks.device.__main__ import main

    toy = "--device cpu --sizes 1100 --counts 12 --rounds 1 --no-mnist --limit-rows 200 --out"
    main([*toy.split(), str(tmp_path)])
    record = json.loads((tmp_path / "device.json").read_text())
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line[0] == "{"]
    assert printed == record["rows"]
    assert record["device"]["device"] == "cpu"
    assert {row["ran_on"] for row in record["rows"]} == {"torch on cpu"}
    lists, values, labels = record["rows"]
    assert lists["share_of_same_neighbors"] == 1.0
    assert lists["share_of_arithmetic_limit"] > 0
    assert values["largest_relative_value_gap"] < 1e-5
    assert values["largest_value_gap"] < 1e-8
    assert labels["share_of_same_labels"] >= 0.999
