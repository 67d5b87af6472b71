"""How far clusters agree with true classes: pairs on which they differ, and the best matching.

Two labellings of the same points enter; a percentage or a matching leaves.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import rand_score

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector, IndexVector


def inconsistent_pairs(classes: NDArray[Any], clusters: NDArray[Any]) -> float:
    """Return the percentage of pairs of points on which clusters and classes differ.

    A pair is inconsistent when its points share a class but no cluster, or a cluster but no class.
    Names do not matter. It is 100 times one minus the Rand index.

    Examples
    --------
    >>> inconsistent_pairs([0, 0, 1, 1], [5, 5, 5, 7])
    50.0
    """
    return 100 * (1 - float(rand_score(classes, clusters)))


def cluster_of_each_class(
    classes: NDArray[Any], clusters: IndexVector, n_clusters: int
) -> IndexVector:
    """Match clusters to classes so that as many points as possible lie in their class's cluster.

    - `clusters`: numbers from 0 to `n_clusters` - 1; some may be empty.
    - Returned: the cluster of each class, in sorted order of the classes; clusters that are left
      over follow.

    Examples
    --------
    >>> import numpy as np
    >>> found = np.array([1, 1, 0, 0, 0])
    >>> cluster_of_each_class(np.array(["a", "a", "a", "b", "b"]), found, 3).tolist()
    [1, 0, 2]
    """
    names, codes = np.unique(classes, return_inverse=True)
    if len(names) > n_clusters:
        raise InvalidInputError(
            f"{len(names)} classes cannot each have one of {n_clusters} clusters of their own. Ask "
            "for as many clusters as there are classes."
        )
    counts = np.zeros((len(names), n_clusters), dtype=np.intp)
    np.add.at(counts, (codes, clusters), 1)
    _, matched = linear_sum_assignment(-counts)
    return np.concatenate([matched, np.setdiff1d(np.arange(n_clusters), matched)])


def outside_own_cluster(
    classes: NDArray[Any], clusters: IndexVector, n_clusters: int
) -> BoolVector:
    """Say which points lie outside the cluster of their class, at the best matching."""
    _, codes = np.unique(classes, return_inverse=True)
    wrong: BoolVector = cluster_of_each_class(classes, clusters, n_clusters)[codes] != clusters
    return wrong
