"""The demonstration: digits with a few labels of each, labelled and compared with the truth."""

import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import Stage
from beltrami.core.types import Seed
from beltrami.data import load_dataset
from beltrami.labelling.intake import take_in
from beltrami.labelling.main_job import label_rows
from beltrami.labelling.maps import DataMap
from beltrami.labelling.options import LearningOptions
from beltrami.labelling.result import Labelling
from beltrami.tables import TableOptions, write_table
from beltrami.tables.own_results import Source


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
        is_open = self.labelling.source != Source.GIVEN
        answers = {"the answer": learner.transduction_}
        answers |= {
            one.title: learner.classes_[learner.candidate_codes(one.name)]
            for one in learner.report_.members
            if not one.note
        }
        return {
            name: float((values[is_open] == self.truth[is_open]).mean())
            for name, values in answers.items()
        }

    @property
    def accepted_accuracy(self) -> float:
        """Share of the rows labelled by us that are right; NaN where there is none."""
        is_ours = self.labelling.source == Source.LABELLED
        right = self.labelling.learner.transduction_[is_ours] == self.truth[is_ours]
        return float(right.mean()) if len(right) else float("nan")

    def lines(self) -> list[str]:
        """Return the summary."""
        accuracies = self.accuracies
        width = max(map(len, accuracies))
        n_ours = self.labelling.counts["labelled"]
        ours = f"  of the {n_ours:,} rows labelled by us, {self.accepted_accuracy:.1%} are right"
        return [
            *self.labelling.lines(),
            f"compared with the truth ({self.seconds:.1f} s):",
            *([ours] if n_ours else []),
            "  with the rows left to you, had each been answered:",
            *(f"  {name:<{width}}  {share:.1%} right" for name, share in accuracies.items()),
        ]

    def record(self) -> dict[str, Any]:
        """Return the same as a dictionary."""
        return {
            "sentence": self.labelling.sentence,
            "counts": self.labelling.counts,
            "accepted_accuracy": self.accepted_accuracy,
            "accuracies": self.accuracies,
            "seconds": self.seconds,
        }

    def save(self, folder: Path) -> list[Path]:
        """Write the table, the labels, the report and the map into a folder."""
        from beltrami.labelling.showing.page import page_of
        from beltrami.report.page.render import save_page

        write_table(folder / "digits.csv", self.table, {})
        page = page_of(self.labelling)
        enter_stage(Stage.WRITE)
        labels = np.asarray(self.labelling.learner.transduction_, dtype=object)
        picture = folder / "map.png"
        DataMap(self.labelling.intake.ids, labels, np.asarray(page.positions)).save(picture)
        return [
            folder / "digits.csv",
            self.labelling.write(folder / "labels.csv"),
            save_page(page, folder / "report.html"),
            picture,
        ]


def demonstrate(per_class: int = 5, *, random_state: Seed = 0) -> Demonstration:
    """Keep a few labels of each digit, label the rest, and take the time."""
    digits = load_dataset("digits")
    truth = np.array([f"digit {value}" for value in np.asarray(digits.targets)], dtype=object)
    fewest = min(Counter(truth).values())
    if not 1 <= per_class < fewest:
        raise InvalidInputError(
            f"per_class={per_class} must lie between 1 and {fewest - 1}: the rarest digit has "
            f"{fewest} rows, and some must be left to be labelled."
        )
    rng = generator(random_state)
    labels = np.full(len(truth), "", dtype=object)
    for name in np.unique(truth):
        rows = rng.choice(np.flatnonzero(truth == name), per_class, replace=False)
        labels[rows] = truth[rows]
    points = np.asarray(digits.points)
    table = {f"pixel{number}": points[:, number] for number in range(points.shape[1])}
    table["label"] = labels
    started = time.perf_counter()
    intake = take_in(table, TableOptions(label="label"))
    intake = replace(intake, table=replace(intake.table, name="digits"))
    labelling = label_rows(intake, LearningOptions(risk=0.05))
    return Demonstration(table, labelling, truth, time.perf_counter() - started)
