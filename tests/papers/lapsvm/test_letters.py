"""Spoken letters: verdicts over two readings, and a quick run."""

import json

import numpy as np
import pytest

from beltrami_papers.lapsvm.letters import (
    better_reading,
    letters_problem,
    speaker_lines,
    verdict_lines,
    verdicts,
)


def _views(unlabelled, isolet5):
    return {"unlabelled": np.array(unlabelled)[:, None], "isolet5": np.array(isolet5)[:, None]}


TABLE = {
    "RLS": _views([20.0, 22.0], [25.0, 27.0]),
    "LapRLS (6-NN, plain)": _views([19.0, 23.5], [24.0, 26.0]),
    "LapRLS (10-NN, normalised)": _views([17.0, 22.5], [24.0, 27.5]),
    "SVM": _views([20.0, 22.0], [25.0, 27.0]),
    "LapSVM (6-NN, plain)": _views([21.0, 22.0], [24.0, 26.0]),
    "LapSVM (10-NN, normalised)": _views([21.0, 22.0], [26.0, 28.0]),
}


def test_a_reading_must_win_on_both_sets():
    found = {one["laplacian"]: one for one in verdicts(TABLE)}
    assert found["LapRLS (6-NN, plain)"]["differences"] == {"unlabelled": 0.25, "isolet5": -1.0}
    assert not found["LapRLS (6-NN, plain)"]["better_on_both"]
    assert found["LapRLS (10-NN, normalised)"]["better_on_both"]
    assert found["LapRLS (10-NN, normalised)"]["speakers_better"] == {"unlabelled": 1, "isolet5": 1}


def test_the_better_reading_is_judged_also_where_it_loses():
    found = verdicts(TABLE)
    assert better_reading(found, "RLS")["laplacian"] == "LapRLS (10-NN, normalised)"
    assert better_reading(found, "SVM")["laplacian"] == "LapSVM (6-NN, plain)"
    lines = verdict_lines(found, 2)
    assert lines[-2].endswith("the better reading: it holds.")
    assert lines[-1].endswith("the better reading: it does not hold.")


def test_speakers_are_listed_with_both_sets():
    assert speaker_lines(TABLE)[2].startswith("| 1 | 20.0 / 25.0 | 19.0 / 24.0 |")


@pytest.mark.data
def test_thirty_speakers_train_and_thirty_others_test(data_folder):
    problem, rows = letters_problem(30)
    assert problem.points.shape == (1560, 617)
    assert problem.new.shape == (1559, 617)
    assert problem.tests["isolet5"].all()
    assert {len(own) for own in rows} == {52}
    assert all(problem.positive[own].sum() == 26 for own in rows)
    np.testing.assert_array_equal(np.sort(np.concatenate(rows)), np.arange(1560))


@pytest.mark.data
def test_a_quick_run_leaves_a_figure_a_record_and_a_page(quick_run, data_folder, tmp_path):
    found = quick_run("lapsvm-isolet")
    assert len(found.save("x", tmp_path)) == 3
    record = json.loads((tmp_path / "x.json").read_text())
    assert record == found.record
    assert [one["speaker"] for one in record["errors"]] == [1, 2]
    assert len(record["means"]) == 9
    assert len(found.figure.axes) == 4
    assert str(data_folder) not in found.table
