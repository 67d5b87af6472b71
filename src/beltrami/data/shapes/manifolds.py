"""Closed and rolled manifolds with known geometry: circle, sphere, torus, Swiss roll.

A number of points and a seed enter; a `Dataset` leaves whose extras hold the exact intrinsic
coordinates of every point before noise.
"""

from typing import Literal

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import FloatVector, Seed
from beltrami.core.validation import check_choice, check_count, check_positive
from beltrami.data.model import Dataset
from beltrami.data.shapes.sampling import Spacing, check_noise, perturb, positions, rejection

_ROLL_START, _ROLL_STOP = 1.5 * np.pi, 4.5 * np.pi


def circle(
    n_points: int,
    *,
    noise: float = 0.0,
    random_state: Seed = None,
    radius: float = 1.0,
    spacing: Spacing = "random",
) -> Dataset:
    r"""Return points uniform on a circle in the plane.

    .. math:: x(\varphi) = r (\cos\varphi, \sin\varphi), \qquad 0 \le \varphi < 2\pi.

    The Laplacian of the circle has eigenvalues :math:`(j/r)^2`, each but the first twice, which
    makes it the first check of any spectral method.

    Parameters
    ----------
    n_points : int
        How many points.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to each coordinate.
    random_state : int, Generator, RandomState or None
        The seed.
    radius : float, default=1.0
        Radius r.
    spacing : {"random", "even"}, default="random"
        Independent uniform angles, or equal steps from angle zero.

    Returns
    -------
    Dataset
        ``extras["angle"]`` in radians.

    Examples
    --------
    >>> from beltrami import circle
    >>> circle(4, spacing="even").points.round(6) + 0.0
    array([[ 1.,  0.],
           [ 0.,  1.],
           [-1.,  0.],
           [ 0., -1.]])
    """
    n_points = check_count(n_points, name="n_points")
    noise, radius = check_noise(noise), check_positive(radius, name="radius")
    rng = generator(random_state)
    angle = 2 * np.pi * positions(n_points, spacing, rng)
    points = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return Dataset(
        name="circle",
        points=perturb(points, noise, rng),
        extras={"angle": angle},
        description=f"Circle of radius {radius:g}; `angle` in radians.",
    )


def sphere(
    n_points: int,
    *,
    noise: float = 0.0,
    random_state: Seed = None,
    radius: float = 1.0,
    dimension: int = 2,
) -> Dataset:
    r"""Return points uniform on a sphere.

    .. math:: x = r\, g / \|g\|, \qquad g \sim N(0, I_{m+1}),

    is uniform on the sphere of intrinsic dimension m by the symmetry of the Gaussian. Its
    Laplacian has eigenvalues :math:`j(j + m - 1)/r^2`.

    Parameters
    ----------
    n_points : int
        How many points.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to each coordinate.
    random_state : int, Generator, RandomState or None
        The seed.
    radius : float, default=1.0
        Radius r.
    dimension : int, default=2
        Intrinsic dimension m; the points have m + 1 coordinates.

    Returns
    -------
    Dataset
        ``extras["direction"]`` holds the unit vectors; for m = 2 also ``"polar"`` in [0, pi],
        measured from the third axis, and ``"azimuth"`` in [0, 2 pi).

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import sphere
    >>> ball = sphere(500, radius=2.0, random_state=0)
    >>> ball.points.shape, np.unique(np.linalg.norm(ball.points, axis=1).round(12)).tolist()
    ((500, 3), [2.0])
    """
    n_points = check_count(n_points, name="n_points")
    dimension = check_count(dimension, name="dimension")
    noise, radius = check_noise(noise), check_positive(radius, name="radius")
    rng = generator(random_state)
    gaussian = rng.standard_normal((n_points, dimension + 1))
    direction = gaussian / np.linalg.norm(gaussian, axis=1, keepdims=True)
    extras = {"direction": direction}
    if dimension == 2:
        extras["polar"] = np.arccos(np.clip(direction[:, 2], -1.0, 1.0))
        extras["azimuth"] = np.arctan2(direction[:, 1], direction[:, 0]) % (2 * np.pi)
    return Dataset(
        name="sphere",
        points=perturb(radius * direction, noise, rng),
        extras=extras,
        description=f"Sphere of radius {radius:g} and intrinsic dimension {dimension}.",
    )


