"""How wrong an estimate of the repulsion is, measured on exact rows, and which one to use.

Waves serve a narrow embedding, tiles a spread one. Which it is need not be known: any estimate can
be compared with exact rows at the price of those rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.core.validation import check_positive
from beltrami.embeddings.repulsion import _row_loops
from beltrami.embeddings.repulsion.exact import ExactRepulsion, Repulsion
from beltrami.embeddings.repulsion.pairs import checked_embedding
from beltrami.embeddings.repulsion.tiles import TiledRepulsion
from beltrami.embeddings.repulsion.waves import FourierRepulsion

_FEATURES = (1024, 4096)
_TILES = ((10.0, 2), (14.0, 4), (20.0, 8), (np.inf, 1))  # far thresholds and samples
_HOPELESS = 10.0  # tolerances of expected error beyond which waves are not tried
_EXACT_ROWS = 500  # that an estimate is compared with
_MOST_LOG = 100.0  # differences of log z are cut here before they are exponentiated


@dataclass(frozen=True)
class RowError:
    """Relative errors of an estimate on rows that were computed exactly.

    The exact force on a row needs z of all other rows. Those of the estimate are taken for it:
    an error of z_j shows in ``normalizer``, not in ``force``.
    """

    normalizer: float
    """Root mean square of z_estimate / z - 1."""

    force: float
    """Norm of the difference of the forces, over the norm of the exact ones."""

    n_rows: int

    @property
    def largest(self) -> float:
        """The larger of the two errors."""
        return max(self.normalizer, self.force)


def row_error(repulsion: Repulsion, embedding: FloatMatrix) -> RowError:
    """Measure an estimate of the repulsion against 500 exact rows, in O(n d) each."""
    Y = checked_embedding(embedding)
    return _compare(repulsion, Y, _Rows.draw(Y, seed=0))


def choose_repulsion(
    embedding: FloatMatrix,
    *,
    seed: int,
    tolerance: float = 0.02,
    exact_below: int = 5000,
) -> tuple[Repulsion, RowError]:
    """Find a cheap way to evaluate the repulsion that is right on this embedding.

    Small embeddings are computed exactly. Otherwise waves are tried first and tiles next, each
    refined while its errors on exact rows are above the tolerance; the last resort are all pairs,
    in float32 and then in float64. The `tolerance` bounds the relative errors of normalizers (root
    mean square) and of forces. An embedding that has moved far since deserves a new choice.
    """
    check_positive(tolerance, name="tolerance")
    Y = checked_embedding(embedding)
    if len(Y) <= exact_below:
        return ExactRepulsion(), RowError(0.0, 0.0, len(Y))
    rows = _Rows.draw(Y, seed)
    for repulsion in _candidates(Y, rows, seed, tolerance):
        error = _compare(repulsion, Y, rows)
        if error.largest <= tolerance:
            return repulsion, error
    return ExactRepulsion(), RowError(0.0, 0.0, len(Y))


class _Rows(NamedTuple):
    """Some rows with their exact normalizers."""

    rows: IndexVector
    log_z: NDArray[np.float64]

    @classmethod
    def draw(cls, Y: FloatMatrix, seed: int) -> "_Rows":
        rng = np.random.default_rng(seed)
        rows = np.sort(rng.choice(len(Y), size=min(_EXACT_ROWS, len(Y)), replace=False))
        nearest, totals = _row_loops.lone_normalizers(Y, rows)
        return cls(rows, np.log(totals) - nearest)


def _candidates(Y: FloatMatrix, exact: _Rows, seed: int, tolerance: float) -> Iterator[Repulsion]:
    """Yield estimates, the cheap ones first, leaving out waves that cannot do."""
    share = np.median(exact.log_z) - np.log(len(Y))
    for n_features in _FEATURES:
        expected = np.exp(min(-share, _MOST_LOG)) / np.sqrt(2 * n_features)
        if expected <= _HOPELESS * tolerance:
            yield FourierRepulsion(n_features, seed=seed)
    for far_threshold, n_samples in _TILES:
        yield TiledRepulsion(far_threshold, n_samples, seed=seed).refresh(Y)


def _compare(repulsion: Repulsion, Y: FloatMatrix, exact: _Rows) -> RowError:
    log_z, force = repulsion(Y)
    rows = exact.rows
    true_force: FloatMatrix = _row_loops.row_forces(Y, rows, exact.log_z, log_z)
    off: FloatVector = np.expm1(np.clip(log_z[rows] - exact.log_z, -_MOST_LOG, _MOST_LOG))
    size = max(float(np.linalg.norm(true_force)), 1e-12 * np.sqrt(len(rows)))
    return RowError(
        normalizer=float(np.sqrt(np.mean(off**2))),
        force=float(np.linalg.norm(force[rows] - true_force)) / size,
        n_rows=len(rows),
    )
