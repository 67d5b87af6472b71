"""Descent of a map: neighbours give the direction, estimates are renewed and checked on the way."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array

from beltrami.core.errors import BeltramiWarning
from beltrami.core.machine.backend import GroundedLaplacian
from beltrami.core.machine.threads import serial_blas
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector
from beltrami.embeddings.mbed.objective import MbedCost
from beltrami.embeddings.mbed.terms import ClassTerms
from beltrami.embeddings.neighborhoods.probabilities import Neighborhood, StoredNeighborhood
from beltrami.embeddings.repulsion.regimes import RowError, choose_repulsion, row_error
from beltrami.solvers.descent import Precondition, quasi_newton_descent
from beltrami.solvers.linear.preconditioners import ApproximateCholesky

_GROUND = 0.02  # share of the pull added to the Laplacian's diagonal, so that it has an inverse
_MOST_TIES = 30  # per point, that the direction is made of
_MOST_EXACT = 5000  # points up to which all pairs are summed
_ROUND = 20  # steps between choices of the estimate
_TOLERANCE = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class SettledMap:
    """A map that has come to rest, or used up its steps.

    Attributes
    ----------
    embedding : ndarray of shape (n, d)
        Positions.
    costs : ndarray
        Cost after every step; where sums over pairs are estimated it may jump between rounds.
    is_converged : bool
        Whether it came to rest.
    error : RowError
        What the sums over pairs get wrong at the end, on exact rows.
    """

    embedding: FloatMatrix
    costs: FloatVector
    is_converged: bool
    error: RowError


def settle_map(
    neighborhood: Neighborhood,
    terms: ClassTerms | None,
    start: FloatMatrix,
    *,
    n_steps: int,
    advance: Callable[[float], None] | None = None,
) -> SettledMap:
    """Let a map settle by L-BFGS, preconditioned by the Laplacian of the neighbours.

    Up to 5000 points every sum over pairs is exact. Beyond, sums are estimated in the cheapest way
    that is right to two per cent on 500 exact rows; the choice is made anew every twenty steps, and
    the last is checked at its end, too.
    """
    precondition = spectral_direction(neighborhood)
    n_rounds = 1 if neighborhood.n_points <= _MOST_EXACT else -(-n_steps // _ROUND)
    costs: list[FloatVector] = []
    embedding = start
    for share in np.diff(np.linspace(0, n_steps, n_rounds + 1).round().astype(int)):
        repulsion, error = choose_repulsion(embedding, seed=0, exact_below=_MOST_EXACT)
        with serial_blas():  # its threads would spin between the compiled loops
            descent = quasi_newton_descent(
                MbedCost(neighborhood, repulsion, terms),
                embedding,
                n_steps=int(share),
                precondition=precondition,
                on_step=None if advance is None else lambda _: advance(1),
            )
        costs.append(descent.costs[1:] if costs else descent.costs)
        embedding = descent.point
    if n_rounds > 1:
        error = row_error(repulsion, embedding)
        if error.largest > _TOLERANCE:
            _warn_of_estimates(error)
    return SettledMap(embedding, np.concatenate(costs), descent.is_converged, error)


def _warn_of_estimates(error: RowError) -> None:
    warnings.warn(
        f"the sums over pairs of this map were estimated, and at its end they are "
        f"{error.normalizer:.1%} (normalisers) and {error.force:.1%} (forces) off on "
        f"{error.n_rows} exact rows, more than {_TOLERANCE:.0%}. The map may be slightly out of "
        "balance; more n_steps let it settle.",
        BeltramiWarning,
        stacklevel=4,
    )


def _strongest(mutual: CsrMatrix) -> CsrMatrix:
    """Keep some thirty ties per point, and their sum: a direction needs no more, at less memory."""
    most = _MOST_TIES * mutual.shape[0]
    if mutual.nnz <= most:
        return csr_array(mutual)
    least = np.partition(mutual.data, mutual.nnz - most)[mutual.nnz - most]
    kept = csr_array(mutual, copy=True)
    kept.data[kept.data < least] = 0.0
    kept.eliminate_zeros()
    kept.data *= float(mutual.data.sum() / kept.data.sum())
    return kept


def spectral_direction(neighborhood: Neighborhood) -> Precondition | None:
    """Return the inverse of the neighbours' Laplacian, a little grounded.

    The attraction of the neighbours is quadratic, and its Laplacian is the one part of the Hessian
    that never changes; divided by it, a gradient moves whole clusters at once
    [VladymyrovCarreira12]_. Exact for a small dense P, an approximate Cholesky factor for a sparse
    one, and nothing for one that is only known as a product.
    """
    if not isinstance(neighborhood, StoredNeighborhood):
        return None
    mutual, ground = neighborhood.mutual, _GROUND * neighborhood.pull
    if isinstance(mutual, np.ndarray):
        if len(mutual) > _MOST_EXACT:
            return None
        matrix = np.diag(neighborhood.pull + ground) - mutual
        factor = cho_factor(2 * matrix, overwrite_a=True, check_finite=False)
        return lambda gradient: cho_solve(factor, gradient, check_finite=False)
    sampled = ApproximateCholesky.of(GroundedLaplacian(_strongest(mutual), ground), seed=0)

    def apply(gradient: FloatMatrix) -> FloatMatrix:
        out = np.empty_like(gradient)
        sampled.apply(np.ascontiguousarray(gradient), out)
        out /= 2
        return out

    return apply