def torus(
    n_points: int,
    *,
    noise: float = 0.0,
    random_state: Seed = None,
    major_radius: float = 2.0,
    minor_radius: float = 1.0,
) -> Dataset:
    r"""Return points uniform in area on a torus of revolution.

    .. math:: x = ((R + r\cos\theta)\cos\varphi, (R + r\cos\theta)\sin\varphi, r\sin\theta).

    The area element is :math:`r (R + r\cos\theta)\,d\theta\,d\varphi`, so theta is drawn by
    rejection with probability proportional to :math:`R + r\cos\theta` and phi uniformly.

    Parameters
    ----------
    n_points : int
        How many points.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to each coordinate.
    random_state : int, Generator, RandomState or None
        The seed.
    major_radius : float, default=2.0
        Radius R of the centre line.
    minor_radius : float, default=1.0
        Radius r of the tube, below R.

    Returns
    -------
    Dataset
        ``extras["toroidal"]`` is phi and ``extras["poloidal"]`` theta, both in [0, 2 pi).

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import torus
    >>> x, y, z = torus(500, random_state=0).points.T
    >>> np.unique(np.hypot(np.hypot(x, y) - 2, z).round(12))  # the tube has radius 1
    array([1.])
    """
    n_points = check_count(n_points, name="n_points")
    noise = check_noise(noise)
    major = check_positive(major_radius, name="major_radius")
    minor = check_positive(minor_radius, name="minor_radius")
    if minor >= major:
        raise InvalidInputError(
            f"minor_radius={minor:g} must be below major_radius={major:g}: the tube would cut "
            "itself and the surface would be no manifold."
        )
    rng = generator(random_state)
    poloidal = rejection(
        lambda m: 2 * np.pi * rng.random(m),
        lambda theta: major + minor * np.cos(theta),
        major + minor,
        n_points,
        rng,
    )
    toroidal = 2 * np.pi * rng.random(n_points)
    ring = major + minor * np.cos(poloidal)
    points = np.column_stack(
        [ring * np.cos(toroidal), ring * np.sin(toroidal), minor * np.sin(poloidal)]
    )
    return Dataset(
        name="torus",
        points=perturb(points, noise, rng),
        extras={"toroidal": toroidal, "poloidal": poloidal},
        description=f"Torus of radii {major:g} and {minor:g}, uniform in area.",
    )


def swiss_roll(
    n_points: int,
    *,
    noise: float = 0.0,
    random_state: Seed = None,
    width: float = 21.0,
    sampling: Literal["area", "angle"] = "area",
) -> Dataset:
    r"""Return points on a rolled strip, which is isometric to a flat rectangle.

    .. math:: x(t, h) = (t\cos t, h, t\sin t), \qquad 3\pi/2 \le t \le 9\pi/2, 0 \le h \le w.

    The arc length of the spiral is :math:`s(t) = (t\sqrt{1+t^2} + \operatorname{asinh} t)/2`, and
    (s, h) are the coordinates of the flat rectangle. With ``sampling="area"`` s is uniform, and so
    are the points on the surface; with ``"angle"`` t is uniform, the customary draw, which is
    denser by up to a factor three near the axis.

    Parameters
    ----------
    n_points : int
        How many points.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to each coordinate.
    random_state : int, Generator, RandomState or None
        The seed.
    width : float, default=21.0
        Width w of the strip.
    sampling : {"area", "angle"}, default="area"
        In which coordinate the points are uniform.

    Returns
    -------
    Dataset
        ``extras["angle"]`` is t, ``extras["arc_length"]`` s counted from the inner end, and
        ``extras["height"]`` h.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import swiss_roll
    >>> roll = swiss_roll(500, random_state=0)
    >>> x, _, z = roll.points.T
    >>> np.allclose(np.hypot(x, z), roll.extras["angle"])  # a spiral: the radius is the angle
    True
    """
    n_points = check_count(n_points, name="n_points")
    noise, width = check_noise(noise), check_positive(width, name="width")
    check_choice(sampling, ("area", "angle"), name="sampling")
    rng = generator(random_state)
    start, stop = _spiral_length(np.array([_ROLL_START, _ROLL_STOP]))
    fraction = rng.random(n_points)
    if sampling == "area":
        angle = _spiral_angle(start + fraction * (stop - start))
    else:
        angle = _ROLL_START + fraction * (_ROLL_STOP - _ROLL_START)
    height = width * rng.random(n_points)
    points = np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)])
    return Dataset(
        name="swiss_roll",
        points=perturb(points, noise, rng),
        extras={
            "angle": angle,
            "arc_length": _spiral_length(angle) - start,
            "height": height,
        },
        description=f"Swiss roll of width {width:g}, uniform in {sampling}.",
    )


def _spiral_length(angle: FloatVector) -> FloatVector:
    """Return the arc length of the spiral r = t from 0 to each angle."""
    return 0.5 * (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle))


def _spiral_angle(length: FloatVector) -> FloatVector:
    """Invert `_spiral_length` by Newton's method from sqrt(2 s), which overshoots by little."""
    angle = np.sqrt(2 * length)
    for _ in range(6):  # s is convex in t, so the steps decrease to the root; three reach 1e-15
        angle = angle - (_spiral_length(angle) - length) / np.sqrt(1 + angle**2)
    return angle
