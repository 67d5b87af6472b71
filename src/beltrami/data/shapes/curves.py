"""Curves in the plane whose two classes are told apart along the curve, not by distance.

A number of points and a seed enter; a `Dataset` with two classes leaves, with the exact position
of every point on its curve in the extras.
"""

import numpy as np

from beltrami.core.randomness import generator
from beltrami.core.types import FloatMatrix, FloatVector, Seed
from beltrami.core.validation import check_count
from beltrami.data.model import Dataset
from beltrami.data.shapes.sampling import Spacing, arc_length_table, check_noise, perturb, positions

_SWEEP = 1.3 * np.pi  # how far each arm of the plane curve winds around the origin
_DRIFT = 0.33  # how much farther out the one arm ends than the middle of the curve
_HALF_WIDTH = 0.14  # half the distance between the two sides of an arm


def two_moons(
    n_points: int,
    *,
    noise: float = 0.0,
    random_state: Seed = None,
    spacing: Spacing = "random",
) -> Dataset:
    r"""Return two interlocking half circles, one for each class.

    .. math:: x_0(\varphi) = (\cos\varphi, \sin\varphi), \qquad
              x_1(\varphi) = (1 - \cos\varphi, \tfrac12 - \sin\varphi),
              \qquad 0 \le \varphi < \pi.

    A straight line leaves a part of each moon on the wrong side; the moons are 0.5 apart at their
    nearest, so a neighbourhood graph with shorter edges separates them. The first half of the rows
    is class 0.

    Parameters
    ----------
    n_points : int
        How many points, the odd one in class 0.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to each coordinate.
    random_state : int, Generator, RandomState or None
        The seed.
    spacing : {"random", "even"}, default="random"
        Independent uniform angles, or equal steps along each moon.

    Returns
    -------
    Dataset
        Targets 0 and 1; ``extras["angle"]`` is the angle on the moon of the point, in radians.

    Examples
    --------
    >>> from beltrami import two_moons
    >>> moons = two_moons(4, spacing="even")
    >>> moons.points.round(6).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.5], [1.0, -0.5]]
    >>> moons.targets
    array([0, 0, 1, 1])
    """
    n_points = check_count(n_points, name="n_points")
    noise = check_noise(noise)
    rng = generator(random_state)
    n_second = n_points // 2
    halves = [positions(n, spacing, rng) for n in (n_points - n_second, n_second) if n]
    angle = np.pi * np.concatenate(halves)
    targets = np.repeat([0, 1], [n_points - n_second, n_second])
    side = np.where(targets == 0, 1.0, -1.0)
    centre = np.where(targets[:, None] == 0, [0.0, 0.0], [1.0, 0.5])
    points = centre + side[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return Dataset(
        name="two_moons",
        points=perturb(points, noise, rng),
        targets=targets,
        extras={"angle": angle},
        description="Two interlocking half circles; `angle` in radians.",
    )


def plane_curve(
    n_points: int = 500,
    *,
    noise: float = 0.0,
    random_state: Seed = None,
    spacing: Spacing = "random",
) -> Dataset:
    r"""Return two classes on one closed curve whose parts come close to each other.

    The problem that motivates classifiers on a manifold in Belkin and Niyogi (2002), Figure 1: the
    classes are two parts of a closed curve; along the curve they are easy to tell apart, in the
    plane they are not. The curve is ours, since the text gives no formula: in polar coordinates

    .. math:: \varphi(u) = a \sin u, \qquad
              r(u) = 1 + b \sin u + c \tanh(3 \cos u), \qquad 0 \le u < 2\pi,

    with a = 1.3 pi, b = 0.33, c = 0.14: the outline of a thin band that winds around the origin
    in a spiral, so that its two ends pass each other at about the width of the band; the tanh
    rounds the ends. Class 1 is
    the outer half of the band (sin u > 0), class 0 the inner half. Points are uniform in arc
    length.

    Parameters
    ----------
    n_points : int, default=500
        How many points.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to each coordinate.
    random_state : int, Generator, RandomState or None
        The seed.
    spacing : {"random", "even"}, default="random"
        Independent and uniform in arc length, or equal steps of arc length.

    Returns
    -------
    Dataset
        Targets 0 and 1; ``extras["arc_length"]`` along the curve from u = 0,
        ``extras["length"]`` the length of the whole curve, ``extras["parameter"]`` u.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import plane_curve
    >>> curve = plane_curve(200, spacing="even")
    >>> int((curve.targets != np.roll(curve.targets, 1)).sum())  # the class changes twice
    2
    """
    n_points = check_count(n_points, name="n_points")
    noise = check_noise(noise)
    rng = generator(random_state)
    parameters, lengths = arc_length_table(_closed_curve, 0.0, 2 * np.pi)
    total = float(lengths[-1])
    arc_length = total * positions(n_points, spacing, rng)
    u = np.interp(arc_length, lengths, parameters)
    return Dataset(
        name="plane_curve",
        points=perturb(_closed_curve(u), noise, rng),
        targets=(np.sin(u) > 0).astype(np.int64),
        extras={"arc_length": arc_length, "length": total, "parameter": u},
        description="Two classes on a closed plane curve whose parts come close to each other.",
    )


def _closed_curve(u: FloatVector) -> FloatMatrix:
    angle = _SWEEP * np.sin(u)
    radius = 1.0 + _DRIFT * np.sin(u) + _HALF_WIDTH * np.tanh(3 * np.cos(u))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
