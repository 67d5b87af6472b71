import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from beltrami.data import plane_curve, two_moons


def test_moons_are_half_circles_half_a_unit_apart() -> None:
    dataset = two_moons(1001, spacing="even")
    points, targets = np.asarray(dataset.points), np.asarray(dataset.targets)
    upper, lower = points[targets == 0], points[targets == 1]
    assert (len(upper), len(lower)) == (501, 500)
    assert_allclose(np.linalg.norm(upper, axis=1), 1.0)
    assert_allclose(np.linalg.norm(lower - [1, 0.5], axis=1), 1.0)
    assert upper[:, 1].min() >= 0
    assert lower[:, 1].max() <= 0.5
    assert_allclose(cdist(upper, lower).min(), 0.5, atol=1e-3)
    assert_allclose(np.cos(dataset.extras["angle"][:501]), upper[:, 0])


def test_plane_curve_has_500_points_by_default_and_two_classes() -> None:
    dataset = plane_curve(random_state=0)
    assert dataset.n_points == 500
    assert np.bincount(np.asarray(dataset.targets)).min() > 150


def test_plane_curve_is_uniform_in_arc_length() -> None:
    dataset = plane_curve(4000, random_state=0)
    length = dataset.extras["length"]
    eighths = np.histogram(dataset.extras["arc_length"], bins=8, range=(0, length))[0]
    assert_allclose(eighths, 500, atol=90)


def test_plane_curve_in_even_steps_walks_its_stated_length_and_closes() -> None:
    dataset = plane_curve(4000, spacing="even")
    points = np.asarray(dataset.points)
    steps = np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1)
    assert_allclose(steps, dataset.extras["length"] / 4000, rtol=1e-3)
    assert_allclose(steps.sum(), dataset.extras["length"], rtol=1e-4)


def test_plane_curve_follows_its_formula() -> None:
    dataset = plane_curve(50, random_state=0)
    u, points = dataset.extras["parameter"], np.asarray(dataset.points)
    radius = 1 + 0.33 * np.sin(u) + 0.14 * np.tanh(3 * np.cos(u))
    angle = 1.3 * np.pi * np.sin(u)
    assert_allclose(points[:, 0], radius * np.cos(angle))
    assert_allclose(points[:, 1], radius * np.sin(angle))
    assert_array_equal(dataset.targets, np.sin(u) > 0)


def test_plane_curve_never_meets_itself_but_its_classes_come_close() -> None:
    dataset = plane_curve(2000, spacing="even")
    position, length = dataset.extras["arc_length"], dataset.extras["length"]
    targets = np.asarray(dataset.targets)
    along = np.abs(position[:, None] - position)
    along = np.minimum(along, length - along)
    across = cdist(np.asarray(dataset.points), np.asarray(dataset.points))
    far = along > 1.2
    assert across[far].min() > 0.1
    # Far apart along the curve and in different classes, yet near in the plane.
    confusing = across[far & (targets[:, None] != targets)].min()
    assert 0.2 < confusing < 0.3
