"""Graphs with known spectra have these spectra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from beltrami import Graph, laplacian
from beltrami.core.errors import InvalidInputError
from beltrami.graph.families import complete, disjoint_union, grid, path, ring


def _spectrum(graph: Graph) -> np.ndarray:
    return np.linalg.eigvalsh(laplacian(graph).toarray())


def _path_spectrum(n: int) -> np.ndarray:
    return 2 - 2 * np.cos(np.pi * np.arange(n) / n)


@pytest.mark.parametrize(("n", "s"), [(3, 1), (8, 1), (11, 3), (7, 3)])
def test_ring_spectrum_matches_closed_form(n: int, s: int) -> None:
    steps = np.outer(np.arange(n), np.arange(1, s + 1))
    expected = np.sort((2 - 2 * np.cos(2 * np.pi * steps / n)).sum(axis=1))
    assert_allclose(_spectrum(ring(n, s)), expected, atol=1e-12)
    assert set(ring(n, s).degrees) == {2 * s}


@pytest.mark.parametrize("n", [2, 9])
def test_path_and_complete_spectra_match_closed_forms(n: int) -> None:
    assert_allclose(_spectrum(path(n)), _path_spectrum(n), atol=1e-12)
    assert_allclose(_spectrum(complete(n)), [0] + [n] * (n - 1), atol=1e-12)


def test_grid_spectrum_is_the_sum_of_those_of_its_paths() -> None:
    expected = np.sort(np.add.outer(_path_spectrum(4), _path_spectrum(6)).ravel())
    assert_allclose(_spectrum(grid(4, 6)), expected, atol=1e-12)
    assert grid(4, 6).weights[1 * 6 + 2, 2 * 6 + 2] == 1


def test_union_has_the_spectra_of_its_parts() -> None:
    expected = np.sort(np.concatenate([_spectrum(path(4)), _spectrum(ring(5))]))
    assert_allclose(_spectrum(disjoint_union(path(4), ring(5))), expected, atol=1e-12)


def test_sizes_without_a_meaning_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"6 nodes cannot give each 3.*n_nodes > 6"):
        ring(6, 3)
    for make in (ring, path, complete, lambda n: grid(n, 5)):
        with pytest.raises(InvalidInputError, match="n_nodes=1 must be at least"):
            make(1)
