"""Support: gambler's ruin, complete graph, star, dense solves, locality, unreached rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from beltrami.core.errors import InvalidInputError
from beltrami.graph.families import complete, disjoint_union, path, ring
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami.review.support import support_of, supporters_of


def random_graph(n=80, seed=0):
    return KnnGraph(6).build(np.random.default_rng(seed).normal(size=(n, 2)))


def absorbed(graph, labelled, row, stop):
    """Return the shares by dense algebra, in the order of `labelled`."""
    weights = graph.weights.toarray()
    walk = (1 - stop) * weights / weights.sum(axis=1, keepdims=True)
    free = np.setdiff1d(np.arange(len(weights)), labelled)
    inner = np.eye(len(free)) - walk[np.ix_(free, free)]
    shares = np.linalg.solve(inner, walk[np.ix_(free, labelled)])
    return shares[np.searchsorted(free, row)]


def test_on_a_path_it_is_the_gamblers_ruin():
    found = support_of(path(11), [0, 10], 3, stop=0.0)
    assert found.rows.tolist() == [0, 10]
    assert_allclose(found.shares, [0.7, 0.3])
    assert (found.lost, found.others, found.reason) == (0.0, 0.0, "")
    assert found.path.tolist() == [3, 2, 1, 0]


def test_on_a_complete_graph_all_labels_count_alike():
    n, count, stop = 12, 4, 0.1
    found = support_of(complete(n), range(count), 7, stop=stop)
    # A step meets each label with chance p and stays among the others else.
    p = (1 - stop) / (n - 1)
    each = p / (1 - p * (n - 1 - count))
    assert_allclose(found.shares, each)
    assert_allclose(found.lost, 1 - count * each)


def test_on_a_star_the_leaves_count_by_their_edges():
    edges = np.array([1.0, 2.0, 3.0, 4.0])
    star = np.zeros((5, 5))
    star[0, 1:] = star[1:, 0] = edges
    found = support_of(Graph.from_matrix(star), [2, 3, 4], 1, stop=0.0)
    assert found.rows.tolist() == [4, 3, 2]
    assert_allclose(found.shares, np.array([4, 3, 2]) / 9)
    assert found.path.tolist() == [1, 0, 4]


@pytest.mark.parametrize("stop", [0.0, 0.01, 0.3])
def test_one_solve_gives_what_dense_algebra_gives(stop):
    graph, labelled = random_graph(), np.array([3, 17, 40, 66])
    for row in (0, 25, 79):
        found = support_of(graph, labelled, row, stop=stop, top=4)
        order = np.argsort(found.rows)
        assert_allclose(found.shares[order], absorbed(graph, labelled, row, stop), atol=1e-7)
        assert_allclose(found.shares.sum() + found.others + found.lost, 1.0)


def test_a_labelled_row_hears_the_others_only():
    graph, labelled = random_graph(), np.array([3, 17, 40, 66])
    found = support_of(graph, labelled, 17, stop=0.02)
    assert 17 not in found.rows
    others = np.array([3, 40, 66])
    order = np.argsort(found.rows)
    assert_allclose(found.shares[order], absorbed(graph, others, 17, 0.02), atol=1e-7)


def test_what_is_not_listed_is_counted():
    graph, labelled = random_graph(), np.arange(0, 80, 8)
    whole, short = (support_of(graph, labelled, 5, top=top) for top in (10, 2))
    assert_array_equal(short.rows, whole.rows[:2])
    assert_allclose(short.others, whole.shares[2:].sum() + whole.others, atol=1e-9)
    assert_allclose(short.lost, whole.lost)


def test_stops_keep_it_near():
    graph, labelled = ring(60), [0, 30]
    shares = [support_of(graph, labelled, 5, stop=stop).shares for stop in (0.0, 0.01, 0.1)]
    ratios = [share[0] / share.sum() for share in shares]
    assert_allclose(ratios[0], 25 / 30)
    assert ratios[0] < ratios[1] < ratios[2]


def test_the_chance_to_stop_is_the_share_of_edges_at_labels():
    graph = ring(50)
    found, same = support_of(graph, [0, 25], 5), support_of(graph, [0, 25], 5, stop=2 / 50)
    assert_allclose(found.shares, same.shares)


def test_an_unreached_row_has_no_support_and_a_reason():
    graph = disjoint_union(path(4), path(3))
    for stop in ("auto", 0.0):
        found = support_of(graph, [0, 1], 5, stop=stop)
        assert len(found.rows) == len(found.path) == 0
        assert found.lost == 1.0
        assert "shares the row's part of the graph" in found.reason
    assert support_of(graph, [5], 5).reason
    assert support_of(graph, [], 5).reason
    far = support_of(path(60), [0], 59, stop=0.9)
    assert "stops before" in far.reason


def test_other_components_do_not_disturb_a_walk_without_stops():
    graph = disjoint_union(path(5), path(3), Graph.from_matrix(np.zeros((1, 1))))
    found = support_of(graph, [0, 4], 1, stop=0.0)
    assert_allclose(found.shares, [0.75, 0.25])


def test_the_path_goes_through_no_other_label():
    # Ten weak ways lead from 0 to 2, and a single likelier one through the label 1.
    ways = np.zeros((13, 13))
    ways[0, 1] = ways[0, 3:] = ways[2, 3:] = 1.0
    ways[1, 2] = 100.0
    graph = Graph.from_matrix(ways + ways.T)
    found = support_of(graph, [1, 2], 0, stop=0.0)
    assert found.rows[0] == 2
    assert len(found.path) == 3
    assert found.path[1] >= 3
    assert support_of(graph, [2], 0, stop=0.0).path.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("labelled", "row", "options", "words"),
    [
        ([0], 9, {}, "between 0 and 4"),
        ([7], 1, {}, "between 0 and 4"),
        ([-1], 1, {}, "between 0 and 4"),
        ([0], -1, {}, "row=-1"),
        ([0], 1, {"stop": 1.0}, "stop=1.0"),
        ([0], 1, {"top": 0}, "top=0"),
    ],
)
def test_impossible_questions_are_refused(labelled, row, options, words):
    with pytest.raises(InvalidInputError, match=words):
        support_of(path(5), labelled, row, **options)


@pytest.mark.parametrize("stop", [0.0, 0.02, 0.4])
def test_several_rows_at_once_are_told_what_each_is_told_alone(stop):
    graph, labelled = random_graph(), np.array([3, 17, 40, 66])
    rows = [17, 0, 66, 25]
    found = supporters_of(graph, labelled, rows, top=4, stop=stop)
    assert [one.row for one in found] == rows
    for one in found:
        alone = support_of(graph, labelled, one.row, top=4, stop=stop)
        assert_array_equal(one.rows, alone.rows)
        assert_allclose(one.shares, alone.shares, atol=2e-3)
        assert one.row not in one.rows


def test_several_rows_are_asked_in_blocks(monkeypatch):
    graph, labelled = random_graph(), np.array([3, 17, 40, 66])
    whole = supporters_of(graph, labelled, range(10))
    monkeypatch.setattr("beltrami.review.support._BLOCK_CELLS", 3 * graph.n_nodes)
    for one, other in zip(whole, supporters_of(graph, labelled, range(10)), strict=True):
        assert_array_equal(one.rows, other.rows)
        assert_allclose(one.shares, other.shares, atol=2e-3)


def test_rows_that_no_label_reaches_have_no_supporters():
    apart = disjoint_union(ring(5), ring(6))
    for row in supporters_of(apart, [0], [0, 7], stop=0.0):
        assert len(row.rows) == 0
    assert [len(one.rows) for one in supporters_of(apart, [], [1, 2])] == [0, 0]
    assert supporters_of(apart, [0], []) == []
