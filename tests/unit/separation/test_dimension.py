"""How many directions data have: known bodies, and closed forms with their bias removed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from beltrami.graph.search import open_space
from beltrami.separation.dimension import intrinsic_dimension, participation
from beltrami.separation.shapes import neighbors_of


def dimension_of(points, k=12):
    space = open_space(points, "euclidean")
    rows = np.arange(0, len(points), max(len(points) // 500, 1))
    return intrinsic_dimension(neighbors_of(space, points, rows, k)[1])


def embedded(points, d, seed=0):
    """The same points, isometric in d dimensions."""
    turned = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]
    return points @ turned[: points.shape[1]]


@pytest.mark.parametrize("dimension", [1, 2, 3, 5])
def test_a_cube_has_its_dimension_in_any_space(dimension):
    points = np.random.default_rng(dimension).random((6000, dimension))
    assert dimension_of(points) == pytest.approx(dimension, rel=0.13)
    assert dimension_of(embedded(points, 20)) == pytest.approx(dimension, rel=0.13)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_a_sphere_has_one_dimension_less_than_its_space(dimension):
    points = np.random.default_rng(0).normal(size=(5000, dimension + 1))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    assert dimension_of(points) == pytest.approx(dimension, rel=0.1)


def test_dimension_does_not_depend_on_scale():
    points = np.random.default_rng(0).random((2000, 2))
    assert dimension_of(1e-6 * points) == pytest.approx(dimension_of(points), rel=1e-6)


def test_the_estimate_is_the_inverse_of_the_median_logarithm():
    distances = np.exp(-np.array([[0.5, 0.4, 0.3, 0.0], [1.0, 0.8, 0.6, 0.0]]) / 2)
    assert_allclose(intrinsic_dimension(distances), 2 / ((1.2 + 2.4) / 2 / 2))


def test_points_that_all_coincide_have_no_direction():
    assert intrinsic_dimension(np.zeros((10, 5))) == 0.0


def test_a_few_twins_do_not_change_the_dimension():
    points = np.random.default_rng(0).random((3000, 2))
    points[:300] = points[300:600]
    assert dimension_of(points) == pytest.approx(2, rel=0.15)


def test_distances_of_zero_give_a_number():
    distances = np.column_stack([np.zeros((9, 3)), np.ones((9, 3))])
    assert np.isfinite(intrinsic_dimension(distances))
    assert np.isfinite(intrinsic_dimension(np.ones((9, 4))))


# --- participation --------------------------------------------------------------------------------


def variances_of(samples):
    """Sample variances along the principal directions of blocks, (s, q, d) to (s, d)."""
    centred = samples - samples.mean(axis=1, keepdims=True)
    covariances = centred.transpose(0, 2, 1) @ centred / (samples.shape[1] - 1)
    return np.maximum(np.linalg.eigvalsh(covariances)[:, ::-1], 0.0)


@pytest.mark.parametrize("r", [1, 2, 4, 6])
def test_equal_variances_count_as_many_directions_as_there_are(r):
    variances = np.array([[2.0] * r + [0.0] * (6 - r)])
    assert_allclose(participation(variances, 10**7), r, rtol=1e-5)


def test_participation_is_the_square_of_the_trace_over_the_trace_of_the_square():
    assert_allclose(participation(np.array([[4.0, 2.0, 1.0]]), 10**8), 49 / 21, rtol=1e-6)


def freed(variances, q):
    """Both traces without bias: their expectations for a Gaussian sample, solved."""
    f = q - 1
    trace, square = variances.sum(axis=1), (variances**2).sum(axis=1)
    solved = np.linalg.solve(
        [[1 + 1 / f, 1 / f], [2 / f, 1.0]],
        [square, trace**2],
    )
    return solved[1], solved[0]


@pytest.mark.parametrize("truth", [[1.0, 1, 1], [4.0, 1, 0.5], [1.0, 0.01, 0.01], [1.0] * 8])
@pytest.mark.parametrize("q", [6, 12, 40])
def test_the_traces_are_freed_of_the_bias_of_a_gaussian_sample(truth, q):
    samples = np.random.default_rng(0).normal(size=(6000, q, len(truth))) * np.sqrt(truth)
    variances = variances_of(samples)
    trace, square = freed(variances, q)
    # Averaged over samples, the two traces are the true ones ...
    expected = np.sum(truth) ** 2 / np.sum(np.square(truth))
    assert_allclose(trace.mean() / square.mean(), expected, rtol=0.05)
    # ... and participation is their ratio, one sample at a time.
    ratio = trace / square
    inside = (square > 0) & (ratio > 1) & (ratio < len(truth))
    assert inside.any()
    assert_allclose(participation(variances, q)[inside], ratio[inside], rtol=1e-9)


@pytest.mark.parametrize("d", [2, 5, 10])
def test_many_neighbours_in_a_ball_spread_in_all_directions(d):
    samples = np.random.default_rng(0).normal(size=(50, 400, d))
    assert participation(variances_of(samples), 400).mean() == pytest.approx(d, rel=0.05)


@pytest.mark.parametrize("q", [4, 5, 30])
def test_participation_stays_between_one_and_the_dimension(q):
    samples = np.random.default_rng(0).normal(size=(200, q, 6)) * np.geomspace(1, 1e-3, 6)
    found = participation(variances_of(samples), q)
    assert ((found >= 1) & (found <= 6)).all()


def test_a_zero_covariance_has_no_preferred_direction():
    assert_allclose(participation(np.zeros((2, 4)), 10), 4)
