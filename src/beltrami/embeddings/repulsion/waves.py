"""Repulsion of a narrow embedding, by random waves.

Where the embedding is not much wider than the kernel, every pair matters and none is special. The
kernel is then a mean of products of plane waves, exp(-|x - y|^2) = E cos(w . (x - y)) with w normal
of variance 2, and sums over all pairs become products of sums over all points.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.compiled import njit, prange
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.core.validation import check_count
from beltrami.embeddings.repulsion.pairs import checked_embedding, middle

_BATCH = 128  # frequencies
_ROWS = 128  # summed up in float32 before they are added in float64
_SHARES = 16  # of the rows: fixed, so that the order of additions is
_FLOOR = 1e-6  # of z, under which an estimate means nothing

# sin and cos of t turns on [-1/2, 1/2], least squares at Chebyshev points: 1e-7 and 1e-8.
_A1, _A3, _A5 = np.float32(6.28318279), np.float32(-41.34141939), np.float32(81.59613876)
_A7, _A9, _A11 = np.float32(-76.57968785), np.float32(41.20374363), np.float32(-12.26885994)
_B0, _B2, _B4 = np.float32(0.99999999), np.float32(-19.7392045), np.float32(64.93911746)
_B6, _B8, _B10 = np.float32(-85.45013953), np.float32(60.16763095), np.float32(-25.96759925)
_B12 = np.float32(6.52865816)


@dataclass(frozen=True)
class FourierRepulsion:
    """All pairs at once through random Fourier features; time grows with n D d.

    Relative errors fall with the square root of the number of features and grow with the width
    of the embedding; z may even come out negative, and is then clipped. Use it only where
    `row_error` is small.

    Attributes
    ----------
    n_features : int
        Frequencies D, rounded up to a multiple of 128; each gives a sine and a cosine.
    seed : int
        Of the frequencies.
    """

    n_features: int = 1024
    seed: int = 0

    def __post_init__(self) -> None:
        check_count(self.n_features, name="n_features")

    def __call__(self, embedding: FloatMatrix) -> tuple[FloatVector, FloatMatrix]:
        """Return log z and the force."""
        Y = checked_embedding(embedding)
        Y = Y - middle(Y)
        turns = _frequencies(Y.shape[1], self.n_features, self.seed)
        sums = _kernel_sums(Y, turns, np.hstack([np.ones((len(Y), 1)), Y]))
        log_z = np.log(np.maximum(sums[:, 0] - 1, _FLOOR))  # the 1 is the point itself
        inverse = np.exp(-log_z)[:, None]
        others = _kernel_sums(Y, turns, np.hstack([inverse, inverse * Y]))
        force = Y * (sums[:, :1] * inverse + others[:, :1])
        return log_z, force - sums[:, 1:] * inverse - others[:, 1:]


def _kernel_sums(Y: FloatMatrix, turns: FloatMatrix, weights: FloatMatrix) -> FloatMatrix:
    """Estimate sum_j exp(-|y_i - y_j|^2) w_j, with the point itself, for columns of weights.

    The frequencies `turns` have shape (d, D).
    """
    n = len(Y)
    extra = ((0, -n % 4), (0, 0))
    points = np.pad(Y.astype(np.float32), extra)
    columns = np.pad(weights.astype(np.float32), extra)
    waves = turns.astype(np.float32)
    moments = _moments(points, waves, columns).sum(axis=0) / turns.shape[1]
    sums: FloatMatrix = _sums(points, waves, moments.astype(np.float32))[:n]
    return sums


def _frequencies(n_axes: int, n_features: int, seed: int) -> FloatMatrix:
    """Draw frequencies of the kernel exp(-|x|^2), in turns per unit of length, (n_axes, D).

    Every d of them are orthogonal, with the lengths of independent ones; each by itself is
    normal with variance 2, and their errors partly cancel.
    """
    rng = np.random.default_rng(seed)
    n_columns = -(-n_features // _BATCH) * _BATCH
    n_groups = -(-n_columns // n_axes)
    bases = np.linalg.qr(rng.standard_normal((n_groups, n_axes, n_axes)))[0]
    bases *= rng.choice([-1.0, 1.0], size=(n_groups, 1, n_axes))
    lengths = np.sqrt(2 * rng.chisquare(n_axes, size=(n_groups, 1, n_axes)))
    columns = (bases * lengths).transpose(1, 0, 2).reshape(n_axes, -1)
    return np.ascontiguousarray(columns[:, :n_columns] / (2 * np.pi))


@njit(cache=True, fastmath={"contract", "nsz"})
def _fill(points: NDArray[Any], i: int, turns: NDArray[Any], first: int, out: NDArray[Any]) -> None:
    """Write cosines and sines, one after the other, of rows i..i+3 at a batch of frequencies."""
    for j in range(8 * _BATCH):
        out[j] = np.float32(0)
    for c in range(turns.shape[0]):
        t = turns[c, first : first + _BATCH]
        a0, a1, a2, a3 = points[i, c], points[i + 1, c], points[i + 2, c], points[i + 3, c]
        for j in range(_BATCH):
            x = t[j]
            out[j] += a0 * x
            out[j + 2 * _BATCH] += a1 * x
            out[j + 4 * _BATCH] += a2 * x
            out[j + 6 * _BATCH] += a3 * x
    for r in range(4):
        cosines = out[2 * r * _BATCH : (2 * r + 1) * _BATCH]
        sines = out[(2 * r + 1) * _BATCH : (2 * r + 2) * _BATCH]
        for j in range(_BATCH):
            t = cosines[j] - np.float32(np.floor(cosines[j] + np.float32(0.5)))
            u = t * t
            odd = ((((_A11 * u + _A9) * u + _A7) * u + _A5) * u + _A3) * u + _A1
            even = ((((_B12 * u + _B10) * u + _B8) * u + _B6) * u + _B4) * u + _B2
            cosines[j] = even * u + _B0
            sines[j] = odd * t


@njit(cache=True, parallel=True, fastmath={"contract", "nsz", "reassoc"})
def _moments(points: NDArray[Any], turns: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    """Return, of each share of the rows, the sums of their waves times every column of weights."""
    n, n_columns = weights.shape
    n_batches = turns.shape[1] // _BATCH
    out = np.zeros((_SHARES, n_batches, n_columns, 2 * _BATCH))
    for k in prange(_SHARES):
        waves = np.empty(8 * _BATCH, np.float32)
        first, last = n // 4 * k // _SHARES * 4, n // 4 * (k + 1) // _SHARES * 4
        for b in range(n_batches):
            for start in range(first, last, _ROWS):
                sums = np.zeros((n_columns, 2 * _BATCH), np.float32)
                for i in range(start, min(start + _ROWS, last), 4):
                    _fill(points, i, turns, b * _BATCH, waves)
                    for q in range(n_columns):
                        w0, w1 = weights[i, q], weights[i + 1, q]
                        w2, w3 = weights[i + 2, q], weights[i + 3, q]
                        total = sums[q]
                        for j in range(2 * _BATCH):
                            total[j] += (w0 * waves[j] + w1 * waves[j + 2 * _BATCH]) + (
                                w2 * waves[j + 4 * _BATCH] + w3 * waves[j + 6 * _BATCH]
                            )
                out[k, b] += sums
    return out


@njit(cache=True, parallel=True, fastmath={"contract", "nsz", "reassoc"})
def _sums(points: NDArray[Any], turns: NDArray[Any], moments: NDArray[Any]) -> NDArray[Any]:
    """Return the products of every row's waves with the moments."""
    n = points.shape[0]
    n_batches, n_columns, _ = moments.shape
    out = np.zeros((n, n_columns))
    for group in prange(n // 4):
        waves = np.empty(8 * _BATCH, np.float32)
        i = 4 * group
        for b in range(n_batches):
            _fill(points, i, turns, b * _BATCH, waves)
            for q in range(n_columns):
                m = moments[b, q]
                s0 = s1 = s2 = s3 = np.float32(0)
                for j in range(2 * _BATCH):
                    s0 += waves[j] * m[j]
                    s1 += waves[j + 2 * _BATCH] * m[j]
                    s2 += waves[j + 4 * _BATCH] * m[j]
                    s3 += waves[j + 6 * _BATCH] * m[j]
                out[i, q] += s0
                out[i + 1, q] += s1
                out[i + 2, q] += s2
                out[i + 3, q] += s3
    return out
