import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import block_diag, csr_array
from scipy.spatial import cKDTree

from beltrami import Graph, KnnGraph, eigenbasis, load_dataset, swiss_roll
from beltrami.core.errors import InvalidInputError, MemoryBudgetError
from beltrami.core.telling.progress import listen
from beltrami.embeddings.layout import _loops, layout, layout_graph, packing
from beltrami.embeddings.layout.descent import Forces, descend
from beltrami.embeddings.layout.sampling import Part, _grow_cells, draw_part, fill_in
from beltrami.graph.families import complete, disjoint_union, path, ring


def star(n):
    weights = np.zeros((n, n))
    weights[0, 1:] = weights[1:, 0] = 1.0
    return Graph.from_matrix(weights)


def purity(positions, targets, k=10):
    nearest = cKDTree(positions).query(positions, k + 1)[1][:, 1:]
    return float((targets[nearest] == targets[:, None]).mean())


def boxes(positions, membership):
    parts = [positions[membership == one] for one in np.unique(membership)]
    return [(part.min(axis=0), part.max(axis=0)) for part in parts]


def overlap(one, other):
    return bool((one[0] <= other[1]).all() and (other[0] <= one[1]).all())


@pytest.fixture(scope="module")
def digits():
    data = load_dataset("digits")
    return KnnGraph().build(data.points), np.asarray(data.targets)


# --- forces


@pytest.mark.parametrize("sizes", [[40], [1500], [33, 1, 1100, 5]])
def test_pushes_are_those_of_the_twin(sizes):
    rng = np.random.default_rng(0)
    positions = (3 * rng.standard_normal((sum(sizes), 2))).astype(np.float32)
    blocks = Forces.of(csr_array((sum(sizes), sum(sizes))), np.array(sizes)).blocks
    arguments = (positions, blocks, 7, 3, 50, 0.1)
    assert_allclose(
        _loops.pushes(*arguments), _loops.pushes_reference(*arguments), rtol=1e-3, atol=1e-6
    )


def test_pulls_are_those_of_the_twin():
    rng = np.random.default_rng(1)
    positions = rng.standard_normal((200, 2)).astype(np.float32)
    edges = layout.attraction(KnnGraph(5).build(rng.standard_normal((200, 3))).weights)
    arguments = (positions, edges.indptr, edges.indices, edges.data, 0.5)
    assert_allclose(
        _loops.pulls(*arguments), _loops.pulls_reference(*arguments), rtol=1e-3, atol=1e-6
    )


def test_forces_are_the_slope_of_the_likelihood():
    """Half the gradient by finite differences, the others held still."""
    rng = np.random.default_rng(2)
    y = rng.standard_normal((6, 2))
    weights, c, pairs = rng.uniform(size=5), 0.3, 4.0

    def likelihood(first):
        square = ((first - y[1:]) ** 2).sum(axis=1)
        all_squares = np.append(square, 0.0)
        edges = -weights * np.log(1 + c * (1 + square))
        others = np.log(c * (1 + all_squares) / (1 + c * (1 + all_squares)))
        return edges.sum() + pairs * others.mean()

    step = 1e-5
    slope = [(likelihood(y[0] + e) - likelihood(y[0] - e)) / (2 * step) for e in step * np.eye(2)]
    indptr, indices = np.array([0, 5, 5, 5, 5, 5, 5]), np.arange(1, 6)
    pull = _loops.pulls_reference(y, indptr, indices, weights, c)[0]
    push = _loops.pushes_reference(y, np.array([[0, 6, 0, 6]]), 0, 0, 0, c)[0]
    assert_allclose(pull + pairs * push, np.array(slope) / 2, rtol=1e-6)


def test_draws_are_uniform_and_differ_between_seeds_epochs_and_blocks():
    draws = [
        _loops.draw(5, epoch, block, k, 10)
        for epoch in range(10)
        for block in range(10)
        for k in range(100)
    ]
    counts = np.bincount(draws, minlength=10)
    assert len(counts) == 10
    assert ((counts - 1000) ** 2 / 1000).sum() < 30  # chi square with 9 degrees of freedom
    runs = np.reshape(draws, (100, 100))
    assert len(np.unique(runs, axis=0)) == 100
    assert draws[:100] != [_loops.draw(6, 0, 0, k, 10) for k in range(100)]


