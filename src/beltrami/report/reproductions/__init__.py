"""Figures of the source papers, and one of an experiment on a chapter that has none.

Each is a function without arguments that returns a figure.
"""

from collections.abc import Callable

from matplotlib.figure import Figure

from beltrami.report.reproductions.bars import bars_against_pca
from beltrami.report.reproductions.convergence import convergence_figure
from beltrami.report.reproductions.curve import plane_curve_figure
from beltrami.report.reproductions.roll import swiss_roll_table

FIGURES: dict[str, Callable[[], Figure]] = {
    "thesis-a1": plane_curve_figure,
    "thesis-a3": swiss_roll_table,
    "thesis-a4": bars_against_pca,
    "thesis-convergence": convergence_figure,
}
