"""Small problems and settings for the tests of the Laplacian machines."""

import numpy as np
from sklearn.datasets import make_blobs

from beltrami import KnnGraph, LaplacianPower, RbfKernel

WIDTH = 1.0
PAPER = {
    "kernel": RbfKernel(WIDTH),
    "smoothness": LaplacianPower(1, kind="combinatorial"),
    "graph": KnnGraph(6),
}
"""Options of the paper: L = D - W over n^2."""

UNSCALED = PAPER | {"smoothness": LaplacianPower(1, kind="combinatorial", scale="none")}
"""The same with L itself."""

FIXED = PAPER | {"gamma_a": 0.01, "gamma_i": 2.0}


def clouds(seed=0, sizes=(25, 20, 15), labels=4, apart=3.0):
    """Gaussians on the axes, shuffled; a few labels per class, in no order."""
    points, truth = make_blobs(
        list(sizes), centers=apart * np.eye(len(sizes), 3), random_state=seed
    )
    rng = np.random.default_rng(seed)
    y = np.full(len(truth), -1)
    for label in range(len(sizes)):
        y[rng.choice(np.flatnonzero(truth == label), labels, replace=False)] = label
    return points, y, truth
