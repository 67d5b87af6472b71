"""Thesis figure A.3: the swiss roll for several numbers of neighbours and widths of the kernel."""

import numpy as np
from matplotlib.figure import Figure

from beltrami.data import swiss_roll
from beltrami.embeddings import LaplacianEigenmaps
from beltrami.graph.recipes import KnnGraph
from beltrami.graph.weights import HeatKernel
from beltrami.report.figures import scatter_values

NEIGHBORS = (5, 10, 15)
WIDTHS = (5.0, 25.0, np.inf)


def swiss_roll_table() -> Figure:
    """Draw the 3 x 3 table: N = 5, 10, 15 down, t = 5, 25, infinity across.

    The thesis's section 2.2 writes the kernel exp(-d^2 / t); ours has 4t, hence the quarter. It
    does not state the size of its roll, which gives t its unit; ours is the usual one.

    Returns
    -------
    Figure
        Colour is the position along the roll.
    """
    roll = swiss_roll(2000, random_state=0)
    along = np.asarray(roll.extras["arc_length"])
    figure = Figure(figsize=(9, 9), layout="constrained")
    panels = figure.subplots(len(NEIGHBORS), len(WIDTHS))
    for row, n_neighbors in enumerate(NEIGHBORS):
        for column, t in enumerate(WIDTHS):
            recipe = KnnGraph(n_neighbors, weights=HeatKernel(t / 4))
            embedding = LaplacianEigenmaps(2, graph=recipe).fit_transform(roll.points)
            scatter_values(panels[row, column], embedding, along)
            width = "∞" if np.isinf(t) else f"{t:g}"
            panels[row, column].set_title(f"N = {n_neighbors}, t = {width}")
    return figure
