"""The demonstration: digits with two labels per class, labelled and compared with the truth."""

import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import Seed
from beltrami.data import load_dataset
from beltrami.labelling import Labelling, labelled, take_in
from beltrami.labelling.shapes import DataMap
from beltrami.tables import write_table


@dataclass(frozen=True, slots=True, eq=False)
class Demonstration:
    """What the demonstration found.

    Attributes
    ----------
    table : dict of str to ndarray of shape (n,)
        The table that was labelled: pixels, and a column of labels with gaps.
    labelling : Labelling
        The result.
    truth : ndarray of shape (n,)
        The true digits, as texts.
    seconds : float
        What the labelling took.
    """

    table: dict[str, NDArray[Any]]
    labelling: Labelling
    truth: NDArray[Any]
    seconds: float

    @property
    def accuracies(self) -> dict[str, float]:
        """Share of the unlabelled rows that each method gets right."""
        learner = self.labelling.learner
        other = self.labelling.source != 0
        found = {"the answer": learner.transduction_}
        found |= {
            one.title: learner.classes_[learner.candidate_codes(one.name)]
            for one in learner.report_.members
            if not one.note
        }
        return {
            name: float((values[other] == self.truth[other]).mean())
            for name, values in found.items()
        }

    def lines(self) -> list[str]:
        """Return the summary."""
        right = self.accuracies
        width = max(map(len, right))
        return [
            *self.labelling.lines(),
            f"compared with the truth ({self.seconds:.1f} s):",
            *(f"  {name:<{width}}  {share:.1%} right" for name, share in right.items()),
        ]

    def record(self) -> dict[str, Any]:
        """Return the same as a dictionary."""
        return {
            "sentence": self.labelling.sentence,
            "counts": self.labelling.counts,
            "accuracies": self.accuracies,
            "seconds": self.seconds,
        }

    def save(self, folder: Path) -> list[Path]:
        """Write the table, the labels, the report and the map into a folder."""
        from beltrami.labelling.pages import page_of
        from beltrami.report.page import save_page

        write_table(folder / "digits.csv", self.table, {})
        page = page_of(self.labelling)
        labels = np.asarray(self.labelling.learner.transduction_, dtype=object)
        drawn = folder / "map.png"
        DataMap(self.labelling.intake.ids, labels, np.asarray(page.positions)).save(drawn)
        return [
            folder / "digits.csv",
            self.labelling.write(folder / "labels.csv"),
            save_page(page, folder / "report.html"),
            drawn,
        ]


def demonstrate(per_class: int = 2, *, random_state: Seed = 0) -> Demonstration:
    """Run the demonstration."""
    digits = load_dataset("digits")
    truth = np.array([f"digit {value}" for value in np.asarray(digits.targets)], dtype=object)
    fewest = min(Counter(truth).values())
    if not 1 <= per_class < fewest:
        raise InvalidInputError(
            f"per_class={per_class} must lie between 1 and {fewest - 1}: the rarest digit has "
            f"{fewest} rows, and some must be left to be labelled."
        )
    rng = generator(random_state)
    given = np.full(len(truth), "", dtype=object)
    for name in np.unique(truth):
        rows = rng.choice(np.flatnonzero(truth == name), per_class, replace=False)
        given[rows] = truth[rows]
    points = np.asarray(digits.points)
    table = {f"pixel{number}": points[:, number] for number in range(points.shape[1])}
    table["label"] = given
    started = time.perf_counter()
    intake = take_in(table, "label")
    intake = replace(intake, table=replace(intake.table, name="digits"))
    found = labelled(intake, {"random_state": 0, "risk": 0.05}, n_questions=20, n_jobs=None)
    return Demonstration(table, found, truth, time.perf_counter() - started)
