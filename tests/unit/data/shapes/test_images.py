import numpy as np
import pytest
from numpy.testing import assert_allclose

from beltrami.core.errors import InvalidInputError
from beltrami.data import bars


def test_default_is_the_experiment_of_the_thesis() -> None:
    dataset = bars(random_state=0)
    points = np.asarray(dataset.points)
    assert points.shape == (1000, 1600)
    assert np.bincount(np.asarray(dataset.targets)).tolist() == [500, 500]
    assert set(np.unique(points)) == {0.0, 1.0}
    assert (points.sum(axis=1) == 64).all()


def test_each_image_holds_one_bar_where_the_extras_say() -> None:
    dataset = bars(40, random_state=1, size=12, length=6, thickness=2)
    images = np.asarray(dataset.points).reshape(40, 12, 12)
    for image, target, row, column in zip(
        images,
        np.asarray(dataset.targets),
        dataset.extras["row"],
        dataset.extras["column"],
        strict=True,
    ):
        height, width = (6, 2) if target == 0 else (2, 6)
        assert image[row : row + height, column : column + width].all()
        assert image.sum() == 12


def test_bars_reach_every_border() -> None:
    dataset = bars(2000, random_state=0, size=8, length=4, thickness=1)
    vertical = np.asarray(dataset.targets) == 0
    assert (dataset.extras["row"][vertical].min(), dataset.extras["row"][vertical].max()) == (0, 4)
    assert dataset.extras["column"][vertical].max() == 7


def test_noise_flips_that_share_of_the_pixels() -> None:
    clean, noisy = (np.asarray(bars(200, noise=p, random_state=0).points) for p in (0.0, 0.1))
    assert set(np.unique(noisy)) == {0.0, 1.0}
    assert_allclose((clean != noisy).mean(), 0.1, atol=0.005)
    assert_allclose(noisy[clean == 1].mean(), 0.9, atol=0.02)


@pytest.mark.parametrize(
    ("length", "thickness", "size"), [(41, 4, 40), (4, 4, 40), (3, 4, 40), (10, 0, 40)]
)
def test_bars_that_do_not_fit_or_have_no_direction_are_refused(
    length: int, thickness: int, size: int
) -> None:
    with pytest.raises(InvalidInputError, match="thickness"):
        bars(10, length=length, thickness=thickness, size=size)


@pytest.mark.parametrize("noise", [-0.1, 1.5])
def test_noise_that_is_no_probability_is_refused(noise: float) -> None:
    with pytest.raises(InvalidInputError, match="probability"):
        bars(10, noise=noise)
