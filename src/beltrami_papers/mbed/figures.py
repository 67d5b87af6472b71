"""Figures 2 and 3 of Zien and Quiñonero Candela (2005): maps of the digits 2, 4 and 8.

Nothing enters but the wish for a quick run; maps with boundaries leave as figures, with the wrong
points of several starts in a record and a page.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from beltrami.core.types import FloatMatrix
from beltrami.embeddings import StochasticNeighborEmbedding
from beltrami.embeddings.mbed.model import Stage
from beltrami.report.pictures.boundary_pictures import (
    add_legend,
    caption_stage,
    draw_map,
    nearest_stages,
)
from beltrami.report.pictures.boundary_views import MapView, view_of
from beltrami.report.pictures.figures import scatter_groups
from beltrami_papers.cells import page, table_lines
from beltrami_papers.mbed.agreement import cluster_of_each_class
from beltrami_papers.mbed.digits import (
    DIGITS,
    N_STARTS,
    N_STEPS,
    Images,
    drawn_start,
    starts,
    usps_digits,
)
from beltrami_papers.mbed.problems import SEED, SOURCE
from beltrami_papers.model import Reproduction, StageClock, circumstances

STEPS = (1, 5, 13, 17)
"""What the paper shows at the bottom of figure 3."""


def _cluster_view(images: Images, model: Any) -> MapView:
    """Return a clustered map on the plane of its boundaries, each digit's region in its place."""
    order = cluster_of_each_class(images.digits, model.transduction_, len(DIGITS))
    return view_of(model.embedding_, model.directions_[order])


