"""Thesis chapter 4: the heat-kernel Laplacian of random points tends to the manifold's own.

Nothing enters but the wish for a quick run; errors of the operator by number of points and width
of the kernel, and its eigenvalues beside the true ones leave.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from beltrami.core.machine.threads import serial_blas
from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.data import circle, sphere

SIZES = (500, 1000, 2000, 4000, 8000, 16000, 32000, 64000)
WIDTHS = tuple(float(t) for t in 0.4 * 0.5 ** np.arange(8))
WIDTH_SIZES = (1000, 16000)
SPECTRUM_SIZES = (250, 500, 1000, 2000)
DRAWS = 5
_PROBES = 200


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
SPECTRA = {"circle": (0, 1, 1, 4, 4, 9, 9), "sphere": (0, 2, 2, 2, 6, 6, 6, 6, 6)}
"""The lowest eigenvalues of the Laplace-Beltrami operator, with their multiplicities."""


def heat_laplacian_at(
    points: FloatMatrix, values: FloatVector, rows: NDArray[np.intp], *, t: float, dimension: int
) -> FloatVector:
    r"""Return the heat-kernel Laplacian of a function at some of its points.

    .. math:: \frac{1}{n t (4\pi t)^{d/2}} \sum_j e^{-\lVert x - x_j \rVert^2 / 4t} (f(x) - f(x_j))

    As n grows and t falls this tends to the positive Laplace-Beltrami operator divided by the
    volume (thesis, theorem 4.2.9 with its sign put right).
    """
    kernel = _kernel(points[rows], points, t)
    balance = kernel.sum(axis=1) * values[rows] - kernel @ values
    result: FloatVector = balance / (len(points) * _unit(t, dimension))
    return result


def _kernel(rows: FloatMatrix, points: FloatMatrix, t: float) -> FloatMatrix:
    gaps: FloatMatrix = cdist(rows, points, "sqeuclidean")
    gaps *= -1 / (4 * t)
    return np.exp(gaps, out=gaps)


def _unit(t: float, dimension: int) -> float:
    return float(t * (4 * np.pi * t) ** (dimension / 2))


def balanced_width(n: int, dimension: int) -> float:
    """Return t = 0.5 n^(-2/(d+6)), which balances bias and noise.

    The bias is of order t, the noise of order n^(-1/2) t^(-(d+2)/4).
    """
    return float(0.5 * n ** (-2 / (dimension + 6)))


def convergence_error(harmonic: Harmonic, n: int, *, seed: int, t: float | None = None) -> float:
    """Return the relative root-mean-square error at random points."""
    points = np.asarray(harmonic.manifold(n, random_state=seed).points)
    values = harmonic.function(points)
    rows = np.random.default_rng(seed).choice(n, size=min(_PROBES, n), replace=False)
    width = balanced_width(n, harmonic.dimension) if t is None else t
    laplacian = np.concatenate(
        [
            heat_laplacian_at(points, values, part, t=width, dimension=harmonic.dimension)
            for part in np.array_split(rows, 20)
        ]
    )
    truth = harmonic.eigenvalue * values[rows]
    error = harmonic.volume * laplacian - truth
    return float(np.sqrt(np.mean(error**2) / np.mean(truth**2)))


def size_cells(sizes: tuple[int, ...], draws: int) -> list[dict[str, Any]]:
    """Return the errors of every function by number of points, t falling with it.

    An entry per function: ``errors`` by size, ``rate``: the exponent of n fitted to them, and
    ``expected``: -2/(d+6), what bias and noise in balance give.
    """
    cells = []
    with track("errors of the Laplacian by n", total=len(HARMONICS) * len(sizes)) as advance:
        for harmonic in HARMONICS:
            errors = {}
            for n in sizes:
                errors[n] = _median(partial(convergence_error, harmonic, n), draws)
                advance(1)
            rate = np.polyfit(np.log(sizes), np.log(list(errors.values())), 1)[0]
            cells.append(
                {
                    "function": harmonic.name,
                    "eigenvalue": harmonic.eigenvalue,
                    "rate": round(float(rate), 4),
                    "expected": round(-2 / (harmonic.dimension + 6), 4),
                    "errors": {str(n): round(error, 6) for n, error in errors.items()},
                }
            )
    return cells


def width_cells(sizes: tuple[int, ...], draws: int) -> list[dict[str, Any]]:
    """Return the errors of every function by width of the kernel, the number of points fixed.

    An entry per function and number of points, with its ``errors`` by t, the ``best`` t and the
    ``balanced`` one.
    """
    cells = []
    with track("errors of the Laplacian by t", total=len(HARMONICS) * len(sizes)) as advance:
        for harmonic in HARMONICS:
            for n in sizes:
                errors = {
                    t: _median(partial(convergence_error, harmonic, n, t=t), draws) for t in WIDTHS
                }
                cells.append(
                    {
                        "function": harmonic.name,
                        "n": n,
                        "best": min(errors, key=errors.__getitem__),
                        "balanced": round(balanced_width(n, harmonic.dimension), 4),
                        "errors": {f"{t:g}": round(error, 6) for t, error in errors.items()},
                    }
                )
                advance(1)
    return cells


def _median(error: Any, draws: int) -> float:
    return float(np.median([error(seed=seed) for seed in range(draws)]))


def spectrum_of(points: FloatMatrix, *, t: float, dimension: int, volume: float, count: int) -> Any:
    """Return the lowest eigenvalues of the heat-kernel Laplacian matrix, in the manifold's unit."""
    weights = _kernel(points, points, t)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    with serial_blas():
        values = eigh(laplacian, eigvals_only=True, subset_by_index=(0, count - 1))
    return volume * values / (len(points) * _unit(t, dimension))


def spectrum_cells(sizes: tuple[int, ...], draws: int) -> list[dict[str, Any]]:
    """Return the eigenvalues of the matrix beside those of the manifold, by number of points.

    An entry per manifold and number of points: ``found`` mean of each true eigenvalue's copies,
    ``worst``: largest relative error of a single one.
    """
    cells = []
    with track("eigenvalues of the Laplacian", total=2 * len(sizes)) as advance:
        for harmonic in (HARMONICS[0], HARMONICS[2]):
            name = harmonic.name.split(",")[0]
            truth = np.array(SPECTRA[name], dtype=np.float64)
            for n in sizes:
                t = balanced_width(n, harmonic.dimension)
                drawn = [
                    spectrum_of(
                        np.asarray(harmonic.manifold(n, random_state=seed).points),
                        t=t,
                        dimension=harmonic.dimension,
                        volume=harmonic.volume,
                        count=len(truth),
                    )
                    for seed in range(draws)
                ]
                mean = np.mean(drawn, axis=0)
                levels = {
                    f"{v:g}": abs(round(float(mean[truth == v].mean()), 4)) for v in set(truth)
                }
                worst = float(np.abs(mean[1:] / truth[1:] - 1).max())
                cells.append(
                    {
                        "manifold": name,
                        "n": n,
                        "t": round(t, 4),
                        "found": dict(sorted(levels.items(), key=lambda item: float(item[0]))),
                        "worst": round(worst, 4),
                    }
                )
                advance(1)
    return cells
