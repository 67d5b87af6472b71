"""The digits 2, 4 and 8 of USPS, on which Zien and Quiñonero Candela (2005) show Mbed.

Nothing enters but the wish for a quick run; images, maps from several starts and their wrong
points leave.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix, IndexVector
from beltrami.data import load_dataset
from beltrami.embeddings.mbed.modes import PaperMode
from beltrami.learners import Mbed
from beltrami_papers.mbed.agreement import outside_own_cluster
from beltrami_papers.mbed.problems import SEED
from beltrami_papers.model import StageClock
from beltrami_papers.preparation import keep_labels

DIGITS = (2, 4, 8)
N_LABELLED, N_STEPS, N_STARTS = 50, 200, 10


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """Images of the three digits.

    Attributes
    ----------
    points : ndarray of shape (n, 256)
        Pixels.
    digits : ndarray of shape (n,)
        What they show.
    labelled : ndarray of shape (50,)
        Rows whose digit is told in figure 3.
    """

    points: FloatMatrix
    digits: IndexVector
    labelled: IndexVector

    def labels(self) -> IndexVector:
        """Return the digits of the labelled rows, and -1 for the others."""
        return keep_labels(self.digits, self.labelled)


def usps_digits(*, quick: bool = False) -> Images:
    """Load the digits 2, 4 and 8 of the official test part of USPS."""
    data = load_dataset("usps")
    digits = np.asarray(data.targets)
    rows = np.flatnonzero(np.isin(digits, DIGITS))
    rows = rows[rows >= (data.n_train or 0)][:: 5 if quick else 1]
    labelled = np.random.default_rng(SEED).choice(len(rows), N_LABELLED, replace=False)
    return Images(np.asarray(data.points)[rows], digits[rows], np.sort(labelled))


def fit_map(images: Images, y: IndexVector | None, seed: int, *, quick: bool = False) -> Any:
    """Make the map of the paper: three dimensions, 10 steps of descent per step of annealing."""
    mode = PaperMode(n_steps=48 if quick else N_STEPS)
    return Mbed(len(DIGITS), mode=mode, random_state=seed).fit(images.points, y)


def cell_of(images: Images, model: Any, what: str, seed: int) -> dict[str, Any]:
    """Count the wrong points of a map.

    - `what`: "clusters", matched to the digits first and counted on all rows, or "labels", counted
      on the unlabelled rows.
    """
    if what == "clusters":
        wrong = outside_own_cluster(images.digits, model.transduction_, len(DIGITS))
    else:
        unlabelled = np.delete(np.arange(len(images.digits)), images.labelled)
        wrong = (model.transduction_ != images.digits)[unlabelled]
    return {
        "what": what,
        "seed": seed,
        "wrong": int(wrong.sum()),
        "of": len(wrong),
        "percent": round(100 * float(wrong.mean()), 2),
        "step": model.stage_.number,
        "criterion": round(model.criterion_, 3),
        "drawn": False,
    }


def starts(
    images: Images, what: str, clock: StageClock, *, quick: bool = False
) -> tuple[Any, list[dict[str, Any]]]:
    """Make the map from several starts."""
    y = images.labels() if what == "labels" else None
    models, seeds = [], range(2 if quick else N_STARTS)
    with clock.stage(what), track(f"maps of {what}", total=len(seeds)) as advance:
        for seed in seeds:
            models.append(fit_map(images, y, seed, quick=quick))
            advance(1)
    cells = [cell_of(images, m, what, seed) for m, seed in zip(models, seeds, strict=True)]
    best = max(range(len(models)), key=lambda i: models[i].criterion_)
    cells[best]["drawn"] = True
    return models[best], cells


def drawn_start(cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the entry of the start that is drawn."""
    return next(cell for cell in cells if cell["drawn"])
