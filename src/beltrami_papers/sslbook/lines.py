"""Tables and findings of the SSL book's benchmark: cells enter, lines of Markdown leave.

Every number is computed from the cells and the printed rows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from beltrami_papers.cells import largest_difference, table_lines, with_deviation
from beltrami_papers.sslbook.methods import FRONT_DOOR
from beltrami_papers.sslbook.published import MEMORY, ROWS, best_published

Cells = Sequence[Mapping[str, Any]]


def error_lines(cells: Cells) -> list[str]:
    """Return the table of one number of labels: our rows, then the book's."""
    sets, labels = _sets(cells), cells[0]["labels"]
    place = {(cell["method"], cell["data"]): cell for cell in cells}
    most = max(cell["draws"] for cell in cells)
    rows = []
    for method in dict.fromkeys(cell["method"] for cell in cells):
        row_cells = [place[method, data] for data in sets]
        fewer = "" if row_cells[0]["draws"] == most else f" (first {row_cells[0]['draws']} splits)"
        rows.append([f"{method}{fewer}", *(with_deviation(cell) for cell in row_cells)])
    for name, row in ROWS.items():
        mark = "†" if row.standing == MEMORY else ""
        printed = [row.error(data, labels) for data in sets]
        rows.append([f"*book: {name}{mark}*", *("" if e is None else f"{e:.2f}" for e in printed)])
    return table_lines(["", *sets], rows)


def difference_lines(cells: Cells) -> list[str]:
    """Return ours minus the book's for the methods that both have."""
    sets = _sets(cells)
    shared = [cell for cell in cells if "difference" in cell]
    rows = []
    for method in dict.fromkeys(cell["method"] for cell in shared):
        by_set = {cell["data"]: cell for cell in shared if cell["method"] == method}
        mark = "†" if next(iter(by_set.values()))["standing"] == MEMORY else ""
        shown = [_with_sign(by_set[data]["difference"]) if data in by_set else "" for data in sets]
        rows.append([f"{method}{mark}", *shown])
    return table_lines(["", *sets], rows)


def finding_lines(cells: Cells) -> list[str]:
    """Say how near each shared method comes to its row, and who is ahead of the book's best."""
    lines = []
    for method in dict.fromkeys(cell["method"] for cell in cells if "difference" in cell):
        chosen = [cell for cell in cells if cell["method"] == method and "difference" in cell]
        gaps = np.array([cell["difference"] for cell in chosen])
        far = largest_difference([dict(cell) for cell in chosen])
        if far is not None:
            lines.append(
                f"- {method}: {gaps.mean():+.2f} points from the book's row ({far['standing']}) "
                f"in the mean of {len(chosen)} cells, {np.abs(gaps).mean():.2f} without sign; the "
                f"largest difference is {far['difference']:+.2f} on {far['data']} with "
                f"{far['labels']} labels ({far['mean']:.2f} against {far['published']:.2f})."
            )
    for labels in sorted({cell["labels"] for cell in cells}):
        chosen = [cell for cell in cells if cell["labels"] == labels]
        ahead = [
            f"{data} ({cell['mean']:.2f} by {cell['method']} against {error:.2f} by {whose})"
            for data in _sets(chosen)
            for cell in (_best_of_ours(chosen, data),)
            for error, whose in (best_published(data, labels),)
            if cell["mean"] < error
        ]
        lines.append(
            f"- {labels} labels: {front_door_finding(chosen)}. The best of our rows, chosen by its "
            f"error as the book's best is, is below it on {len(ahead)}"
            + (f": {'; '.join(ahead)}." if ahead else ".")
        )
    return lines


def _best_of_ours(cells: Cells, data: str) -> Mapping[str, Any]:
    """Return our cell of the lowest mean error on a set."""
    return min((cell for cell in cells if cell["data"] == data), key=lambda cell: cell["mean"])


def front_door_finding(cells: Cells) -> str:
    """Say on how many sets the front door is below the best printed row."""
    chosen = [cell for cell in cells if cell["method"] == FRONT_DOOR]
    below = [c["data"] for c in chosen if c["mean"] < best_published(c["data"], c["labels"])[0]]
    named = f" ({', '.join(below)})" if below else ""
    return (
        f"{FRONT_DOOR} as it comes is below the book's best row on {len(below)} of {len(chosen)} "
        f"sets{named}"
    )


def _sets(cells: Cells) -> list[str]:
    return list(dict.fromkeys(cell["data"] for cell in cells))


def _with_sign(gap: float) -> str:
    """Write a difference; zero has a plus whichever side it was rounded from."""
    return f"{round(gap, 2) + 0.0:+.2f}"
