"""Thesis tables 3.1, 3.2 and 3.3: errors by number of labelled points and of eigenvectors.

Nothing enters but the wish for a quick run; a record and a page beside the thesis's numbers leave.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from beltrami.core.telling.progress import track
from beltrami.graph.search import open_space
from beltrami_papers.baselines.neighbors import knn_errors, lists_pay, neighbor_lists
from beltrami_papers.cells import (
    Cell,
    largest_difference,
    page,
    summary,
)
from beltrami_papers.model import Reproduction, StageClock, circumstances
from beltrami_papers.thesis.chapter3 import samples
from beltrami_papers.thesis.chapter3.by_default import cells_by_default
from beltrami_papers.thesis.chapter3.published import (
    TABLE_3_1,
    TABLE_3_2,
    TABLE_3_3,
    PublishedTable,
)
from beltrami_papers.thesis.chapter3.samples import Sample
from beltrami_papers.thesis.chapter3.table_layout import (
    best_neighbors,
    difference_lines,
    error_table,
)
from beltrami_papers.thesis.chapter3.trials import (
    SEED,
    eigenvector_rows,
    label_draws,
    spectral_errors,
)

SEEDS = (
    f"draw i of l labelled points is numpy.random.default_rng([{SEED}, l, i])"
    ".choice(n, l, replace=False), i = 0, 1, ...; the eigensolver's seed is fixed."
)


@dataclass(frozen=True, slots=True)
class Plan:
    """Which cells of a table to compute.

    Attributes
    ----------
    labelled : tuple of int
        Numbers of labelled points, the rows.
    eigenvectors : tuple of int
        Numbers of eigenvectors, the columns; only those below the row's number are computed.
    n_draws : int
        Draws per cell.
    fewer : mapping of int to int
        Draws for some numbers of eigenvectors.
    """

    labelled: tuple[int, ...]
    eigenvectors: tuple[int, ...]
    n_draws: int = 20
    fewer: Mapping[int, int] = field(default_factory=dict)

    def sizes(self, labelled: int) -> list[int]:
        """Return the numbers of eigenvectors of a row."""
        return [size for size in self.eigenvectors if size < labelled]


def plan_for(
    published: PublishedTable, n: int, *, quick: bool, fewer: Mapping[int, int] | None = None
) -> Plan:
    """Return the cells of a published table that fit a set of n points.

    - `quick`: only up to 500 labelled points and 100 eigenvectors, two draws.
    """
    labelled = tuple(size for size in published.errors if size < (min(n, 501) if quick else n))
    return Plan(
        labelled,
        tuple(p for p in published.eigenvectors if p < max(labelled) and (p <= 100 or not quick)),
        n_draws=2 if quick else 20,
        fewer=fewer or {},
    )


def _table_cells(
    sample: Sample, plan: Plan, published: PublishedTable, clock: StageClock
) -> tuple[list[Cell], list[Cell]]:
    """Compute a table."""
    with clock.stage("graph"):
        graph = sample.graph()
    with clock.stage("eigenvectors"):
        rows = eigenvector_rows(graph, max(plan.eigenvectors))
    space, n, classes = open_space(sample.points, sample.metric), sample.n_points, sample.classes
    with clock.stage("k-NN"):
        pays = lists_pay(max(plan.labelled), n)
        lists = neighbor_lists(space) if pays else None
    cells, neighbors = [], []
    with track("learning from draws of labels", total=len(plan.labelled)) as advance:
        for labelled in plan.labelled:
            draws, sizes = label_draws(n, labelled, plan.n_draws), plan.sizes(labelled)
            with clock.stage("fits and predictions"):
                errors = spectral_errors(rows, classes, draws, sizes, fewer=plan.fewer)
            cells += [
                {
                    "labelled": labelled,
                    "eigenvectors": size,
                    **summary(errors[:, column], published.error(labelled, size)),
                }
                for column, size in enumerate(sizes)
            ]
            with clock.stage("k-NN"):
                by_count = knn_errors(space, classes, draws, lists=lists)
            best = best_neighbors(by_count, published.neighbors.get(labelled))
            neighbors.append({"labelled": labelled, **best})
            advance(1)
    return cells, neighbors


def learning_table(
    name: str, sample: Sample, plan: Plan, published: PublishedTable, clock: StageClock
) -> Reproduction:
    """Compute a table and put it beside the thesis's, and the product's defaults beside both."""
    cells, neighbors = _table_cells(sample, plan, published, clock)
    with clock.stage("by default"):
        usual = cells_by_default(sample, plan.labelled, plan.n_draws)
    settings = {
        **sample.settings(),
        "draws": _draws_in_words(plan),
        "baseline": "best of 1, 3, 5 nearest labelled points by mean error, same points and "
        "distance; a tied vote goes to the nearest of the tied classes",
        "by default": "EigenfunctionClassifier() with this distance and nothing else set, the "
        "same draws",
    }
    record = {
        "name": name,
        "source": published.source,
        "data": sample.data,
        "n": sample.n_points,
        "published_n": published.n_points,
        "settings": settings,
        "seeds": SEEDS,
        "remarks": list(sample.remarks),
        "seconds": clock.rounded_seconds(),
        **circumstances(),
        "largest_difference": _largest(cells, neighbors),
        "errors": cells,
        "neighbors": neighbors,
        "by_default": usual,
    }
    body = [
        "Percentage error on the unlabelled points: ours (thesis).",
        "",
        *error_table(cells, neighbors, usual),
        "",
        *difference_lines(cells, neighbors),
    ]
    title = f"{name}: {published.source}, n = {sample.n_points} (thesis {published.n_points})"
    return Reproduction(record=record, table=page(title, record, body))


def _draws_in_words(plan: Plan) -> str:
    few = [f"{count} for p = {size}" for size, count in plan.fewer.items()]
    return ", ".join([f"mean over {plan.n_draws}", *few])


def _largest(cells: Sequence[Cell], neighbors: Sequence[Cell]) -> dict[str, Any]:
    return {
        "p >= 50": largest_difference(cells, lambda cell: cell["eigenvectors"] >= 50),
        "p = 20": largest_difference(cells, lambda cell: cell["eigenvectors"] == 20),
        "best k-NN": largest_difference(neighbors),
    }


def digits_table(*, quick: bool = False) -> Reproduction:
    """Reproduce Table 3.1, on MNIST."""
    clock = StageClock()
    with clock.stage("data and principal components"):
        sample = samples.digits(quick=quick)
    plan = plan_for(TABLE_3_1, sample.n_points, quick=quick)
    return learning_table("thesis-3.1", sample, plan, TABLE_3_1, clock)


def newsgroups_table(*, quick: bool = False) -> Reproduction:
    """Reproduce Table 3.2, on 20 Newsgroups; ten draws for 2000 eigenvectors, as the thesis."""
    clock = StageClock()
    with clock.stage("data and word counts"):
        sample = samples.newsgroups(samples.smart_stop_words(), quick=quick)
    plan = plan_for(TABLE_3_2, sample.n_points, quick=quick, fewer={} if quick else {2000: 10})
    return learning_table("thesis-3.2", sample, plan, TABLE_3_2, clock)


def phonemes_table(*, quick: bool = False) -> Reproduction:
    """Run Table 3.3's experiment on the public phonemes, another sample than the thesis's."""
    clock = StageClock()
    with clock.stage("data"):
        sample = samples.phonemes(quick=quick)
    plan = plan_for(TABLE_3_3, sample.n_points, quick=quick)
    return learning_table("thesis-3.3", sample, plan, TABLE_3_3, clock)
