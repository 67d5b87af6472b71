"""The other contests of the front door run at a small size and write their pages."""

import json

import numpy as np
import pytest
from benchmarks.common.command import RESULTS
from benchmarks.few_labels.problems import problem
from benchmarks.front_door import layouts, queries, reviews, scale, suspects, tables
from benchmarks.robustness import audits

from beltrami import ManifoldClassifier


@pytest.mark.parametrize("module", [queries, reviews, layouts, tables, audits])
def test_the_pages_are_those_of_the_records(module):
    record = json.loads((RESULTS / f"{module.STEM}.json").read_text(encoding="utf-8"))
    page = (RESULTS / f"{module.STEM}.md").read_text(encoding="utf-8")
    assert page == module.render(record)


def test_sheets_are_always_the_same_and_have_every_class():
    points, targets = scale.sheets(200)
    np.testing.assert_array_equal(points, scale.sheets(200)[0])
    assert points.shape == (200, scale.N_COLUMNS)
    assert set(targets.tolist()) == set(range(scale.N_CLASSES))


@pytest.mark.filterwarnings("ignore")
def test_flipped_labels_of_a_few_digits_are_counted():
    toy = problem("toy")
    truth = np.asarray(toy.targets)[:150]
    learner = ManifoldClassifier(random_state=0)
    row = suspects.trial(learner, toy.points[:150], truth, 60, 0.1, 0)
    assert 0 <= row["recall"] <= 1
    assert row["listed"] <= 60


@pytest.mark.slow
def test_questions_beside_random(tmp_path, threads_in_force):
    queries.main(["--toy", "--out", str(tmp_path), "--journal", str(tmp_path / "rows.jsonl")])

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
