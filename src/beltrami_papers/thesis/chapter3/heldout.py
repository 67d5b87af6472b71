"""Thesis figure A.12: labels given to unlabelled digits teach a classifier of new ones.

Nothing enters but the wish for a quick run; three curves of errors leave as a figure, a record and
a page.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix, IndexMatrix, IndexVector
from beltrami.data import principal_components
from beltrami.graph.search import open_space
from beltrami_papers.baselines.neighbors import (
    COUNTS,
    LIST_LENGTH,
    errors_by_count,
    first_labelled,
    lists_pay,
    majority,
)
from beltrami_papers.cells import Cell, page, summary, table_lines
from beltrami_papers.model import Reproduction, StageClock, circumstances
from beltrami_papers.preparation import project_on_components
from beltrami_papers.thesis.chapter3.drawing import Line, learning_figure
from beltrami_papers.thesis.chapter3.learning_curves import MOST_EIGENVECTORS, one_fifth
from beltrami_papers.thesis.chapter3.samples import Images, Sample, digit_images, digit_sample
from beltrami_papers.thesis.chapter3.table_layout import best_neighbors
from beltrami_papers.thesis.chapter3.tables_3_1_to_3_3 import SEEDS
from beltrami_papers.thesis.chapter3.trials import (
    eigenvector_rows,
    error_percent,
    fit_draws,
    label_draws,
    predicted_classes,
)

LABELLED = (20, 50, 100, 500, 1000, 5000, 20000, 50000)
_VOTERS = 3


def nearest_of_labelled(
    points: FloatMatrix, labelled: IndexVector, new: FloatMatrix, lists: IndexMatrix
) -> IndexMatrix:
    """Return the five labelled points nearest to each new point.

    `lists` holds the nearest of all points to each new one, shape (m, length).
    """
    k = min(max(COUNTS), len(labelled))
    nearest = np.full((len(new), k), -1, dtype=np.int64)
    if lists_pay(len(labelled), len(points), lists.shape[1]):
        is_labelled = np.zeros(len(points), dtype=np.bool_)
        is_labelled[labelled] = True
        nearest[:] = first_labelled(lists, is_labelled, k)
    short = np.flatnonzero(nearest[:, -1] < 0)
    if short.size:
        near = open_space(points[labelled], "euclidean").nearest(new[short], k)[0]
        nearest[short] = labelled[near]
    return nearest


def heldout_errors(
    rows: FloatMatrix,
    sample: Sample,
    new: FloatMatrix,
    new_classes: IndexVector,
    lists: IndexMatrix,
    draws: Sequence[IndexVector],
) -> dict[str, Any]:
    """Return the errors of the three classifiers for one number of labelled points.

    `rows` are eigenvectors, shape (p, n); `lists` are those of `nearest_of_labelled`.
    """
    classes, size = sample.classes, one_fifth(len(draws[0]))
    fitted = fit_draws(rows, classes, draws, [[size]] * len(draws))
    predicted = predicted_classes(rows, [parts[0] for parts in fitted])
    heldout, unlabelled, neighbors = [], [], []
    for i, labelled in enumerate(draws):
        unlabelled.append(error_percent(predicted[:, i], classes, labelled))
        labels = predicted[:, i].astype(classes.dtype)
        labels[labelled] = classes[labelled]
        voted = majority(labels[lists[:, :_VOTERS]])
        heldout.append(error_percent(voted, new_classes))
        near = nearest_of_labelled(np.asarray(sample.points), labelled, new, lists)
        neighbors.append(errors_by_count(classes[near], new_classes))
    return {
        "heldout": np.array(heldout),
        "unlabelled": np.array(unlabelled),
        "neighbors": np.array(neighbors),
    }


def _heldout_cells(
    images: Images, labelled: Sequence[int], n_draws: int, clock: StageClock
) -> list[Cell]:
    """Compute the three curves."""
    with clock.stage("principal components"):
        sample = digit_sample(images, principal_components(images.training, 100))
        points = np.asarray(sample.points)
        new = project_on_components(images.training, points, images.heldout)
    with clock.stage("graph"):
        graph = sample.graph()
    with clock.stage("eigenvectors"):
        rows = eigenvector_rows(graph, one_fifth(max(labelled)))
    with clock.stage("neighbours of held-out points"):
        lists = open_space(points, "euclidean").nearest(new, LIST_LENGTH)[0]
    cells: list[Cell] = []
    with track("labelling held-out points", total=len(labelled)) as advance:
        for count in labelled:
            draws = label_draws(sample.n_points, count, n_draws)
            with clock.stage("fits, predictions and k-NN"):
                errors = heldout_errors(rows, sample, new, images.heldout_classes, lists, draws)
            cells.append(
                {
                    "labelled": count,
                    "eigenvectors": one_fifth(count),
                    "heldout": summary(errors["heldout"]),
                    "unlabelled": summary(errors["unlabelled"]),
                    "neighbors": best_neighbors(errors["neighbors"]),
                }
            )
            advance(1)
    return cells


CURVES = (
    ("heldout", "held-out images: 3-NN on all points, labelled by the Laplacian"),
    ("unlabelled", "unlabelled training images: Laplacian"),
    ("neighbors", "held-out images: best k-NN on the labelled points alone"),
)


def _draw_heldout(cells: Sequence[Cell], title: str) -> Figure:
    """Draw the three curves against the number of labelled points."""
    lines = [
        Line(
            label,
            [cell["labelled"] for cell in cells],
            [cell[key]["mean"] for cell in cells],
            [cell[key]["std"] or 0.0 for cell in cells],
            group=number,
            dashed=key == "neighbors",
        )
        for number, (key, label) in enumerate(CURVES)
    ]
    return learning_figure(lines, title=title, what="images without a label")


def heldout_digits(*, quick: bool = False) -> Reproduction:
    """Reproduce figure A.12, on MNIST's training and test images."""
    clock, n_draws = StageClock(), 2 if quick else 20
    with clock.stage("data"):
        images = digit_images(quick=quick)
    labelled = tuple(count for count in LABELLED if count <= (500 if quick else 50000))
    cells = _heldout_cells(images, labelled, n_draws, clock)
    source = "Belkin (2003), figure A.12"
    sample = digit_sample(images, images.training)
    record = {
        "name": "thesis-a12",
        "source": source,
        "data": f"{sample.data}; {len(images.heldout_classes)} held-out images on the same "
        "components",
        "n": len(images.classes),
        "settings": {
            **sample.settings(),
            "eigenvectors": f"20 % of the labelled points, at most {MOST_EIGENVECTORS}",
            "held-out": "3 nearest of all training images, labelled ones with their labels, the "
            "others with those that the Laplacian gave",
            "draws": f"mean over {n_draws}",
        },
        "seeds": SEEDS,
        "remarks": [
            *sample.remarks,
            "The thesis shows this as a picture; its numbers are not printed, so none stand here.",
        ],
        "seconds": clock.rounded_seconds(),
        **circumstances(),
        "errors": cells,
    }
    rows = [
        [
            str(c["labelled"]),
            str(c["eigenvectors"]),
            *(f"{c[key]['mean']:.2f}" for key, _ in CURVES),
        ]
        for c in cells
    ]
    body = table_lines(["labelled", "p", *(label for _, label in CURVES)], rows)
    return Reproduction(
        _draw_heldout(cells, f"After {source}: MNIST"),
        record,
        page(f"thesis-a12: {source}", record, body),
    )
