"""The fixed frame of Mbed: class directions, and how far along them a label asks a point to be."""

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector


def simplex_directions(n_classes: int, n_components: int) -> FloatMatrix:
    r"""Return K unit vectors, (K, d), with the same angle between any two.

    They are the corners of a regular simplex, :math:`\langle w_k, w_l \rangle = -1/(K-1)`, in the
    first K - 1 of d coordinates; the others are zero ([ZienQuinonero05]_, sec. 5).
    """
    if n_components < n_classes - 1:
        raise InvalidInputError(
            f"{n_classes} classes at equal angles need at least {n_classes - 1} dimensions, and "
            f"n_components={n_components}. Leave n_components=None for {n_classes}."
        )
    directions = np.zeros((n_classes, n_components))
    for k in range(n_classes - 1):
        # Each new axis carries what the axes before leave of this corner, shared by those after.
        directions[k, k] = np.sqrt(1 - (directions[k, :k] ** 2).sum())
        inner = directions[k + 1 :, :k] @ directions[k, :k]
        directions[k + 1 :, k] = (-1 / (n_classes - 1) - inner) / directions[k, k]
    return directions


def label_confidence(scale: float, radius: float, n_classes: int, reach: float) -> float:
    r"""Return the membership of a point that stands `reach` radii along its class direction.

    .. math:: \tau = e^{\rho r / \lambda} /
              \big(e^{\rho r / \lambda} + (K - 1) e^{-\rho r / (\lambda (K - 1))}\big),

    eq. 21 of [ZienQuinonero05]_, which sets rho = 1, where the text above it says 2.
    """
    exponent = -reach * radius / scale * n_classes / (n_classes - 1)
    return float(1 / (1 + (n_classes - 1) * np.exp(exponent)))


def sureness(distributions: FloatMatrix) -> FloatVector:
    """Return how sure each distribution is of one class: 0 when uniform, 1 when certain."""
    k = distributions.shape[1]
    sure: FloatVector = (k * distributions.max(axis=1) - 1) / (k - 1)
    return sure


def soften(
    targets: FloatMatrix, confidence: float, *, is_share_printed: bool = False
) -> FloatMatrix:
    r"""Return targets that are as sure as a confidence allows.

    :math:`t' = t \tau + (1 - t)(1 - \tau) / (K - 1)`, whose rows sum to one where those of t do.
    Line 9 of the paper's algorithm leaves out 1 / (K - 1), and its rows then sum to more.
    """
    share = 1.0 if is_share_printed else 1 / (targets.shape[1] - 1)
    blurred: FloatMatrix = targets * confidence + (1 - targets) * (1 - confidence) * share
    return blurred