def test_blocks_cover_every_row_once_and_stay_in_their_component():
    sizes = np.array([70, 1, 32, 3])
    blocks = Forces.of(csr_array((106, 106)), sizes).blocks
    covered = np.concatenate([np.arange(start, stop) for start, stop, _, _ in blocks])
    assert_array_equal(covered, np.arange(106))
    assert (blocks[:, 0] >= blocks[:, 2]).all()
    assert (blocks[:, 1] <= blocks[:, 2] + blocks[:, 3]).all()


def test_two_joined_points_settle_at_the_distance_of_the_closed_form():
    """One edge, itself and the other as random pairs: c (1 + d^2) = M / 2 at rest."""
    forces = Forces.of(csr_array(np.array([[0, 1], [1, 0]], dtype=np.float32)), np.array([2]))
    found = descend(forces, np.array([[-0.5, 0.0], [0.5, 0.0]]), n_epochs=2000, seed=0)
    assert_allclose(((found[0] - found[1]) ** 2).sum(), 20 / 2 / 0.1 - 1, rtol=0.01)


# --- attraction


def test_attraction_of_each_node_sums_to_one_and_grows_with_the_weight():
    graph = KnnGraph(6).build(np.random.default_rng(3).standard_normal((100, 4)))
    pull = layout.attraction(graph.weights)
    assert_allclose(pull.sum(axis=1), 1, rtol=1e-5)
    assert_allclose(layout.attraction(ring(8).weights).data, 0.5)


def test_a_vanishing_bridge_still_holds():
    weights = np.zeros((4, 4))
    weights[0, 1] = weights[2, 3] = 1.0
    weights[1, 2] = 1e-100
    pull = layout.attraction(Graph.from_matrix(weights + weights.T).weights)
    assert pull[1, 2] > 0.05


# --- the map


def test_a_map_is_finite_and_fills_its_range(digits):
    graph, _ = digits
    positions = layout_graph(graph, random_state=0)
    assert positions.shape == (graph.n_nodes, 2)
    low, high = positions.min(axis=0), positions.max(axis=0)
    assert_allclose(low + high, 0, atol=1e-12)
    assert_allclose((high - low).max(), 2)


def test_digits_of_a_kind_lie_together(digits):
    graph, targets = digits
    assert purity(layout_graph(graph, random_state=1), targets) > 0.95


def test_a_ring_stays_a_ring():
    """Neighbours on the ring are nearest on the map, and the middle is empty."""
    positions = layout_graph(ring(60), random_state=0)
    assert purity(positions, np.arange(60) // 20, k=2) > 0.9
    radii = np.linalg.norm(positions - positions.mean(axis=0), axis=1)
    assert radii.min() > 0.2 * radii.max()


def test_a_path_is_not_torn():
    positions = layout_graph(path(200), random_state=0)
    steps = np.linalg.norm(np.diff(positions, axis=0), axis=1)
    assert steps.max() < 4 * np.median(steps)


def test_the_same_seed_gives_the_same_map_with_any_number_of_threads(digits):
    graph, _ = digits
    before = numba.get_num_threads()
    try:
        maps = []
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS), 1):
            numba.set_num_threads(threads)
            maps.append(layout_graph(graph, random_state=5, n_epochs=20))
    finally:
        numba.set_num_threads(before)
    assert_array_equal(maps[0], maps[1])
    assert_array_equal(maps[0], maps[2])
    assert (maps[0] != layout_graph(graph, random_state=6, n_epochs=20)).any()


def test_duplicated_points_are_finite_and_lie_together():
    points = np.repeat(np.random.default_rng(4).standard_normal((30, 3)), 15, axis=0)
    positions = layout_graph(KnnGraph(20).build(points), random_state=0)
    assert np.isfinite(positions).all()
    assert purity(positions, np.repeat(np.arange(30), 15), k=5) > 0.9


