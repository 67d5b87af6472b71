"""Labels as sources of a flow: what each labelled row sends into the graph."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import FloatMatrix
from beltrami.learners.model import Labeled

_NEARLY_ALL = 0.9999
"""Share of one class in the weight of a component's labels above which the rest is summed apart."""


def class_sources(labeled: Labeled, component: NDArray[Any], n_components: int) -> FloatMatrix:
    """Return the sources at the labels, (l, k): one-hot, centred on each component, classes equal.

    `component` is that of each node.
    """
    even = labeled.weights / labeled.weights.mean()  # scores keep their size, whatever the unit
    weights, member = even[:, None], component[labeled.rows]
    sums = np.zeros((n_components, labeled.targets.shape[1]))
    np.add.at(sums, member, weights * labeled.targets)
    totals = np.bincount(member, even, minlength=n_components)
    means = sums / np.where(totals > 0, totals, 1.0)[:, None]
    deviations = labeled.targets - means[member]
    # Where one class has nearly all the weight, 1 - mean is rounded away; the others' sum is not.
    is_lost = (labeled.targets == 1) & (means[member] > _NEARLY_ALL)
    others = (sums[member] * (labeled.targets != 1)).sum(axis=1) / totals[member]
    deviations[is_lost] = others[is_lost.any(axis=1)]
    shares = labeled.mean * labeled.targets.shape[1]
    scale = np.divide(1.0, shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(weights * deviations * scale)
