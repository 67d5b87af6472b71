"""Local covariances: numpy's own, whatever q and d; the noise level; the size of neighbourhoods."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from beltrami import dollar_sign
from beltrami.core.errors import InvalidInputError
from beltrami.graph.search import open_space
from beltrami.separation import shapes as module
from beltrami.separation.shapes import (
    MOST_DIRECTIONS,
    Spectra,
    choose_neighborhoods,
    local_spectra,
    neighbors_of,
)


def cloud(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) * np.linspace(1, 3, d)


def lists_of(n, count, q, seed=0):
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(n, q, replace=False) for _ in range(count)])


def full(spectra, row):
    u = spectra.directions[row]
    return (u.T * spectra.variances[row]) @ u


def chosen(points, n_neighbors="auto", seed=0):
    space = open_space(points, "euclidean")
    return choose_neighborhoods(space, points, n_neighbors, np.random.default_rng(seed))


# --- covariances ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("q", "d"), [(30, 5), (6, 5), (5, 5), (4, 9), (2, 3), (2, 1), (7, 1), (11, 10), (9, 40)]
)
def test_the_covariance_is_that_of_the_neighbours_where_no_direction_is_dropped(q, d):
    points, lists = cloud(60, d), lists_of(60, 8, q)
    spectra = local_spectra(points, lists)
    assert spectra.variances.shape == (8, min(q - 1, d))
    for row, neighbors in enumerate(lists):
        expected = np.atleast_2d(np.cov(points[neighbors], rowvar=False))
        assert_allclose(full(spectra, row), expected, atol=1e-10)
    assert_allclose(spectra.discarded, 0, atol=1e-10)


@pytest.mark.parametrize(("q", "d"), [(40, 15), (15, 40), (12, 200)])
def test_the_widest_directions_are_kept_and_the_rest_of_the_trace_is_the_discarded(q, d):
    points, lists = cloud(60, d), lists_of(60, 4, q)
    spectra = local_spectra(points, lists)
    assert spectra.directions.shape == (4, MOST_DIRECTIONS, d)
    for row, neighbors in enumerate(lists):
        values = np.linalg.eigvalsh(np.cov(points[neighbors], rowvar=False))[::-1]
        assert_allclose(spectra.variances[row], values[:MOST_DIRECTIONS], rtol=1e-9)
        rest = values[MOST_DIRECTIONS:].sum() / (d - MOST_DIRECTIONS)
        assert_allclose(spectra.discarded[row], rest, rtol=1e-8)


@pytest.mark.parametrize("points", [cloud(40, 3), cloud(40, 12), cloud(40, 60)], ids=str)
@pytest.mark.parametrize("distinct", [1, 2, 3, 40])
def test_directions_are_orthonormal_even_of_twins_and_deficient_blocks(points, distinct):
    repeated = points[np.arange(40) % distinct]
    spectra = local_spectra(repeated, lists_of(40, 6, 8))
    for u in spectra.directions:
        assert_allclose(u @ u.T, np.eye(len(u)), atol=1e-10)
    assert np.isfinite(spectra.variances).all()
    assert (spectra.variances >= 0).all()
    assert (np.diff(spectra.variances, axis=1) <= 0).all()
    if distinct == 1:
        assert_allclose(spectra.variances, 0, atol=1e-20)


def test_far_from_the_origin_the_covariance_is_the_same():
    points, lists = cloud(60, 4), lists_of(60, 5, 10)
    near, far = local_spectra(points, lists), local_spectra(points + 1e6, lists)
    assert_allclose(far.variances, near.variances, rtol=1e-7)


def test_blocks_of_lists_change_nothing(monkeypatch):
    points, lists = cloud(60, 4), lists_of(60, 25, 10)
    whole = local_spectra(points, lists)
    monkeypatch.setattr(module, "_BLOCK_ENTRIES", 1)
    parts = local_spectra(points, lists)
    assert_array_equal(parts.variances, whole.variances)
    assert_array_equal(parts.directions, whole.directions)


def test_single_precision_is_enough_for_points():
    points, lists = cloud(60, 4), lists_of(60, 5, 10)
    light = local_spectra(points.astype(np.float32), lists)
    assert light.variances.dtype == np.float64
    assert_allclose(light.variances, local_spectra(points, lists).variances, rtol=1e-4)


# --- noise ----------------------------------------------------------------------------------------


def flat(variances, discarded):
    variances = np.asarray(variances, dtype=float)
    s, r = variances.shape
    directions = np.tile(np.eye(5)[:r], (s, 1, 1))
    return Spectra(directions, variances, np.asarray(discarded, dtype=float))


def test_noise_is_a_share_of_the_typical_variance():
    spectra = flat([[3.0, 1.0], [2.0, 0.0]], [0, 0])
    typical = ((9 + 1) / 4 + 4 / 2) / 2
    assert_allclose(spectra.noise(0.01), 0.01 * typical)


def test_noise_is_at_least_what_the_kept_directions_leave_out():
    assert_allclose(flat([[3.0, 1.0], [2.0, 0.0]], [0.5, 0.7]).noise(0.01), 0.6)


def test_neighbourhoods_that_are_one_point_do_not_lower_the_noise_of_the_others():
    assert_allclose(flat([[4.0, 0.0], [0.0, 0.0]], [0, 0]).noise(0.1), 0.4)


def test_noise_is_positive_where_every_neighbourhood_is_one_point():
    assert flat([[0.0, 0.0]], [0.0]).noise(0.01) > 0


def test_smoothing_adds_the_noise_in_every_direction():
    points, lists = cloud(60, 3), lists_of(60, 5, 10)
    spectra = local_spectra(points, lists)
    shapes = spectra.smooth(0.25)
    for row in range(5):
        assert_allclose(shapes.covariance(row), full(spectra, row) + 0.25 * np.eye(3), atol=1e-12)
    assert len(shapes) == 5
    assert shapes.dimension == 3


def test_noise_never_drowns_in_the_widest_variance():
    shapes = flat([[1e12, 1.0], [1.0, 1.0]], [0, 0]).smooth(1e-6)
    assert_allclose(shapes.noise, [1e2, 1e-6])
    assert (shapes.variances >= shapes.noise[:, None]).all()


# --- how many neighbours --------------------------------------------------------------------------


@pytest.mark.parametrize("n", [500, 2000])
def test_without_noise_the_smallest_neighbourhoods_are_taken(n):
    found = chosen(dollar_sign(n, random_state=0).points)
    assert found.n_neighbors == min(found.tried)
    assert found.n_neighbors == max(int(np.ceil(np.log(n))), 4)
    assert found.tried[found.n_neighbors] < 1.3


def test_with_noise_neighbourhoods_grow_until_they_see_through_it():
    sizes = [
        chosen(dollar_sign(4000, noise=noise, random_state=0).points).n_neighbors
        for noise in (0.0, 0.02, 0.05)
    ]
    assert sizes[0] < sizes[1] < sizes[2]


def test_the_size_taken_is_the_smallest_that_is_about_as_flat_as_the_flattest():
    found = chosen(dollar_sign(3000, noise=0.03, random_state=0).points)
    sizes = sorted(found.tried)
    assert all(b == 2 * a for a, b in itertools.pairwise(sizes))
    enough = (1 + module._SHARE) * min(found.tried.values())
    assert found.n_neighbors == next(size for size in sizes if found.tried[size] <= enough)
    assert max(sizes) <= 3000 // 8


def test_a_number_given_is_taken_as_it_is():
    found = chosen(cloud(50, 2), 7)
    assert found.n_neighbors == 7
    assert found.tried == {}
    assert chosen(cloud(50, 2), np.int64(49)).n_neighbors == 49


@pytest.mark.parametrize("wrong", [0, 1, -3, True, 2.0, "many", None])
def test_numbers_that_are_none_are_refused(wrong):
    with pytest.raises(InvalidInputError, match=r"n_neighbors=.* at least 2, or 'auto'"):
        chosen(cloud(50, 2), wrong)


def test_more_neighbours_than_there_are_is_refused():
    with pytest.raises(InvalidInputError, match=r"n_neighbors=50 .* X has 50. Ask for at most 49"):
        chosen(cloud(50, 2), 50)


@pytest.mark.parametrize("n", range(3, 20))
@pytest.mark.parametrize("d", [1, 4])
def test_few_points_have_neighbourhoods_too(n, d):
    found = chosen(cloud(n, d))
    assert 2 <= found.n_neighbors <= n - 1
    assert np.isfinite(list(found.tried.values())).all()


@pytest.mark.parametrize("n", [6, 40])
def test_identical_points_have_neighbourhoods_too(n):
    assert 2 <= chosen(np.ones((n, 3))).n_neighbors < n


# --- neighbours -----------------------------------------------------------------------------------


def test_neighbours_are_the_nearest_others():
    points = cloud(40, 3)
    rows = np.array([3, 17, 39])
    indices, distances = neighbors_of(open_space(points, "euclidean"), points, rows, 6)
    for row, near, lengths in zip(rows, indices, distances, strict=True):
        exact = np.linalg.norm(points - points[row], axis=1)
        exact[row] = np.inf
        assert_array_equal(near, np.argsort(exact)[:6])
        assert_allclose(lengths, np.sort(exact)[:6], atol=1e-12)


@pytest.mark.parametrize("n_twins", [2, 5, 6, 7, 20])
def test_a_point_is_never_its_own_neighbour_but_its_twins_are(n_twins):
    points = cloud(40, 3)
    points[:n_twins] = points[0]
    k, rows = 5, np.arange(n_twins)
    indices, distances = neighbors_of(open_space(points, "euclidean"), points, rows, k)
    assert not (indices == rows[:, None]).any()
    assert all(len(set(row)) == k for row in indices)
    assert_array_equal((distances == 0).sum(axis=1), min(n_twins - 1, k))