def test_identical_points_are_finite_and_apart():
    positions = layout_graph(complete(40), random_state=0)
    assert np.isfinite(positions).all()
    assert len(np.unique(positions.round(6), axis=0)) == 40


def test_a_hub_of_many_edges_does_not_swing():
    positions = layout_graph(star(500), random_state=0)
    assert np.isfinite(positions).all()
    # The start is one of many bases of a repeated eigenvalue; a hub that swings ends at the rim.
    assert np.linalg.norm(positions[0]) < 0.8


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9, 12])
def test_small_graphs_are_drawn(n):
    positions = layout_graph(path(n) if n > 1 else Graph(csr_array((1, 1))), random_state=0)
    assert positions.shape == (n, 2)
    assert np.isfinite(positions).all()
    assert_allclose(np.ptp(positions, axis=0).max(), 2 if n > 1 else 0)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), st.integers(0, 80), st.integers(0, 2**31))
def test_any_graph_gives_a_finite_map_within_its_range(n, n_edges, seed):
    rng = np.random.default_rng(seed)
    weights = np.zeros((n, n))
    ends = rng.integers(n, size=(2, n_edges))
    weights[ends[0], ends[1]] = 10.0 ** rng.uniform(-100, 100, n_edges)
    positions = layout_graph(
        Graph.from_matrix(np.maximum(weights, weights.T)), random_state=seed, n_epochs=10
    )
    assert np.isfinite(positions).all()
    assert np.abs(positions).max() <= 1 + 1e-12


# --- components


def test_components_do_not_overlap_and_none_is_far_away():
    graph = disjoint_union(ring(300), path(100), complete(40), path(2), path(2))
    weights = block_diag([graph.weights, csr_array((20, 20))])
    graph = Graph.from_matrix(weights)
    _, membership = graph.components()
    positions = layout_graph(graph, random_state=0)
    found = boxes(positions, membership)
    pairs = [(i, j) for i in range(len(found)) for j in range(i)]
    assert not any(overlap(found[i], found[j]) for i, j in pairs)
    gaps, _ = cKDTree(positions).query(positions, 2)
    assert gaps[:, 1].max() < 0.5


def test_areas_are_in_proportion_to_points():
    positions = layout_graph(disjoint_union(complete(100), complete(400)), random_state=0)
    small, large = np.ptp(positions[:100], axis=0), np.ptp(positions[100:], axis=0)
    assert_allclose(np.prod(large) / np.prod(small), 4, rtol=1e-6)


def test_two_equal_components_stand_side_by_side():
    positions = layout_graph(disjoint_union(complete(50), complete(50)), random_state=0)
    assert positions[:50, 0].max() < positions[50:, 0].min()


def test_a_thousand_components_take_one_descent():
    edges = block_diag([path(3).weights] * 1000)
    positions = layout_graph(Graph.from_matrix(edges), random_state=0, n_epochs=20)
    assert np.isfinite(positions).all()


def test_what_lies_far_out_is_drawn_in_and_the_rest_stays():
    rng = np.random.default_rng(5)
    positions = rng.standard_normal((5000, 2))
    positions[17] = [1000.0, 0.0]
    found = packing.draw_in(positions)
    moved = np.linalg.norm(found - (positions - np.median(positions, axis=0)), axis=1) > 1e-12
    assert moved[17]
    assert moved.sum() <= 5
    radii = np.linalg.norm(found, axis=1)
    assert radii[17] == radii.max() < 6


# --- start


def test_a_basis_replaces_the_search_for_eigenvectors(monkeypatch, digits):
    graph, targets = digits
    found = {kind: eigenbasis(graph, 3, kind=kind) for kind in ("normalized", "random_walk")}

    def refuse(*_):
        raise AssertionError("eigenvectors were sought though a basis was given")

    monkeypatch.setattr(layout, "eigenvector_start", refuse)
    for basis in found.values():
        assert purity(layout_graph(graph, basis=basis, random_state=0), targets) > 0.95


