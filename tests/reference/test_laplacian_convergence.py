"""The Laplacian of a graph with heat weights tends to the Laplace-Beltrami operator.

Belkin's thesis, chapter 4, with the sign and the exponent corrected: for points drawn uniformly
from a manifold of dimension m and volume vol,

    (1 / t) (4 pi t)^(-m/2) (vol / n) [D f - W f](x)  ->  Delta f(x)   as n grows and t shrinks,

with w = exp(-|x - y|^2 / 4t) and Delta the positive Laplacian: cos(k phi) has eigenvalue k^2 on
the unit circle, and a harmonic of degree l has l (l + 1) on the unit sphere.
"""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from beltrami import HeatKernel, RadiusGraph, laplacian
from beltrami.data import circle, sphere

Vector = NDArray[np.float64]
SAMPLE = slice(0, 300)


def _factor(t: float, dimension: int, volume: float, n: int) -> float:
    return volume / n / t * (4 * np.pi * t) ** (-dimension / 2)


def _pointwise(points: Vector, f: Vector, t: float, dimension: int, volume: float) -> Vector:
    """[D f - W f] at the sampled points, from the weights to all points."""
    weights = np.exp(-cdist(points[SAMPLE], points, "sqeuclidean") / (4 * t))
    change = weights.sum(axis=1) * f[SAMPLE] - weights @ f
    return _factor(t, dimension, volume, len(points)) * change


def _circle_error(n: int, seed: int, k: int) -> float:
    dataset = circle(n, random_state=seed)
    f = np.cos(k * dataset.extras["angle"])
    # Bias grows like t and noise like n^-1/2 t^-3/4: this t balances them.
    found = _pointwise(np.asarray(dataset.points), f, 0.6 * n ** (-2 / 7), 1, 2 * np.pi)
    return float(np.sqrt(np.mean((found - k**2 * f[SAMPLE]) ** 2)) / k**2)


HARMONICS: list[tuple[int, Callable[[Vector], Vector]]] = [
    (1, lambda x: x[:, 2]),
    (2, lambda x: x[:, 0] * x[:, 1]),
    (2, lambda x: 3 * x[:, 2] ** 2 - 1),
]


def _sphere_error(n: int, seed: int, degree: int, harmonic: Callable[[Vector], Vector]) -> float:
    points = np.asarray(sphere(n, random_state=seed).points)
    f, value = harmonic(points), degree * (degree + 1)
    found = _pointwise(points, f, 0.6 * n ** (-1 / 4), 2, 4 * np.pi)
    size = value * np.sqrt(np.mean(f**2))
    return float(np.sqrt(np.mean((found - value * f[SAMPLE]) ** 2)) / size)


@pytest.mark.parametrize("k", [1, 2])
def test_heat_laplacian_tends_to_that_of_the_circle(k: int) -> None:
    errors = [np.mean([_circle_error(n, seed, k) for seed in range(3)]) for n in (500, 4000, 32000)]
    assert errors[0] > 1.3 * errors[1] > 1.3**2 * errors[2]
    assert errors[2] < 0.12


@pytest.mark.parametrize(("degree", "harmonic"), HARMONICS)
def test_heat_laplacian_tends_to_that_of_the_sphere(
    degree: int, harmonic: Callable[[Vector], Vector]
) -> None:
    errors = [
        np.mean([_sphere_error(n, seed, degree, harmonic) for seed in range(3)])
        for n in (500, 4000, 32000)
    ]
    assert errors[0] > 1.3 * errors[1] > 1.3**2 * errors[2]
    assert errors[2] < 0.12


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_error_of_evenly_spaced_points_is_of_first_order_in_t(k: int) -> None:
    dataset = circle(2000, spacing="even")
    f, points = np.cos(k * dataset.extras["angle"]), np.asarray(dataset.points)

    def error(t: float) -> float:
        found = _pointwise(points, f, t, 1, 2 * np.pi)
        return float(np.abs(found - k**2 * f[SAMPLE]).max())

    assert_allclose(error(1e-3) / error(5e-4), 2, rtol=0.02)


@pytest.mark.parametrize("make", [circle, sphere])
def test_radius_graph_with_heat_weights_has_the_same_laplacian(make: Callable[..., object]) -> None:
    """Beyond eight widths of the kernel nothing is left, so a graph of near pairs suffices."""
    dataset = make(1500, random_state=0)
    points, t = np.asarray(dataset.points), 0.01  # type: ignore[attr-defined]
    dimension, volume = (1, 2 * np.pi) if make is circle else (2, 4 * np.pi)
    graph = RadiusGraph(8 * np.sqrt(2 * t), weights=HeatKernel(t)).build(points)
    f = points[:, 0]
    found = _factor(t, dimension, volume, 1500) * (laplacian(graph) @ f)[SAMPLE]
    assert graph.weights.nnz < 0.5 * 1500**2
    assert_allclose(found, _pointwise(points, f, t, dimension, volume), atol=1e-9)


def test_heat_weighted_ring_has_the_eigenvalues_of_the_circle() -> None:
    """Times (2 pi / n) / (t sqrt(4 pi t)) they tend to 0, 1, 1, 4, 4, 9, 9."""
    expected = np.array([0.0, 1, 1, 4, 4, 9, 9])
    gaps = []
    for t in (1e-1, 1e-2, 1e-3):
        points = circle(300, spacing="even").points
        graph = RadiusGraph(min(12 * np.sqrt(2 * t), 2.5), weights=HeatKernel(t)).build(points)
        values = np.linalg.eigvalsh(laplacian(graph).toarray())[:7] * _factor(t, 1, 2 * np.pi, 300)
        gaps.append(np.abs(values - expected))
    assert_allclose(values, [0, 1.0008, 1.0008, 3.997, 3.997, 8.971, 8.971], atol=5e-4)
    assert (gaps[2][1:] < 0.2 * gaps[1][1:]).all()
    assert (gaps[1][1:] < 0.2 * gaps[0][1:]).all()
