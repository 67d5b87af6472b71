"""The class terms of Mbed: the cost of near boundaries, unequal classes and missed labels."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, xlogy

from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.embeddings.mbed.model import Targets


@dataclass(frozen=True, slots=True, eq=False)
class ClassTerms:
    r"""The three terms of Mbed that look at classes, with :math:`m_i` the memberships of row i.

    .. math:: -\alpha_B H(\bar m) + \frac{\alpha_A}{n} \sum_i H(m_i)
              + \beta \sum_{i \in L} \omega_i KL(t_i \| m_i),
              \quad m_{ik} = \mathrm{softmax}_k(\langle w_k, y_i \rangle / \lambda).

    The first two are minus the Jensen-Shannon divergence of the memberships (eq. 6 of
    [ZienQuinonero05]_), the third is its eq. 12; with a prior, :math:`H(\bar m)` becomes
    :math:`-KL(\bar m \| \pi)` (sec. 3.1).

    Attributes
    ----------
    directions : ndarray of shape (K, d)
        The class directions w.
    scale : float
        Lambda.
    targets : Targets
        What is known of some rows.
    margin_weight, balance_weight, label_weight : float
        Alpha_A, alpha_B and beta.
    prior : ndarray of shape (K,) or None
        Expected shares of the classes; None rewards equal ones.
    is_margin_summed : bool
        Give every row the sum of all rows' margin forces, as eq. 9 is printed.
    """

    directions: FloatMatrix
    scale: float
    targets: Targets
    margin_weight: float = 1.0
    balance_weight: float = 1.0
    label_weight: float = 1.0
    prior: FloatVector | None = None
    is_margin_summed: bool = False

    def __call__(self, embedding: FloatMatrix) -> tuple[float, FloatMatrix]:
        """Return the terms' sum and its gradient by the positions."""
        logs = log_memberships(embedding, self.directions, self.scale)
        memberships = np.exp(logs)
        margin, push = mean_entropy(logs, memberships)
        balance, shift = balance_of(logs, memberships, self.prior)
        if self.is_margin_summed:
            push = np.broadcast_to(push.sum(axis=0), push.shape)
        # Every term is a function of the logits; the last step to positions is common to all.
        forces = self.margin_weight * push - self.balance_weight * shift
        cost = self.margin_weight * margin - self.balance_weight * balance
        if len(self.targets.rows):
            miss, pull = label_divergence(logs, memberships, self.targets)
            forces[self.targets.rows] += self.label_weight * pull
            cost += self.label_weight * miss
        gradient: FloatMatrix = forces @ self.directions / self.scale
        return float(cost), gradient


def log_memberships(embedding: FloatMatrix, directions: FloatMatrix, scale: float) -> FloatMatrix:
    """Return the logarithms of the class memberships, (n, K), eq. 15 of [ZienQuinonero05]_."""
    logits = (directions / scale) @ embedding.T  # one row per class: long rows are fast
    logits -= logits.max(axis=0)
    logits -= np.log(np.exp(logits).sum(axis=0))
    logs: FloatMatrix = logits.T
    return logs


def mean_entropy(logs: FloatMatrix, memberships: FloatMatrix) -> tuple[float, FloatMatrix]:
    """Return the mean entropy of memberships and its derivatives by the logits (eqs. 7, 17)."""
    n = len(logs)
    entropies = -np.einsum("ik,ik->i", memberships, logs)[:, None]
    return float(entropies.mean()), -memberships * (logs + entropies) / n


def balance_of(
    logs: FloatMatrix, memberships: FloatMatrix, prior: FloatVector | None
) -> tuple[float, FloatMatrix]:
    r"""Return :math:`H(\bar m)` or :math:`-KL(\bar m \| \pi)`, and its derivatives (eqs. 8, 18)."""
    n = len(logs)
    shares = memberships.mean(axis=0)
    is_safe = bool((shares > np.finfo(np.float64).tiny).all())
    log_mean = np.log(shares) if is_safe else logsumexp(logs, axis=0) - np.log(n)
    surplus = log_mean if prior is None else log_mean - np.log(prior)
    inner = (memberships @ surplus)[:, None]
    by_logits = memberships * (inner - surplus) / n
    return float(-(np.exp(log_mean) * surplus).sum()), by_logits


def label_divergence(
    logs: FloatMatrix, memberships: FloatMatrix, targets: Targets
) -> tuple[float, FloatMatrix]:
    """Return how far the memberships miss the targets, and the derivatives (eqs. 12, 19)."""
    known, weights = targets.distributions, targets.weights[:, None]
    divergences = xlogy(known, known) - known * logs[targets.rows]
    totals = known.sum(axis=1, keepdims=True)
    by_logits = weights * (totals * memberships[targets.rows] - known)
    return float((weights * divergences).sum()), by_logits
