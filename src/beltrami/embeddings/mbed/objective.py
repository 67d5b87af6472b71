"""The cost of Mbed: neighbours that should stay together, boundaries that should stay clear."""

from dataclasses import dataclass

import numpy as np

from beltrami.core.types import FloatMatrix
from beltrami.embeddings.mbed.terms import ClassTerms
from beltrami.embeddings.neighborhoods.probabilities import Neighborhood
from beltrami.embeddings.repulsion.exact import ExactRepulsion, Repulsion


@dataclass(frozen=True, slots=True, eq=False)
class MbedCost:
    r"""The cost of an embedding, eq. 14 of [ZienQuinonero05]_, and its gradient.

    .. math:: \nu \sum_i KL(P_i \| Q_i) + \text{class terms}, \quad
              q_{ij} \propto \exp(-\lVert y_i - y_j \rVert^2),

    with the gradient :math:`2 \nu \sum_j (y_i - y_j)(p_{ij} + p_{ji} - q_{ij} - q_{ji})` of the
    first sum; eq. 4 prints it without the 2. Without class terms this is plain stochastic
    neighbour embedding [HintonRoweis03]_.

    Attributes
    ----------
    neighborhood : Neighborhood
        P.
    repulsion : Repulsion
        Sums over all pairs of the embedding.
    terms : ClassTerms or None
        What looks at classes; None for plain SNE.
    neighbor_weight : float
        Nu; one half is what eq. 4 amounts to.
    """

    neighborhood: Neighborhood
    repulsion: Repulsion
    terms: ClassTerms | None = None
    neighbor_weight: float = 1.0

    def __call__(self, embedding: FloatMatrix) -> tuple[float, FloatMatrix]:
        """Return the cost and its gradient."""
        stress, strain = self._neighbors(embedding)
        cost = self.neighbor_weight * (stress - self.neighborhood.entropy)
        gradient: FloatMatrix = 2 * self.neighbor_weight * strain
        if self.terms is not None:
            class_cost, class_gradient = self.terms(embedding)
            cost, gradient = cost + class_cost, gradient + class_gradient
        return cost, gradient

    def _neighbors(self, embedding: FloatMatrix) -> tuple[float, FloatMatrix]:
        """Return the neighbours' cost up to the entropy of P, and half its gradient."""
        mutual = getattr(self.neighborhood, "mutual", None)
        if isinstance(self.repulsion, ExactRepulsion) and isinstance(mutual, np.ndarray):
            log_normalizers, force, energy = self.repulsion.net_force(embedding, mutual)
            return energy + float(log_normalizers.sum()), -force
        # Only differences count; near the origin they lose the fewest digits.
        centred = embedding - embedding.mean(axis=0)
        near = self.neighborhood.pull[:, None] * centred - self.neighborhood.multiply(centred)
        log_normalizers, force = self.repulsion(centred)
        return float(np.vdot(centred, near)) + float(log_normalizers.sum()), near - force
