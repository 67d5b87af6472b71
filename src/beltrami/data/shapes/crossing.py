"""Spheres of different dimensions that cross.

A number of points, two dimensions and a seed enter; a `Dataset` with a target that is smooth on
each sphere and jumps between them leaves, with the sphere of every point in the extras.
"""

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import FloatMatrix, Seed
from beltrami.core.validation import check_count
from beltrami.data.model import Dataset
from beltrami.data.shapes.sampling import check_noise, on_two_manifolds, perturb, shares

_APART = np.sqrt(2.0)  # unit spheres whose centres are so far apart cross at right angles


def crossing_spheres(
    n_points: int,
    *,
    noise: float = 0.0,
    random_state: Seed = None,
    dimensions: tuple[int, int] = (1, 2),
) -> Dataset:
    r"""Return two unit spheres of different dimensions that cross at right angles.

    For dimensions a and b the spheres are :math:`S^a` and :math:`S^b` in :math:`R^d` with
    d = max(a, b) + 1. The second has its centre at the origin, the first at distance
    :math:`\sqrt 2` along the first axis; each lies in the span of the first a + 1 or b + 1 axes.
    By default a circle pierces a sphere at two points; in general they meet in a sphere of
    dimension min(a, b) - 1 and radius :math:`1/\sqrt 2`, at right angles: at a meeting point x with
    centre c, :math:`x \cdot (x - c) = 1 - \sqrt 2 x_1 = 0`. With s in [0, 1] the position along the
    second axis, :math:`s = (1 + x_2) / 2`,

    .. math:: f = 1 + s \text{ on the first sphere}, \qquad f = -1 - s \text{ on the second}.

    Points are uniform on each sphere. Length and area have no common measure, so each has half of
    the points; the sphere of lower dimension is then the denser one near a crossing.

    Parameters
    ----------
    n_points : int
        How many points, the first sphere's first.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to each coordinate.
    random_state : int, Generator, RandomState or None
        The seed.
    dimensions : (int, int), default=(1, 2)
        a and b, each at least 1; they may be equal.

    Returns
    -------
    Dataset
        Targets f; ``extras["manifold"]`` 0 on the first sphere and 1 on the second,
        ``extras["position"]`` s.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import crossing_spheres
    >>> crossing = crossing_spheres(1000, random_state=0)  # a circle through a sphere
    >>> on_circle = crossing.extras["manifold"] == 0
    >>> float(np.abs(crossing.points[on_circle, 2]).max())
    0.0
    >>> np.unique(np.linalg.norm(crossing.points[~on_circle], axis=1).round(12))
    array([1.])
    """
    n_points, noise = check_count(n_points, name="n_points"), check_noise(noise)
    first, second = _check_dimensions(dimensions)
    rng = generator(random_state)
    counts = shares(n_points, [1.0, 1.0])
    d = max(first, second) + 1
    shifted = _unit_sphere(counts[0], first, d, rng)
    centred = _unit_sphere(counts[1], second, d, rng)
    position = (1 + np.concatenate([shifted[:, 1], centred[:, 1]])) / 2
    shifted[:, 0] += _APART
    return on_two_manifolds(
        name="crossing_spheres",
        points=perturb(np.vstack([shifted, centred]), noise, rng),
        counts=counts,
        position=position,
        description=f"Unit spheres of dimensions {first} and {second} that cross in R^{d}.",
    )


def _check_dimensions(dimensions: object) -> tuple[int, int]:
    if not isinstance(dimensions, tuple | list) or len(dimensions) != 2:
        raise InvalidInputError(
            f"dimensions={dimensions!r} must be a pair of whole numbers, such as (1, 2) for a "
            "circle and a sphere."
        )
    first, second = (check_count(number, name="dimensions") for number in dimensions)
    return first, second


def _unit_sphere(
    n_points: int, dimension: int, n_axes: int, rng: np.random.Generator
) -> FloatMatrix:
    """Return uniform points of a sphere in the span of the first `dimension` + 1 axes."""
    gaussian = rng.standard_normal((n_points, dimension + 1))
    points = np.zeros((n_points, n_axes))
    points[:, : dimension + 1] = gaussian / np.linalg.norm(gaussian, axis=1, keepdims=True)
    return points
