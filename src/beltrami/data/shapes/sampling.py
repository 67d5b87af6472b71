"""What the generators share: arc length, densities by rejection, noise, shares, a target.

Parameters of a curve or a surface enter, samples that are uniform on it leave. Nothing here knows
a particular shape.
"""

import numbers
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.core.validation import check_choice
from beltrami.data.model import Dataset

Spacing: TypeAlias = Literal["random", "even"]

_N_NODES = 20001  # chords this short underestimate a smooth arc by less than 1e-6 of its length


def check_noise(noise: object) -> float:
    """Return `noise` as a finite float of at least zero, else raise."""
    is_number = isinstance(noise, numbers.Real) and not isinstance(noise, bool)
    value = float(noise) if is_number else -1.0  # type: ignore[arg-type]
    if np.isfinite(value) and value >= 0:
        return value
    raise InvalidInputError(
        f"noise={noise!r} must be a finite number of at least zero: it is a standard deviation "
        "in the units of the points."
    )


def perturb(points: FloatMatrix, noise: float, rng: np.random.Generator) -> FloatMatrix:
    """Return the points moved by isotropic Gaussian noise, or the points themselves for zero."""
    if noise == 0.0:
        return points
    return points + noise * rng.standard_normal(points.shape)


def positions(n_points: int, spacing: Spacing, rng: np.random.Generator) -> FloatVector:
    """Return n numbers in [0, 1): uniform and independent, or equally spaced from zero."""
    check_choice(spacing, ("random", "even"), name="spacing")
    return np.arange(n_points) / n_points if spacing == "even" else rng.random(n_points)


def arc_length_table(
    curve: Callable[[FloatVector], FloatMatrix], start: float, stop: float
) -> tuple[FloatVector, FloatVector]:
    """Return parameters of a curve and the arc length from the start to each.

    `curve` takes m parameters and returns their points, of shape (m, d). Both columns of the table
    increase, so that ``numpy.interp`` between them inverts the arc length.
    """
    parameters = np.linspace(start, stop, _N_NODES)
    steps = np.linalg.norm(np.diff(curve(parameters), axis=0), axis=1)
    return parameters, np.concatenate([[0.0], np.cumsum(steps)])


def rejection(
    draw: Callable[[int], NDArray[Any]],
    density: Callable[[NDArray[Any]], FloatVector],
    bound: float,
    n_points: int,
    rng: np.random.Generator,
) -> NDArray[Any]:
    """Draw independent points whose density is that of `draw` times `density`.

    `draw` takes a number m and returns m proposals, of shape (m, ...); `density` takes the
    proposals and returns the factor of each, at most `bound`.
    """
    kept = [draw(0)]  # so that zero points have the right shape
    n_kept = 0
    while n_kept < n_points:
        proposals = draw(2 * (n_points - n_kept) + 16)
        stays = rng.random(len(proposals)) * bound < density(proposals)
        kept.append(proposals[stays])
        n_kept += int(stays.sum())
    return np.concatenate(kept)[:n_points]


def shares(n_points: int, sizes: Sequence[float]) -> tuple[int, ...]:
    """Divide `n_points` in proportion to `sizes`, to whole numbers that sum to `n_points`."""
    ends = np.rint(n_points * np.cumsum(sizes) / np.sum(sizes)).astype(int)
    return tuple(int(share) for share in np.diff(ends, prepend=0))


def on_two_manifolds(
    *,
    name: str,
    points: FloatMatrix,
    counts: tuple[int, ...],
    position: FloatVector,
    description: str,
) -> Dataset:
    """Return a set with target 1 + s on its first manifold and -1 - s on its second.

    Points of the first come before those of the second, `counts` of them on each; s is `position`,
    from 0 to 1.
    """
    manifold = np.repeat([0, 1], counts)
    return Dataset(
        name=name,
        points=points,
        targets=np.where(manifold == 0, 1.0, -1.0) * (1.0 + position),
        extras={"manifold": manifold, "position": position},
        description=description + " The target is smooth on each part and jumps between them.",
    )
