"""Short walks: against dense powers of the walk, and what they do to a partition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from beltrami.graph.families import disjoint_union, grid, path
from beltrami.learners.poisson.threshold_steps import Fixed
from beltrami.learners.poisson.walks import STEPS, Walk


@pytest.mark.parametrize("size", [5, 40])
def test_walks_are_powers_of_the_walk_with_sources(size) -> None:
    graph = grid(size, size)
    rng = np.random.default_rng(0)
    block = rng.random((size**2, 3)).astype(np.float32)
    source = rng.normal(size=block.shape).astype(np.float32)
    dense = graph.weights.toarray()
    step, expected = dense / dense.sum(axis=1, keepdims=True), block
    for _ in range(STEPS):
        expected = step @ expected + source
    found = Walk.of(graph.weights).diffuse(block, source)
    assert_allclose(found, expected, atol=1e-4)


def test_a_partition_keeps_its_labels_and_loses_its_ragged_edge() -> None:
    graph, rng = grid(16, 16), np.random.default_rng(0)
    truth = (np.arange(256) % 16 >= 8).astype(int)
    noisy = np.where(rng.random(256) < 0.15, 1 - truth, truth)
    fixed = Fixed(np.array([0, 100]), 1 - truth[[0, 100]], 2)
    found = Walk.of(graph.weights).refine(noisy, np.zeros((2, 2)), fixed)
    assert_array_equal(found[[0, 100]], fixed.codes)
    assert (found != truth).mean() < 0.3 * (noisy != truth).mean()


def test_a_source_speaks_for_its_neighbours() -> None:
    graph = grid(9, 9)
    start, centre = np.zeros(81, dtype=int), 40
    fixed = Fixed(np.array([centre]), np.array([1]), 2)
    start[centre] = 1
    walk = Walk.of(graph.weights)
    assert (walk.refine(start, np.zeros((1, 2)), fixed) == 1).sum() == 1
    assert (walk.refine(start, np.array([[-9.0, 9.0]]), fixed) == 1).sum() > 4


def test_sizes_are_kept_to() -> None:
    graph = grid(20, 20)
    start = (np.arange(400) % 20 >= 10).astype(int)
    fixed = Fixed(np.array([0, 399]), np.array([0, 1]), 2)
    shares = np.array([0.7, 0.3])
    found = Walk.of(graph.weights).refine(start, np.zeros((2, 2)), fixed, shares)
    assert_allclose(np.bincount(found) / 400, shares, atol=0.06)


def test_whole_components_can_be_taken() -> None:
    walk = Walk.of(disjoint_union(grid(4, 4), path(5)).weights)
    inside = np.arange(21) < 16
    part = walk.take(inside)
    alone = Walk.of(grid(4, 4).weights)
    assert_allclose(part.steps.weights.toarray(), alone.steps.weights.toarray())
    assert_allclose(part.degrees, alone.degrees)
    assert walk.take(np.ones(21, dtype=bool)) is walk
