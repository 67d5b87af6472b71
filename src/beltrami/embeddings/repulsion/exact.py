"""Repulsion between all pairs of an embedding: normalizers and forces of neighbour embedding.

For points y_i, with e_ij = exp(-|y_i - y_j|^2) for j != i and z_i = sum_j e_ij, the cost of
stochastic neighbour embedding holds sum_i log z_i. What is needed of it is log z_i itself and the
force f_i = sum_j (e_ij / z_i + e_ij / z_j)(y_i - y_j); the gradient of the sum is -2 f.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.embeddings.repulsion.pairs import (
    Normalizers,
    TilePairs,
    Tiles,
    all_pairs,
    checked_embedding,
    middle,
    pair_forces,
    pair_normalizers,
)

_LONE = 1e-150  # z under which a row is computed apart


class Repulsion(Protocol):
    """Something that evaluates the repulsion of an embedding, exactly or nearly."""

    def __call__(self, embedding: FloatMatrix) -> tuple[FloatVector, FloatMatrix]:
        """Return log z and the force."""


def repulsion_reference(embedding: FloatMatrix) -> tuple[FloatVector, FloatMatrix]:
    """Compute normalizers and forces straight from their formulas, in n x n x d memory.

    Every row's exponents are taken relative to its smallest squared distance, so that q_ij
    exists however far the row is from all others.
    """
    Y = checked_embedding(embedding)
    differences = Y[:, None, :] - Y[None, :, :]
    squares = np.einsum("ijc,ijc->ij", differences, differences)
    np.fill_diagonal(squares, np.inf)
    nearest = squares.min(axis=1)
    shifted = np.exp(nearest[:, None] - squares)
    totals = shifted.sum(axis=1)
    Q = shifted / totals[:, None]
    return np.log(totals) - nearest, np.einsum("ij,ijc->ic", Q + Q.T, differences)


@dataclass(frozen=True)
class ExactRepulsion:
    """Every pair in float64: time grows with n^2 d, memory with n d."""

    def log_normalizers(self, embedding: FloatMatrix) -> FloatVector:
        """Return log z alone."""
        return self._normalizers(checked_embedding(embedding))[-1].log_z

    def __call__(self, embedding: FloatMatrix) -> tuple[FloatVector, FloatMatrix]:
        """Return log z and the force."""
        log_z, force, _ = self._all(embedding, None)
        return log_z, force

    def net_force(
        self, embedding: FloatMatrix, mutual: FloatMatrix
    ) -> tuple[FloatVector, FloatMatrix, float]:
        """Return log z, the repulsion less the attraction, and the energy of the attraction.

        The net force is that of a call less sum_j mutual_ij (y_i - y_j), so the gradient of the
        cost is -2 times it; the energy is half the sum of mutual_ij times squared distances: what
        P costs besides its entropy. The matrix of attractions is read tile by tile while the
        repulsion is computed, one half of it only; a product of its own would take as long as
        everything else.
        """
        n = len(embedding)
        if mutual.shape != (n, n):
            raise InvalidInputError(
                f"Attractions of shape {mutual.shape} do not belong to {n} points."
            )
        return self._all(embedding, np.ascontiguousarray(mutual, dtype=np.float64))

    def _all(
        self, embedding: FloatMatrix, mutual: FloatMatrix | None
    ) -> tuple[FloatVector, FloatMatrix, float]:
        Y = checked_embedding(embedding)
        tiles, pairs, normalizers = self._normalizers(Y)
        force, energy = pair_forces(tiles, pairs, normalizers.inverse, mutual)
        normalizers.add_lone_forces(Y, force)
        return normalizers.log_z, force, energy

    def _normalizers(self, Y: FloatMatrix) -> tuple[Tiles, TilePairs, Normalizers]:
        tiles = Tiles.of(Y - middle(Y))
        pairs = all_pairs(tiles.n_tiles, tiles.n_axes)
        z = pair_normalizers(tiles, pairs)
        return tiles, pairs, Normalizers.of(Y, z, z < _LONE)
