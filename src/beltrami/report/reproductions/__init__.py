"""Tables and figures of the source papers, and one of an experiment on a chapter that has none.

Each is a function that says whether to be quick and returns a `Reproduction`.
"""

from collections.abc import Callable
from typing import Protocol

from matplotlib.figure import Figure

from beltrami.report.reproductions.lapsvm.digits import digits_figure
from beltrami.report.reproductions.lapsvm.letters import letters_figure
from beltrami.report.reproductions.lapsvm.moons import moons_figure
from beltrami.report.reproductions.mbed.clusters import clusters_table
from beltrami.report.reproductions.mbed.figures import annealing_figure, two_maps_figure
from beltrami.report.reproductions.mbed.labels import labels_table
from beltrami.report.reproductions.mbed.logistic import logistic_figure
from beltrami.report.reproductions.model import Reproduction
from beltrami.report.reproductions.slides.now_it_helps import now_it_helps_figure
from beltrami.report.reproductions.slides.pictures import pictures_figure
from beltrami.report.reproductions.slides.real import real_figure
from beltrami.report.reproductions.slides.table import multi_manifold_figure
from beltrami.report.reproductions.thesis.bars import bars_against_pca
from beltrami.report.reproductions.thesis.convergence import convergence_figure
from beltrami.report.reproductions.thesis.curve import plane_curve_figure
from beltrami.report.reproductions.thesis.heldout import heldout_digits
from beltrami.report.reproductions.thesis.learning_curves import (
    digits_curves,
    newsgroups_curves,
    phonemes_curves,
)
from beltrami.report.reproductions.thesis.learning_tables import (
    digits_table,
    newsgroups_table,
    phonemes_table,
)
from beltrami.report.reproductions.thesis.roll import swiss_roll_table
from beltrami.report.reproductions.thesis.variants import digits_variants, newsgroups_variants

__all__ = ["REPRODUCTIONS", "Reproduce", "Reproduction"]


class Reproduce(Protocol):
    """Makes one reproduction, at a small size where asked."""

    def __call__(self, *, quick: bool = False) -> Reproduction:
        """Run it."""


def _drawn(draw: Callable[[], Figure]) -> Reproduce:
    """Return a reproduction that is one figure, the same whether quick or not."""

    def reproduce(*, quick: bool = False) -> Reproduction:
        del quick
        return Reproduction(figure=draw())

    return reproduce


REPRODUCTIONS: dict[str, Reproduce] = {
    "thesis-a1": _drawn(plane_curve_figure),
    "thesis-a3": _drawn(swiss_roll_table),
    "thesis-a4": _drawn(bars_against_pca),
    "thesis-convergence": _drawn(convergence_figure),
    "thesis-3.1": digits_table,
    "thesis-3.1-variants": digits_variants,
    "thesis-3.2": newsgroups_table,
    "thesis-3.2-variants": newsgroups_variants,
    "thesis-3.3": phonemes_table,
    "thesis-a9": digits_curves,
    "thesis-a10": newsgroups_curves,
    "thesis-a11": phonemes_curves,
    "thesis-a12": heldout_digits,
    "lapsvm-moons": moons_figure,
    "lapsvm-usps": digits_figure,
    "lapsvm-isolet": letters_figure,
    "mbed-figure-1": _drawn(logistic_figure),
    "mbed-figure-2": two_maps_figure,
    "mbed-figure-3": annealing_figure,
    "mbed-table-1": clusters_table,
    "mbed-table-2": labels_table,
    "multi-manifold": multi_manifold_figure,
    "multi-manifold-pictures": pictures_figure,
    "multi-manifold-real": real_figure,
    "now-it-helps": now_it_helps_figure,
}
"""What can be reproduced, by name."""
