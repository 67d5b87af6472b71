"""The pages that gather reproductions: an index and the table of all published numbers.

A folder of records enters; ``README.md`` and ``summary.md`` are written beside them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beltrami.core.files import write_text
from beltrami_papers.cells import table_lines
from beltrami_papers.registry import REPRODUCTIONS
from beltrami_papers.summary import records_in, summary_text


def write_book(folder: Path) -> list[Path]:
    """Write the index and the summary of what is in a folder."""
    records = records_in(folder)
    pages = {"README.md": index_text(records), "summary.md": summary_text(records)}
    for name, text in pages.items():
        write_text(folder / name, text)
    return [(folder / name).resolve() for name in pages]


def index_text(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the index."""
    rows = [
        [f"[{name}]({name}.md)", entry.shows, entry.source, _seconds(records[name])]
        for name, entry in REPRODUCTIONS.items()
        if name in records
    ]
    apart = ", ".join(f"`{name}`" for name, entry in REPRODUCTIONS.items() if not entry.in_all)
    lines = [
        "# Reproductions",
        "",
        "Every table and figure of the source texts, as `beltrami reproduce all` writes them. The "
        "`.md` is the page to read, the `.json` holds every number with its standard deviation, "
        "the seeds, the versions, the hashes of the input files, seconds and memory; figures add "
        "a `.png`. Nothing was tuned towards the published numbers.",
        "",
        "[Every published number beside ours](summary.md), with a sentence for each miss.",
        "",
        *table_lines(["name", "what", "source", "seconds"], rows, words=(0, 1, 2)),
        "",
        "The data come from the folder that `BELTRAMI_DATA` names. A run that was stopped goes on "
        "where it was; `--again` begins anew; `--against FOLDER` compares with an earlier run; "
        "`--quick` runs each at a small size, to see that it runs, and its numbers mean nothing. "
        f"Too long for `all`, made by name only: {apart}.",
    ]
    return "\n".join(lines) + "\n"


def _seconds(record: Mapping[str, Any]) -> str:
    if "wall_seconds" in record:
        return f"{record['wall_seconds']:.0f}"
    return f"{sum(spent for stage, spent in record['seconds'].items() if stage != 'total'):.0f}"
