"""Images of bars: two manifolds of pictures that come close to each other.

A number of images and a seed enter; a `Dataset` of flattened binary images leaves, with the place
of every bar in the extras.
"""

import numbers

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import Seed
from beltrami.core.validation import check_count
from beltrami.data.model import Dataset


def bars(
    n_points: int = 1000,
    *,
    noise: float = 0.0,
    random_state: Seed = None,
    size: int = 40,
    length: int = 16,
    thickness: int = 4,
) -> Dataset:
    r"""Return binary images that hold one vertical or one horizontal bar at a random place.

    The toy vision example of Belkin (2003), Section 2.6.2: the images of a bar v are its shifts

    .. math:: v_t(x, y) = v(x - t_1, y - t_2),

    so each kind is a two-dimensional manifold in the space of images. The thesis takes 500 images
    of each kind on a 40 x 40 grid; it does not state the size of its bars. Ours are such that the
    graph of 14 neighbours, the thesis's, just joins the two kinds. The whole bar lies in the image
    and every place is equally likely. The first half of the rows is vertical.

    Parameters
    ----------
    n_points : int, default=1000
        How many images, the odd one vertical.
    noise : float, default=0.0
        Probability that a pixel is flipped, at most 1.
    random_state : int, Generator, RandomState or None
        The seed.
    size : int, default=40
        Pixels along a side of the image.
    length : int, default=16
        Pixels along the bar.
    thickness : int, default=4
        Pixels across the bar.

    Returns
    -------
    Dataset
        Points of shape (n_points, size * size) with values 0 and 1, rows of the image one after
        the other; targets 0 for vertical and 1 for horizontal; ``extras["row"]`` and
        ``extras["column"]`` of the bar's upper left pixel; ``extras["shape"]`` of an image.

    Examples
    --------
    >>> from beltrami import bars
    >>> images = bars(2, size=5, length=4, thickness=1, random_state=0)
    >>> for row in images.points[0].reshape(images.extras["shape"]).astype(int):
    ...     print(row)
    [0 0 0 0 0]
    [0 0 1 0 0]
    [0 0 1 0 0]
    [0 0 1 0 0]
    [0 0 1 0 0]
    >>> images.targets
    array([0, 1])
    """
    n_points, size = check_count(n_points, name="n_points"), check_count(size, name="size")
    length, thickness = _check_bar(length, thickness, size)
    if not isinstance(noise, numbers.Real) or not 0 <= float(noise) <= 1:
        raise InvalidInputError(
            f"noise={noise!r} must lie in [0, 1]: here it is the probability that a pixel flips."
        )
    rng = generator(random_state)
    targets = np.repeat([0, 1], [n_points - n_points // 2, n_points // 2])
    heights = np.where(targets == 0, length, thickness)
    widths = np.where(targets == 0, thickness, length)
    row = rng.integers(0, size - heights + 1)
    column = rng.integers(0, size - widths + 1)
    pixel = np.arange(size)
    in_row = (pixel >= row[:, None]) & (pixel < (row + heights)[:, None])
    in_column = (pixel >= column[:, None]) & (pixel < (column + widths)[:, None])
    images = in_row[:, :, None] & in_column[:, None, :]
    if noise:
        images ^= rng.random(images.shape) < noise
    return Dataset(
        name="bars",
        points=images.reshape(n_points, size * size).astype(np.float64),
        targets=targets,
        target_names=("vertical", "horizontal"),
        extras={"row": row, "column": column, "shape": (size, size)},
        description=f"Bars of {length} x {thickness} pixels in {size} x {size} binary images.",
    )


def _check_bar(length: int, thickness: int, size: int) -> tuple[int, int]:
    length = check_count(length, name="length")
    thickness = check_count(thickness, name="thickness")
    if not thickness < length <= size:
        raise InvalidInputError(
            f"a bar of length={length} and thickness={thickness} in an image of size={size}: the "
            "bar must be longer than thick, or the two kinds are the same, and fit the image."
        )
    return length, thickness
