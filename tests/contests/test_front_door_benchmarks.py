"""The other contests of the front door run at a small size and write their pages."""

import json

import pytest
from benchmarks.front_door import queries, reviews, scale, suspects


@pytest.mark.slow
def test_questions_beside_random(tmp_path, threads_in_force):
    queries.main(["--toy", "--out", str(tmp_path)])

    assert "ours: auto" in (tmp_path / "front_door_queries.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_reviews(tmp_path, threads_in_force):
    reviews.main(["--toy", "--out", str(tmp_path)])

    assert (tmp_path / "front_door_reviews.md").read_text(encoding="utf-8").startswith("# ")


@pytest.mark.slow
def test_size_and_growth(tmp_path, threads_in_force):
    scale.main(["--sizes", "300", "600", "--out", str(tmp_path)])

    rows = json.loads((tmp_path / "front_door_scale.json").read_text(encoding="utf-8"))["rows"]
    assert [row["n"] for row in rows] == [300, 600]
    assert all(row["error"] < 60 and row["peak_gib"] > 0 for row in rows)
    assert "n^" in (tmp_path / "front_door_scale.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_suspects(tmp_path, threads_in_force):
    suspects.main(["--set", "digits", "--size", "100", "--draws", "1", "--out", str(tmp_path)])

    rows = json.loads((tmp_path / "front_door_suspects.json").read_text(encoding="utf-8"))["rows"]
    assert rows[0]["recall"] > 0.5
