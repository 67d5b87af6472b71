import numpy as np
import pytest
from numpy.testing import assert_allclose

from beltrami.core.errors import InvalidInputError
from beltrami.data.shapes.crossing import crossing_spheres


@pytest.mark.parametrize("dimensions", [(1, 2), (2, 4), (3, 1), (1, 1)])
def test_points_lie_on_two_unit_spheres_that_span_their_own_axes(
    dimensions: tuple[int, int],
) -> None:
    dataset = crossing_spheres(400, dimensions=dimensions, random_state=0)
    points, first = np.asarray(dataset.points), dataset.extras["manifold"] == 0
    assert points.shape == (400, max(dimensions) + 1)
    assert first.sum() == 200
    assert_allclose(np.linalg.norm(points[~first], axis=1), 1.0)
    centre = np.zeros(points.shape[1])
    centre[0] = np.sqrt(2)
    assert_allclose(np.linalg.norm(points[first] - centre, axis=1), 1.0)
    for inside, dimension in ((first, dimensions[0]), (~first, dimensions[1])):
        assert np.linalg.matrix_rank(points[inside] - points[inside].mean(axis=0)) == dimension + 1
        assert (points[inside, dimension + 1 :] == 0).all()


def test_the_spheres_cross_at_right_angles() -> None:
    meeting = np.array([[1.0, 1.0, 0.0], [1.0, -1.0, 0.0]]) / np.sqrt(2)
    centre = np.array([np.sqrt(2), 0, 0])
    assert_allclose(np.linalg.norm(meeting, axis=1), 1)
    assert_allclose(np.linalg.norm(meeting - centre, axis=1), 1)
    assert_allclose((meeting * (meeting - centre)).sum(axis=1), 0, atol=1e-15)
    points = np.asarray(crossing_spheres(4000, random_state=0).points)
    circle, ball = points[:2000], points[2000:]
    for place in meeting:
        assert np.linalg.norm(circle - place, axis=1).min() < 0.02
        assert np.linalg.norm(ball - place, axis=1).min() < 0.1


def test_points_are_uniform_on_each_sphere() -> None:
    points = np.asarray(crossing_spheres(8000, dimensions=(2, 4), random_state=0).points)
    small, large = points[:4000, :3] - [np.sqrt(2), 0, 0], points[4000:]
    for sphere in (small, large):
        n, axes = sphere.shape
        assert_allclose(sphere.mean(axis=0), 0, atol=5 / np.sqrt(n * axes))
        assert_allclose(sphere.T @ sphere / n, np.eye(axes) / axes, atol=0.03)


def test_target_is_smooth_on_each_sphere_and_jumps_between() -> None:
    dataset = crossing_spheres(300, random_state=0)
    first, position = dataset.extras["manifold"] == 0, dataset.extras["position"]
    assert_allclose(position, (1 + np.asarray(dataset.points)[:, 1]) / 2)
    assert_allclose(np.asarray(dataset.targets), np.where(first, 1 + position, -1 - position))


def test_noise_moves_points_and_leaves_targets() -> None:
    still = crossing_spheres(200, random_state=3)
    moved = crossing_spheres(200, noise=0.1, random_state=3)
    assert_allclose(np.asarray(moved.targets), np.asarray(still.targets))
    assert_allclose((np.asarray(moved.points) - np.asarray(still.points)).std(), 0.1, rtol=0.1)


@pytest.mark.parametrize("dimensions", [2, (1,), (1, 2, 3), (0, 2), (1.5, 2), "12"])
def test_wrong_dimensions_are_refused(dimensions: object) -> None:
    with pytest.raises(InvalidInputError, match="dimensions"):
        crossing_spheres(10, dimensions=dimensions)  # type: ignore[arg-type]
