from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from beltrami.core.errors import InvalidInputError
from beltrami.data import (
    Dataset,
    bars,
    circle,
    density_change,
    dollar_sign,
    plane_curve,
    sphere,
    surface_sphere,
    swiss_roll,
    torus,
    two_moons,
    two_squares,
)

GENERATORS = [
    bars,
    circle,
    density_change,
    dollar_sign,
    plane_curve,
    sphere,
    surface_sphere,
    swiss_roll,
    torus,
    two_moons,
    two_squares,
]
SMOOTH = [make for make in GENERATORS if make is not bars]


@pytest.mark.parametrize("make", GENERATORS)
def test_same_seed_gives_the_same_points_and_another_seed_others(
    make: Callable[..., Dataset],
) -> None:
    first, again, other = (make(60, noise=0.1, random_state=seed) for seed in (3, 3, 4))
    assert_array_equal(first.points, again.points)
    assert not np.array_equal(np.asarray(first.points), np.asarray(other.points))


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("n_points", [1, 2, 57])
def test_number_of_points_is_the_number_asked_for(
    make: Callable[..., Dataset], n_points: int
) -> None:
    assert make(n_points, random_state=0).n_points == n_points


@pytest.mark.parametrize("make", SMOOTH)
def test_noise_moves_points_by_its_deviation_and_leaves_the_coordinates(
    make: Callable[..., Dataset],
) -> None:
    clean = make(2000, random_state=0)
    noisy = make(2000, random_state=0, noise=0.2)
    moved = np.asarray(noisy.points) - np.asarray(clean.points)
    assert_allclose(moved.std(), 0.2, rtol=0.1)
    for key, value in clean.extras.items():
        assert_array_equal(noisy.extras[key], value)


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("n_points", [0, -3, 2.5, True, "ten"])
def test_impossible_numbers_of_points_are_refused(
    make: Callable[..., Dataset], n_points: object
) -> None:
    with pytest.raises(InvalidInputError, match="n_points"):
        make(n_points)


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("noise", [-0.1, np.nan, np.inf, "loud", None])
def test_impossible_noise_is_refused(make: Callable[..., Dataset], noise: object) -> None:
    with pytest.raises(InvalidInputError, match="noise"):
        make(10, noise=noise)


def test_even_circle_has_equal_steps() -> None:
    dataset = circle(12, spacing="even", radius=3.0)
    points = np.asarray(dataset.points)
    assert_allclose(np.linalg.norm(points, axis=1), 3.0)
    assert_allclose(np.diff(dataset.extras["angle"]), np.pi / 6)
    assert_allclose(points[0], [3, 0], atol=1e-12)


def test_random_circle_is_uniform_in_angle() -> None:
    angle = circle(4000, random_state=0).extras["angle"]
    quarters = np.histogram(angle, bins=4, range=(0, 2 * np.pi))[0]
    assert_allclose(quarters, 1000, atol=120)


def test_unknown_choices_list_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match="'random', 'even'"):
        circle(5, spacing="odd")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="'area', 'angle'"):
        swiss_roll(5, sampling="odd")  # type: ignore[arg-type]


def test_sphere_is_uniform_and_its_angles_give_the_points_back() -> None:
    dataset = sphere(4000, radius=2.0, random_state=0)
    points, polar = np.asarray(dataset.points), dataset.extras["polar"]
    azimuth = dataset.extras["azimuth"]
    ring = 2 * np.sin(polar)
    rebuilt = np.column_stack([ring * np.cos(azimuth), ring * np.sin(azimuth), 2 * np.cos(polar)])
    assert_allclose(points, rebuilt, atol=1e-12)
    # Archimedes: equal bands of height have equal areas.
    assert_allclose(np.histogram(points[:, 2], bins=4, range=(-2, 2))[0], 1000, atol=120)


def test_sphere_of_any_dimension_has_unit_directions() -> None:
    dataset = sphere(50, dimension=4, random_state=0)
    assert np.asarray(dataset.points).shape == (50, 5)
    assert_allclose(np.linalg.norm(dataset.extras["direction"], axis=1), 1.0)
    assert "polar" not in dataset.extras


def test_torus_is_uniform_in_area() -> None:
    dataset = torus(6000, random_state=0, major_radius=3.0, minor_radius=1.0)
    x, y, z = np.asarray(dataset.points).T
    assert_allclose((np.hypot(x, y) - 3) ** 2 + z**2, 1.0)
    # The mean of cos(theta) under the density (R + r cos theta) / (2 pi R) is r / (2 R).
    assert_allclose(np.cos(dataset.extras["poloidal"]).mean(), 1 / 6, atol=0.03)
    assert_allclose(np.arctan2(y, x) % (2 * np.pi), dataset.extras["toroidal"], atol=1e-9)


def test_torus_that_cuts_itself_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="cut itself"):
        torus(5, major_radius=1.0, minor_radius=1.0)


def test_swiss_roll_is_uniform_in_area_and_on_the_spiral() -> None:
    dataset = swiss_roll(4000, random_state=0)
    x, h, z = np.asarray(dataset.points).T
    angle = dataset.extras["angle"]
    assert_allclose(np.hypot(x, z), angle)
    assert_allclose(x, angle * np.cos(angle))
    assert_array_equal(h, dataset.extras["height"])
    length = dataset.extras["arc_length"]
    assert_allclose(np.histogram(length, bins=4, range=(0, length.max()))[0], 1000, atol=120)
    assert (angle.min() >= 1.5 * np.pi, angle.max() <= 4.5 * np.pi) == (True, True)


def test_swiss_roll_arc_length_is_the_length_of_its_polygon() -> None:
    dataset = swiss_roll(5000, random_state=0)
    order = np.argsort(dataset.extras["angle"])
    spiral = np.asarray(dataset.points)[order][:, [0, 2]]
    walked = np.linalg.norm(np.diff(spiral, axis=0), axis=1).sum()
    length = dataset.extras["arc_length"][order]
    assert_allclose(walked, length[-1] - length[0], rtol=1e-4)


def test_swiss_roll_by_angle_is_denser_near_the_axis() -> None:
    dataset = swiss_roll(4000, random_state=0, sampling="angle")
    angle = dataset.extras["angle"]
    quarters = np.histogram(angle, bins=4, range=(1.5 * np.pi, 4.5 * np.pi))[0]
    assert_allclose(quarters, 1000, atol=120)
    length = dataset.extras["arc_length"]
    assert (length < length.max() / 2).mean() > 0.6
