"""Draws of labels: the same for every method, in whatever run."""

import numpy as np

from beltrami_papers.preparation import draw_per_class
from benchmarks.common.facts import SEED


def labelled_rows(targets: np.ndarray, per_class: int, draw: int) -> np.ndarray:
    """Return the rows of one draw: `per_class` of each class, uniformly at random.

    The seed is made of the labels per class and the number of the draw.
    """
    return draw_per_class(targets, per_class, seed=(SEED, per_class, draw))
