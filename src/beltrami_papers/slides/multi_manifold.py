"""Multi-manifold separation against a global and a clairvoyant learner, after Zhu's slides.

A size enters; errors against the number of labels on six sets leave
as a figure, a record and a page, with the purity of the regions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from beltrami_papers.cells import page, summary
from beltrami_papers.journal import Journal, Result
from beltrami_papers.model import Reproduction, circumstances
from beltrami_papers.slides.curves import draw_curves
from beltrami_papers.slides.lines import error_lines, verdict_lines
from beltrami_papers.slides.problems import (
    CLAIRVOYANT,
    GLOBAL,
    GRAPH,
    LAPLACIAN,
    N_TEST,
    OURS,
    SETS,
    SLIDES,
    TASKS,
    problem_of,
    trial,
)
from beltrami_papers.slides.purity import (
    N_LABELLED as PURITY_LABELLED,
)
from beltrami_papers.slides.purity import purity_cells, purity_lines
from beltrami_papers.slides.sizes import Size

SOURCE = "Zhu (2009), slides on multi-manifold separation"
UNIT = {"regression": "root mean squared error", "classification": "percent of wrong classes"}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run.

    Attributes
    ----------
    sets : tuple of str
        Names of sets.
    labelled : tuple of int
        Numbers of labels.
    draws : dict of str to dict of int to int
        For each method and number of unlabelled points, how many draws; a method that sees none
        has one entry, of zero.
    purity_sizes : tuple of int
        Unlabelled points of the table of purities.
    purity_draws : int
        Its draws.
    """

    sets: tuple[str, ...]
    labelled: tuple[int, ...]
    draws: dict[str, dict[int, int]]
    purity_sizes: tuple[int, ...]
    purity_draws: int


class Trial(NamedTuple):
    """One fit: which set, task, method, how many points with and without labels, which draw."""

    data: str
    task: str
    method: str
    labelled: int
    unlabelled: int
    draw: int

    @property
    def key(self) -> str:
        """Name of the trial in a journal."""
        return "/".join(map(str, self))


def plan_for(size: Size) -> Plan:
    """Return the plan at a size.

    At full size ours and the two it is held against have 20 draws, in between and for the other
    methods fewer; in the book 4, and 2 with the most points.
    """
    if size is Size.QUICK:
        few = {500: 2}
        draws = {GLOBAL: {0: 2}, CLAIRVOYANT: {0: 2}, OURS: few, SLIDES: few, GRAPH: few}
        return Plan(("dollar sign", "circle and sphere"), (20, 40), draws, (500,), 1)
    if size is Size.BOOK:
        few = {2000: 2, 20000: 1}
        ours = {2000: 4, 6000: 4, 20000: 2}
        draws = {GLOBAL: {0: 4}, CLAIRVOYANT: {0: 4}, OURS: ours, SLIDES: few, GRAPH: few}
        return Plan(tuple(SETS), (20, 60, 200, 640), draws, (2000, 6000, 20000), 2)
    few = {2000: 5, 20000: 5}
    return Plan(
        sets=tuple(SETS),
        labelled=(20, 60, 200, 640),
        draws={
            GLOBAL: {0: 20},
            CLAIRVOYANT: {0: 20},
            OURS: {2000: 20, 6000: 5, 20000: 20},
            SLIDES: few,
            GRAPH: few,
            LAPLACIAN: {2000: 3},
        },
        purity_sizes=(2000, 6000, 20000),
        purity_draws=10,
    )


def trials_of(plan: Plan) -> Iterator[Trial]:
    """Go through a plan, draw by draw, so that a part of a run is a table with fewer draws."""
    most = max(count for sizes in plan.draws.values() for count in sizes.values())
    for draw in range(most):
        for data in plan.sets:
            for task in TASKS:
                for method, sizes in plan.draws.items():
                    for m, n_draws in sizes.items():
                        if draw < n_draws:
                            for n in plan.labelled:
                                yield Trial(data, task, method, n, m, draw)


def run_trials(trials: Sequence[Trial], journal: Journal) -> dict[Trial, Result]:
    """Run what the journal does not know."""
    return journal.results("multi-manifold separation", trials, _run_trial)


def _run_trial(one: Trial) -> Result:
    problem = problem_of(one.data, one.draw)
    return trial(problem, one.task, one.method, one.labelled, one.unlabelled, one.draw)


def cells_of(results_by_trial: Mapping[Trial, Result]) -> list[dict[str, Any]]:
    """Return mean and deviation over the draws of every cell.

    Each has every draw's error, the mean number of regions and the seconds of a fit.
    """
    cells: dict[tuple[Any, ...], list[Result]] = {}
    for one, result in results_by_trial.items():
        cells.setdefault(one[:-1], []).append(result)
    return [
        {
            "data": data,
            "task": task,
            "method": method,
            "labelled": n,
            "unlabelled": m,
            **summary(np.array([result["error"] for result in results])),
            "regions": _mean_regions(results),
            "seconds": round(float(np.mean([result["seconds"] for result in results])), 2),
            "each": [result["error"] for result in results],
        }
        for (data, task, method, n, m), results in cells.items()
    ]