def test_an_older_map_keeps_its_arrangement(digits):
    graph, _ = digits
    old = layout_graph(graph, random_state=0)
    new = layout_graph(graph, initial=old, random_state=1)
    assert np.corrcoef(old[:, 0], new[:, 0])[0, 1] > 0.9
    assert np.corrcoef(old[:, 1], new[:, 1])[0, 1] > 0.9


def test_progress_is_announced():
    seen = []
    with listen(seen.append):
        layout_graph(ring(20), n_epochs=7)
    assert seen[-1].done == seen[-1].total == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"initial": np.zeros((3, 2))}, r"initial must have shape \(20, 2\)"),
        ({"initial": np.full((20, 2), np.nan)}, r"NaN or infinity in 20 row\(s\)"),
        ({"initial": [["a", "b"]]}, "cannot be read as numbers"),
        ({"basis": eigenbasis(ring(8), 3)}, "basis has 8 rows and the graph 20 nodes"),
        ({"n_epochs": 0}, "n_epochs"),
        ({"n_epochs": "many"}, "n_epochs"),
    ],
)
def test_what_does_not_belong_to_the_graph_is_refused(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        layout_graph(ring(20), **arguments)


def test_a_map_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr("beltrami.core.machine.memory.available_bytes", lambda: 1000)
    with pytest.raises(MemoryBudgetError, match="the map of 20 nodes"):
        layout_graph(ring(20))


# --- large graphs


def test_a_large_graph_is_laid_out_by_a_part(monkeypatch):
    """The roll by a part of 600: neighbours stay together, and every node has its own place."""
    monkeypatch.setattr(layout, "LARGEST_WHOLE", 1000)
    monkeypatch.setattr("beltrami.embeddings.layout.sampling.SAMPLE", 600)
    roll = swiss_roll(3000, random_state=0)
    order = np.argsort(np.argsort(np.hypot(roll.points[:, 0], roll.points[:, 2])))
    graph = KnnGraph().build(roll.points)
    positions = layout_graph(graph, random_state=0)
    assert purity(positions, order // 300) > 0.8
    assert_array_equal(positions, layout_graph(graph, random_state=0))


def test_cells_keep_the_components_and_the_weight_between_them(monkeypatch):
    monkeypatch.setattr("beltrami.embeddings.layout.sampling.SAMPLE", 100)
    graph = disjoint_union(ring(700), complete(200), path(3))
    _, membership = graph.components()
    part = draw_part(graph.weights, membership, np.random.default_rng(0))
    assert 90 <= len(part.rows) <= 115
    assert (membership[part.rows] == 2).sum() == 3  # small ones are kept whole
    assert_array_equal(part.cells[part.rows], np.arange(len(part.rows)))
    assert_array_equal(membership[part.rows][part.cells], membership)
    assert Graph(part.weights).components()[0] == 3
    rows, columns = graph.weights.nonzero()
    assert part.weights.sum() == (part.cells[rows] != part.cells[columns]).sum()
    on_ring = np.flatnonzero(membership[part.rows] == 0)  # contracted, a ring is a ring
    assert set(np.diff(part.weights.indptr)[on_ring]) == {2}


def test_a_node_joins_the_cell_of_its_heaviest_neighbour():
    weights = np.zeros((3, 3))
    weights[0, 1], weights[1, 2] = 1.0, 2.0
    graph = Graph.from_matrix(weights + weights.T)
    assert_array_equal(_grow_cells(graph.weights, np.array([0, 2])), [0, 1, 1])
    assert_array_equal(_grow_cells(path(6).weights, np.array([4])), np.zeros(6))


def test_the_rest_is_set_between_its_neighbours(monkeypatch):
    monkeypatch.setattr("beltrami.embeddings.layout.sampling._JITTER", 0.0)
    cells = np.array([0, 0, 1, 1])
    part = Part(np.array([0, 3]), cells, csr_array((2, 2)))
    ends = np.array([[0.0, 0.0], [4.0, 8.0]])
    found = fill_in(path(4).weights, part, ends, np.random.default_rng(0))
    assert_allclose(found, [[0, 0], [1, 2], [3, 6], [4, 8]])
