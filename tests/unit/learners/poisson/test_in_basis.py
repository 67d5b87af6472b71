"""Poisson learning in a basis: decisions, answers that are pure, labels held out."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from beltrami.graph.families import disjoint_union, grid, path, ring
from beltrami.graph.recipes import KnnGraph
from beltrami.learners.foundation import Foundation
from beltrami.learners.model import Labeled
from beltrami.learners.poisson.decision import TAU, mixed_shares, put_first
from beltrami.learners.poisson.flow import FlowSpace, flow_of
from beltrami.learners.poisson.in_basis import Ground, answers, held_out, left_out, settle
from beltrami.learners.poisson.threshold_steps import Diffusion
from beltrami.learners.poisson.walks import Walk
from beltrami.solvers.eigen import eigenbasis

POINTS, TRUTH = make_blobs(
    [300, 200, 250], centers=[[0, 0], [5, 0], [0, 5]], cluster_std=1.1, random_state=0
)


def ground_of(graph, count=60):
    basis = eigenbasis(graph, count, kind="random_walk")
    diffusion = Diffusion.of(FlowSpace.of(Foundation(graph), basis), TAU)
    return Ground(diffusion, Walk.of(graph.weights))


BLOBS = ground_of(KnnGraph(10, weights="tuned_shared").build(POINTS))


def labeled_of(rows, codes, n_classes=3):
    return Labeled(np.asarray(rows), np.eye(n_classes)[codes], np.ones(len(rows)))


def drawn(per_class, seed=0):
    rng = np.random.default_rng(seed)
    rows = [rng.choice(np.flatnonzero(one == TRUTH), per_class, replace=False) for one in range(3)]
    rows = np.sort(np.concatenate(rows))
    return labeled_of(rows, TRUTH[rows])


def test_an_answer_by_the_labels_of_the_decision_is_what_was_decided() -> None:
    labeled = drawn(2)
    decision = settle(BLOBS, labeled)
    assert decision.is_sharp
    found = answers(BLOBS, labeled, decision).argmax(axis=1)
    others = np.setdiff1d(np.arange(len(TRUTH)), labeled.rows)
    assert_array_equal(found[others], decision.codes[others])
    assert (found == TRUTH).mean() > 0.95


def test_answers_are_a_function_of_labels_and_decision_alone() -> None:
    few, more = drawn(2), drawn(4, seed=5)
    decision = settle(BLOBS, few)
    before = answers(BLOBS, few, decision)
    answers(BLOBS, more, decision)
    assert_array_equal(answers(BLOBS, few, decision), before)


def test_a_label_of_a_class_that_had_none_is_answered_at_once() -> None:
    known = TRUTH < 2
    rows = np.concatenate([np.flatnonzero(one == TRUTH)[:2] for one in range(2)])
    decision = settle(BLOBS, labeled_of(rows, TRUTH[rows]))
    assert set(decision.codes[~known]) <= {0, 1}
    rows = np.append(rows, np.flatnonzero(TRUTH == 2)[[3, 9]])
    found = answers(BLOBS, labeled_of(rows, TRUTH[rows]), decision).argmax(axis=1)
    assert (found == TRUTH).mean() > 0.95
    undone = answers(BLOBS, labeled_of(rows[:-2], TRUTH[rows[:-2]]), decision)
    assert_array_equal(undone[:, 2], 0)


def test_a_class_that_lost_its_labels_is_given_up() -> None:
    decision = settle(BLOBS, drawn(2))
    rows = np.concatenate([np.flatnonzero(one == TRUTH)[:2] for one in range(2)])
    found = answers(BLOBS, labeled_of(rows, TRUTH[rows]), decision).argmax(axis=1)
    assert set(found) == {0, 1}


def test_given_sizes_are_kept_to_by_later_answers() -> None:
    shares = np.array([0.5, 0.3, 0.2])
    decision = settle(BLOBS, drawn(2), shares=shares)
    for labeled in (drawn(2), drawn(3, seed=1)):
        found = answers(BLOBS, labeled, decision).argmax(axis=1)
        assert_allclose(np.bincount(found) / len(TRUTH), shares, atol=0.03)


def test_nodes_that_no_label_reaches_have_no_part() -> None:
    graph = disjoint_union(grid(6, 6), path(9), grid(5, 5))
    labeled = labeled_of([0, 35, 45, 69], [0, 1, 1, 0], 2)
    decision = settle(ground_of(graph, 40), labeled)
    assert_array_equal(decision.codes[36:45], -1)
    scores = answers(ground_of(graph, 40), labeled, decision)
    assert scores.shape == (70, 2)
    if decision.is_sharp:
        assert_array_equal(scores[36:45], 0)
    assert np.isfinite(scores).all()


def test_leave_one_out_is_the_flow_without_the_label() -> None:
    space = ground_of(disjoint_union(grid(6, 6), ring(9)), 30).space
    labeled = labeled_of([0, 7, 20, 35, 37, 41], [0, 1, 0, 1, 0, 1], 2)
    found = left_out(space, labeled)
    for i in range(6):
        rest = labeled.take(np.arange(6) != i)
        expected = flow_of(space, rest)[labeled.rows[i]]
        assert_allclose(found.scores[i], expected, atol=1e-5)


def test_the_only_label_of_a_component_is_left_out_to_the_mean_of_the_others() -> None:
    space = ground_of(disjoint_union(path(6), path(4)), 10).space
    found = left_out(space, labeled_of([0, 5, 8], [1, 1, 0], 2))
    assert_allclose(found.scores[2], [0.0, 1.0])


@pytest.mark.parametrize("is_free", [False, True])
@pytest.mark.parametrize("is_sampled", [False, True])
def test_rows_held_out_are_mostly_right_where_classes_are_clusters(
    is_free, is_sampled, monkeypatch
) -> None:
    labeled = drawn(5)
    decision = settle(BLOBS, labeled, is_free=is_free)
    if is_sampled:
        monkeypatch.setattr("beltrami.learners.poisson.decision._MANY_NODES", 100)
        monkeypatch.setattr("beltrami.learners.poisson.decision._SAMPLE", 300)
    is_aside = np.arange(len(labeled.rows)) % 5 == 0
    aside = labeled.take(is_aside)
    found = held_out(BLOBS, labeled.take(~is_aside), aside.rows, decision)
    assert found.shape == (3, 3)
    assert_array_equal(found.argmax(axis=1), aside.targets.argmax(axis=1))


def test_rows_held_out_of_a_flow_that_stands_are_those_of_the_flow() -> None:
    rng = np.random.default_rng(0)
    ground = ground_of(KnnGraph(10).build(rng.normal(size=(300, 20))), 60)
    labeled = labeled_of([0, 1, 2, 3, 4, 5], [0, 1, 2, 0, 1, 2])
    decision = replace(settle(ground, labeled), is_sharp=False)
    assert_array_equal(answers(ground, labeled, decision), flow_of(ground.space, labeled))
    rest = labeled.take(np.arange(6) >= 3)
    found = held_out(ground, rest, np.arange(3), decision)
    assert_allclose(found, flow_of(ground.space, rest)[:3], atol=1e-5)


def test_a_sample_decides_as_all_nodes_do(monkeypatch) -> None:
    labeled = drawn(2)
    whole = settle(BLOBS, labeled)
    monkeypatch.setattr("beltrami.learners.poisson.decision._MANY_NODES", 100)
    monkeypatch.setattr("beltrami.learners.poisson.decision._SAMPLE", 300)
    sampled = settle(BLOBS, labeled)
    assert sampled.is_sharp
    assert (sampled.codes == whole.codes).mean() > 0.97


def test_scores_are_exchanged_so_that_the_largest_is_the_nodes_class() -> None:
    scores = np.array([[0.7, 0.3], [0.7, 0.3], [0.2, 0.8]], dtype=np.float32)
    found = put_first(scores.copy(), np.array([1, 1, 1]), np.array([1]))
    assert_array_equal(found, scores[:, ::-1] * [[1], [0], [0]] + scores * [[0], [1], [1]])


def test_sizes_are_mixed_between_own_and_equal_ones() -> None:
    codes = np.repeat([0, 1], [80, 20])
    assert_allclose(mixed_shares(codes, 2, 0.0), [0.8, 0.2])
    assert_allclose(mixed_shares(codes, 2, 0.5), [2 / 3, 1 / 3])
    assert_allclose(mixed_shares(codes, 2, 1.0), [0.5, 0.5])
