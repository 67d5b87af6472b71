"""Threshold steps: the walk and the cut against dense algebra, and that cuts only fall."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from beltrami.data import two_moons
from beltrami.graph.families import complete, disjoint_union, grid, path
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami.learners.poisson.threshold_steps import Walk, matched_offsets


def random_walk(n=40, seed=0):
    """A walk on a weighted graph, and its dense weights in the walk's order."""
    points = np.random.default_rng(seed).normal(size=(n, 2))
    walk = Walk.of(KnnGraph(5).build(points))
    return walk, walk.weights.toarray()


def test_the_walk_is_the_graph_in_another_order() -> None:
    graph = KnnGraph(4).build(np.random.default_rng(0).normal(size=(30, 3)))
    walk = Walk.of(graph)
    assert_array_equal(walk.order[walk.place], np.arange(30))
    dense = graph.weights.toarray()
    assert_array_equal(walk.weights.toarray(), dense[np.ix_(walk.order, walk.order)])
    assert_allclose(walk.degrees, dense.sum(axis=1)[walk.order])


@pytest.mark.parametrize("n_steps", [0, 1, 2, 7])
def test_diffusion_is_the_dense_recursion(n_steps: int) -> None:
    walk, dense = random_walk()
    rng = np.random.default_rng(1)
    block, source = rng.normal(size=(40, 3)), 0.1 * rng.normal(size=(40, 3))
    expected = block
    for _ in range(n_steps):
        expected = dense / dense.sum(axis=1, keepdims=True) @ expected + source
    found = walk.diffuse(block.astype(np.float32), source.astype(np.float32), n_steps)
    assert found.dtype == np.float32
    assert_allclose(found, expected, atol=1e-5)


def test_diffusion_without_sources_keeps_constants() -> None:
    walk, _ = random_walk()
    ones = np.ones((40, 2), dtype=np.float32)
    assert_allclose(walk.diffuse(ones.copy(), 0 * ones, 20), 1, atol=1e-5)


def test_the_normalised_cut_is_that_of_its_definition() -> None:
    walk, dense = random_walk()
    codes = np.random.default_rng(2).integers(0, 3, size=40)
    expected = 0.0
    for label in range(3):
        inside = codes == label
        expected += dense[inside][:, ~inside].sum() / dense[inside].sum()
    assert_allclose(walk.normalized_cut(codes, 3), expected)


def test_cuts_of_simple_partitions_are_known() -> None:
    two = Walk.of(disjoint_union(complete(4), complete(5)))
    codes = (two.order >= 4).astype(int)
    assert_allclose(two.normalized_cut(codes, 2), 0)
    assert_allclose(two.normalized_cut(np.zeros(9, dtype=int), 2), 1)  # an empty class counts one
    walk = Walk.of(path(10))
    assert_allclose(walk.normalized_cut((walk.order >= 5).astype(int), 2), 2 / 9)


def test_isolated_nodes_cost_nothing() -> None:
    graph = Graph.from_matrix(np.pad(np.ones((3, 3)) - np.eye(3), (0, 2)))
    walk = Walk.of(graph)
    assert walk.normalized_cut(np.zeros(5, dtype=int), 1) == 0
    block = np.ones((5, 1), dtype=np.float32)
    assert np.isfinite(walk.diffuse(block.copy(), 0 * block, 3)).all()


def start_and_sources(walk, n_classes, seed):
    """A random partition that is right at two nodes per class, and sources there."""
    rng = np.random.default_rng(seed)
    n = len(walk.order)
    fixed = rng.permutation(n)[: 2 * n_classes]
    start = rng.integers(0, n_classes, size=n)
    start[fixed] = np.arange(2 * n_classes) % n_classes
    source = np.zeros((n, n_classes), dtype=np.float32)
    source[fixed] = (np.eye(n_classes)[start[fixed]] - 1 / n_classes) / 10
    return start, source, fixed


@pytest.mark.parametrize("seed", range(6))
def test_a_refined_partition_never_has_a_larger_cut(seed: int) -> None:
    walk = Walk.of(KnnGraph(6).build(two_moons(120, random_state=seed).points))
    start, source, fixed = start_and_sources(walk, 3, seed)
    found = walk.refine(start, source, fixed)
    assert found.cut <= walk.normalized_cut(start, 3)
    assert_allclose(found.cut, walk.normalized_cut(found.codes, 3))
    assert_array_equal(found.codes[fixed], start[fixed])


def test_a_perfect_partition_is_left_alone() -> None:
    walk = Walk.of(disjoint_union(grid(4, 4), grid(5, 5)))
    start = (walk.order >= 16).astype(int)
    found = walk.refine(start, np.zeros((41, 2), dtype=np.float32), np.array([0]))
    assert (found.cut, found.n_steps) == (0, 0)
    assert_array_equal(found.codes, start)
    assert_array_equal(found.scores, np.eye(2)[start])


def test_threshold_steps_smooth_a_ragged_edge() -> None:
    """Noise on half a grid: a node that disagrees with its surroundings gives in."""
    graph = grid(12, 12)
    walk, rng = Walk.of(graph), np.random.default_rng(0)
    truth = (walk.order % 12 >= 6).astype(int)
    noisy = np.where(rng.random(144) < 0.15, 1 - truth, truth)
    fixed = np.flatnonzero(noisy == truth)[:4]
    found = walk.threshold_steps(noisy, np.zeros((144, 2), dtype=np.float32), fixed, 3)
    assert (found.codes != truth).mean() < 0.5 * (noisy != truth).mean()
    assert found.cut < walk.normalized_cut(noisy, 2)


def test_offsets_bring_sizes_near_the_wanted_shares() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(loc=[1.0, 0.0, -1.0], size=(2000, 3))
    wanted = np.array([0.2, 0.3, 0.5])
    offsets = matched_offsets(scores, wanted)
    sizes = np.bincount((scores + offsets).argmax(axis=1), minlength=3) / 2000
    assert_allclose(offsets.sum(), 0, atol=1e-12)
    assert_allclose(sizes, wanted, rtol=0.05)
