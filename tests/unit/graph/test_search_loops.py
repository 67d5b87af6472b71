"""The loops of the search by cells against their twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from beltrami.graph.search import _loops
from beltrami.graph.search.cells import Cells, Division, _blocks, _group, _near

POINTS = np.random.default_rng(0).normal(size=(900, 13)).astype(np.float32)
CELLS = Cells.of(POINTS, Division.of(POINTS, np.random.default_rng(1)), 8)


def _queries(rows: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    order, starts = _group(CELLS.owner[rows], CELLS.n_cells)
    return rows[order], *_blocks(starts, most)


@pytest.mark.parametrize("width", [1, 3, 12])
@pytest.mark.parametrize("most", [7, 500])
def test_centres_are_ranked_as_by_the_twin(width: int, most: int) -> None:
    rows, bounds, owners = _queries(np.arange(0, 900, 2), most)
    counts = np.arange(CELLS.n_cells) % 7 + 1  # lists of unequal length, some too short
    lists = np.concatenate([[0], np.cumsum(counts)])
    whole = _near(CELLS.centers, CELLS.centers, 7)
    near = np.concatenate([line[:count] for line, count in zip(whole, counts, strict=True)])
    for part in (slice(0, None), slice(3, 6)):
        edges = bounds[part.start : None if part.stop is None else part.stop + 1]
        arguments = (CELLS.points, rows, edges, owners[part], CELLS.centers, near, lists, width)
        expected = _loops.rank_centers_reference(*arguments)
        found = _loops.rank_centers(*arguments)
        assert_array_equal(np.sort(found), np.sort(expected))


@pytest.mark.parametrize("k", [1, 8, 90])
@pytest.mark.parametrize("most", [7, 500])
def test_cells_are_searched_as_by_the_twin(k: int, most: int) -> None:
    rows, bounds, owners = _queries(np.arange(0, 900, 2), most)
    near = _near(CELLS.centers, CELLS.centers, 6)
    lists = np.arange(CELLS.n_cells + 1) * 6
    ranked = _loops.rank_centers(
        CELLS.points, rows, bounds, owners, CELLS.centers, near.ravel(), lists, 3
    )
    ranked[::5, 1] = -1
    found = _loops.search_cells(
        CELLS.points, rows, bounds, owners, near, ranked, CELLS.members, CELLS.starts,
        CELLS.offsets, CELLS.half_lengths, CELLS.centers, k,
    )  # fmt: skip
    expected = _loops.search_cells_reference(
        CELLS.points, rows, bounds, owners, near, ranked, CELLS.members, CELLS.starts, k
    )
    # By distances: near ties may swap in float32.
    points = CELLS.points.astype(np.float64)
    lengths, wanted = (
        np.sort(np.where(i < 0, -1, np.linalg.norm(points[rows][:, None] - points[i], axis=2)))
        for i in (found, expected)
    )
    assert_allclose(lengths, wanted, atol=1e-4)
    assert np.mean(np.sort(found) == np.sort(expected)) > 0.999
