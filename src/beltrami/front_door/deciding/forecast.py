"""How long a fit will take, roughly: a table of measured seconds times the size of the data.

The same numbers serve the sentence before a long job and the time left on the progress line, which
corrects them by what has been measured on the way. To renew them when a part has become faster:
``python -m benchmarks.front_door.progress --stages`` prints what each takes beside what is said.
"""

from dataclasses import dataclass
from typing import Self

from beltrami.core.machine.threads import threads_in_force
from beltrami.core.telling.stages import FIT, Stage
from beltrami.core.types import Points
from beltrami.front_door.deciding.candidates import (
    CLASS_CANDIDATES,
    EXACT_MACHINE_ROWS,
    candidates_for,
)
from beltrami.graph.search.euclidean import EXACT_ROWS, TREE_DIMENSIONS
from beltrami.learners.model import Labeled

WORTH_SAYING = 20.0
"""Seconds from which a person wants to know beforehand."""

SECONDS: dict[str, dict[str, dict[str, float]]] = {
    Stage.START: {"": {"each": 1.5}},
    Stage.PREPARE: {"": {"entry": 5e-8}},
    Stage.GRAPH: {
        "searching neighbours": {"product": 2.5e-11, "tree_row": 6e-5},
        "searching neighbours (approximate)": {"cell_product": 1.8e-8},
        "bridging components": {},
        "": {"each": 0.1, "row": 2e-5},
    },
    Stage.BASIS: {"": {"each": 0.1, "row": 3e-5}},
    Stage.LEARN: {
        "poisson": {"each": 0.1, "row_class": 2e-6},
        "logistic": {"each": 0.1, "row": 1e-6},
        "forest": {"each": 0.5, "row": 1e-5},
        "neighbors": {"each": 0.05, "label_entry": 1e-10},
        "regularized": {"each": 0.1, "row_class": 4.5e-5, "chosen_label": 1e-6},
        "eigenfunctions": {"each": 0.05, "row": 1e-6},
        "laplacian_rls": {"each": 0.1, "square": 1.5e-6},
        "laplacian_svc": {"each": 0.1, "square": 1e-6},
    },
    Stage.ASK: {"": {"each": 0.3, "row": 1e-6}},
    Stage.DOUBT: {"": {"row": 5e-6}},
    Stage.EMBED: {"": {"each": 0.1, "row": 3e-5}},
    Stage.CLUSTER: {"": {"each": 0.1, "row": 1e-4}},
    Stage.WRITE: {"": {"each": 0.1, "row": 1e-6}},
    Stage.MAP: {"drawing the map": {"row": 4e-5}, "": {"each": 0.3, "row": 3e-5}},
    Stage.PAGE: {"": {"each": 0.1, "row": 1e-6}},
}
"""Seconds, of two processors of a server, for each unit of work of each step of each stage.

Whether the data fall into pieces is not known before: joining them says what it takes when it
begins."""

_CHOSEN_ROWS = 20_000
_MOST_HELD_OUT = 1000
_FEW_PROCESSORS = 4

_CELLS_GROW = 1.28
"""Power of the rows with which the approximate search grows, as measured."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """How large a job is.

    Attributes
    ----------
    n_rows, n_columns, n_labels, n_classes : int
        Sizes of the data.
    """

    n_rows: int
    n_columns: int
    n_labels: int
    n_classes: int

    @classmethod
    def of(cls, points: Points, labeled: Labeled | None = None) -> Self:
        """Return the size of a fit, or of a look at the data alone."""
        return cls(*points.shape, *((0, 0) if labeled is None else labeled.targets.shape))

    def costs(
        self, method: str = "auto", *, time_budget: float | None = None
    ) -> dict[str, dict[str, float]]:
        """Return about how many seconds each step of each stage takes on this machine.

        - `method`, `time_budget`: as in `ManifoldClassifier`.
        """
        units = self._units()
        speed = 2 / min(threads_in_force(), _FEW_PROCESSORS)
        costs = {
            str(stage): {
                step: sum(rate * units[unit] for unit, rate in rates.items()) * speed
                for step, rates in steps.items()
            }
            for stage, steps in SECONDS.items()
        }
        learners, spent = costs[Stage.LEARN], 0.0
        costs[Stage.LEARN] = {}
        for name, one in candidates_for(method, CLASS_CANDIDATES).items():
            shape = (self.n_rows, self.n_columns)
            if not one.skip_reason(method, shape, spent, time_budget, has_answer=spent > 0):
                spent += learners.get(name, 0.0)
                costs[Stage.LEARN][one.title] = learners.get(name, 0.0)
        return costs

    def seconds(
        self,
        method: str = "auto",
        *,
        time_budget: float | None = None,
        has_questions: bool,
        has_page: bool,
    ) -> float:
        """Return about how long the job takes on this machine, within a factor of three.

        - `has_questions`, `has_page`: whether rows to label next are chosen, and whether the page
          with the map is made.
        """
        costs = self.costs(method, time_budget=time_budget)
        stages = [Stage.START, *FIT, Stage.WRITE]
        stages += [Stage.ASK] * has_questions + [Stage.MAP, Stage.PAGE] * has_page
        return sum(sum(costs[stage].values()) for stage in stages)

    def _units(self) -> dict[str, float]:
        """Return how much of each unit of work there is."""
        n, d, labels = self.n_rows, self.n_columns, min(self.n_labels, _MOST_HELD_OUT)
        is_flat = d <= TREE_DIMENSIONS
        return {
            "each": 1.0,
            "row": n,
            "entry": n * d,
            "product": 0.0 if is_flat or n > EXACT_ROWS else float(n) ** 2 * d,
            "cell_product": 0.0 if is_flat or n <= EXACT_ROWS else float(n) ** _CELLS_GROW * d,
            "tree_row": n if is_flat else 0.0,
            "row_class": n * (1 + self.n_classes / 3),
            "label_entry": n * d * labels,
            "chosen_label": n * labels if n <= _CHOSEN_ROWS else 0.0,
            "square": float(min(n, EXACT_MACHINE_ROWS)) ** 2,
        }

    def line(self, seconds: float) -> str:
        """Say how long it takes, and why."""
        if seconds < WORTH_SAYING:
            return ""
        minutes = round(seconds / 60)
        counted = "a minute" if minutes == 1 else f"{minutes:,} minutes"
        time = f"{round(seconds, -1):.0f} seconds" if seconds < 50 else counted
        return (
            f"about {time}: {self.n_rows:,} rows, {self.n_columns:,} columns, {self.n_labels:,} "
            f"labels of {self.n_classes:,} classes"
        )
