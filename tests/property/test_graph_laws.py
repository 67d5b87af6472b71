"""Laws that every graph and its operators obey, whatever the weights and the names of points."""

import warnings
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh, expm
from scipy.sparse import csr_array
from tests.support.strategies import graphs, lattice_points, permutations, signals

from beltrami import Graph, KnnGraph, laplacian
from beltrami.core.machine.backend import NumpyBackend, SplitMatrix
from beltrami.operators.extension import extend_eigenvectors
from beltrami.operators.laplacian import spectral_bound, split_laplacian
from beltrami.operators.smoothness import heat_operator

KINDS = st.sampled_from(["combinatorial", "normalized"])


def _dense(matrix: SplitMatrix) -> Any:
    return np.diag(matrix.diagonal) - matrix.weights.toarray()


@given(graph=graphs(), data=st.data())
def test_the_quadratic_form_is_the_sum_over_edges(graph: Graph, data: st.DataObject) -> None:
    f = data.draw(signals(graph.n_nodes))
    rows, columns = graph.weights.nonzero()
    energy = 0.5 * np.sum(graph.weights[rows, columns] * (f[rows] - f[columns]) ** 2)
    assert_allclose(f @ (laplacian(graph) @ f), energy, rtol=1e-9, atol=1e-7)


@given(graph=graphs())
def test_constants_are_null_and_null_vectors_count_components(graph: Graph) -> None:
    assert_allclose(laplacian(graph) @ np.ones(graph.n_nodes), 0, atol=1e-11)
    values = np.linalg.eigvalsh(laplacian(graph, "normalized").toarray())
    assert values[0] > -1e-12
    assert values[-1] < 2 + 1e-12
    # The spread of weights bounds the next eigenvalue away from zero.
    assert (values < 1e-12).sum() == graph.components()[0]


@given(graph=graphs(), kind=KINDS, data=st.data())
def test_relabelling_commutes_with_the_laplacian(
    graph: Graph, kind: str, data: st.DataObject
) -> None:
    order = data.draw(permutations(graph.n_nodes))
    renamed = Graph.from_matrix(graph.weights.toarray()[np.ix_(order, order)])
    expected = laplacian(graph, kind).toarray()[np.ix_(order, order)]
    assert_allclose(laplacian(renamed, kind).toarray(), expected, rtol=1e-12, atol=1e-12)


@given(graph=graphs(), factor=st.sampled_from([1e-3, 7.0, 1e4]))
def test_scaling_the_weights_scales_one_laplacian_and_not_the_normalised(
    graph: Graph, factor: float
) -> None:
    scaled = Graph.from_matrix(graph.weights * factor)
    assert_allclose(laplacian(scaled).toarray(), factor * laplacian(graph).toarray(), rtol=1e-10)
    expected = laplacian(graph, "normalized").toarray()
    assert_allclose(laplacian(scaled, "normalized").toarray(), expected, rtol=1e-10, atol=1e-15)


@given(
    graph=graphs(),
    kind=KINDS,
    scale=st.sampled_from([1e-12, 1.0]),
    data=st.data(),
)
def test_the_spectral_bound_bounds_shifted_laplacians_too(
    graph: Graph, kind: str, scale: float, data: st.DataObject
) -> None:
    plain = split_laplacian(Graph.from_matrix(graph.weights * scale), kind)
    shift = data.draw(signals(graph.n_nodes)) * scale
    for matrix in (plain, SplitMatrix(plain.diagonal + shift, plain.weights)):
        largest = np.linalg.eigvalsh(_dense(matrix))[-1]
        size = np.abs(_dense(matrix)).max()
        assert spectral_bound(matrix) >= largest - 1e-12 * size


@given(graph=graphs(), kind=KINDS, share=st.floats(-3, 3), data=st.data())
def test_the_heat_operator_is_the_exponential_of_the_matrix(
    graph: Graph, kind: str, share: float, data: st.DataObject
) -> None:
    f = data.draw(signals(graph.n_nodes))
    dense = laplacian(graph, kind).toarray()
    t = share / max(np.abs(dense).max(), 1.0)
    flow = expm(t * dense)
    assert_allclose(heat_operator(graph, t, kind=kind) @ f, flow @ f, atol=1e-10 * flow.max())


@given(graph=graphs(), data=st.data())
def test_extension_is_finite_and_keeps_the_constant(graph: Graph, data: st.DataObject) -> None:
    values, vectors = eigh(laplacian(graph).toarray())
    rows = data.draw(signals(graph.n_nodes))
    weights = csr_array(np.abs(rows)[None, :])
    for kind in ("combinatorial", "random_walk"):
        assert np.isfinite(extend_eigenvectors(weights, vectors, values, kind=kind)).all()
    constant = extend_eigenvectors(
        weights, np.ones((graph.n_nodes, 1)), np.zeros(1), kind="combinatorial"
    )
    assert_allclose(constant, 1.0 if np.abs(rows).sum() > 0 else 0.0)


@given(points=lattice_points(), data=st.data())
def test_neighbours_on_a_lattice_are_those_of_a_sort_by_distance_and_row(
    points: Any, data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(points) - 1))
    kind = data.draw(st.sampled_from([np.asarray, csr_array, np.float32]))
    metric = data.draw(st.sampled_from(["euclidean", "manhattan"]))
    gaps = np.abs(points[:, None] - points)
    distances = gaps.sum(axis=2) if metric == "manhattan" else np.sqrt((gaps**2).sum(axis=2))
    np.fill_diagonal(distances, np.inf)
    expected = np.argsort(distances, axis=1, kind="stable")[:, :k]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recipe = KnnGraph(k, metric=metric, weights="binary", connect="keep")
        graph = recipe.build(kind(points))
    assert graph.neighbors is not None
    assert_array_equal(graph.neighbors.indices, expected)


@given(points=lattice_points())
def test_bridges_always_connect_and_weights_are_always_positive(points: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for weights in ("self_tuning", "heat", "shared"):
            graph = KnnGraph(2, weights=weights).build(points)
            assert graph.components()[0] == 1
            assert (graph.weights.data > 0).all()
            assert np.isfinite(graph.weights.data).all()


@given(
    values=st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=1), data=st.data()
)
def test_smallest_is_a_stable_sort(values: list[list[int]], data: st.DataObject) -> None:
    table = np.array(values, dtype=float)
    k = data.draw(st.integers(1, 6))
    expected = np.argsort(table, axis=1, kind="stable")[:, :k]
    assert_array_equal(NumpyBackend().smallest(table, k)[1], expected)
