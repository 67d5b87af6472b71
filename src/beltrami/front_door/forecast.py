"""How long a fit will take, roughly: a few measured constants times the size of the data."""

from dataclasses import dataclass

from beltrami.core.threads import threads_in_force
from beltrami.front_door.candidates import MACHINE_ROWS
from beltrami.graph.search.euclidean import EXACT_COST, TREE_DIMENSIONS

WORTH_SAYING = 20.0
"""Seconds from which a person wants to know beforehand."""

_START = 4.0
_PRODUCTS = 2e10
_TREE_ROW, _GRAPH_ROW = 6e-5, 2e-5
_ENTRY = 4e-7
_LEARNER_ROW = 2e-4
_LABEL_ROW = 1e-6
_EIGEN_ROW = 3e-4
_ROUGH_ROW = 1.5e-4
_PAGE_ROW = 1e-4
_MACHINE = 1e-6
"""Seconds, of two processors of a server, for each unit of work."""

_CHOSEN_ROWS = 20_000
_MOST_HELD_OUT = 1000
_FEW_PROCESSORS = 4


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

    def seconds(
        self, *, time_budget: float | None = None, has_questions: bool, has_page: bool
    ) -> float:
        """Return about how long the job takes on this machine, within a factor of three.

        - `has_questions`, `has_page`: whether rows to label next are chosen, and whether the page
          with the map is made.
        """
        n = self.n_rows
        learning = self._learning()
        if time_budget is not None:
            learning = min(learning, time_budget + _LEARNER_ROW * n / 2)
        asking = _ROUGH_ROW * n if has_questions else 0.0
        shared = self._graph() + learning + asking + (_PAGE_ROW * n if has_page else 0.0)
        return _START + shared * 2 / min(threads_in_force(), _FEW_PROCESSORS)

    def _graph(self) -> float:
        n, d = self.n_rows, self.n_columns
        if d <= TREE_DIMENSIONS:
            return _TREE_ROW * n
        return _GRAPH_ROW * n + _ENTRY * n * d + min(float(n) ** 2 * d, EXACT_COST) / _PRODUCTS

    def _learning(self) -> float:
        n = self.n_rows
        seconds = _LEARNER_ROW * n * (1 + self.n_classes / 3) / 2
        if n <= _CHOSEN_ROWS:
            seconds += _LABEL_ROW * n * min(self.n_labels, _MOST_HELD_OUT)
        seconds += _EIGEN_ROW * n
        if n <= MACHINE_ROWS:
            seconds += _MACHINE * n**2
        return seconds

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
