"""The contest of maps runs at toy size, so that it does not rot."""

import numpy as np
import pytest
from benchmarks.front_door import layouts


def test_every_method_draws_the_same_points(tmp_path):
    rows = layouts.rows_of("moons", subset=150, pictures=tmp_path)
    assert [row["n"] for row in rows] == [2000, 150, 150, 150]
    assert len({row["method"] for row in rows}) == 3
    assert all(0 <= row["neighbours kept"] <= 1 and row["seconds"] > 0 for row in rows)
    assert len(list(tmp_path.iterdir())) == 4


def test_the_data_themselves_keep_every_neighbour():
    line = np.column_stack([np.arange(40.0) ** 1.01, np.zeros(40)])
    lists = np.argsort(np.abs(line[:, :1] - line[:, 0]), axis=1)[:, :16]
    targets = np.repeat([0, 1], 20)
    found = layouts.quality(line, targets, lists, np.arange(40))
    assert found["neighbours kept"] == 1
    assert 0.8 < found["class purity"] < 1


@pytest.mark.parametrize(("purity", "met"), [(0.96, True), (0.94, False)])
def test_marks_are_those_of_ours_on_most_points(purity, met):
    row = {"problem": "digits", "n": 1797, "method": "ours", "seconds": 1.0, "class purity": purity}
    fewer = row | {"n": 100, "class purity": 0.0}
    other = row | {"method": "t-SNE", "class purity": 0.0}
    assert [one["met"] for one in layouts.marks([fewer, row, other])] == [met, True]
