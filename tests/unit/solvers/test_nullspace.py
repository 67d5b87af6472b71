"""Null vectors: orthonormal, in the null space, projected out in place."""

import numpy as np
from numpy.testing import assert_allclose

from beltrami.graph.families import complete, disjoint_union, path, ring
from beltrami.operators.laplacian import laplacian
from beltrami.solvers.nullspace import NullSpace

GRAPH = disjoint_union(path(4), ring(7), complete(3))


def null_space() -> NullSpace:
    _, membership = GRAPH.components()
    return NullSpace.of(membership, np.sqrt(GRAPH.degrees))


def test_vectors_are_orthonormal_null_vectors_largest_component_first() -> None:
    vectors = null_space().vectors(5)
    assert vectors.shape == (14, 3)
    assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-14)
    assert_allclose(laplacian(GRAPH, "normalized") @ vectors, 0, atol=1e-14)
    assert (vectors != 0).sum(axis=0).tolist() == [7, 4, 3]
    assert null_space().vectors(1).shape == (14, 1)


def test_projection_is_that_of_the_dense_vectors() -> None:
    block = np.random.default_rng(0).standard_normal((14, 3))
    vectors = null_space().vectors(3)
    expected = block - vectors @ (vectors.T @ block)
    for dtype, atol in ((np.float64, 1e-14), (np.float32, 1e-6)):
        own = block.astype(dtype)
        null_space().project_out(own)
        assert own.dtype == dtype
        assert_allclose(own, expected, atol=atol)


def test_nodes_outside_every_support_are_not_touched() -> None:
    membership = np.array([-1, 0, 0, -1, 1, 1, 1], dtype=np.int32)
    null = NullSpace.of(membership, np.ones(7))
    block = np.arange(7.0)[:, None]
    null.project_out(block)
    assert_allclose(block.ravel(), [0, -0.5, 0.5, 3, -1, 0, 1], atol=1e-14)
    nothing = NullSpace.of(np.full(3, -1, dtype=np.int32), np.ones(3))
    untouched = np.ones((3, 1))
    nothing.project_out(untouched)
    assert nothing.n_components == 0
    assert (untouched == 1).all()


def test_permuting_commutes_with_projecting() -> None:
    order = np.random.default_rng(1).permutation(14)
    block = np.random.default_rng(0).standard_normal((14, 2))
    there = block[order].copy()
    null_space().permute(order).project_out(there)
    null_space().project_out(block)
    assert_allclose(there, block[order], atol=1e-14)
