"""The sets of the accuracy table, each with its splits into labelled and unlabelled rows.

Published splits are used where there are any; for coil20 they are lost, and ten are drawn.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

from beltrami import load_dataset
from beltrami_papers.preparation import keep_labels
from benchmarks.common.draws import labelled_rows

N_DRAWN = 10
COIL_PER_CLASS = 2
_TOY_ROWS, _TOY_PER_CLASS, _TOY_DRAWS = 300, 5, 2
_LABELED = {"labeled": 50, "labeled10": 10, "labeled100": 100}
_TEXTS = ("lds_text", "sslbook_text")

SETS = (
    "g50c",
    "uspst",
    "lds_text",
    "coil20",
    "sslbook_g241c",
    "sslbook_g241d",
    "sslbook_digit1",
    "sslbook_usps",
    "sslbook_coil",
    "sslbook_bci",
    "sslbook_text",
)
TOY = "toy"


@dataclass(frozen=True, eq=False)
class Sample:
    """Points, classes 0, 1, ..., and for each number of labels the rows of every split.

    Rows of texts are scaled to length one; their neighbours are those by angle, and their kernel
    is the cosine.
    """

    name: str
    points: Any
    targets: np.ndarray
    splits: Mapping[int, np.ndarray]
    is_text: bool = False
    is_drawn: bool = False

    @property
    def size(self) -> int:
        """The number of points."""
        return len(self.targets)

    def labels(self, rows: np.ndarray) -> np.ndarray:
        """Return the classes of those rows, and -1 elsewhere."""
        return keep_labels(self.targets, rows)

    def error(self, rows: np.ndarray, predicted: np.ndarray) -> float:
        """Return the percentage of wrong answers on the other rows."""
        wrong = predicted != self.targets
        wrong[rows] = False
        return 100.0 * float(wrong.sum()) / (self.size - len(rows))


def sample(name: str) -> Sample:
    """Return the set of that name: one of `SETS`, or the toy, which needs no file."""
    if name == TOY:
        digits = load_dataset("digits")
        points, targets = digits.points[:_TOY_ROWS], digits.targets[:_TOY_ROWS]
        splits = _draw_splits(targets, _TOY_PER_CLASS, _TOY_DRAWS)
        return Sample(name, points, targets, splits, is_drawn=True)
    data = load_dataset(name).number_classes()
    is_text = name in _TEXTS
    points = normalize(data.points) if is_text else data.points
    if data.splits:
        splits = {_LABELED[key]: rows for key, rows in data.splits.items()}
    else:
        splits = _draw_splits(data.targets, COIL_PER_CLASS, N_DRAWN)
    return Sample(name, points, data.targets, splits, is_text, is_drawn=not data.splits)


def _draw_splits(targets: np.ndarray, per_class: int, draws: int) -> dict[int, np.ndarray]:
    rows = np.stack([labelled_rows(targets, per_class, draw) for draw in range(draws)])
    return {rows.shape[1]: rows}
