"""Error rates over draws beside published ones, as entries of a record and as Markdown.

Arrays of errors enter, one row per draw; dictionaries and lines of text leave. Every number on a
page is computed from the record.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami_papers.thesis.chapter3.baseline import COUNTS

Cell = dict[str, Any]
"""An entry of a record: which cell, mean, standard deviation, draws, published, difference."""


def summary(errors: NDArray[np.float64], published: float | None = None) -> Cell:
    """Return mean and standard deviation over the draws, beside what was published.

    Shapes: `errors` (draws,).

    - Returned: the difference is ours minus the published; the deviation divides by draws - 1.
    """
    used = errors[~np.isnan(errors)]
    mean = float(used.mean())
    std = float(used.std(ddof=1)) if len(used) > 1 else None
    found: Cell = {
        "mean": round(mean, 3),
        "std": None if std is None else round(std, 3),
        "draws": len(used),
    }
    if published is not None:
        found |= {"published": published, "difference": round(mean - published, 3)}
    return found


def best_neighbors(errors: NDArray[np.float64], published: float | None = None) -> Cell:
    """Return the summary of the number of neighbours whose mean error is least.

    Shapes: `errors` (draws, 3).
    """
    means = errors.mean(axis=0)
    best = int(means.argmin())
    each = {str(k): round(float(mean), 3) for k, mean in zip(COUNTS, means, strict=True)}
    return {"k": COUNTS[best], **summary(errors[:, best], published), "means": each}


def beside(cell: Cell | None) -> str:
    """Return a cell of a table: "ours (thesis)", or ours alone, or nothing."""
    if cell is None:
        return ""
    if "published" not in cell:
        return f"{cell['mean']:.1f}"
    return f"{cell['mean']:.1f} ({cell['published']:.1f})"


def table_lines(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, words: Sequence[int] = ()
) -> list[str]:
    """Return a Markdown table, numbers to the right."""
    rule = ["---" if place in words else "---:" for place in range(len(header))]
    lines = [header, rule, *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def error_table(cells: Sequence[Cell], neighbors: Sequence[Cell]) -> list[str]:
    """Return the table of the thesis: a row per number of labelled points."""
    sizes = sorted({cell["eigenvectors"] for cell in cells})
    place = {(cell["labelled"], cell["eigenvectors"]): cell for cell in cells}
    rows = [
        [
            str(base["labelled"]),
            *(beside(place.get((base["labelled"], size))) for size in sizes),
            f"{beside(base)}, k = {base['k']}",
        ]
        for base in neighbors
    ]
    return table_lines(["labelled", *(f"p = {size}" for size in sizes), "best k-NN"], rows)


def largest_difference(
    cells: Sequence[Cell], choose: Callable[[Cell], bool] = lambda _: True
) -> Cell | None:
    """Return the cell that is farthest from what was published."""
    known = [cell for cell in cells if "difference" in cell and choose(cell)]
    return max(known, key=lambda cell: abs(cell["difference"]), default=None)


def difference_lines(cells: Sequence[Cell], neighbors: Sequence[Cell]) -> list[str]:
    """Say how far the table is from the published one, in four groups of cells."""
    groups: list[tuple[str, Sequence[Cell], Callable[[Cell], bool]]] = [
        ("p of 50 and more", cells, lambda cell: cell["eigenvectors"] >= 50),
        ("p = 20", cells, lambda cell: cell["eigenvectors"] == 20),
        ("p of 10 and less", cells, lambda cell: cell["eigenvectors"] <= 10),
        ("best k-NN", neighbors, lambda _: True),
    ]
    lines = []
    for what, where, choose in groups:
        far = largest_difference(where, choose)
        if far is not None:
            gaps = [cell["difference"] for cell in where if "difference" in cell and choose(cell)]
            size = f", p = {far['eigenvectors']}" if "eigenvectors" in far else ""
            lines.append(
                f"- {what}: largest difference {far['difference']:+.1f} points "
                f"(l = {far['labelled']}{size}: {far['mean']:.1f} against {far['published']:.1f}), "
                f"mean difference {np.mean(gaps):+.2f} over {len(gaps)} cells"
            )
    return lines


def page(title: str, record: dict[str, Any], body: Sequence[str]) -> str:
    """Return a page of Markdown: title, what was done, the body, and how it was run.

    - `record`: has ``source``, ``data``, ``n``, ``settings``, ``seeds``, ``remarks``, ``seconds``,
      ``versions``, ``threads``, ``processor_seconds`` and ``peak_memory_mib``.
    """
    settings = "; ".join(f"{key}: {value}" for key, value in record["settings"].items())
    seconds = ", ".join(f"{stage} {spent:g}" for stage, spent in record["seconds"].items())
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    lines = [
        f"# {title}",
        "",
        f"Source: {record['source']}. Data: {record['data']}, n = {record['n']}.",
        "",
        f"Settings: {settings}.",
        "",
        *(f"- {remark}" for remark in record["remarks"]),
        "",
        *body,
        "",
        f"Seeds: {record['seeds']}",
        "",
        f"Seconds on {record['threads']} threads: {seconds} (processor time "
        f"{record['processor_seconds']:g}). Peak memory {record['peak_memory_mib']} MiB. "
        f"{versions}.",
    ]
    return "\n".join(lines) + "\n"
