"""Error rates over draws beside published ones, as entries of a record and as Markdown.

Arrays of errors enter, one row per draw; dictionaries and lines of text leave. Every number on a
page is computed from the record.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Cell = dict[str, Any]
"""An entry of a record: which cell, mean, standard deviation, draws, published, difference."""


def summary(errors: NDArray[np.float64], published: float | None = None) -> Cell:
    """Return mean and standard deviation over the draws, beside what was published.

    The difference is ours minus the published; the deviation divides by draws - 1.
    """
    used = errors[~np.isnan(errors)]
    mean = float(used.mean())
    std = float(used.std(ddof=1)) if len(used) > 1 else None
    cell: Cell = {
        "mean": round(mean, 3),
        "std": None if std is None else round(std, 3),
        "draws": len(used),
    }
    if published is not None:
        cell |= {"published": published, "difference": round(mean - published, 3)}
    return cell


def with_deviation(cell: Mapping[str, Any]) -> str:
    """Return mean and deviation over the draws, as a cell of a table."""
    spread = "" if cell["std"] is None else f" ± {cell['std']:.2f}"
    return f"{cell['mean']:.2f}{spread}"


def table_lines(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, words: Sequence[int] = ()
) -> list[str]:
    """Return a Markdown table, numbers to the right."""
    rule = ["---" if place in words else "---:" for place in range(len(header))]
    lines = [header, rule, *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def largest_difference(
    cells: Sequence[Cell], choose: Callable[[Cell], bool] = lambda _: True
) -> Cell | None:
    """Return the cell that is farthest from what was published."""
    known = [cell for cell in cells if "difference" in cell and choose(cell)]
    return max(known, key=lambda cell: abs(cell["difference"]), default=None)


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
