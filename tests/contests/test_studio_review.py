"""The benchmark of the review at toy size."""

import json

import pytest
from benchmarks.studio.review import STEM, main, write_digits

pytestmark = pytest.mark.usefixtures("few_trees")


def test_some_labels_are_wrong_and_the_others_true(tmp_path):
    truth, given = write_digits(tmp_path / "digits.csv", 0, 200, 60)
    wrong = [row for row, label in given.items() if label != truth[row]]
    assert (len(given), len(wrong)) == (60, 3)


@pytest.mark.slow
def test_the_review_finds_wrong_labels_of_digits(tmp_path):
    main(["--seeds", "1", "--rows", "300", "--labels", "100", "--out", str(tmp_path)])
    (run,) = json.loads((tmp_path / f"{STEM}.json").read_text())["runs"]
    assert run["n_wrong"] == 5
    assert run["n_listed_wrong"] >= 3
    assert run["accuracy_looked"] >= run["accuracy_before"] - 0.02
    assert "| all |" in (tmp_path / f"{STEM}.md").read_text()
