"""The form of features: blocks with their neighbours give what the whole gives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, diags_array

from beltrami import Graph, KnnGraph, laplacian
from beltrami.core.telling.progress import listen
from beltrami.graph.families import ring
from beltrami.kernel_machines import feature_form as module
from beltrami.kernel_machines.feature_form import feature_form
from beltrami.kernel_machines.features import CoordinateFeatures, FourierFeatures
from beltrami.kernel_machines.roughness import LaplacianPower
from beltrami.solvers.ordering import cache_order, slow_order

N = 2500  # blocks have at least 1024 rows
POINTS = np.random.default_rng(0).normal(size=(N, 2))
GRAPH = KnnGraph(5, connect="keep").build(POINTS)

every_laplacian = pytest.mark.parametrize("kind", ["combinatorial", "random_walk", "normalized"])
every_power = pytest.mark.parametrize("power", [1, 2, 3, 4])


def roughness_of(kind, power, graph=GRAPH):
    return LaplacianPower(kind=kind).on(graph, power)


def form_reference(F, graph, kind, power):
    """F'SF by sparse products with all rows at once."""
    L = laplacian(graph, "normalized" if kind == "normalized" else "combinatorial")
    is_walk = kind == "random_walk"
    inverse = np.divide(1.0, graph.degrees, out=np.zeros(len(F)), where=graph.degrees > 0)
    between = diags_array(inverse) if is_walk else diags_array(np.ones(len(F)))
    x = L @ F
    for _ in range(power - 1):
        x = L @ (between @ x)
    return F.T @ x / len(F) ** 2


@pytest.fixture
def blocks(monkeypatch):
    """Blocks as small as they may be, and nothing kept between them."""
    monkeypatch.setattr(module, "_BLOCK_BYTES", 1)
    monkeypatch.setattr(module, "_KEPT_SHARE", 0.0)


@every_laplacian
@every_power
def test_blocks_add_up_to_the_whole(kind: str, power: int, blocks) -> None:
    waves = FourierFeatures.of(POINTS, 1.0, 6, 0)
    seen = []
    with listen(seen.append):
        found = feature_form(waves, roughness_of(kind, power))
    assert len({one.done for one in seen if one.step == "smoothness of the features"}) >= 3
    expected = form_reference(waves.of_new(POINTS), GRAPH, kind, power)
    assert_allclose(found.matrix, expected, atol=1e-12 * np.abs(expected).max())
    assert_array_equal(found.matrix, found.matrix.T)
    assert found.kept is None


@every_power
def test_features_that_fit_are_made_once_and_kept(power: int) -> None:
    features = CoordinateFeatures(POINTS, is_cosine=False)
    found = feature_form(features, roughness_of("random_walk", power))
    assert_array_equal(found.kept, POINTS)
    expected = form_reference(POINTS, GRAPH, "random_walk", power)
    assert_allclose(found.matrix, expected, atol=1e-12 * np.abs(expected).max())


@every_laplacian
@every_power
def test_single_precision_is_near_double(kind: str, power: int, blocks) -> None:
    features = FourierFeatures.of(POINTS.astype(np.float32), 1.0, 6, 0)
    found = feature_form(features, roughness_of(kind, power)).matrix
    expected = form_reference(features.of_new(POINTS), GRAPH, kind, power)
    assert found.dtype == np.float64
    assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())


@every_laplacian
@every_power
def test_sparse_points_and_isolated_ones_work(kind: str, power: int, blocks) -> None:
    keep = np.ones(N)
    keep[[0, 700, 2499]] = 0
    graph = Graph.from_matrix(csr_array(diags_array(keep) @ GRAPH.weights @ diags_array(keep)))
    features = CoordinateFeatures(csr_array(POINTS), is_cosine=True)
    found = feature_form(features, roughness_of(kind, power, graph)).matrix
    expected = form_reference(features.of_new(csr_array(POINTS)), graph, kind, power)
    assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


# --- the order --------------------------------------------------------------------------------


def test_the_order_is_a_permutation() -> None:
    assert_array_equal(np.sort(slow_order(GRAPH.weights)), np.arange(N))


def reached(order, size=500):
    """Rows of the blocks and their neighbours, over the rows of the blocks."""
    parts = np.array_split(order, len(order) // size)
    return np.mean(
        [len(np.union1d(part, GRAPH.weights[part].indices)) / len(part) for part in parts]
    )


def test_blocks_in_this_order_reach_few_others() -> None:
    slow = reached(slow_order(GRAPH.weights))
    assert slow < reached(np.random.default_rng(0).permutation(N)) / 2
    assert slow < reached(cache_order(GRAPH.weights))


@pytest.mark.parametrize("graph", [ring(7), Graph.from_matrix(np.zeros((4, 4)))], ids=repr)
def test_the_order_of_small_and_empty_graphs_is_a_permutation(graph) -> None:
    assert_array_equal(np.sort(slow_order(graph.weights)), np.arange(graph.n_nodes))
