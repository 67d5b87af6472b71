"""Thesis figure A.4: images of bars, by eigenmap and by principal components."""

import numpy as np
from matplotlib.figure import Figure

from beltrami.data import bars, principal_components
from beltrami.embeddings import LaplacianEigenmaps
from beltrami.graph.recipes import KnnGraph
from beltrami.report.figures import bare, scatter_groups


def bars_against_pca() -> Figure:
    """Draw a bar of each kind, the eigenmap (N = 14, t = infinity) and two principal components.

    Returns
    -------
    Figure
        Three panels.
    """
    sample = bars(1000, random_state=0)
    images, kind = np.asarray(sample.points), np.asarray(sample.targets)
    graph = KnnGraph(14, weights="binary", connect="raise")
    eigenmap = LaplacianEigenmaps(2, graph=graph).fit_transform(images)
    figure = Figure(figsize=(12, 4.2), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    side = int(np.sqrt(images.shape[1]))
    pair = [images[kind == value][0].reshape(side, side) for value in (0, 1)]
    left.imshow(np.maximum(*pair), cmap="gray_r")
    left.set_title("a vertical and a horizontal bar")
    bare(left)
    names = ["vertical", "horizontal"]
    scatter_groups(middle, eigenmap, kind, names=names)
    middle.set_title("Laplacian eigenmap")
    scatter_groups(right, principal_components(images, 2), kind, names=names)
    right.set_title("two principal components")
    return figure
