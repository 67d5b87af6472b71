"""From points to regions: crossings are seen, nodes keep theirs, and doubt is said aloud."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

from beltrami import dollar_sign
from beltrami.core.errors import DegenerateDataWarning, InvalidInputError
from beltrami.separation.cut import cut_regions
from beltrami.separation.separate import regions_at, shape_graph
from beltrami.solvers.eigen import eigenbasis


def separated(points, labeled, *, seed=0, **options):
    return shape_graph(points, np.asarray(labeled), rng=np.random.default_rng(seed), **options)


def cut(graph, labeled, k, seed=0):
    rng = np.random.default_rng(seed)
    basis = eigenbasis(graph.graph, k, kind="combinatorial", tol=1e-4, random_state=rng)
    return cut_regions(basis, np.isin(graph.rows, labeled), k, rng)


def purity(regions, truth):
    """Share of points that are on the commonest manifold of their region."""
    table = np.zeros((regions.max() + 1, int(truth.max()) + 1))
    np.add.at(table, (regions, truth.astype(int)), 1)
    return table.max(axis=1).sum() / len(regions)


def dollar(n, *, noise=0.0, seed=0):
    found = dollar_sign(n, noise=noise, random_state=seed)
    return found.points, found.extras["manifold"].astype(int)


def crossing_lines(n, angle, seed=0):
    rng = np.random.default_rng(seed)
    along, which = rng.uniform(-1, 1, n), np.arange(n) % 2
    turned = np.where(which, angle, 0.0)
    return np.column_stack([along * np.cos(turned), along * np.sin(turned)]), which


def small(n=600, k=6):
    """A graph of a small dollar sign, its labelled rows and regions of its nodes."""
    points, _ = dollar(n)
    labeled = np.arange(0, n, 10)
    graph = separated(points, labeled)
    return graph, labeled, cut(graph, labeled, k)


# --- purity ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "noise"), [(2000, 0.0), (2000, 0.01), (8000, 0.01)])
def test_twelve_regions_of_the_dollar_sign_are_pure(n, noise):
    found = []
    for seed in range(3):
        points, manifold = dollar(n, noise=noise, seed=seed)
        labeled = np.random.default_rng(seed).choice(n, 80, replace=False)
        graph = separated(points, labeled, seed=seed)
        nodes = cut(graph, labeled, 12, seed)
        found.append(purity(regions_at(graph, nodes, points, "vote"), manifold))
    assert np.mean(found) >= 0.95


@pytest.mark.parametrize("angle", [np.pi / 2, np.pi / 3])
def test_lines_that_cross_are_told_apart_at_the_crossing(angle):
    points, which = crossing_lines(1200, angle)
    labeled = np.arange(0, 1200, 20)
    graph = separated(points, labeled)
    nodes = cut(graph, labeled, 4)
    assert purity(regions_at(graph, nodes, points, "vote"), which) > 0.95
    # Edges that join the two lines weigh almost nothing.
    weights = graph.graph.weights.tocoo()
    rows, columns = graph.rows[weights.coords[0]], graph.rows[weights.coords[1]]
    across = which[rows] != which[columns]
    assert weights.data[across].sum() < 0.05 * weights.data.sum()


def test_the_vote_is_purer_than_the_nearest_node():
    by_rule = {"vote": [], "voronoi": []}
    for seed in range(3):
        points, manifold = dollar(2000, seed=seed)
        labeled = np.arange(0, 2000, 25)
        graph = separated(points, labeled, seed=seed)
        nodes = cut(graph, labeled, 12, seed)
        for rule, found in by_rule.items():
            found.append(purity(regions_at(graph, nodes, points, rule), manifold))
    assert np.mean(by_rule["vote"]) > np.mean(by_rule["voronoi"])


# --- carrying regions to points -------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["vote", "voronoi"])
def test_nodes_keep_their_own_region(rule):
    graph, _, nodes = small()
    assert_array_equal(regions_at(graph, nodes, graph.points[graph.rows], rule), nodes)
    mixed = np.random.default_rng(0).permutation(nodes)  # even where all others vote against it
    assert_array_equal(regions_at(graph, mixed, graph.points[graph.rows], rule), mixed)


def test_voronoi_takes_the_region_of_the_nearest_node():
    graph, _, nodes = small()
    queries = np.random.default_rng(5).uniform(-3, 3, (300, 2))
    nearest = cdist(queries, graph.points[graph.rows]).argmin(axis=1)
    assert_array_equal(regions_at(graph, nodes, queries, "voronoi"), nodes[nearest])


def test_the_vote_agrees_with_the_nearest_node_far_from_borders():
    graph, _, nodes = small()
    queries = graph.points + 1e-4
    near = np.argsort(cdist(queries, graph.points[graph.rows]), axis=1)[:, : graph.n_links]
    clear = (nodes[near] == nodes[near[:, :1]]).all(axis=1)
    assert clear.any()
    assert not clear.all()
    assert_array_equal(regions_at(graph, nodes, queries, "vote")[clear], nodes[near[clear, 0]])


@pytest.mark.parametrize("rule", ["vote", "voronoi"])
def test_the_region_of_a_point_depends_on_that_point_alone(rule):
    graph, _, nodes = small()
    queries = np.random.default_rng(5).uniform(-2, 2, (200, 2))
    together = regions_at(graph, nodes, queries, rule)
    assert_array_equal(regions_at(graph, nodes, queries, rule), together)
    order = np.random.default_rng(0).permutation(200)
    assert_array_equal(regions_at(graph, nodes, queries[order], rule), together[order])
    alone = [regions_at(graph, nodes, query[None], rule)[0] for query in queries[:20]]
    assert_array_equal(alone, together[:20])


def test_blocks_of_queries_change_nothing(monkeypatch):
    graph, _, nodes = small()
    queries = np.random.default_rng(5).uniform(-2, 2, (200, 2))
    whole = regions_at(graph, nodes, queries, "vote")
    monkeypatch.setattr("beltrami.separation.separate._QUERY_BLOCK", 7)
    assert_array_equal(regions_at(graph, nodes, queries, "vote"), whole)


@pytest.mark.parametrize("rule", ["vote", "voronoi"])
def test_points_far_from_all_data_have_a_region_too(rule):
    graph, _, nodes = small()
    far = np.array([[1e6, -1e6], [1e15, 0.0]])
    found = regions_at(graph, nodes, far, rule)
    assert ((found >= 0) & (found <= nodes.max())).all()


# --- the graph ------------------------------------------------------------------------------------


def test_the_graph_holds_every_labelled_row_and_about_one_in_log_n_of_the_others():
    points, _ = dollar(2000)
    labeled = np.arange(5, 2000, 100)
    graph = separated(points, labeled)
    assert np.isin(labeled, graph.rows).all()
    share = max(int(np.log(2000)), graph.neighborhoods.n_neighbors // 3) + 1
    assert len(graph.rows) == pytest.approx(2000 / share + len(labeled), rel=0.1)
    assert graph.graph.n_nodes == len(graph.rows) == len(graph.shapes)
    assert 6 <= graph.n_links <= 10


def test_the_same_seed_gives_the_same_graph():
    points, _ = dollar(500)
    one, two = (separated(points, [3, 4, 5], seed=2) for _ in range(2))
    assert_array_equal(one.rows, two.rows)
    assert_array_equal(one.graph.weights.toarray(), two.graph.weights.toarray())


@pytest.mark.parametrize("scale", [1e-6, 1e6, 2.0**40])
def test_scale_does_not_matter(scale):
    points, _ = dollar(500)
    small, large = (separated(factor * points, [3, 4, 5]) for factor in (1.0, scale))
    assert_array_equal(small.rows, large.rows)
    close = np.abs(small.graph.weights.toarray() - large.graph.weights.toarray())
    assert close.max() < 1e-4


def test_in_very_many_dimensions_saturation_is_reported():
    points = np.random.default_rng(0).normal(size=(120, 90))
    with pytest.warns(DegenerateDataWarning, match="of 6 neighbours in 90 dimensions.*PCA"):
        graph = separated(points, np.arange(10), n_neighbors=6)
    assert graph.saturation > 0.5


def test_clean_data_say_nothing():
    points, _ = dollar(800)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert separated(points, np.arange(10)).saturation < 0.5


@pytest.mark.parametrize("scale", [1e-100, 1e100, 1e300])
def test_entries_whose_powers_are_no_floats_are_refused(scale):
    points, _ = dollar(100)
    with pytest.raises(InvalidInputError, match=r"largest entry of X is .*Scale the columns"):
        separated(scale * points, np.arange(10))


@pytest.mark.parametrize("n", range(3, 9))
@pytest.mark.parametrize("distinct", [1, 2, 9])
def test_few_points_and_twins_make_a_graph(n, distinct):
    points = np.random.default_rng(0).normal(size=(9, 2))[np.arange(n) % distinct]
    graph = separated(points, np.arange(3))
    assert np.isfinite(graph.graph.weights.data).all()
    assert graph.noise > 0
    found = regions_at(graph, np.arange(len(graph.rows)) % 2, points + 0.1, "vote")
    assert np.isin(found, [0, 1]).all()
