"""Choices that the thesis leaves open in Tables 3.1 and 3.2, one changed at a time.

Nothing enters but the wish for a quick run; errors of each variant beside the thesis's leave.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix
from beltrami.data import principal_components
from beltrami_papers.cells import Cell, page, summary, table_lines
from beltrami_papers.model import Reproduction, StageClock, circumstances
from beltrami_papers.thesis.chapter3.published import TABLE_3_1, TABLE_3_2, PublishedTable
from beltrami_papers.thesis.chapter3.samples import (
    Images,
    Sample,
    digit_images,
    digit_sample,
    newsgroups,
    smart_stop_words,
)
from beltrami_papers.thesis.chapter3.table_layout import beside
from beltrami_papers.thesis.chapter3.tables_3_1_to_3_3 import SEEDS
from beltrami_papers.thesis.chapter3.trials import (
    eigenvector_rows,
    label_draws,
    spectral_errors,
)

LABELLED = (100, 500, 5000)
EIGENVECTORS = (10, 20, 50)
STATED = "Euclidean, centred components"
N_VARIANTS = 5
SMART = "SMART's list, which Rainbow takes"
STOP_LISTS: dict[str, Any] = {
    "scikit-learn's English list": "english",
    "the 500 most frequent words": 500,
    "no stop list": None,
}


def _variant_samples(images: Images, clock: StageClock) -> Iterator[tuple[str, Sample]]:
    """Yield each representation, distance and number of neighbours that needs its own graph."""
    with clock.stage("principal components"):
        centred = principal_components(images.training, 100)
        uncentred = principal_components(images.training, 100, center=False)
    stated = digit_sample(images, centred)
    yield STATED, stated
    yield "angle, centred components", digit_sample(images, centred, "angle")
    yield "angle, uncentred components", digit_sample(images, uncentred, "angle")
    yield "Euclidean, raw pixels", digit_sample(images, images.training)
    yield "7 neighbours", replace(stated, n_neighbors=7)


def _variant_cells(
    name: str,
    rows: FloatMatrix,
    sample: Sample,
    table: PublishedTable,
    counts: tuple[int, ...],
    sizes: tuple[int, ...],
    *,
    n_draws: int,
    more: int = 0,
) -> list[Cell]:
    """Compute the cells of one variant.

    - `more`: how many eigenvectors to take beyond the number that counts.
    """
    cells = []
    for count in counts:
        draws = label_draws(sample.n_points, count, n_draws)
        usable = [size for size in sizes if size + more < count]
        errors = spectral_errors(rows, sample.classes, draws, [size + more for size in usable])
        cells += [
            {
                "variant": name,
                "labelled": count,
                "eigenvectors": size,
                **summary(errors[:, column], table.error(count, size)),
            }
            for column, size in enumerate(usable)
        ]
    return cells


def digits_variants(*, quick: bool = False) -> Reproduction:
    """Compute three rows and columns of Table 3.1 under other choices than the stated one."""
    clock, n_draws = StageClock(), 2 if quick else 20
    with clock.stage("data"):
        images = digit_images(quick=quick)
    labelled = tuple(count for count in LABELLED if count < len(images.classes))
    cells: list[Cell] = []
    with track("variants of table 3.1", total=N_VARIANTS) as advance:
        for name, sample in _variant_samples(images, clock):
            with clock.stage(f"graph: {name}"):
                graph = sample.graph()
            with clock.stage("eigenvectors"):
                rows = eigenvector_rows(graph, max(EIGENVECTORS) + 1)
            with clock.stage("fits and predictions"):
                cells_of = partial(
                    _variant_cells,
                    rows=rows,
                    sample=sample,
                    table=TABLE_3_1,
                    counts=labelled,
                    sizes=EIGENVECTORS,
                    n_draws=n_draws,
                )
                cells += cells_of(name)
                if name == STATED:
                    cells += cells_of("constant vector not counted", more=1)
            advance(1)
    record = {
        "name": "thesis-3.1-variants",
        "source": f"{TABLE_3_1.source}, three rows and three columns",
        "data": f"MNIST, first {len(images.classes)} training images",
        "n": len(images.classes),
        "published_n": TABLE_3_1.n_points,
        "settings": {
            "stated": f"thesis-3.1 is '{STATED}', 8 neighbours, the constant vector counted",
            "draws": f"mean over {n_draws}",
        },
        "seeds": SEEDS,
        "remarks": [
            "Each variant changes one choice, the angle on uncentred components two; the draws are "
            "the same for all."
        ],
        "seconds": clock.rounded_seconds(),
        **circumstances(),
        "errors": cells,
    }
    body = ["Percentage error on the unlabelled points: ours (thesis).", "", *_lines(cells)]
    return Reproduction(record=record, table=page("thesis-3.1-variants", record, body))


def newsgroups_variants(*, quick: bool = False) -> Reproduction:
    """Compute some cells of Table 3.2 with other stop lists than the stated one."""
    clock, n_draws = StageClock(), 2 if quick else 10
    sizes = (50, 100) if quick else (50, 100, 200, 500)
    lists = {SMART: smart_stop_words(), **STOP_LISTS}
    cells: list[Cell] = []
    with track("variants of table 3.2", total=len(lists)) as advance:
        for name, stop_words in lists.items():
            with clock.stage("data"):
                sample = newsgroups(quick=quick, stop_words=stop_words)
            with clock.stage("graph and eigenvectors"):
                rows = eigenvector_rows(sample.graph(), max(sizes))
            with clock.stage("fits and predictions"):
                counts = (500, 1000) if quick else (500, 1000, 5000)
                cells += _variant_cells(
                    name, rows, sample, TABLE_3_2, counts, sizes, n_draws=n_draws
                )
            advance(1)
    record = {
        "name": "thesis-3.2-variants",
        "source": f"{TABLE_3_2.source}, some cells",
        "data": "20 Newsgroups, headers removed, counts of 6000 words, normalised to sum to one",
        "n": sample.n_points,
        "published_n": TABLE_3_2.n_points,
        "settings": {
            "stated": f"thesis-3.2 has '{SMART}'",
            "draws": f"mean over {n_draws}",
        },
        "seeds": SEEDS,
        "remarks": ["Only the stop list changes, and with it the 6000 words and the posts kept."],
        "seconds": clock.rounded_seconds(),
        **circumstances(),
        "errors": cells,
    }
    body = ["Percentage error on the unlabelled points: ours (thesis).", "", *_lines(cells)]
    return Reproduction(record=record, table=page("thesis-3.2-variants", record, body))


def _lines(cells: list[Cell]) -> list[str]:
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell["variant"], []).append(cell)
    first = next(iter(groups.values()))
    header = [f"l = {cell['labelled']}, p = {cell['eigenvectors']}" for cell in first]
    rows = [[name, *(beside(cell) for cell in row_cells)] for name, row_cells in groups.items()]
    return table_lines(["variant", *header], rows)
