"""The five data sets on which Zien and Quiñonero Candela (2005) tried Mbed.

A name enters; points, classes and draws of labelled rows leave.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from beltrami.core.types import IndexVector, Points
from beltrami.data import load_dataset

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
COIL_REMARK = (
    "COIL has no published splits at hand: split i labels two images of each object, drawn by "
    "default_rng([0, i]). The other four sets have the splits of Chapelle and Zien (2005)."
)


@dataclass(frozen=True, slots=True, eq=False)
class LabelledDraws:
    """A set with ten choices of labelled rows.

    Attributes
    ----------
    name : str
        What the paper calls it.
    points : ndarray or csr_array of shape (n, p)
        The points.
    classes : ndarray of shape (n,)
        Numbers from 0 to K - 1.
    draws : ndarray of shape (splits, l)
        Labelled rows.
    """

    name: str
    points: Points
    classes: IndexVector
    draws: IndexVector

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.classes.max()) + 1

    def labels(self, draw: int) -> IndexVector:
        """Return the classes of the labelled rows, and -1 for all others.

        Returns shape (n,).
        """
        y = np.full(len(self.classes), -1)
        rows = self.draws[draw]
        y[rows] = self.classes[rows]
        return y


def benchmark(name: str, *, quick: bool = False) -> LabelledDraws:
    """Load one of the five sets with its splits.

    - `quick`: keep a few hundred rows and one split, to see that a table runs.
    """
    found = load_dataset(DATASETS[name]).number_classes()
    points: Any = found.points
    classes = np.asarray(found.targets)
    published = found.splits.get("labeled")
    draws = per_class_draws(classes) if published is None else np.asarray(published)
    whole = LabelledDraws(name, points, classes, draws)
    return thinned(whole, 150) if quick else whole


def per_class_draws(
    classes: IndexVector, *, per_class: int = PER_OBJECT, n_splits: int = N_SPLITS
) -> IndexVector:
    """Draw labelled rows where no splits are published.

    Shapes: `classes` (n,); returns (splits, l).
    """
    members = [np.flatnonzero(classes == k) for k in range(classes.max() + 1)]
    draws = []
    for i in range(n_splits):
        rng = np.random.default_rng([SEED, i])
        draws.append(np.concatenate([rng.choice(m, per_class, replace=False) for m in members]))
    return np.array(draws)


def thinned(whole: LabelledDraws, n_others: int) -> LabelledDraws:
    """Keep the labelled rows of the first split and some others."""
    kept = whole.draws[0]
    others = np.setdiff1d(np.arange(len(whole.classes)), kept)
    others = np.random.default_rng(SEED).choice(others, min(n_others, len(others)), replace=False)
    rows = np.concatenate([kept, others])
    points: Any = whole.points
    return replace(
        whole,
        points=points[rows],
        classes=whole.classes[rows],
        draws=np.arange(len(kept))[None],
    )
