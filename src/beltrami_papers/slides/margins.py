"""Two squares as they approach, touch and overlap: the draws of the margin experiment.

A margin, a draw and numbers of points enter; errors of a supervised, a semi-supervised and a
clairvoyant learner leave.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from beltrami.core.types import FloatMatrix, IndexVector
from beltrami.data import Dataset, two_squares
from beltrami_papers.cells import summary
from beltrami_papers.journal import Journal, Result
from beltrami_papers.slides.problems import (
    CLAIRVOYANT,
    GLOBAL,
    OURS,
    Problem,
    draw_problem,
    trial,
)
from beltrami_papers.slides.sizes import Size

MARGINS = (0.4, 0.2, 0.1, 0.05, 0.02, 0.0, -0.05, -0.1, -0.2, -0.4)
_MOST = 16000


@dataclass(frozen=True, slots=True)
class MarginPlan:
    """What is run.

    Attributes
    ----------
    margins : tuple of float
        Between the squares; negative where they overlap.
    labelled, unlabelled : tuple of int
        Numbers of points.
    n_draws : int
        How many draws.
    """

    margins: tuple[float, ...]
    labelled: tuple[int, ...]
    unlabelled: tuple[int, ...]
    n_draws: int


class MarginTrial(NamedTuple):
    """One fit: which method, margin, how many points with and without labels, which draw."""

    method: str
    margin: float
    labelled: int
    unlabelled: int
    draw: int

    @property
    def key(self) -> str:
        """Name of the trial in a journal."""
        return "/".join(["margin", *map(str, self)])


def decision_sets(points: FloatMatrix, margin: float) -> IndexVector:
    """Return 0 where only the left square lies, 1 where only the right, 2 where both do."""
    overlap = -margin / 2
    sides = (points[:, 0] > 0).astype(np.intp)
    sets: IndexVector = np.where(np.abs(points[:, 0]) < overlap, 2, sides)
    return sets


def squares(n_points: int, *, margin: float, random_state: Any) -> Dataset:
    """Return two squares with a target that is smooth on each decision set.

    It is 1 + s on the left alone, -1 - s on the right alone, 0 on the overlap; the decision sets
    stand in for the manifolds.
    """
    data = two_squares(n_points, gap=margin, random_state=random_state)
    points, height = np.asarray(data.points), data.extras["position"]
    sets = decision_sets(points, margin)
    targets = np.array([1.0, -1.0, 0.0])[sets] * (1 + height)
    return replace(data, targets=targets, extras={**data.extras, "manifold": sets})


@lru_cache(maxsize=2)
def margin_problem(margin: float, draw: int) -> Problem:
    """Return a draw with this margin; the last two are kept."""
    make: Callable[..., Dataset] = partial(squares, margin=margin)
    return draw_problem(make, draw, n_unlabelled=_MOST)


def margin_plan(size: Size) -> MarginPlan:
    """Return the plan at a size."""
    if size is Size.QUICK:
        return MarginPlan((0.2, 0.0, -0.2), (40,), (500,), 2)
    return MarginPlan(MARGINS, (80, 320), (1000, 4000, 16000), 4 if size is Size.BOOK else 10)


def margin_trials(plan: MarginPlan) -> Iterator[MarginTrial]:
    """Go through a plan, draw by draw."""
    for draw in range(plan.n_draws):
        for margin in plan.margins:
            for n in plan.labelled:
                yield MarginTrial(GLOBAL, margin, n, 0, draw)
                yield MarginTrial(CLAIRVOYANT, margin, n, 0, draw)
                for m in plan.unlabelled:
                    yield MarginTrial(OURS, margin, n, m, draw)


def run_margins(trials: Sequence[MarginTrial], journal: Journal) -> dict[MarginTrial, Result]:
    """Run what the journal does not know."""
    return journal.results("margins", trials, _run_trial)


def _run_trial(one: MarginTrial) -> Result:
    problem = margin_problem(one.margin, one.draw)
    return trial(problem, "regression", one.method, one.labelled, one.unlabelled, one.draw)


def margin_cells(results: Mapping[MarginTrial, Result]) -> list[dict[str, Any]]:
    """Return mean and deviation of every cell, and how ours compares draw by draw.

    ``gain`` is the mean over draws of the supervised error minus ours, ``gain_error`` its standard
    error.
    """
    groups: dict[tuple[str, float, int, int], list[MarginTrial]] = {}
    for one in results:
        groups.setdefault(one[:4], []).append(one)
    cells = []
    for (method, margin, n, m), trials in groups.items():
        errors = np.array([results[one]["error"] for one in trials])
        cell = {"method": method, "margin": margin, "labelled": n, "unlabelled": m}
        cell |= summary(errors)
        if method == OURS:
            bases = [results[MarginTrial(GLOBAL, margin, n, 0, one.draw)] for one in trials]
            gains = np.array([base["error"] for base in bases]) - errors
            spread = float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0
            cell |= {"gain": round(float(gains.mean()), 4), "gain_error": round(spread, 4)}
        cells.append(cell)
    return cells
