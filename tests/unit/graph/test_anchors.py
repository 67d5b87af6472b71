"""Anchors: new points are tied to the points of a graph, by cells where these are many."""

import numpy as np
import pytest

from beltrami.graph.anchors import Anchors, set_anchors
from beltrami.graph.recipes import KnnGraph
from beltrami.graph.weights import weight_rule


def anchors_of(points: np.ndarray, weights: str = "self_tuning") -> Anchors:
    graph = KnnGraph(10, weights=weights).build(points)
    rule = weight_rule(weights)
    return set_anchors(points, graph, rule, metric="euclidean", n_neighbors=10, by_cells=True)


@pytest.mark.parametrize(("n", "has_cells"), [(4000, False), (4200, True)])
def test_many_anchors_are_searched_by_cells_and_nearly_all_neighbours_found(n, has_cells):
    rng = np.random.default_rng(0)
    centers = 5 * rng.normal(size=(12, 16))
    points = (centers[rng.integers(0, 12, n)] + rng.normal(size=(n, 16))).astype(np.float32)
    new = (centers[rng.integers(0, 12, 500)] + rng.normal(size=(500, 16))).astype(np.float32)
    anchors = anchors_of(points)
    assert (anchors.cells is not None) == has_cells
    truth = anchors.space.nearest(new, anchors.n_listed)[1]
    found = anchors.look_around(new).distances
    assert (found <= truth[:, -1:]).mean() >= (0.985 if has_cells else 1.0)


def test_the_edges_of_a_tie_are_its_weights():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 3))
    tie = anchors_of(points, "tuned_shared").tie(rng.normal(size=(7, 3)))
    edges = tie.edges(60)
    assert edges.shape == (7, 60)
    for row in range(7):
        expected = dict(zip(tie.anchors[row].tolist(), tie.weights[row].tolist(), strict=True))
        line = edges[[row]].tocoo()
        assert dict(zip(line.col.tolist(), line.data.tolist(), strict=True)) == expected
