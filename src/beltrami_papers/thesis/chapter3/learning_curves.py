"""Thesis figures A.9, A.10 and A.11: what unlabelled points add.

Nothing enters but the wish for a quick run; errors against the number of labelled points, for a
whole set and for parts of it, leave as a figure, a record and a page.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from beltrami.core.telling.progress import track
from beltrami.graph.search import open_space
from beltrami_papers.baselines.neighbors import knn_errors, lists_pay, neighbor_lists
from beltrami_papers.cells import Cell, page, summary, table_lines
from beltrami_papers.model import Reproduction, StageClock, circumstances
from beltrami_papers.thesis.chapter3 import samples
from beltrami_papers.thesis.chapter3.drawing import Line, learning_figure
from beltrami_papers.thesis.chapter3.samples import Sample
from beltrami_papers.thesis.chapter3.table_layout import best_neighbors
from beltrami_papers.thesis.chapter3.trials import (
    SEED,
    eigenvector_rows,
    label_draws,
    spectral_errors,
)

MOST_EIGENVECTORS = 1000
N_DRAWS = 20
N_PARTS = 5

Curves = dict[int, tuple[int, ...]]
"""For each number of points, the numbers of labelled ones."""


def one_fifth(labelled: int) -> int:
    """Return 20 % of the labelled points, 1 to 1000.

    The thesis has the limit for its 60000 digits only (footnote 8); we keep it everywhere.
    """
    return min(MOST_EIGENVECTORS, max(1, round(0.2 * labelled)))


def parts_of(n: int, size: int) -> list[tuple[Any, int]]:
    """Return the rows of random parts, with the seed of the label draws on each.

    Five parts, ascending row numbers; part j comes from ``default_rng([0, size, j])`` and its draws
    of labels have the seed j + 1.
    """
    if size >= n:
        return [(np.arange(n), SEED)]
    return [
        (np.sort(np.random.default_rng([SEED, size, j]).choice(n, size, replace=False)), j + 1)
        for j in range(N_PARTS)
    ]


def curve_cells(
    sample: Sample, size: int, labelled: Sequence[int], n_draws: int, clock: StageClock
) -> list[Cell]:
    """Compute the two curves of one number of points.

    - `n_draws`: draws in all; shared between the parts, of which there are no more than draws.
    - Returned: one per number of labelled points: the classifier, and under ``neighbors`` the
      baseline.
    """
    chosen = parts_of(sample.n_points, size)[:n_draws]
    errors: dict[int, list[Any]] = {count: [] for count in labelled}
    neighbors: dict[int, list[Any]] = {count: [] for count in labelled}
    for rows_of_part, seed in chosen:
        part = sample.part(rows_of_part)
        with clock.stage("graphs"):
            graph = part.graph()
        with clock.stage("eigenvectors"):
            rows = eigenvector_rows(graph, one_fifth(max(labelled)))
        with clock.stage("k-NN"):
            space = open_space(part.points, part.metric)
            lists = neighbor_lists(space) if lists_pay(max(labelled), size) else None
        for count in labelled:
            draws = label_draws(size, count, max(1, n_draws // len(chosen)), seed=seed)
            with clock.stage("fits and predictions"):
                ours = spectral_errors(rows, part.classes, draws, [one_fifth(count)])
            errors[count].append(ours[:, 0])
            with clock.stage("k-NN"):
                neighbors[count].append(knn_errors(space, part.classes, draws, lists=lists))
    return [
        {
            "points": size,
            "labelled": count,
            "eigenvectors": one_fifth(count),
            **summary(np.concatenate(errors[count])),
            "neighbors": best_neighbors(np.concatenate(neighbors[count])),
        }
        for count in labelled
    ]


def draw_curves(cells: Sequence[Cell], title: str) -> Figure:
    """Draw error against number of labelled points, a colour per number of points."""
    sizes = sorted({cell["points"] for cell in cells}, reverse=True)
    parts = [[cell for cell in cells if cell["points"] == size] for size in sizes]
    ours = [
        Line(
            f"Laplacian, {size} points",
            [cell["labelled"] for cell in part],
            [cell["mean"] for cell in part],
            [cell["std"] or 0.0 for cell in part],
            group=number,
        )
        for number, (size, part) in enumerate(zip(sizes, parts, strict=True))
    ]
    base = [
        Line(
            f"best k-NN, {size} points",
            [cell["labelled"] for cell in part],
            [cell["neighbors"]["mean"] for cell in part],
            group=number,
            dashed=True,
        )
        for number, (size, part) in enumerate(zip(sizes, parts, strict=True))
    ]
    what = "the unlabelled points"
    return learning_figure([*ours, *base], title=title, what=what, columns=2)


def curve_table(cells: Sequence[Cell]) -> list[str]:
    """Return a Markdown table of curves: "Laplacian / best k-NN" for each number of points."""
    sizes = sorted({cell["points"] for cell in cells}, reverse=True)
    place = {(cell["points"], cell["labelled"]): cell for cell in cells}
    rows = []
    for count in sorted({cell["labelled"] for cell in cells}):
        row = [place.get((size, count)) for size in sizes]
        texts = [f"{c['mean']:.1f} / {c['neighbors']['mean']:.1f}" if c else "" for c in row]
        rows.append([str(count), str(one_fifth(count)), *texts])
    return table_lines(["labelled", "p", *(f"{size} points" for size in sizes)], rows)


def learning_curves(
    name: str, source: str, sample: Sample, curves: Curves, clock: StageClock, *, n_draws: int
) -> Reproduction:
    """Compute and draw the curves of one set.

    - `curves`: for each number of points, the numbers of labelled ones.
    """
    cells: list[Cell] = []
    with track("curves of learning", total=len(curves)) as advance:
        for size, labelled in curves.items():
            cells += curve_cells(sample, size, labelled, n_draws, clock)
            advance(1)
    record = {
        "name": name,
        "source": source,
        "data": sample.data,
        "n": sample.n_points,
        "settings": {
            **sample.settings(),
            "eigenvectors": f"20 % of the labelled points, at most {MOST_EIGENVECTORS}",
            "draws": f"mean over {n_draws}; where only a part of the points is used, "
            f"{min(N_PARTS, n_draws)} random parts share them",
        },
        "seeds": f"part j of m points is default_rng([{SEED}, m, j]).choice(n, m, replace=False), "
        f"j = 0 to {N_PARTS - 1}; its draw i of l labels is default_rng([j + 1, l, i])"
        f".choice(m, l, replace=False), and default_rng([{SEED}, l, i]) on the whole set.",
        "remarks": [
            *sample.remarks,
            "p is 20 % of the labelled points, at most 1000; the thesis has that limit for its "
            "60000 digits only.",
            "The thesis shows this as a picture; its numbers are not printed, so none stand here.",
            "A part keeps the representation made from the whole set and gets its own graph.",
        ],
        "seconds": clock.rounded_seconds(),
        **circumstances(),
        "errors": cells,
    }
    body = ["Percentage error on the unlabelled points: Laplacian / best k-NN.", ""]
    subject = sample.data.split(",")[0].split("(")[0].strip()
    figure = draw_curves(cells, f"After {source}: {subject}")
    table = page(f"{name}: {source}", record, [*body, *curve_table(cells)])
    return Reproduction(figure, record, table)


def digits_curves(*, quick: bool = False) -> Reproduction:
    """Reproduce figure A.9, on MNIST."""
    clock = StageClock()
    with clock.stage("data and principal components"):
        sample = samples.digits(quick=quick)
    curves: Curves = {
        sample.n_points: (20, 50, 100, 500, 1000, 5000, 20000, 50000),
        10000: (20, 50, 100, 500, 1000, 5000, 9000),
        1000: (20, 50, 100, 200, 500, 900),
    }
    source = "Belkin (2003), figure A.9"
    return _reproduce("thesis-a9", source, sample, curves, clock, quick=quick)


def newsgroups_curves(*, quick: bool = False) -> Reproduction:
    """Reproduce figure A.10, on 20 Newsgroups."""
    clock = StageClock()
    with clock.stage("data and word counts"):
        sample = samples.newsgroups(samples.smart_stop_words(), quick=quick)
    curves: Curves = {
        sample.n_points: (50, 100, 500, 1000, 5000, 10000, 18000),
        2000: (50, 100, 200, 500, 1000, 1800),
        600: (50, 100, 200, 500),
    }
    source = "Belkin (2003), figure A.10"
    return _reproduce("thesis-a10", source, sample, curves, clock, quick=quick)


def phonemes_curves(*, quick: bool = False) -> Reproduction:
    """Run the experiment of figure A.11 on the public phonemes."""
    clock = StageClock()
    with clock.stage("data"):
        sample = samples.phonemes(quick=quick)
    curves: Curves = {
        sample.n_points: (20, 50, 100, 200, 500, 1000, 2000),
        2000: (20, 50, 100, 200, 500, 1000, 1800),
        600: (20, 50, 100, 200, 500),
    }
    source = "Belkin (2003), figure A.11"
    return _reproduce("thesis-a11", source, sample, curves, clock, quick=quick)


def _reproduce(
    name: str, source: str, sample: Sample, curves: Curves, clock: StageClock, *, quick: bool
) -> Reproduction:
    if quick:
        curves = dict.fromkeys((sample.n_points, 500, 300), (50, 100))
    return learning_curves(name, source, sample, curves, clock, n_draws=2 if quick else N_DRAWS)
