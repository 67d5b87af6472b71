"""The Hellinger distance of centred Gaussians: identities, closed forms, the integral, the twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.stats import norm

from beltrami.separation.hellinger import hellinger_squared, hellinger_squared_reference
from beltrami.separation.model import LocalShapes
from beltrami.separation.shapes import Spectra


def random_shapes(count: int, rank: int, d: int, *, noise: float = 0.01, seed: int = 0):
    """Shapes with orthonormal directions, variances above the noise and a noise of their own."""
    rng = np.random.default_rng(seed)
    blocks = np.linalg.qr(rng.normal(size=(count, d, rank)))[0].transpose(0, 2, 1)
    levels = noise * (0.5 + rng.random(count))
    variances = np.sort(rng.exponential(size=(count, rank)), axis=1)[:, ::-1] + levels[:, None]
    return LocalShapes(np.ascontiguousarray(blocks), variances, levels)


def shapes_of(covariances):
    """Shapes with all directions kept, of covariances in full."""
    values, vectors = np.linalg.eigh(np.asarray(covariances, dtype=float))
    directions = np.ascontiguousarray(vectors[:, :, ::-1].transpose(0, 2, 1))
    return LocalShapes(directions, values[:, ::-1].copy(), values[:, 0].copy())


def line(direction, *, variance=1.0, noise=0.01):
    """One direction in noise."""
    unit = np.asarray(direction, dtype=float)
    unit /= np.linalg.norm(unit)
    return LocalShapes(unit[None, None], np.array([[variance]]), np.array([noise]))


FIRST = np.zeros(1, dtype=int)


def all_pairs(count):
    rows, columns = np.indices((count, count))
    return rows.ravel(), columns.ravel()


@pytest.mark.parametrize(("rank", "d"), [(1, 1), (1, 2), (3, 3), (2, 5), (10, 50), (10, 200)])
def test_a_shape_is_at_no_distance_from_itself(rank, d):
    shapes = random_shapes(6, rank, d)
    own = np.arange(6)
    assert_allclose(hellinger_squared(shapes, own, shapes, own), 0, atol=1e-12)


@pytest.mark.parametrize(("rank", "d"), [(1, 1), (2, 3), (10, 50)])
def test_the_distance_is_symmetric_and_between_zero_and_one(rank, d):
    shapes = random_shapes(7, rank, d)
    rows, columns = all_pairs(7)
    there = hellinger_squared(shapes, rows, shapes, columns)
    back = hellinger_squared(shapes, columns, shapes, rows)
    assert_allclose(there, back, atol=1e-12)
    assert ((there >= 0) & (there <= 1)).all()
    assert (there[rows != columns] > 0).all()


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_an_invertible_map_of_both_changes_nothing(d):
    rng = np.random.default_rng(d)
    roots = rng.normal(size=(5, d, d))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(d)
    linear = rng.normal(size=(d, d)) + 3 * np.eye(d)
    mapped = linear @ covariances @ linear.T
    rows, columns = all_pairs(5)
    before = hellinger_squared(shapes_of(covariances), rows, shapes_of(covariances), columns)
    after = hellinger_squared(shapes_of(mapped), rows, shapes_of(mapped), columns)
    assert_allclose(after, before, atol=1e-10)
    assert before.max() > 0.01


@pytest.mark.parametrize(("one", "two"), [(1.0, 4.0), (0.3, 0.3), (1.0, 9.0), (2.0, 0.05)])
def test_in_one_dimension_it_is_one_minus_the_integral_of_the_root_of_densities(one, two):
    def overlap(x):
        return np.sqrt(norm.pdf(x, scale=np.sqrt(one)) * norm.pdf(x, scale=np.sqrt(two)))

    found = hellinger_squared(shapes_of([[[one]]]), FIRST, shapes_of([[[two]]]), FIRST)
    assert_allclose(found, 1 - quad(overlap, -np.inf, np.inf)[0], atol=1e-8)


def test_the_specified_number_of_two_gaussians_in_one_dimension():
    found = hellinger_squared(shapes_of([[[2.0]]]), FIRST, shapes_of([[[0.3]]]), FIRST)
    assert_allclose(found, 0.179292, atol=5e-7)


@pytest.mark.parametrize("d", [1, 2, 5, 30])
@pytest.mark.parametrize("scale", [0.01, 0.5, 4.0, 1e6])
def test_equal_shapes_of_different_size_have_a_closed_form(d, scale):
    shapes = random_shapes(1, min(d, 3), d)
    larger = LocalShapes(shapes.directions, scale * shapes.variances, scale * shapes.noise)
    expected = 1 - (2 * np.sqrt(scale) / (1 + scale)) ** (d / 2)
    assert_allclose(hellinger_squared(shapes, FIRST, larger, FIRST), expected, atol=1e-12)


@pytest.mark.parametrize("d", [2, 3, 20])
@pytest.mark.parametrize("noise", [0.5, 0.01, 1e-6])
def test_orthogonal_lines_have_a_closed_form(d, noise):
    axes = np.eye(d)
    found = hellinger_squared(line(axes[0], noise=noise), FIRST, line(axes[1], noise=noise), FIRST)
    assert_allclose(found, 1 - 2 * np.sqrt(noise) / (1 + noise), atol=1e-12)


@given(st.floats(0.0, np.pi / 2), st.floats(1e-4, 0.5))
def test_lines_at_an_angle_have_a_closed_form(angle, noise):
    one, two = line([1.0, 0.0, 0.0], noise=noise), line([np.cos(angle), np.sin(angle), 0.0])
    two = LocalShapes(two.directions, two.variances, np.array([noise]))
    # The sum has eigenvalues 1 + e +- (1 - e) cos(angle) in the plane of both.
    product = (1 + noise) ** 2 - ((1 - noise) * np.cos(angle)) ** 2
    found = hellinger_squared(one, FIRST, two, FIRST)
    assert_allclose(found, 1 - 2 * np.sqrt(noise / product), atol=1e-9)


@pytest.mark.parametrize("d", [1, 2, 3, 10, 50, 200])
@pytest.mark.parametrize("rank", [1, 2, 5, 10])
def test_the_joint_subspace_says_what_all_dimensions_say(rank, d):
    shapes = random_shapes(5, min(rank, d), d, seed=rank)
    others = random_shapes(4, min(max(rank // 2, 1), d), d, noise=0.07, seed=d)
    rows, columns = (index.ravel() for index in np.indices((5, 4)))
    fast = hellinger_squared(shapes, rows, others, columns)
    assert_allclose(fast, hellinger_squared_reference(shapes, rows, others, columns), atol=1e-10)


@pytest.mark.parametrize(("one", "two"), [(1e-3, 0.4), (0.4, 1e-3), (1e-9, 1.0)])
def test_noise_may_differ_on_the_two_sides(one, two):
    shapes, others = random_shapes(4, 3, 12, noise=one), random_shapes(4, 2, 12, noise=two, seed=1)
    rows, columns = all_pairs(4)
    fast = hellinger_squared(shapes, rows, others, columns)
    assert_allclose(fast, hellinger_squared_reference(shapes, rows, others, columns), atol=1e-10)


def test_shapes_that_span_the_same_subspace_or_share_a_direction_agree_with_the_twin():
    shapes = random_shapes(3, 4, 30)
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0] @ shapes.directions
    others = LocalShapes(np.ascontiguousarray(turned), shapes.variances * 2, shapes.noise)
    half = shapes.directions.copy()
    half[:, 1:] = random_shapes(3, 4, 30, seed=5).directions[:, 1:]
    half = np.linalg.qr(half.transpose(0, 2, 1))[0].transpose(0, 2, 1)
    sharing = LocalShapes(np.ascontiguousarray(half), shapes.variances, shapes.noise)
    rows, columns = all_pairs(3)
    for second in (others, sharing):
        fast = hellinger_squared(shapes, rows, second, columns)
        slow = hellinger_squared_reference(shapes, rows, second, columns)
        assert_allclose(fast, slow, atol=1e-10)


@pytest.mark.parametrize("noise", [1e-12, 1e-30, 1e-200])
@pytest.mark.parametrize("d", [4, 40])
def test_almost_no_noise_gives_a_number_all_the_same(noise, d):
    bare = random_shapes(8, 3, d)
    shapes = Spectra(bare.directions, bare.variances, np.zeros(8)).smooth(noise)
    rows, columns = all_pairs(8)
    found = hellinger_squared(shapes, rows, shapes, columns)
    assert np.isfinite(found).all()
    assert_allclose(found[rows == columns], 0, atol=1e-5)
    assert (found[rows != columns] > 0.99).all()


def test_no_pairs_give_no_distances():
    shapes = random_shapes(2, 1, 3)
    nothing = np.empty(0, dtype=int)
    assert_array_equal(hellinger_squared(shapes, nothing, shapes, nothing), np.empty(0))
