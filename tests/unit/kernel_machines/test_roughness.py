"""The roughness: a scaled power of a Laplacian, applied without being formed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from beltrami import Graph, KnnGraph, laplacian
from beltrami.core.errors import InvalidInputError
from beltrami.kernel_machines.roughness import LaplacianPower

N = 30
GRAPH = KnnGraph(5, connect="keep").build(np.random.default_rng(0).normal(size=(N, 2)))
BLOCK = np.random.default_rng(1).normal(size=(N, 4))

every_laplacian = pytest.mark.parametrize("kind", ["combinatorial", "random_walk", "normalized"])
every_power = pytest.mark.parametrize("power", [1, 2, 3, 4])


def roughness(kind="combinatorial", power=1, scale="n2", graph=GRAPH):
    return LaplacianPower(kind=kind, scale=scale).on(graph, power)


def roughness_reference(kind, power, scale="n2", graph=GRAPH):
    """S as a dense matrix, written to be believed."""
    divisor = {"n2": graph.n_nodes**2, "weights": graph.weights.sum(), "none": 1.0}[scale]
    L = laplacian(graph, "normalized" if kind == "normalized" else "combinatorial").toarray()
    between = np.diag(1 / graph.degrees) if kind == "random_walk" else np.eye(len(L))
    return L @ np.linalg.matrix_power(between @ L, power - 1) / divisor


@every_laplacian
@every_power
@pytest.mark.parametrize("scale", ["n2", "weights", "none"])
def test_it_is_the_power_of_the_laplacian(kind: str, power: int, scale: str) -> None:
    expected = roughness_reference(kind, power, scale) @ BLOCK
    found = roughness(kind, power, scale).apply(BLOCK)
    assert_allclose(found, expected, atol=1e-13 * np.abs(expected).max())


@every_laplacian
@every_power
def test_it_is_symmetric_and_never_negative(kind: str, power: int) -> None:
    S = roughness(kind, power).apply(np.eye(N))
    assert_allclose(S, S.T, atol=1e-13 * np.abs(S).max())
    values = np.linalg.eigvalsh((S + S.T) / 2)
    assert values[0] > -1e-12 * values[-1]


@every_power
@pytest.mark.parametrize("kind", ["combinatorial", "random_walk"])
def test_a_constant_is_not_rough(kind: str, power: int) -> None:
    assert_allclose(roughness(kind, power, "none").apply(np.ones((N, 1))), 0, atol=1e-10)


def test_the_normalised_laplacian_charges_constants() -> None:
    one = np.ones((N, 1))
    assert float((one.T @ roughness("normalized").apply(one))[0, 0]) > 1e-6


@every_power
def test_the_random_walk_with_the_scale_of_weights_is_blind_to_their_unit(power: int) -> None:
    heavy = Graph.from_matrix(1000 * GRAPH.weights)
    found = roughness("random_walk", power, "weights", heavy).apply(BLOCK)
    assert_allclose(found, roughness("random_walk", power, "weights").apply(BLOCK), rtol=1e-10)


@every_laplacian
@every_power
def test_single_precision_stays_and_is_near_double(kind: str, power: int) -> None:
    operator = roughness(kind, power)
    found, expected = operator.apply(BLOCK.astype(np.float32)), operator.apply(BLOCK)
    assert found.dtype == np.float32
    assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


@every_laplacian
def test_the_block_is_left_as_it_was(kind: str) -> None:
    before = BLOCK.copy()
    roughness(kind, 2).apply(BLOCK)
    assert_allclose(BLOCK, before, rtol=0)


@every_laplacian
def test_its_size_is_the_mean_of_the_diagonal_for_the_first_power(kind: str) -> None:
    expected = np.diagonal(roughness_reference(kind, 1)).mean()
    assert_allclose(roughness(kind).typical, expected)


@every_laplacian
@every_power
def test_its_size_is_that_of_its_diagonal_within_the_order(kind: str, power: int) -> None:
    ratio = np.diagonal(roughness_reference(kind, power)).mean() / roughness(kind, power).typical
    assert 1 / 5 < ratio < 5


@every_laplacian
@every_power
def test_isolated_points_are_not_rough(kind: str, power: int) -> None:
    weights = GRAPH.weights.toarray()
    weights[3] = weights[:, 3] = 0
    found = roughness(kind, power, graph=Graph.from_matrix(weights)).apply(BLOCK)
    assert np.isfinite(found).all()
    assert_allclose(found[3], 0)


@pytest.mark.parametrize("scale", ["n2", "none"])
def test_a_graph_without_edges_has_a_size_all_the_same(scale: str) -> None:
    empty = Graph.from_matrix(np.zeros((4, 4)))
    assert roughness(scale=scale, graph=empty).typical > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "signless"}, "kind='signless' is not known; choose one of"),
        ({"scale": "n"}, "scale='n' is not known; choose one of 'n2', 'weights', 'none'"),
        ({"power": 0}, "power=0 must be at least 1"),
        ({"power": 1.5}, "power=1.5 must be an integer"),
        (
            {"scale": "weights", "graph": Graph.from_matrix(np.zeros((4, 4)))},
            "the graph has no edge",
        ),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        roughness(**options)
