"""Error rates by number of labelled points and of eigenvectors, as the thesis tabulates them.

Errors over draws enter; entries of a record, and a table beside the thesis's numbers, leave.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from beltrami_papers.baselines.neighbors import COUNTS
from beltrami_papers.cells import Cell, largest_difference, summary, table_lines


def best_neighbors(errors: NDArray[np.float64], published: float | None = None) -> Cell:
    """Return the summary of the number of neighbours whose mean error is least.

    A column of errors for each of `COUNTS`, a row for each draw.
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


def error_table(
    cells: Sequence[Cell], neighbors: Sequence[Cell], usual: Sequence[Cell]
) -> list[str]:
    """Return the table of the thesis: a row per number of labelled points.

    - `usual`: errors of the product's defaults, one for each row.
    """
    sizes = sorted({cell["eigenvectors"] for cell in cells})
    place = {(cell["labelled"], cell["eigenvectors"]): cell for cell in cells}
    rows = [
        [
            str(base["labelled"]),
            *(beside(place.get((base["labelled"], size))) for size in sizes),
            f"{beside(base)}, k = {base['k']}",
            beside(own),
        ]
        for base, own in zip(neighbors, usual, strict=True)
    ]
    columns = [f"p = {size}" for size in sizes]
    return table_lines(["labelled", *columns, "best k-NN", "by default"], rows)


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
