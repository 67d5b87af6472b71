"""The sets: 43 ordinary tables, as the command line reads them, and the 17 of the front door.

Labels are drawn in two ways: the same number of every class, and as many in all, from all rows with
equal chance (at least two classes among them).
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.draws import labelled_rows
from benchmarks.common.facts import SEED
from benchmarks.front_door.problems import PROBLEMS

PER_CLASS = (1, 2, 5, 10)
KINDS = ("balanced", "random")
ROWS = 1500
"""Rows without a label that answers of each draw are judged on."""


@dataclass(frozen=True)
class TrustSet:
    """A set: what the front door gets, and the truth.

    Attributes
    ----------
    name : str
        Of the set.
    points : ndarray or csr_array of shape (n, d)
        The features.
    targets : ndarray of shape (n,)
        Class numbers.
    options : dict
        How `ManifoldClassifier` is made for it, which the kind of features says.
    is_table : bool
        Whether it is an ordinary table.
    """

    name: str
    points: Any
    targets: np.ndarray
    options: dict[str, Any]
    is_table: bool

    @cached_property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.targets.max()) + 1

    @property
    def view_options(self) -> dict[str, Any]:
        """How its points are prepared, what is left to the front door included."""
        return {"scale": "auto", "metric": "auto"} | self.options

    def can_draw(self, per_class: int) -> bool:
        """Say whether as many labels leave rows of every class, and half of all rows."""
        smallest = int(np.bincount(self.targets).min())
        is_few = 2 * per_class * self.n_classes <= len(self.targets)
        return smallest > per_class and is_few

    def draw(self, per_class: int, kind: str, draw: int) -> np.ndarray:
        """Return the rows that are labelled, ascending."""
        if kind == "balanced":
            return np.sort(labelled_rows(self.targets, per_class, draw))
        rng = np.random.default_rng((SEED, per_class, draw, 1))
        while True:
            rows = rng.choice(len(self.targets), per_class * self.n_classes, replace=False)
            if len(np.unique(self.targets[rows])) > 1:
                return np.sort(rows)

    def judged(self, rows: np.ndarray, per_class: int, draw: int) -> np.ndarray:
        """Return the rows beside the labelled ones that answers are judged on, ascending."""
        others = np.setdiff1d(np.arange(len(self.targets)), rows)
        rng = np.random.default_rng((7, per_class, draw))
        return np.sort(rng.choice(others, min(ROWS, len(others)), replace=False))


def table_names(folder: Path) -> list[str]:
    """Return the names of the tables in a folder."""
    return sorted(path.stem for path in folder.glob("*.csv"))


def set_names(data: Path) -> list[str]:
    """Return the names of all sets, tables first."""
    return [*(f"table {one}" for one in table_names(data / "tables")), *PROBLEMS]


def load_set(name: str, data: Path) -> TrustSet:
    """Return a set by its name."""
    if name.startswith("table "):
        from beltrami.labelling.intake import take_in  # noqa: PLC0415
        from beltrami.tables import TableOptions  # noqa: PLC0415

        path = data / "tables" / f"{name.removeprefix('table ')}.csv"
        intake = take_in(str(path), TableOptions(label="class", unlabeled=""))
        targets = np.unique(intake.labels.astype(str), return_inverse=True)[1]
        options = {"scale": intake.scale, "metric": intake.metric}
        return TrustSet(name, intake.points, targets, options, True)
    from benchmarks.front_door.problems import problem  # noqa: PLC0415

    found = problem(name)
    return TrustSet(name, found.raw, np.asarray(found.targets), {}, False)
