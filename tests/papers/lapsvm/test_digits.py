"""Pairs of digits: draws, verdicts, and a quick run."""

import json

import numpy as np
import pytest

from beltrami_papers.lapsvm.digits import pair_lines, verdict_lines, verdicts
from beltrami_papers.lapsvm.pairs import (
    Images,
    pair_problem,
    two_labels_each,
    usps_images,
)

PAIRS = [(0, 1), (0, 2)]


def _table(laplacian):
    inductive = np.array([[6.0, 6.0], [3.0, 3.0]])
    views = {"unlabelled": inductive, "test": inductive}
    ours = {"unlabelled": np.array(laplacian), "test": np.array([[1.0, 1.0], [1.0, 1.0]])}
    return {"RLS": views, "LapRLS": ours, "SVM": views, "TSVM": views, "LapSVM": ours}


def test_two_labels_of_each_class_come_from_the_named_seed():
    positive = np.arange(40) % 2 == 1
    draws = two_labels_each(positive, (3, 7), 4)
    assert all(positive[rows].tolist() == [False, False, True, True] for rows in draws)
    assert all(len(set(rows)) == 4 for rows in draws)
    rng = np.random.default_rng([0, 3, 7, 2])
    np.testing.assert_array_equal(
        draws[2],
        np.concatenate([rng.choice(np.flatnonzero(positive == side), 2, False) for side in (0, 1)]),
    )


def test_a_pair_keeps_its_own_images_and_both_parts_of_the_test():
    digits, others = np.array([0, 1, 2, 1]), np.array([2, 1, 2, 0])
    official = np.array([False, True, True, True])
    images = Images(np.eye(4), digits, np.eye(4), others, official)
    problem = pair_problem(images, (1, 2))
    assert problem.positive.tolist() == [False, True, False]
    assert problem.new_positive.tolist() == [True, False, True]
    assert [part.sum() for part in problem.tests.values()] == [3, 1, 2]


def test_the_mark_holds_at_a_third_and_half_a_point():
    found = verdicts(_table([[1.0, 1.0], [2.0, 2.0]]), PAIRS)
    assert [one["share"] for one in found] == [0.333, 0.222, 0.333, 0.222]
    assert all(one["at_most_a_third"] and one["never_half_a_point_worse"] for one in found)
    assert all(one["pairs_better"] == 2 for one in found)
    assert "does not" not in " ".join(verdict_lines(found, 2))


def test_one_pair_that_loses_breaks_the_mark():
    one = verdicts(_table([[0.0, 0.0], [3.4, 4.0]]), PAIRS)[0]
    assert one["share"] == pytest.approx(3.7 / 9, abs=1e-3)
    assert not one["at_most_a_third"]
    assert (one["worst_pair"], one["worst_difference"]) == ("0-2", 0.7)
    assert not one["never_half_a_point_worse"]
    assert one["pairs_worse_by_more_than_half_a_point"] == 1
    assert "does not hold" in verdict_lines([one], 2)[0]


def test_pairs_are_listed_with_both_sets():
    lines = pair_lines(_table([[1.0, 2.0], [2.0, 2.0]]), PAIRS)
    assert lines[0] == "| pair | RLS | LapRLS | SVM | TSVM | LapSVM |"
    assert lines[2].startswith("| 0-1 | 6.00 / 6.00 | 1.50 / 1.00 |")


@pytest.mark.data
def test_the_first_images_train_and_all_others_test(data_folder):
    images = usps_images(400)
    assert images.training.shape == (4000, 100)
    assert (np.bincount(images.digits) == 400).all()
    assert len(images.remaining) == 9298 - 4000
    assert images.official.sum() == 2007
    np.testing.assert_allclose(images.training.mean(axis=0), 0, atol=1e-10)
    assert abs(images.remaining.mean(axis=0)).max() < 1  # the same centre, other images


@pytest.mark.data
def test_a_quick_run_leaves_a_figure_a_record_and_a_page(quick_run, data_folder, tmp_path):
    found = quick_run("lapsvm-usps")
    assert len(found.save("x", tmp_path)) == 3
    record = json.loads((tmp_path / "x.json").read_text())
    assert record == found.record
    assert [one["pair"] for one in record["errors"]] == ["0-1", "2-3", "8-9"]
    means = {one["machine"]: one["unlabelled"] for one in record["means"]}
    usual = ["LapRLS by default", "LapSVM by default"]
    assert list(means) == ["RLS", "LapRLS", "SVM", "TSVM", "LapSVM", *usual]
    assert means["LapSVM by default"] < means["SVM"]
    assert means["LapRLS"] < means["RLS"]
    assert means["LapSVM"] < means["SVM"]
    assert isinstance(record["mark"]["held"], bool)
    assert str(data_folder) not in found.table
