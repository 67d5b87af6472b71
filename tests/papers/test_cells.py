"""Numbers become entries and tables; every sentence on a page is computed."""

import numpy as np
import pytest

from beltrami_papers.cells import (
    largest_difference,
    page,
    summary,
)
from beltrami_papers.thesis.chapter3.published import TABLE_3_1, TABLE_3_2, TABLE_3_3
from beltrami_papers.thesis.chapter3.table_layout import (
    beside,
    best_neighbors,
    difference_lines,
    error_table,
)

CELLS = [
    {"labelled": 50, "eigenvectors": 20, **summary(np.array([12.0, 14.0]), 12.9)},
    {"labelled": 100, "eigenvectors": 20, **summary(np.array([9.0, 9.4]), 6.4)},
    {"labelled": 100, "eigenvectors": 50, **summary(np.array([15.0, 14.8]), 14.4)},
    {"labelled": 500, "eigenvectors": 50, **summary(np.array([2.0, 2.2]), 3.6)},
]
NEIGHBORS = [
    {"labelled": 50, **best_neighbors(np.array([[40.0, 39.0, 41.0]] * 2), 37.6)},
    {"labelled": 100, **best_neighbors(np.array([[27.0, 29.0, 31.0]] * 2), 28.1)},
    {"labelled": 500, **best_neighbors(np.array([[13.0, 12.0, 11.0]] * 2))},
]
USUAL = [{"labelled": count, "mean": mean} for count, mean in ((50, 9.0), (100, 7.04), (500, 3))]


def test_a_summary_counts_only_the_draws_that_were_used():
    found = summary(np.array([1.0, 3.0, np.nan]), 1.5)
    assert found == {
        "mean": 2.0,
        "std": pytest.approx(np.sqrt(2), abs=1e-3),
        "draws": 2,
        "published": 1.5,
        "difference": 0.5,
    }
    assert summary(np.array([4.0]))["std"] is None
    assert "published" not in summary(np.array([4.0]))


def test_the_best_number_of_neighbours_is_chosen_by_its_mean():
    """Number 3 wins on average though 1 wins the first draw."""
    found = best_neighbors(np.array([[1.0, 2.0, 9.0], [9.0, 2.0, 9.0]]))
    assert (found["k"], found["mean"], found["draws"]) == (3, 2.0, 2)
    assert found["means"] == {"1": 5.0, "3": 2.0, "5": 9.0}


def test_cells_stand_beside_the_thesis_with_one_decimal():
    assert beside(CELLS[1]) == "9.2 (6.4)"
    assert beside({"mean": 3.14}) == "3.1"
    assert beside(None) == ""


def test_the_table_has_a_row_per_number_of_labels_and_empty_cells_stay_empty():
    assert error_table(CELLS, NEIGHBORS, USUAL) == [
        "| labelled | p = 20 | p = 50 | best k-NN | by default |",
        "| ---: | ---: | ---: | ---: | ---: |",
        "| 50 | 13.0 (12.9) |  | 39.0 (37.6), k = 3 | 9.0 |",
        "| 100 | 9.2 (6.4) | 14.9 (14.4) | 27.0 (28.1), k = 1 | 7.0 |",
        "| 500 |  | 2.1 (3.6) | 11.0, k = 5 | 3.0 |",
    ]


def test_the_largest_difference_is_by_size_and_keeps_its_sign():
    assert largest_difference(CELLS)["difference"] == pytest.approx(2.8)
    far = largest_difference(CELLS, lambda cell: cell["eigenvectors"] >= 50)
    assert far["difference"] == pytest.approx(-1.5)
    assert largest_difference([{"mean": 1.0}]) is None


def test_differences_are_said_for_each_group_that_has_published_cells():
    lines = difference_lines(CELLS, NEIGHBORS)
    assert len(lines) == 3
    assert "-1.5 points (l = 500, p = 50: 2.1 against 3.6), mean difference -0.50" in lines[0]
    assert "+2.8 points (l = 100, p = 20: 9.2 against 6.4)" in lines[1]
    assert "best k-NN" in lines[2]
    assert difference_lines([], []) == []


def test_a_page_says_what_was_done_and_how_long_it_took():
    record = {
        "source": "a thesis",
        "data": "some points",
        "n": 7,
        "settings": {"draws": "mean over 2"},
        "seeds": "zero.",
        "remarks": ["a remark"],
        "seconds": {"graph": 1.5, "total": 1.5},
        "versions": {"numpy": "2"},
        "threads": 2,
        "processor_seconds": 2.5,
        "peak_memory_mib": 99,
    }
    text = page("title", record, ["| body |"])
    for piece in ("# title", "n = 7", "draws: mean over 2", "- a remark", "| body |", "graph 1.5"):
        assert piece in text


@pytest.mark.parametrize("table", [TABLE_3_1, TABLE_3_2, TABLE_3_3], ids=lambda t: t.source)
def test_published_rows_hold_exactly_the_columns_below_their_number_of_labels(table):
    """The thesis fills a cell when there are fewer eigenvectors than labelled points."""
    assert list(table.errors) == list(table.neighbors)
    for labelled, row in table.errors.items():
        assert len(row) == sum(p < labelled for p in table.eigenvectors)
        assert table.error(labelled, table.eigenvectors[len(row) - 1]) == row[-1]
    assert table.error(1, 5) is None
    assert table.error(20, 1000) is None
