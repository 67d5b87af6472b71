"""The five data sets on which Zien and Quiñonero Candela (2005) tried Mbed.

A name enters; points, classes and draws of labelled rows leave.
"""

from typing import Any

import numpy as np

from beltrami.core.types import IndexVector
from beltrami.data import load_dataset
from beltrami_papers.preparation import LabelledDraws, draw_per_class

SOURCE = "Zien and Quiñonero Candela (2005)"
DATASETS = {
    "g50c": "g50c",
    "g10n": "g10n",
    "TEXT": "lds_text",
    "USPS": "uspst",
    "COIL": "coil20",
}
"""What the paper calls a set, and what we call it."""

N_SPLITS, PER_OBJECT, SEED = 10, 2, 0
_QUICK_ROWS = 150
COIL_REMARK = (
    "COIL has no published splits at hand: split i labels two images of each object, drawn by "
    "default_rng([0, i]). The other four sets have the splits of Chapelle and Zien (2005)."
)


def benchmark(name: str, *, quick: bool = False) -> LabelledDraws:
    """Load one of the five sets with its splits.

    - `quick`: keep a few hundred rows and one split, to see that a table runs.
    """
    data = load_dataset(DATASETS[name]).number_classes()
    points: Any = data.points
    classes = np.asarray(data.targets)
    published = data.splits.get("labeled")
    draws = per_class_draws(classes) if published is None else np.asarray(published)
    whole = LabelledDraws(name, points, classes, draws)
    return whole.thin_out(_QUICK_ROWS) if quick else whole


def per_class_draws(
    classes: IndexVector, *, per_class: int = PER_OBJECT, n_splits: int = N_SPLITS
) -> IndexVector:
    """Draw splits where none are published, a row of labelled rows for each."""
    return np.array([draw_per_class(classes, per_class, seed=[SEED, i]) for i in range(n_splits)])
