"""Figure 1 of Zien and Quiñonero Candela (2005): how memberships sharpen during the annealing.

Nothing enters; curves of the logistic function leave. Part of layer 7.
"""

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from beltrami.report.reproductions.mbed.problems import SOURCE

N_CURVES = 19
"""As many as the annealing has steps, from 2 to 20."""


def annealed_scales() -> list[float]:
    """Return lambda in radii for each step of the annealing, from 10 down to 1/10."""
    return [float(10 / 100 ** (j / (N_CURVES - 1))) for j in range(N_CURVES)]


def logistic_figure() -> Figure:
    """Draw the membership of the class to the right against the distance from the boundary.

    Returns
    -------
    Figure
        A curve for each step of the annealing.
    """
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.subplots()
    distance = np.linspace(-3, 3, 601)
    colours = colormaps["viridis"](np.linspace(0, 0.92, N_CURVES))
    named = {0: "10 r", 9: "r", N_CURVES - 1: "r / 10"}
    for number, (scale, colour) in enumerate(zip(annealed_scales(), colours, strict=True)):
        membership = 1 / (1 + np.exp(-distance / scale))
        label = f"$\\lambda$ = {named[number]}" if number in named else None
        width = 2.4 if label else 0.9
        axes.plot(distance, membership, color=colour, lw=width, label=label)
    axes.axvline(0, color="0.25", lw=1.1, zorder=0)
    for place in (1, 2):
        axes.axvline(place, color="0.6", lw=0.8, ls=":", zorder=0)
        axes.axvline(-place, color="0.6", lw=0.8, ls=":", zorder=0)
    axes.set_xlim(-3, 3)
    axes.set_xlabel(
        "distance from the boundary in radii r of the map\n"
        "(dotted: about 68 and 95 percent of the points lie within)"
    )
    axes.set_ylabel("membership of the right class")
    axes.set_title(
        f"After {SOURCE}, figure 1:\nboundaries sharpen as $\\lambda$ falls", fontsize=11
    )
    axes.legend(loc="upper left", framealpha=1, edgecolor="none")
    return figure
