"""The flow in a basis: against the sparse solve, on components, on pieces that hang by threads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from beltrami.core.errors import InvalidInputError
from beltrami.graph.families import disjoint_union, grid, path, ring
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami.learners import PoissonClassifier
from beltrami.learners.foundation import Foundation, strong_pieces
from beltrami.learners.model import Labeled
from beltrami.learners.poisson.flow import FlowSpace, flow_of, unit_weights
from beltrami.solvers.eigen import eigenbasis


def space_of(graph, count=None):
    basis = eigenbasis(graph, count or graph.n_nodes, kind="random_walk")
    return FlowSpace.of(Foundation(graph), basis)


def labeled_of(labels, n_classes=3):
    rows = np.array(sorted(labels))
    return Labeled(rows, np.eye(n_classes)[[labels[row] for row in rows]], np.ones(len(rows)))


def solved(graph, labels, n_classes=3):
    y = np.full(graph.n_nodes, -1)
    y[list(labels)] = list(labels.values())
    learner = PoissonClassifier(graph=graph, n_steps=0, tol=1e-12, classes=range(n_classes))
    return learner.fit(np.zeros((graph.n_nodes, 1)), y).scores_


def hung_by_a_thread(graphs, strength):
    """Graphs in a row, the last node of each tied to the first of the next."""
    union = disjoint_union(*graphs)
    dense, start = union.weights.toarray(), 0
    for graph in graphs[:-1]:
        start += graph.n_nodes
        dense[start - 1, start] = dense[start, start - 1] = strength
    return Graph.from_matrix(dense)


def leads(scores):
    return scores - scores.max(axis=1, keepdims=True)


def test_a_whole_basis_gives_the_solved_flow() -> None:
    points = np.random.default_rng(0).normal(size=(60, 2))
    graph = Graph(KnnGraph(5).build(points).weights)
    labels = {0: 0, 7: 1, 8: 1, 20: 2, 33: 0, 39: 0}
    found = flow_of(space_of(graph), labeled_of(labels))
    expected = leads(solved(graph, labels))
    assert_allclose(leads(found), expected, atol=2e-5 * abs(expected).max())


def test_a_basis_of_another_kind_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="random_walk"):
        FlowSpace.of(Foundation(path(9)), eigenbasis(path(9), 4))


def test_the_functions_are_orthonormal_and_have_no_means_on_pieces() -> None:
    graph = hung_by_a_thread([grid(5, 6), ring(20), path(15)], 1e-7)
    space = space_of(graph, 30)
    assert len(space.volumes) == 3
    functions = space.functions.astype(np.float64)
    gram = functions.T @ (space.degrees[:, None] * functions)
    assert_allclose(gram, np.eye(len(gram)), atol=1e-5)
    dense = unit_weights(graph).toarray()
    energy = functions.T @ (np.diag(space.degrees) - dense) @ functions
    assert_allclose(energy, np.diag(space.values), atol=1e-5)
    for number in range(3):
        inside = space.piece == number
        assert_allclose(space.degrees[inside] @ functions[inside], 0, atol=1e-5)


@pytest.mark.parametrize("strength", [1e-4, 1e-7, 1e-10])
@pytest.mark.parametrize(
    "labels",
    [
        {0: 0, 29: 1, 35: 1, 48: 2, 55: 0},  # two classes in each of the first two pieces
        {0: 0, 29: 1, 35: 2},  # nothing in the last piece
        {3: 0, 40: 1, 55: 2},  # one each
        {3: 0, 12: 0, 29: 1, 40: 1, 55: 2, 60: 0},
    ],
)
def test_pieces_that_hang_by_a_thread_are_decided_as_by_the_solve(strength, labels) -> None:
    graph = hung_by_a_thread([grid(5, 6), ring(20), path(15)], strength)
    found = flow_of(space_of(graph, 65), labeled_of(labels))
    expected = solved(graph, labels)
    lead = np.sort(expected, axis=1)
    is_clear = lead[:, -1] - lead[:, -2] > 1e-3  # the solve's own precision, far below a unit flow
    assert is_clear.mean() > 0.6
    assert_array_equal(found.argmax(axis=1)[is_clear], expected.argmax(axis=1)[is_clear])


def test_noise_in_the_vectors_of_tiny_eigenvalues_is_harmless() -> None:
    """As an iterative solver leaves it: a thousandth, where 1/lambda is 10^7."""
    graph = hung_by_a_thread([grid(8, 8), grid(9, 9), grid(7, 7)], 1e-8)
    basis = eigenbasis(graph, 40, kind="random_walk")
    noise = np.random.default_rng(0).normal(size=basis.vectors.shape)
    basis.vectors[...] += 1e-3 * noise * np.abs(basis.vectors).mean()
    labels = {0: 0, 63: 1, 64: 1, 144: 2, 150: 0, 190: 2}
    found = flow_of(FlowSpace.of(Foundation(graph), basis), labeled_of(labels)).argmax(axis=1)
    assert (found == solved(graph, labels).argmax(axis=1)).mean() > 0.97


def test_a_component_of_one_class_gets_it_and_one_without_label_nothing() -> None:
    graph = disjoint_union(grid(4, 4), path(5), ring(6))
    found = flow_of(space_of(graph, 12), labeled_of({0: 0, 15: 2, 17: 1, 19: 1}))
    assert_array_equal(found[16:21].argmax(axis=1), 1)
    assert_allclose(found[21:], 0, atol=1e-5)


def test_some_components_can_be_taken_by_themselves() -> None:
    graph = disjoint_union(grid(4, 4), path(5), hung_by_a_thread([ring(6), path(7)], 1e-6))
    space, labels = space_of(graph, 34), {0: 0, 15: 2, 22: 1, 30: 0}
    nodes = np.isin(space.component, [0, 2])
    part = space.take(nodes)
    moved = {int(np.flatnonzero(nodes).searchsorted(row)): label for row, label in labels.items()}
    assert_allclose(
        flow_of(part, labeled_of(moved)), flow_of(space, labeled_of(labels))[nodes], atol=1e-4
    )
    assert part.component.max() == 1
    assert len(part.volumes) == 3


def test_pieces_are_what_threads_join() -> None:
    graph = hung_by_a_thread([grid(4, 4), ring(6)], 1e-5)
    piece = strong_pieces(graph)
    assert_array_equal(piece, [0] * 16 + [1] * 6)
    assert strong_pieces(grid(3, 3)).max() == 0
