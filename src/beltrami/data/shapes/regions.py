"""Several manifolds in one set: crossing, touching, or differing in density alone.

A number of points and a seed enter; a `Dataset` with a real target that is smooth on each manifold
and jumps between them leaves, with the manifold of every point in the extras.
"""

import numbers

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import FloatMatrix, FloatVector, Seed
from beltrami.core.validation import check_count, check_positive
from beltrami.data.model import Dataset
from beltrami.data.shapes.sampling import check_noise, on_two_manifolds, perturb, rejection, shares

_SHEET_HALF = 1.5  # the sheet lies over the square [-1.5, 1.5]^2
_SHEET_HEIGHT = 0.4
_SHEET_WAVE = np.pi / 1.5


def dollar_sign(n_points: int, *, noise: float = 0.0, random_state: Seed = None) -> Dataset:
    r"""Return an S crossed by a vertical line, each with a target of its own.

    The S is two three-quarter circles of radius 1 that meet at the origin; the line x = 0 runs
    from height 2.75 to -2.75 and crosses it three times at right angles. With s in [0, 1] the
    position along a curve from its upper end,

    .. math:: f = 1 + s \text{ on the S}, \qquad f = -1 - s \text{ on the line},

    so f is smooth on each curve and jumps by at least 2 wherever they cross. After the example of
    Zhu's slides on multi-manifold separation, which show the picture and give no formula.
    Points are uniform in length over both curves; the S comes first.

    Parameters
    ----------
    n_points : int
        How many points.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to each coordinate.
    random_state : int, Generator, RandomState or None
        The seed.

    Returns
    -------
    Dataset
        Targets f; ``extras["manifold"]`` 0 for the S and 1 for the line, ``extras["position"]`` s.

    Examples
    --------
    >>> from beltrami import dollar_sign
    >>> dollar = dollar_sign(1000, random_state=0)
    >>> on_line = dollar.extras["manifold"] == 1
    >>> bool((dollar.targets[on_line] <= -1).all()), bool((dollar.targets[~on_line] >= 1).all())
    (True, True)
    """
    n_points, noise = check_count(n_points, name="n_points"), check_noise(noise)
    rng = generator(random_state)
    counts = shares(n_points, [3 * np.pi, 5.5])
    position = rng.random(n_points)
    on_s, on_line = np.split(position, [counts[0]])
    line = np.column_stack([np.zeros(counts[1]), 2.75 - 5.5 * on_line])
    return on_two_manifolds(
        name="dollar_sign",
        points=perturb(np.vstack([_letter_s(on_s), line]), noise, rng),
        counts=counts,
        position=position,
        description="An S crossed by a vertical line.",
    )


def _letter_s(position: FloatVector) -> FloatMatrix:
    """Return the points of the S: anticlockwise over the upper circle, clockwise on the lower."""
    turned = 3 * np.pi * position
    is_upper = turned < 1.5 * np.pi
    angle = np.where(is_upper, turned, 0.5 * np.pi - (turned - 1.5 * np.pi))
    height = np.where(is_upper, 1.0, -1.0)
    return np.column_stack([np.cos(angle), height + np.sin(angle)])


def surface_sphere(n_points: int, *, noise: float = 0.0, random_state: Seed = None) -> Dataset:
    r"""Return a wavy sheet that crosses a unit sphere in space.

    The sheet is :math:`z = 0.4 \sin(2\pi x/3)` over the square :math:`[-3/2, 3/2]^2`, the sphere
    has its centre at the origin. Points are uniform in area over both. With s in [0, 1] the
    position, along x on the sheet and from the lower to the upper pole on the sphere,

    .. math:: f = 1 + s \text{ on the sphere}, \qquad f = -1 - s \text{ on the sheet}.

    Parameters
    ----------
    n_points : int
        How many points, the sphere's first.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to each coordinate.
    random_state : int, Generator, RandomState or None
        The seed.

    Returns
    -------
    Dataset
        Targets f; ``extras["manifold"]`` 0 for the sphere and 1 for the sheet,
        ``extras["position"]`` s.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import surface_sphere
    >>> crossing = surface_sphere(1000, random_state=0)
    >>> on_sphere = crossing.extras["manifold"] == 0
    >>> np.unique(np.linalg.norm(crossing.points[on_sphere], axis=1).round(12))
    array([1.])
    """
    n_points, noise = check_count(n_points, name="n_points"), check_noise(noise)
    rng = generator(random_state)
    one_period = np.linspace(-_SHEET_HALF, _SHEET_HALF, 256, endpoint=False)
    sheet_area = (2 * _SHEET_HALF) ** 2 * float(_sheet_stretch(one_period).mean())
    counts = shares(n_points, [4 * np.pi, sheet_area])
    gaussian = rng.standard_normal((counts[0], 3))
    ball = gaussian / np.linalg.norm(gaussian, axis=1, keepdims=True)
    flat = rejection(
        lambda m: _SHEET_HALF * (2 * rng.random((m, 2)) - 1),
        lambda proposals: _sheet_stretch(proposals[:, 0]),
        float(np.hypot(1.0, _SHEET_HEIGHT * _SHEET_WAVE)),
        counts[1],
        rng,
    )
    sheet = np.column_stack([flat, _SHEET_HEIGHT * np.sin(_SHEET_WAVE * flat[:, 0])])
    position = np.concatenate([(ball[:, 2] + 1) / 2, flat[:, 0] / (2 * _SHEET_HALF) + 0.5])
    return on_two_manifolds(
        name="surface_sphere",
        points=perturb(np.vstack([ball, sheet]), noise, rng),
        counts=counts,
        position=position,
        description="A wavy sheet crossing a unit sphere.",
    )


