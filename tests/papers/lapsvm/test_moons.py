"""Two moons with one label each."""

import json

import numpy as np
import pytest

from beltrami_papers.lapsvm.moons import (
    DEMONSTRATION,
    cell_of,
    moons,
    one_label_each,
    settings,
    wrong_counts,
)
from beltrami_papers.model import record_text


@pytest.fixture(scope="module")
def found(quick_run):
    return quick_run("lapsvm-moons")


def test_a_draw_has_one_label_of_each_class_and_comes_back():
    positive = moons().positive
    draws = one_label_each(positive, 5)
    assert all(positive[rows].tolist() == [False, True] for rows in draws)
    assert len({tuple(rows) for rows in draws}) > 1
    np.testing.assert_array_equal(draws[3], one_label_each(positive, 4)[3])


def test_only_the_laplacian_machine_has_a_second_weight():
    assert settings("SVM", (0, 1)) == [(1.0, 0.0), (2.0, 0.0)]
    assert settings("LapSVM", (0, 1)) == [(1.0, 1.0), (1.0, 2.0), (2.0, 1.0), (2.0, 2.0)]


def test_the_best_setting_is_that_of_the_picture_and_the_first_among_equals():
    positive = np.array([True, False, False])
    good, bad = np.array([1.0, -1.0, -1.0]), np.array([-1.0, 1.0, 1.0])
    grid = {
        DEMONSTRATION["LapSVM"]: np.array([bad, good]),
        (1.0, 1.0): np.array([good, bad]),
        (1.0, 2.0): np.array([good, good]),
    }
    np.testing.assert_array_equal(wrong_counts(np.array([bad, good]), positive), [3, 0])
    cell = cell_of("LapSVM", grid, positive)
    assert (cell["lambda1"], cell["lambda2"], cell["errors"]) == (1.0, 1.0, 0)
    assert cell["settings_without_error"] == 2
    assert cell["draws_without_error_best"] == 2
    assert (cell["errors_demonstration"], cell["mean_errors_demonstration"]) == (3, 1.5)


def test_the_laplacian_machine_makes_no_error_and_the_others_do(found):
    errors = {cell["machine"]: cell["errors"] for cell in found.record["errors"]}
    assert errors["LapSVM"] == 0
    assert min(errors["SVM"], errors["TSVM"]) > 10
    assert found.record["mark"]["held"]
    assert "It holds." in found.table


def test_machines_with_nothing_set_stand_beside_the_best_of_the_grid(found):
    usual = {one["machine"]: one for one in found.record["by_default"]}
    assert list(usual) == ["LapRLS by default", "LapSVM by default"]
    assert all(one["mean_errors"] == 0 and one["draws"] == 2 for one in usual.values())
    assert "- LapSVM by default, nothing set: 0 wrong" in found.table


def test_labels_and_noise_are_stated(found):
    assert "noise=0.05" in found.table
    assert f"rows {one_label_each(moons().positive, 1)[0][0]} and" in found.table
    assert json.loads(record_text(found.record)) == found.record


def test_three_surfaces_stand_side_by_side(found):
    titles = [axes.get_title() for axes in found.figure.axes]
    assert [title.split(":")[0] for title in titles] == ["SVM", "TSVM", "LapSVM"]
    assert titles[-1].endswith("0 of 200 wrong")
