"""The page as one HTML document.

A `Page` enters; a text, or a file written whole, leaves.
"""

import math
from pathlib import Path

from beltrami.core.files import write_text
from beltrami.report.page import charts, work_charts
from beltrami.report.page.colours import COLOURS, class_styles
from beltrami.report.page.model import LISTED, Page
from beltrami.report.page.packing import PackedMap, pack_map, shorten
from beltrami.report.page.scripts import join_modules
from beltrami.report.page.templates import fill
from beltrami.report.page.work import Work

_COUNT_NAMES = {
    "rows": "rows",
    "given": "labelled by you",
    "labelled": "labelled by us",
    "abstained": "left to you",
    "unreached": "reached by no label",
}
"""What the counts are called on the page."""


def render(page: Page) -> str:
    """Return the page as one HTML document that loads nothing from anywhere.

    It stays below 5 MB; where the map would make it larger, rows are sampled and the page says so.
    """
    from markupsafe import Markup

    packed = pack_map(page) if page.positions is not None else None
    if packed is not None and not packed.n_drawn:
        packed = None
    return fill(
        "page.html.jinja",
        page=page,
        packed=packed,
        data=Markup(packed.json) if packed else "",
        map_note=map_note(page, packed) if packed else "",
        map_sentence=map_sentence(page, packed) if packed else "",
        script=Markup(join_modules("map.js", "page.js")),
        styles=class_styles(len(page.classes)),
        style_of=dict(zip(page.classes, class_styles(len(page.classes)), strict=True)),
        reliability=charts.reliability_chart(page.reliability),
        risk=charts.risk_chart(page.coverage, page.risk),
        charts=charts,
        **_work_charts(page.work),
        limits=LISTED,
        count_names=_COUNT_NAMES,
        n_colours=len(COLOURS),
        largest_error=max(
            (
                c.error + max(_or_zero(c.standard_error), 0.0)
                for c in page.candidates
                if math.isfinite(c.error)
            ),
            default=0.0,
        ),
    )


def _work_charts(work: Work | None) -> dict[str, charts.Chart | None]:
    """Return the charts of a project by the names that the template knows them by."""
    if work is None:
        return {}
    return {
        "labels_chart": work_charts.labels_chart(work.curve),
        "accepted_chart": work_charts.accepted_chart(work.measured),
        "accuracy_chart": work_charts.accuracy_chart(work.measured),
    }


def save_page(page: Page, path: Path) -> Path:
    """Write the page to a file, whole or not at all."""
    write_text(Path(path), render(page))
    return Path(path)


def map_note(page: Page, packed: PackedMap) -> str:
    """Return what the reader must know of rows that are not drawn; empty if all are."""
    parts = []
    n_placed = len(page.ids) - packed.n_lost
    if packed.n_drawn < n_placed:
        given = "all given labels are drawn" if packed.has_all_given else "given labels first"
        parts.append(
            f"{packed.n_drawn:,} of {len(page.ids):,} rows drawn, chosen at random; {given}."
        )
    if packed.n_lost:
        verb = "row has" if packed.n_lost == 1 else "rows have"
        parts.append(f"{packed.n_lost:,} {verb} no place on the map.")
    return " ".join(parts)


def map_sentence(page: Page, packed: PackedMap) -> str:
    """Return the map in words, for those who cannot see it."""
    sizes = sorted(page.class_rows, key=lambda row: -(row.given + row.labelled))[:5]
    largest = ", ".join(f"{shorten(row.name, 40)} ({row.given + row.labelled:,})" for row in sizes)
    lead = "largest: " if len(page.class_rows) > len(sizes) else ""
    return (
        f"Map of {packed.n_drawn:,} rows in {len(page.classes)} classes"
        + (f"; {lead}{largest}" if largest else "")
        + ". Rows that resemble each other lie close together. The class table below holds the "
        "same numbers."
    )


def _or_zero(number: float) -> float:
    return number if math.isfinite(number) else 0.0
