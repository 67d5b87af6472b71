"""Edges weigh more the more rows lie between their ends."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from beltrami.core.errors import InvalidInputError
from beltrami.graph.distinct import DistinctKnnGraph
from beltrami.graph.witnessed import WitnessedKnnGraph


def _told(n: int, seed: int = 0) -> csr_array:
    """Return how many rows lie between points, symmetric."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.poisson(0.3, size=(n, n)), 1)
    return csr_array((upper + upper.T).astype(float))


def test_an_edge_weighs_its_neighbourhood_and_the_rows_between():
    points = np.random.default_rng(1).normal(size=(60, 3))
    plain = DistinctKnnGraph(8, random_state=0).build(points)
    told = _told(60)
    graph = WitnessedKnnGraph(told, 8, random_state=0).build(points)
    expected = plain.weights.toarray() / plain.weights.data.mean() + told.toarray()
    np.testing.assert_allclose(graph.weights.toarray(), expected)
    assert (graph.weights != graph.weights.T).nnz == 0
    np.testing.assert_array_equal(graph.neighbors.indices, plain.neighbors.indices)


def test_without_witnesses_it_is_the_plain_graph_in_its_own_units():
    points = np.random.default_rng(1).normal(size=(60, 3))
    plain = DistinctKnnGraph(8, random_state=0).build(points)
    graph = WitnessedKnnGraph(csr_array((60, 60)), 8, random_state=0).build(points)
    assert graph.weights.data.mean() == pytest.approx(1.0)
    np.testing.assert_array_equal(graph.weights.indices, plain.weights.indices)


def test_witnesses_of_other_points_are_refused():
    points = np.random.default_rng(1).normal(size=(60, 3))
    with pytest.raises(InvalidInputError, match="witnesses of 50 points, and X has 60 rows"):
        WitnessedKnnGraph(_told(50), 8).build(points)
