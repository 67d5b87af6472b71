from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from beltrami.core.errors import InvalidInputError
from beltrami.data import Dataset, density_change, dollar_sign, surface_sphere, two_squares


def parts(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    points, manifold = np.asarray(dataset.points), dataset.extras["manifold"]
    return points[manifold == 0], points[manifold == 1]


@pytest.mark.parametrize("make", [dollar_sign, surface_sphere, density_change, two_squares])
def test_target_is_smooth_on_each_manifold_and_jumps_between(
    make: Callable[..., Dataset],
) -> None:
    dataset = make(400, random_state=0)
    targets, first = np.asarray(dataset.targets), dataset.extras["manifold"] == 0
    position = dataset.extras["position"]
    assert_allclose(targets[first], 1 + position[first])
    assert_allclose(targets[~first], -1 - position[~first])
    assert (position.min() >= 0, position.max() <= 1) == (True, True)
    assert position.max() - position.min() > 0.9


def test_dollar_sign_is_two_arcs_and_a_line_shared_by_length() -> None:
    dataset = dollar_sign(2000, random_state=0)
    letter, line = parts(dataset)
    upper = letter[dataset.extras["position"][: len(letter)] < 0.5]
    lower = letter[dataset.extras["position"][: len(letter)] >= 0.5]
    assert_allclose(np.linalg.norm(upper - [0, 1], axis=1), 1.0)
    assert_allclose(np.linalg.norm(lower - [0, -1], axis=1), 1.0)
    # The open quarters: lower right of the upper circle, upper left of the lower one.
    assert not ((upper[:, 0] > 1e-9) & (upper[:, 1] < 1 - 1e-9)).any()
    assert not ((lower[:, 0] < -1e-9) & (lower[:, 1] > -1 + 1e-9)).any()
    assert (line[:, 0] == 0).all()
    assert np.abs(line[:, 1]).max() <= 2.75
    assert len(letter) == round(2000 * 3 * np.pi / (3 * np.pi + 5.5))


def test_dollar_sign_runs_through_the_middle_without_a_jump() -> None:
    dataset = dollar_sign(4000, random_state=0)
    letter, _ = parts(dataset)
    ordered = letter[np.argsort(dataset.extras["position"][: len(letter)])]
    assert np.linalg.norm(np.diff(ordered, axis=0), axis=1).max() < 0.05
    assert_allclose(ordered[[0, -1]], [[1, 1], [-1, -1]], atol=0.02)


def test_surface_crosses_the_sphere_and_both_are_equally_dense() -> None:
    dataset = surface_sphere(6000, random_state=0)
    ball, sheet = parts(dataset)
    assert_allclose(np.linalg.norm(ball, axis=1), 1.0)
    assert_allclose(sheet[:, 2], 0.4 * np.sin(2 * np.pi * sheet[:, 0] / 3))
    assert np.abs(sheet[:, :2]).max() <= 1.5
    inside = np.linalg.norm(sheet, axis=1) < 1
    assert 0.2 < inside.mean() < 0.5
    x = np.linspace(-1.5, 1.5, 4001)
    arc = np.hypot(np.diff(x), np.diff(0.4 * np.sin(2 * np.pi * x / 3))).sum()
    assert_allclose(len(ball) / len(sheet), 4 * np.pi / (3 * arc), rtol=1e-3)
    # Uniform in area: half of the sheet's points lie on the steeper half of its length.
    steep = np.abs(np.cos(2 * np.pi * sheet[:, 0] / 3)) > np.sqrt(0.5)
    slope = 0.4 * 2 * np.pi / 3 * np.cos(2 * np.pi * x / 3)
    weight = np.hypot(1, slope)
    expected = weight[np.abs(np.cos(2 * np.pi * x / 3)) > np.sqrt(0.5)].sum() / weight.sum()
    assert_allclose(steep.mean(), expected, atol=0.02)
    assert expected > 0.54


def test_density_changes_by_the_ratio_at_the_common_border() -> None:
    dense, sparse = parts(density_change(4500, random_state=0))
    assert len(dense) == 8 * len(sparse)
    assert -0.01 < dense[:, 0].max() <= 0 <= sparse[:, 0].min() < 0.02
    assert_allclose(np.histogram(dense[:, 0], bins=4, range=(-1, 0))[0], 1000, atol=120)
    assert len(parts(density_change(400, ratio=1.0))[0]) == 200


@pytest.mark.parametrize("gap", [0.3, 0.0, -0.5])
def test_squares_are_the_gap_apart(gap: float) -> None:
    left, right = parts(two_squares(4000, gap=gap, random_state=0))
    assert len(left) == len(right) == 2000
    assert_allclose(right[:, 0].min() - left[:, 0].max(), gap, atol=0.01)
    assert_allclose(np.ptp(left, axis=0), 1, atol=0.01)
    assert_allclose(left[:, 0].max(), -gap / 2, atol=0.01)


def test_impossible_gaps_and_ratios_are_refused() -> None:
    for gap in (-1.0, np.nan, "wide"):
        with pytest.raises(InvalidInputError, match="gap"):
            two_squares(10, gap=gap)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="ratio"):
        density_change(10, ratio=0.0)
