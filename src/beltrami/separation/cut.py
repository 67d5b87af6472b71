"""The graph of shapes cut into regions that each have enough labelled and unlabelled nodes."""

from dataclasses import dataclass

import numpy as np

from beltrami.core.types import BoolVector, FloatVector, IndexVector
from beltrami.separation.constrained_kmeans import constrained_kmeans
from beltrami.solvers.model import Basis

_STARTS = 10


@dataclass(frozen=True, slots=True)
class LeastSizes:
    """How many nodes of either kind every region has at least.

    Attributes
    ----------
    labeled, unlabeled : int
        Nodes with and without a label.
    """

    labeled: int
    unlabeled: int

    @classmethod
    def for_regions(cls, n_labeled: int, n_unlabeled: int, n_regions: int) -> "LeastSizes":
        r"""Return the slides' sizes, lowered where `n_regions` regions could not all have them.

        :math:`n / \log^2 n` labelled and :math:`m' / \log^2 n` unlabelled nodes ([Zhu09]_,
        "Multi-Manifold Separation as Graph Cut"), with at least one labelled node.
        """
        share = max(np.log(max(n_labeled, 2)) ** 2, 1.0)
        labeled = max(int(n_labeled / share), 1)
        return cls(
            labeled=min(labeled, n_labeled // n_regions),
            unlabeled=min(int(n_unlabeled / share), n_unlabeled // n_regions),
        )


def most_regions(n_labeled: int) -> int:
    r"""Return the largest number of regions that the slides' sizes leave room for.

    Each of k regions has :math:`n / \log^2 n` labels, so k is at most :math:`\log^2 n`, and one
    for fewer than three labels.
    """
    return 1 if n_labeled < 3 else max(1, int(np.log(n_labeled) ** 2))


def regions_by_slides(n_labeled: int) -> int:
    r"""Return the slides' number of regions, :math:`[\log n]`, to the nearest whole number."""
    return 1 if n_labeled < 3 else max(1, round(np.log(n_labeled)))


def regions_by_eigengap(values: FloatVector, most: int) -> int:
    """Return the k, at most `most`, of the largest gap between the k-th and the next eigenvalue."""
    gaps = np.diff(values)[:most]
    return int(np.argmax(gaps)) + 1 if len(gaps) else 1


def cut_regions(
    basis: Basis, is_labeled: BoolVector, n_regions: int, rng: np.random.Generator
) -> IndexVector:
    r"""Cut a graph into regions by its ratio cut, relaxed, with bounds on their sizes.

    The ratio cut :math:`\sum_a \mathrm{cut}(A_a) / |A_a|` is relaxed to the first k eigenvectors
    of L = D - W, whose rows are grouped by k-means with at least so many labelled and so many
    unlabelled nodes in each group ([Zhu09]_, "RatioCut with size constraints"), see `LeastSizes`.
    """
    if n_regions == 1:
        return np.zeros(len(is_labeled), dtype=np.intp)
    n_labeled = int(is_labeled.sum())
    least = LeastSizes.for_regions(n_labeled, len(is_labeled) - n_labeled, n_regions)
    sizes = np.array([least.unlabeled, least.labeled])
    kinds = is_labeled.astype(np.intp)
    if is_labeled.all():  # one kind only
        sizes, kinds = sizes[1:], np.zeros_like(kinds)
    partition = constrained_kmeans(
        np.ascontiguousarray(basis.vectors[:, :n_regions]),
        n_regions,
        np.repeat(sizes[:, None], n_regions, axis=1),
        groups=kinds,
        n_init=_STARTS,
        rng=rng,
    )
    return partition.labels.astype(np.intp)
