"""Paired comparisons on real problems, as entries of a record and as Markdown.

Errors of all methods on the same draws enter; cells and lines of text leave, losses included.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami_papers.cells import table_lines
from beltrami_papers.journal import Result
from beltrami_papers.slides.real.methods import (
    CHOSEN,
    CLAIRVOYANT,
    GLOBAL,
    GRAPH,
    KERNEL,
    KMEANS,
    OURS,
)
from beltrami_papers.slides.real.problems import CANDIDATES

Cell = dict[str, Any]

HELPS, HURTS, NEITHER = "helps", "hurts", ""
_ERRORS = 2.0


def compare_paired(ours: NDArray[np.float64], other: NDArray[np.float64]) -> Cell:
    """Return how ours differs from another method on the same draws.

    Mean difference, its standard error, draws won and lost, and the verdict: "helps" or "hurts"
    where the mean is more than two standard errors from zero.
    """
    gap = ours - other
    mean = float(gap.mean())
    error = float(gap.std(ddof=1) / np.sqrt(len(gap))) if len(gap) > 1 else float("inf")
    verdict = NEITHER
    if abs(mean) > _ERRORS * error:
        verdict = HELPS if mean < 0 else HURTS
    return {
        "difference": round(mean, 3),
        "standard_error": round(error, 3) if np.isfinite(error) else None,
        "won": int((gap < 0).sum()),
        "lost": int((gap > 0).sum()),
        "verdict": verdict,
    }


def cells_of(results_by_trial: Mapping[Any, Result]) -> list[Cell]:
    """Return means over the draws, and ours beside Global and k-means.

    - `found`: results by trial, whose first three entries are problem, base and number of labels.
    """
    groups: dict[tuple[str, str, int], list[Result]] = {}
    for one, result in results_by_trial.items():
        groups.setdefault((one.data, one.base, one.labelled), []).append(result)
    cells = []
    for (data, base, labelled), results in groups.items():
        errors = {
            name: np.array([result["errors"][name] for result in results])
            for name in results[0]["errors"]
        }
        cells.append(
            {
                "data": data,
                "base": base,
                "labelled": labelled,
                "draws": len(results),
                "means": {name: round(float(each.mean()), 3) for name, each in errors.items()},
                "regions": round(float(np.mean([r["regions"][OURS] for r in results])), 1),
                "against": {
                    name: compare_paired(errors[OURS], errors[name])
                    for name in (GLOBAL, KMEANS, CHOSEN)
                    if name in errors
                },
                "each": {name: each.tolist() for name, each in errors.items()},
                "seconds": round(float(np.mean([r["seconds"] for r in results])), 2),
            }
        )
    return cells


def table_cells(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of the table of all problems, without those of the learning curves."""
    return [cell for cell in cells if cell["labelled"] == CANDIDATES[cell["data"]].n_labelled]


def _mean(cell: Cell, name: str) -> str:
    return f"{cell['means'][name]:.1f}" if name in cell["means"] else ""


def _gap(cell: Cell, name: str) -> str:
    gap = cell["against"][name]
    error = gap["standard_error"]
    return f"{gap['difference']:+.1f} ± {error or 0:.1f}" if gap["difference"] else "0"


def all_lines(cells: Sequence[Cell], base: str) -> list[str]:
    """Return the table of every problem with one base estimator."""
    chosen = [cell for cell in table_cells(cells) if cell["base"] == base]
    graph = {c["data"]: _mean(c, GRAPH) for c in table_cells(cells) if c["base"] == KERNEL}
    rows = [
        [
            cell["data"],
            CANDIDATES[cell["data"]].description,
            str(cell["labelled"]),
            _mean(cell, GLOBAL),
            f"{_mean(cell, OURS)} ({cell['regions']:g})",
            _gap(cell, GLOBAL),
            cell["against"][GLOBAL]["verdict"],
            _mean(cell, KMEANS),
            cell["against"][KMEANS]["verdict"],
            _mean(cell, CLAIRVOYANT),
            graph.get(cell["data"], ""),
        ]
        for cell in chosen
    ]
    header = ["problem", "predicted", "labels", GLOBAL, f"{OURS} (regions)", "ours - Global"]
    return table_lines([*header, "", KMEANS, "against it", CLAIRVOYANT, GRAPH], rows)


def curve_lines(cells: Sequence[Cell], names: Sequence[str], base: str) -> list[str]:
    """Return the table behind the learning curves."""
    chosen = [cell for cell in cells if cell["data"] in names and cell["base"] == base]
    rows = []
    for cell in sorted(
        chosen, key=lambda cell: (list(names).index(cell["data"]), cell["labelled"])
    ):
        against = cell["against"]
        verdicts = [against[n]["verdict"] if n in against else "" for n in (GLOBAL, KMEANS, CHOSEN)]
        shown = [_mean(cell, name) for name in (GLOBAL, OURS, KMEANS, CHOSEN, CLAIRVOYANT)]
        rows.append([cell["data"], str(cell["labelled"]), *shown, *verdicts])
    header = ["problem", "labels", GLOBAL, OURS, KMEANS, CHOSEN, CLAIRVOYANT]
    return table_lines([*header, *(f"against {n}" for n in (GLOBAL, KMEANS, CHOSEN))], rows)


def count_lines(cells: Sequence[Cell]) -> list[str]:
    """Say how often ours helps and hurts, base by base."""
    rows = []
    for base in dict.fromkeys(cell["base"] for cell in cells):
        chosen = [cell for cell in table_cells(cells) if cell["base"] == base]
        for other in (GLOBAL, KMEANS):
            count = Counter(cell["against"][other]["verdict"] for cell in chosen)
            numbers = [str(count[verdict]) for verdict in (HELPS, NEITHER, HURTS)]
            rows.append([base, other, *numbers, str(len(chosen))])
    return table_lines(["base", "against", HELPS, "neither", HURTS, "problems"], rows)


def won_lines(cells: Sequence[Cell]) -> list[str]:
    """Name the problems on which ours helps and hurts, base by base."""
    lines = []
    for base in dict.fromkeys(cell["base"] for cell in cells):
        chosen = [cell for cell in table_cells(cells) if cell["base"] == base]
        for verdict in (HELPS, HURTS):
            named = [
                f"**{cell['data']}**"
                if verdict == HELPS and cell["against"][KMEANS]["verdict"] == HELPS
                else cell["data"]
                for cell in chosen
                if cell["against"][GLOBAL]["verdict"] == verdict
            ]
            lines.append(f"- {base}, {verdict}: {'; '.join(named) or 'none'}.")
    return lines


def best_lines(cells: Sequence[Cell]) -> list[str]:
    """Name the problems on which ours, with some base, has the least mean error of all.

    A line per problem; Clairvoyant, which is told the pieces, does not take part.
    """
    lines = []
    for data in dict.fromkeys(cell["data"] for cell in cells):
        chosen = [cell for cell in table_cells(cells) if cell["data"] == data]
        least = min(chosen, key=lambda cell: cell["means"][OURS])
        others = {
            (name if name == GRAPH else f"{name}, {cell['base']}"): cell["means"][name]
            for cell in chosen
            for name in (GLOBAL, KMEANS, GRAPH)
            if name in cell["means"]
        }
        rival = min(others, key=others.__getitem__)
        if least["means"][OURS] < others[rival]:
            lines.append(
                f"- {data}: {least['means'][OURS]:.1f} with {least['base']}; next {rival} "
                f"{others[rival]:.1f}."
            )
    return lines or ["- None."]
