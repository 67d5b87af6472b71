"""The estimate of where the wanted eigenvalues end, against known spectra."""

import numpy as np
import pytest

from beltrami.core.machine.backend import NumpyBackend
from beltrami.graph.families import grid, ring
from beltrami.operators.laplacian import split_laplacian
from beltrami.solvers.eigen.density import eigenvalue_estimate


def estimate(graph, rank: float, seed: int = 0) -> float:
    backend = NumpyBackend()
    matrix = backend.matrix(split_laplacian(graph), np.float32)
    rng = np.random.default_rng(seed)
    return eigenvalue_estimate(matrix, graph.n_nodes, rank, backend=backend, rng=rng)


@pytest.mark.parametrize("rank", [60, 200, 1000, 2500])
def test_estimate_on_a_grid_is_within_a_third_of_the_true_eigenvalue(rank: int) -> None:
    one = 2 - 2 * np.cos(np.pi * np.arange(60) / 60)
    values = np.sort(np.add.outer(one, one).ravel())
    for seed in range(3):
        assert estimate(grid(60, 60), rank, seed) == pytest.approx(values[rank], rel=0.34)


def test_estimate_rises_with_the_rank() -> None:
    found = [estimate(grid(40, 40), rank) for rank in (50, 200, 800, 1500)]
    assert found == sorted(found)
    assert found[0] < 0.5 * found[-1]


def test_small_matrix_has_fewer_steps_than_usual() -> None:
    assert 0 <= estimate(ring(5), 3) <= 4