def _sheet_stretch(x: FloatVector) -> FloatVector:
    """Return the area of the sheet over a unit of the plane."""
    slope = _SHEET_HEIGHT * _SHEET_WAVE * np.cos(_SHEET_WAVE * x)
    stretch: FloatVector = np.hypot(1.0, slope)
    return stretch


def density_change(
    n_points: int, *, noise: float = 0.0, random_state: Seed = None, ratio: float = 8.0
) -> Dataset:
    r"""Return two unit squares side by side that differ in density alone.

    The dense square is :math:`[-1, 0] \times [0, 1]`, the sparse one :math:`[0, 1] \times [0, 1]`:
    the support has no gap, and only the jump of the density shows the border. With s in [0, 1] the
    height in the square,

    .. math:: f = 1 + s \text{ where dense}, \qquad f = -1 - s \text{ where sparse}.

    Parameters
    ----------
    n_points : int
        How many points, the dense square's first.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to each coordinate.
    random_state : int, Generator, RandomState or None
        The seed.
    ratio : float, default=8.0
        The density of the dense square over that of the sparse one.

    Returns
    -------
    Dataset
        Targets f; ``extras["manifold"]`` 0 where dense and 1 where sparse, ``extras["position"]``
        s.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import density_change
    >>> np.bincount(density_change(900, ratio=8.0, random_state=0).extras["manifold"])
    array([800, 100])
    """
    n_points, noise = check_count(n_points, name="n_points"), check_noise(noise)
    counts = shares(n_points, [check_positive(ratio, name="ratio"), 1.0])
    return _side_by_side("density_change", counts, gap=0.0, noise=noise, random_state=random_state)


def two_squares(
    n_points: int, *, noise: float = 0.0, random_state: Seed = None, gap: float = 0.1
) -> Dataset:
    r"""Return two unit squares that are near each other, touch, or overlap.

    The squares are :math:`[-1-g/2, -g/2] \times [0, 1]` and :math:`[g/2, 1+g/2] \times [0, 1]`,
    equally dense. Separating them from unlabelled points alone needs a spacing of the points below
    the gap g, which is the point of the example in Zhu's slides on multi-manifold separation.
    With s in [0, 1] the height in the square,

    .. math:: f = 1 + s \text{ on the left}, \qquad f = -1 - s \text{ on the right}.

    Parameters
    ----------
    n_points : int
        How many points, the left square's first.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to each coordinate.
    random_state : int, Generator, RandomState or None
        The seed.
    gap : float, default=0.1
        Distance g between the squares; 0 lets them touch, and a negative one overlap.

    Returns
    -------
    Dataset
        Targets f; ``extras["manifold"]`` 0 on the left and 1 on the right, ``extras["position"]``
        s.

    Examples
    --------
    >>> from beltrami import two_squares
    >>> squares = two_squares(1000, gap=0.2, random_state=0)
    >>> across, is_right = squares.points[:, 0], squares.extras["manifold"] == 1
    >>> float(across[is_right].min() - across[~is_right].max()) > 0.2
    True
    """
    n_points, noise = check_count(n_points, name="n_points"), check_noise(noise)
    if not (isinstance(gap, numbers.Real) and np.isfinite(gap) and gap > -1):
        raise InvalidInputError(
            f"gap={gap!r} must be a finite number above -1: at -1 the squares are the same."
        )
    counts = shares(n_points, [1.0, 1.0])
    return _side_by_side("two_squares", counts, gap=gap, noise=noise, random_state=random_state)


def _side_by_side(
    name: str, counts: tuple[int, ...], *, gap: float, noise: float, random_state: Seed
) -> Dataset:
    """Return two unit squares, the second to the right of the first."""
    rng = generator(random_state)
    square = rng.random((sum(counts), 2))
    shift = np.repeat([-1 - gap / 2, gap / 2], counts)
    points = np.column_stack([square[:, 0] + shift, square[:, 1]])
    return on_two_manifolds(
        name=name,
        points=perturb(points, noise, rng),
        counts=counts,
        position=square[:, 1],
        description=f"Two unit squares, {gap:g} apart, with {counts[0]} and {counts[1]} points.",
    )