def _draw_two_maps(
    images: Images, plain: FloatMatrix, model: Any, cell: Mapping[str, Any]
) -> Figure:
    """Draw figure 2: the map without boundaries and the one with them."""
    figure = Figure(figsize=(10, 5.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    scatter_groups(left, plain, images.digits, size=14.0)
    left.get_legend().remove()
    left.set_aspect("equal", adjustable="datalim")
    left.set_box_aspect(1)
    left.set_title("SNE, two dimensions", fontsize="medium")
    draw_map(right, _cluster_view(images, model), images.digits, size=14.0)
    right.set_title(
        f"Mbed without labels, plane of the boundaries\nstep {cell['step']}, {cell['wrong']} of "
        f"{cell['of']} outside their digit's region",
        fontsize="medium",
    )
    add_legend(figure, *right.get_legend_handles_labels())
    figure.suptitle(f"After {SOURCE}, figure 2: USPS digits 2, 4 and 8", fontsize="medium")
    return figure


def draw_annealing(
    images: Images, clustered: Any, taught: Any, cells: Sequence[Mapping[str, Any]]
) -> Figure:
    """Draw figure 3: clusters beside few labels, and steps of the annealing below."""
    figure = Figure(figsize=(10, 8.6), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=(1.75, 1))
    above, below = parts
    panels = above.subplots(1, 2)
    views = (_cluster_view(images, clustered), view_of(taught.embedding_, taught.directions_))
    heads = ("without labels", f"with {len(images.labelled)} labels (printed as digits)")
    whose = ("points", "unlabelled points")
    for i, axes in enumerate(panels):
        rows = images.labelled if i else None
        draw_map(axes, views[i], images.digits, labelled=rows, size=11.0)
        axes.set_title(
            f"{heads[i]}: step {cells[i]['step']} chosen\n{cells[i]['wrong']} of {cells[i]['of']} "
            f"{whose[i]} wrong",
            fontsize="medium",
        )
    stages = nearest_stages(taught.path_, STEPS)
    for axes, stage, step in zip(below.subplots(1, len(STEPS)), stages, STEPS, strict=True):
        view = view_of(stage.embedding, taught.directions_)
        draw_map(axes, view, images.digits, labelled=images.labelled, size=4.5)
        caption_stage(axes, stage, is_chosen=stage is taught.stage_, asked=step)
    add_legend(figure, *panels[0].get_legend_handles_labels())
    figure.suptitle(f"After {SOURCE}, figure 3: USPS digits 2, 4 and 8", fontsize="medium")
    return figure


def digits_record(
    name: str, images: Images, cells: list[dict[str, Any]], path: Sequence[Stage], clock: StageClock
) -> dict[str, Any]:
    """Return the record of a figure."""
    third = name == "mbed-figure-3"
    remarks = [
        "The plane is that of the three class directions: it holds the boundaries whole. The "
        "paper shows the first two coordinates, which span the same plane; ours is turned so that "
        "the first digit's region is on top.",
        f"Of {N_STARTS} starts the picture shows the one with the largest criterion, which looks "
        "at no true digit; the table has them all.",
    ]
    if third:
        remarks += [
            "The paper's text and its caption disagree on which map is left; ours has the "
            "clusters left.",
            f"Step 1 of the paper is the crude map that measures the radius. It has no boundaries "
            f"and is not kept; the strip shows step {path[0].number} in its place.",
            "In the paper the criterion chose step 20 for the clusters and step 9 with labels.",
        ]
    return {
        "name": name,
        "source": f"{SOURCE}, section {'7.2' if third else '7.1'} and figure {name[-1]}",
        "data": "usps, official test part, digits 2, 4 and 8",
        "n": len(images.digits),
        "settings": {
            "Mbed": f"3 classes, 3 dimensions, PaperMode(n_steps={N_STEPS}): 10 steps of descent "
            "for each of 19 steps of the annealing",
            **({"labels": f"{len(images.labelled)} rows"} if third else {}),
            **({} if third else {"SNE": "2 dimensions, one width: the 1/3 quantile, as in Mbed"}),
        },
        "seeds": f"starts: random_state 0 to {N_STARTS - 1}"
        + ("; labelled rows: default_rng(0).choice(n, 50, replace=False)." if third else "."),
        "remarks": remarks,
        "seconds": clock.rounded_seconds(),
        **circumstances(),
        "criteria": {str(stage.number): round(stage.criterion, 3) for stage in path},
        "errors": cells,
    }


def _digits_body(record: Mapping[str, Any]) -> list[str]:
    """Return the table of starts."""
    words = {"clusters": "without labels", "labels": "with labels"}
    header = ["", "start", "wrong", "of", "percent", "chosen step", "criterion"]
    rows = [
        [
            words[cell["what"]],
            f"{cell['seed']}, drawn" if cell["drawn"] else str(cell["seed"]),
            *(str(cell[key]) for key in ("wrong", "of")),
            f"{cell['percent']:.1f}",
            str(cell["step"]),
            f"{cell['criterion']:.2f}",
        ]
        for cell in record["errors"]
    ]
    means = []
    for what in dict.fromkeys(cell["what"] for cell in record["errors"]):
        percents = [cell["percent"] for cell in record["errors"] if cell["what"] == what]
        means.append(
            f"- {words[what]}: {np.mean(percents):.1f} percent wrong on average over "
            f"{len(percents)} starts, from {min(percents):.1f} to {max(percents):.1f}"
        )
    lead = "Wrong points: of clusters after the best matching, of labels among unlabelled rows."
    return [lead, "", *table_lines(header, rows), "", *means]


def two_maps_figure(*, quick: bool = False) -> Reproduction:
    """Reproduce figure 2: SNE beside Mbed without labels."""
    clock, images = StageClock(), usps_digits(quick=quick)
    with clock.stage("SNE"):
        sne = StochasticNeighborEmbedding(2, perplexity=None, quantile=1 / 3, random_state=SEED)
        plain = sne.fit_transform(images.points)
    model, cells = starts(images, "clusters", clock, quick=quick)
    record = digits_record("mbed-figure-2", images, cells, model.path_, clock)
    figure = _draw_two_maps(images, plain, model, drawn_start(cells))
    return Reproduction(
        figure, record, page(f"mbed-figure-2: {SOURCE}", record, _digits_body(record))
    )


def annealing_figure(*, quick: bool = False) -> Reproduction:
    """Reproduce figure 3: clusters beside 50 labels, and the annealing."""
    clock, images = StageClock(), usps_digits(quick=quick)
    clustered, without = starts(images, "clusters", clock, quick=quick)
    taught, with_labels = starts(images, "labels", clock, quick=quick)
    record = digits_record("mbed-figure-3", images, [*without, *with_labels], taught.path_, clock)
    figure = draw_annealing(
        images, clustered, taught, [drawn_start(without), drawn_start(with_labels)]
    )
    return Reproduction(
        figure, record, page(f"mbed-figure-3: {SOURCE}", record, _digits_body(record))
    )