def seconds_of(results: Mapping[Trial, Result]) -> dict[str, float]:
    """Add up the seconds of each method, over all runs that a journal knows."""
    spent = {one.method: 0.0 for one in results}
    for one, result in results.items():
        spent[one.method] += result["seconds"]
    return {method: round(seconds, 1) for method, seconds in spent.items()}


def _mean_regions(results: Sequence[Result]) -> float | None:
    numbers = [result["regions"] for result in results]
    return None if numbers[0] is None else round(float(np.mean(numbers)), 1)


def multi_manifold_figure(size: Size, *, journal: Path | None = None) -> Reproduction:
    """Measure multi-manifold separation on six sets, with few to many labels.

    - `journal`: a file of single results that the run reads first and adds to, so that it can be
      stopped and gone on with; None starts afresh and writes none.
    """
    plan, known = plan_for(size), Journal.at(journal)
    results = run_trials(list(trials_of(plan)), known)
    pure = purity_cells(plan.purity_sizes, plan.purity_draws, known)
    cells, seconds = cells_of(results), seconds_of(results)
    record = multi_manifold_record(size, plan, cells, pure, seconds)
    body = ["## Share of the gap that is closed", "", *verdict_lines(cells), ""]
    for task in TASKS:
        lead = f"Mean {UNIT[task]} on fresh points; in brackets the mean number of regions."
        body += [f"## {task.capitalize()}", "", lead, "", *error_lines(cells, task)]
    body += ["## Purity of the regions of the dollar sign", "", *purity_lines(pure)]
    table = page(f"{record['name']}: {SOURCE}", record, body)
    return Reproduction(draw_curves(cells), record, table)


def multi_manifold_record(
    size: Size,
    plan: Plan,
    cells: list[dict[str, Any]],
    pure: list[dict[str, Any]],
    seconds: Mapping[str, float],
) -> dict[str, Any]:
    """Return the record."""
    draws = {
        name: ", ".join(f"{k} at m = {m}" for m, k in counts.items())
        for name, counts in plan.draws.items()
    }
    return {
        "name": size.reproduction_name("multi-manifold"),
        "source": f"{SOURCE}; the slides print no numbers",
        "data": ", ".join(plan.sets),
        "n": f"{min(plan.labelled)} to {max(plan.labelled)} labelled",
        "settings": {
            OURS: "MultiManifoldRegressor and MultiManifoldClassifier as they come",
            SLIDES: 'the same with n_neighbors=round(log(n + m)), n_regions="slides", '
            'carve="voronoi"',
            "inside a region": "LaplacianRLS with gamma_i=0: kernel ridge regression, width and "
            "strength by exact leave-one-out",
            GLOBAL: "that learner on all labels; it sees no unlabelled point",
            CLAIRVOYANT: "that learner on each true manifold, which is also known at fresh points",
            f"{GRAPH}, {LAPLACIAN}": "our own graph learners as they come",
            "regression": "f = 1 + s on the first manifold, -1 - s on the second; labels without "
            "noise",
            "classification": "class 1 where s > 1/2 on the first manifold, and where not on the "
            "second, so that neither the manifold nor the place alone gives it",
            "judged on": f"{N_TEST} fresh points of each draw",
            "draws": "; ".join(
                f"{name} {text.replace(' at m = 0', '')}" for name, text in draws.items()
            ),
        },
        "seeds": "draw i: points default_rng([i, 0]), fresh points default_rng([i, 1]), order "
        "default_rng([i, 2]); the first 640 rows are kept for labels, of which the first n are "
        "used, and the next m have none; random_state=i. All methods see the same draws.",
        "remarks": [
            "Points have no noise in the learning curves; the purity table has it.",
            "With several regions a value is held within the labels of its region, for ours, the "
            "slides' settings and the clairvoyant learner alike; the global learner has one region "
            "and is not held.",
            "S2 and S4 are spheres of dimensions 2 and 4 that cross in R^5; circle and sphere are "
            "S1 and S2 in R^3. Each has half of the points.",
            f"Purity: {PURITY_LABELLED} labelled rows, which the size constraints know; all rows "
            "are judged. It falls with fewer regions for any method, hence the clusters beside it.",
        ],
        "seconds": {**seconds, "purity": round(sum(cell["seconds"] for cell in pure), 1)},
        **circumstances(),
        "errors": cells,
        "purity": pure,
    }
