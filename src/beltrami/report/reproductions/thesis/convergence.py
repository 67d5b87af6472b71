"""Thesis chapter 4: the heat-kernel Laplacian of random points tends to the manifold's own."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.data import circle, sphere
from beltrami.report.palette import style_of

SIZES = (500, 1000, 2000, 4000, 8000, 16000, 32000, 64000)
_PROBES = 200
_DRAWS = 5


@dataclass(frozen=True, slots=True)
class Harmonic:
    """A function on a manifold that the Laplace-Beltrami operator only multiplies.

    Attributes
    ----------
    name : str
        For the legend.
    manifold : callable
        Draws points, `circle` or `sphere`.
    dimension : int
        Of the manifold.
    volume : float
        Of the manifold.
    eigenvalue : float
        What the operator multiplies the function by.
    function : callable
        Takes points, returns values.
    """

    name: str
    manifold: Any
    dimension: int
    volume: float
    eigenvalue: float
    function: Any


HARMONICS = (
    Harmonic("circle, cos φ", circle, 1, 2 * np.pi, 1.0, lambda p: p[:, 0]),
    Harmonic("circle, cos 2φ", circle, 1, 2 * np.pi, 4.0, lambda p: 2 * p[:, 0] ** 2 - 1),
    Harmonic("sphere, z", sphere, 2, 4 * np.pi, 2.0, lambda p: p[:, 2]),
    Harmonic("sphere, 3z² - 1", sphere, 2, 4 * np.pi, 6.0, lambda p: 3 * p[:, 2] ** 2 - 1),
)


def heat_laplacian_at(
    points: FloatMatrix, values: FloatVector, rows: NDArray[np.intp], *, t: float, dimension: int
) -> FloatVector:
    r"""Return the heat-kernel Laplacian of a function at some of its points.

    .. math:: \frac{1}{n t (4\pi t)^{d/2}} \sum_j e^{-\lVert x - x_j \rVert^2 / 4t} (f(x) - f(x_j))

    As n grows and t falls this tends to the positive Laplace-Beltrami operator divided by the
    volume (thesis, theorem 4.2.9 with its sign put right).

    Parameters
    ----------
    points : ndarray of shape (n, k)
        Uniform on a manifold.
    values : ndarray of shape (n,)
        The function.
    rows : ndarray of shape (m,)
        Where to evaluate.
    t : float
        Width of the kernel.
    dimension : int
        d, of the manifold.

    Returns
    -------
    ndarray of shape (m,)
        One value per row.
    """
    gaps = ((points[rows, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    kernel = np.exp(-gaps / (4 * t))
    balance = kernel.sum(axis=1) * values[rows] - kernel @ values
    result: FloatVector = balance / (len(points) * t * (4 * np.pi * t) ** (dimension / 2))
    return result


def convergence_error(harmonic: Harmonic, n: int, *, seed: int) -> float:
    """Return the relative root-mean-square error at random points, t = 0.5 n^(-2/(d+6)).

    This t balances the bias, of order t, against the noise, of order n^(-1/2) t^(-(d+2)/4).

    Parameters
    ----------
    harmonic : Harmonic
        Manifold and function.
    n : int
        Number of points.
    seed : int
        Of the draw.

    Returns
    -------
    float
        Error relative to the true values.
    """
    points = np.asarray(harmonic.manifold(n, random_state=seed).points)
    values = harmonic.function(points)
    rows = np.random.default_rng(seed).choice(n, size=min(_PROBES, n), replace=False)
    t = 0.5 * n ** (-2 / (harmonic.dimension + 6))
    found = np.concatenate(
        [
            heat_laplacian_at(points, values, part, t=t, dimension=harmonic.dimension)
            for part in np.array_split(rows, 20)
        ]
    )
    truth = harmonic.eigenvalue * values[rows]
    error = harmonic.volume * found - truth
    return float(np.sqrt(np.mean(error**2) / np.mean(truth**2)))


def convergence_figure() -> Figure:
    """Draw the error against the number of points, on circle and sphere, two functions each.

    Returns
    -------
    Figure
        Logarithmic axes; medians of five draws.
    """
    figure = Figure(figsize=(6.4, 4.6), layout="constrained")
    axes = figure.subplots()
    for number, harmonic in enumerate(HARMONICS):
        errors = [
            float(np.median([convergence_error(harmonic, n, seed=s) for s in range(_DRAWS)]))
            for n in SIZES
        ]
        slope = np.polyfit(np.log(SIZES), np.log(errors), 1)[0]
        colour, _ = style_of(number)
        label = f"{harmonic.name}  (error ~ n^{slope:.2f})"
        axes.loglog(SIZES, errors, "o-", c=colour, label=label)
    axes.set_xlabel("number of points n")
    axes.set_ylabel("relative error of the Laplacian, rms over points")
    axes.set_title("heat-kernel Laplacian → Laplace-Beltrami operator")
    axes.legend(frameon=False)
    return figure
