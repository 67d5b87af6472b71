"""The benchmark of drawing runs at toy size, and its page says what was measured."""

import json

import pytest
from benchmarks.studio.drawing import STEM, main

pytestmark = pytest.mark.slow  # two browsers


def test_both_ways_of_drawing_are_measured(tmp_path):
    main(["--toy", "--out", str(tmp_path)])
    record = json.loads((tmp_path / f"{STEM}.json").read_text(encoding="utf-8"))
    assert [row["backend"] for row in record["rows"]] == ["webgl2", "canvas"]
    for row in record["rows"]:
        assert row["drawn"] == row["n"] == 3000
        assert row["frames"] > 0
        assert list(row["changes"]) == ["1", "1000", "3000"]
        assert 200 < row["point_found"] < 2000
    page = (tmp_path / f"{STEM}.md").read_text(encoding="utf-8")
    assert "| 3,000, WebGL2, in software | 3,000, stamped |" in page
