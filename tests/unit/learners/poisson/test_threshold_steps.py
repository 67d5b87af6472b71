"""Threshold steps in a basis: diffusion and cuts against dense algebra, sizes, borders."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm

from beltrami.graph.families import complete, disjoint_union, grid, path, ring
from beltrami.graph.recipes import KnnGraph
from beltrami.learners.foundation import Foundation
from beltrami.learners.poisson.cuts import conductances, cut_matrix, normalized_cut
from beltrami.learners.poisson.flow import FlowSpace
from beltrami.learners.poisson.resplit import split_pairs_anew
from beltrami.learners.poisson.threshold_steps import (
    Diffusion,
    Fixed,
    matched_offsets,
    size_weights,
    threshold_steps,
)
from beltrami.solvers.eigen import eigenbasis


def diffusion_of(graph, tau=3.0, count=None):
    basis = eigenbasis(graph, count or graph.n_nodes, kind="random_walk")
    return Diffusion.of(FlowSpace.of(Foundation(graph), basis), tau)


def random_graph(n=40, seed=0):
    return KnnGraph(5).build(np.random.default_rng(seed).normal(size=(n, 2)))


def two_blobs(apart, sizes=(120, 120), seed=0):
    """Two Gaussians, long across the line between them."""
    rng = np.random.default_rng(seed)
    points = [rng.normal([apart * i, 0], [1.0, 4.0], size=(m, 2)) for i, m in enumerate(sizes)]
    return np.vstack(points), np.repeat([0, 1], sizes)


NOTHING = Fixed(np.zeros(0, dtype=int), np.zeros(0, dtype=int), 2)


@pytest.mark.parametrize("graph", [random_graph(), disjoint_union(grid(4, 5), ring(9), path(4))])
def test_diffusion_is_the_exponential_of_the_walk(graph) -> None:
    dense = graph.weights.toarray()
    walk = dense / dense.sum(axis=1, keepdims=True)
    codes = np.random.default_rng(1).integers(0, 3, size=graph.n_nodes)
    expected = expm(3.0 * (walk - np.eye(len(walk)))) @ np.eye(3)[codes]
    diffusion = diffusion_of(graph)
    found = diffusion.scores(diffusion.moments(codes, 3))
    assert found.dtype == np.float32
    assert_allclose(found, expected, atol=1e-4)


def test_coefficients_move_with_a_partition() -> None:
    diffusion, rng = diffusion_of(random_graph()), np.random.default_rng(0)
    old = rng.integers(0, 3, size=40)
    for n_changed in (3, 30):
        new = old.copy()
        new[:n_changed] = (new[:n_changed] + 1) % 3
        found = diffusion.moved(diffusion.moments(old, 3), old, new)
        expected = diffusion.moments(new, 3)
        assert_allclose(found.coefficients, expected.coefficients, atol=1e-4)
        assert_allclose(found.pieces, expected.pieces)


@pytest.mark.parametrize("graph", [random_graph(), disjoint_union(grid(4, 5), ring(9), path(4))])
def test_what_walks_between_classes_is_that_of_the_exponential(graph) -> None:
    dense = graph.weights.toarray() / graph.weights.data.max()
    degrees = dense.sum(axis=1)
    codes = np.random.default_rng(1).integers(0, 3, size=graph.n_nodes)
    one_hot = np.eye(3)[codes]
    walked = degrees[:, None] * expm(3.0 * (dense / degrees[:, None] - np.eye(len(dense))))
    diffusion = diffusion_of(graph)
    moments = diffusion.moments(codes, 3)
    found = diffusion.exchange(moments)
    assert_allclose(found, one_hot.T @ walked @ one_hot, atol=1e-3)
    assert_allclose(found.sum(axis=1), one_hot.T @ degrees, rtol=1e-5)
    rows = np.array([0, 7, 20])
    expected = (walked / degrees[:, None]) @ one_hot
    expected[rows, codes[rows]] -= np.diag(walked)[rows] / degrees[rows]
    found = diffusion.scores_without(moments, rows, codes[rows])
    assert_allclose(found, expected[rows], atol=1e-4)


def test_some_nodes_stand_for_all_of_their_piece() -> None:
    graph = disjoint_union(grid(30, 30), grid(20, 20))
    diffusion = diffusion_of(graph, 10.0, 40)
    codes = np.concatenate([np.arange(900) % 30 >= 12, np.arange(400) % 20 >= 7]).astype(int)
    nodes = np.sort(np.random.default_rng(0).choice(1300, 650, replace=False))
    thin = diffusion.thin(nodes)
    moments, all_moments = thin.moments(codes[nodes], 2), diffusion.moments(codes, 2)
    assert_allclose(moments.pieces.sum(axis=1), all_moments.pieces.sum(axis=1))
    found, expected = diffusion.scores(moments), diffusion.scores(all_moments)
    assert (found.argmax(axis=1) == expected.argmax(axis=1)).mean() > 0.95


def test_the_normalised_cut_is_that_of_its_definition() -> None:
    graph = random_graph()
    dense, codes = graph.weights.toarray(), np.random.default_rng(2).integers(0, 3, size=40)
    expected = 0.0
    for label in range(3):
        inside = codes == label
        expected += dense[inside][:, ~inside].sum() / dense[inside].sum()
    assert_allclose(normalized_cut(graph.weights, codes, 3), expected)
    one_hot = np.eye(3)[codes]
    assert_allclose(cut_matrix(graph.weights, codes, 3), one_hot.T @ dense @ one_hot)


def test_cuts_of_simple_partitions_are_known() -> None:
    two = disjoint_union(complete(4), complete(5))
    assert_allclose(normalized_cut(two.weights, np.repeat([0, 1], [4, 5]), 2), 0)
    assert_allclose(normalized_cut(two.weights, np.zeros(9, dtype=int), 2), 1)  # an empty class
    halves = np.repeat([0, 1], 5)
    assert_allclose(normalized_cut(path(10).weights, halves, 2), 2 / 9)
    assert_allclose(conductances(cut_matrix(path(10).weights, halves, 2)), [1 / 9, 1 / 9])


def test_threshold_steps_smooth_a_ragged_edge_and_keep_what_is_known() -> None:
    graph, rng = grid(12, 12), np.random.default_rng(0)
    truth = (np.arange(144) % 12 >= 6).astype(int)
    noisy = np.where(rng.random(144) < 0.15, 1 - truth, truth)
    odd = np.array([0, 5, 140])  # known to be otherwise than all around
    fixed = Fixed(odd, 1 - truth[odd], 2)
    found = threshold_steps(diffusion_of(graph, 3.0, 60), noisy, fixed)
    others = np.setdiff1d(np.arange(144), odd)
    assert (found != truth)[others].mean() < 0.5 * (noisy != truth)[others].mean()
    assert_array_equal(found[odd], 1 - truth[odd])


def test_steps_come_near_given_sizes() -> None:
    graph = random_graph(600, seed=3)
    start = (np.arange(600) % 3).astype(int)
    fixed = Fixed(np.array([0, 1, 2]), np.array([0, 1, 2]), 3)
    wanted = np.array([0.5, 0.3, 0.2])
    found = threshold_steps(diffusion_of(graph, 10.0, 100), start, fixed, wanted)
    assert_allclose(np.bincount(found) / 600, wanted, atol=0.05)


def test_weights_bring_sizes_near_the_wanted_shares() -> None:
    rng, wanted = np.random.default_rng(0), np.array([0.2, 0.3, 0.5])
    scores = np.exp(rng.normal(loc=[1.0, 0.0, -1.0], size=(2000, 3))).astype(np.float32)
    weights = size_weights(scores, wanted)
    sizes = np.bincount((scores * weights).argmax(axis=1), minlength=3) / 2000
    assert_allclose(sizes, wanted, rtol=0.05)


def test_offsets_bring_sizes_near_the_wanted_shares() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(loc=[1.0, 0.0, -1.0], size=(2000, 3))
    wanted = np.array([0.2, 0.3, 0.5])
    offsets = matched_offsets(scores, wanted)
    sizes = np.bincount((scores + offsets).argmax(axis=1), minlength=3) / 2000
    assert_allclose(offsets.sum(), 0, atol=1e-12)
    assert_allclose(sizes, wanted, rtol=0.05)


@pytest.mark.parametrize("sizes", [(120, 120), (160, 60)])
def test_a_border_across_two_clusters_is_turned(sizes) -> None:
    """Upper against lower half, where left against right has the smaller cut."""
    points, truth = two_blobs(5.0, sizes)
    graph = KnnGraph(10).build(points)
    wrong = (points[:, 1] > np.quantile(points[:, 1], sizes[0] / sum(sizes))).astype(int)
    fixed = Fixed(np.array([0, sizes[0]]), np.array([0, 1]), 2)
    diffusion = diffusion_of(graph, 10.0, 60)
    flow = np.zeros((len(truth), 2), dtype=np.float32)
    found = split_pairs_anew(diffusion, fixed.put_back(wrong), fixed, flow)
    assert (found == truth).mean() > 0.97
    assert normalized_cut(graph.weights, found, 2) < normalized_cut(graph.weights, wrong, 2)


def test_a_perfect_border_is_left_alone() -> None:
    graph = disjoint_union(grid(6, 6), grid(7, 7))
    codes = np.repeat([0, 1], [36, 49])
    flow = np.zeros((85, 2), dtype=np.float32)
    found = split_pairs_anew(diffusion_of(graph, 10.0, 40), codes, NOTHING, flow)
    assert_array_equal(found, codes)
