"""The SSL book's benchmark: our rows beside the printed ones.

Nothing enters but the wish for a quick run and a journal; errors on the unlabelled rows of the
published splits leave as a figure, a record and a page.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from beltrami_papers.cells import page, summary
from beltrami_papers.journal import Journal, Result
from beltrami_papers.model import Reproduction, circumstances
from beltrami_papers.sslbook.drawing import draw_errors
from beltrami_papers.sslbook.lines import (
    difference_lines,
    error_lines,
    finding_lines,
)
from beltrami_papers.sslbook.methods import FEW_SPLITS, FRONT_DOOR, Method, methods_of
from beltrami_papers.sslbook.problems import BookProblem, book_problem
from beltrami_papers.sslbook.published import LABELS, LEFT_OUT, ROWS, SETS, SOURCE

N_SPLITS = 12
"""Published splits of every set and number of labels."""


class Trial(NamedTuple):
    """One fit: which set, method, number of labels, split, and whether at small size."""

    data: str
    method: str
    labels: int
    split: int
    quick: bool

    @property
    def key(self) -> str:
        """Name of the trial in a journal."""
        size = "quick" if self.quick else "full"
        return f"ssl-book/{size}/{self.data}/{self.method}/{self.labels}/{self.split}"


def trials_of(methods: Mapping[str, Method], *, quick: bool = False) -> Iterator[Trial]:
    """Go through the table, set by set, so that a set is loaded once."""
    for data in ("Digit1", "COIL") if quick else SETS:
        for name, method in methods.items():
            for labels in LABELS[:1] if quick else LABELS:
                for split in range(1 if quick else method.n_splits or N_SPLITS):
                    yield Trial(data, name, labels, split, quick)


def trial_result(problem: BookProblem, method: Method, labels: int, split: int) -> Result:
    """Teach one method on one split.

    ``error`` on the unlabelled rows in percent, ``seconds`` of the fit, ``rows`` of the set.
    """
    started = time.perf_counter()
    predicted = method.teach(problem, labels, split)
    spent = time.perf_counter() - started
    unlabelled = problem.draws[labels].labels(split) < 0
    wrong = predicted[unlabelled] != problem.classes[unlabelled]
    return {
        "error": round(100 * float(wrong.mean()), 4),
        "seconds": round(spent, 3),
        "rows": len(problem.classes),
    }


def run_trials(
    trials: Sequence[Trial],
    methods: Mapping[str, Method],
    journal: Journal,
    load: Callable[[str], BookProblem],
) -> dict[Trial, Result]:
    """Run what the journal does not know.

    - `load`: takes the name of a set; the one in use is kept.
    """
    kept = lru_cache(maxsize=1)(load)

    def run_trial(one: Trial) -> Result:
        return trial_result(kept(one.data), methods[one.method], one.labels, one.split)

    return journal.results("SSL-book benchmark", trials, run_trial)


def cells_of(
    results_by_trial: Mapping[Trial, Result], methods: Mapping[str, Method]
) -> list[dict[str, Any]]:
    """Return mean and deviation over the splits of every cell, beside the printed error.

    - `methods`: our rows; one that the book has too gets its number, with the standing of that.
    """
    groups: dict[tuple[str, str, int], list[Result]] = {}
    for one, result in results_by_trial.items():
        groups.setdefault((one.data, one.method, one.labels), []).append(result)
    cells = []
    for (data, name, labels), results in groups.items():
        row = ROWS.get(methods[name].published or "")
        published = None if row is None else row.error(data, labels)
        errors = [result["error"] for result in results]
        cell = {
            "data": data,
            "labels": labels,
            "method": name,
            "n": results[0]["rows"],
            **summary(np.array(errors), published),
        }
        if row is not None and published is not None:
            cell["standing"] = row.standing
        seconds = round(sum(result["seconds"] for result in results), 2)
        cells.append({**cell, "seconds": seconds, "each": errors})
    return cells


def seconds_of(cells: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Add up the seconds of each method, over all runs that a journal knows."""
    spent: dict[str, float] = {}
    for cell in cells:
        spent[cell["method"]] = spent.get(cell["method"], 0.0) + cell["seconds"]
    named = {name: round(seconds, 1) for name, seconds in spent.items()}
    return {**named, "total": round(sum(spent.values()), 1)}


def book_record(cells: list[dict[str, Any]], methods: Mapping[str, Method]) -> dict[str, Any]:
    """Return the record of the table."""
    sizes = {cell["data"]: str(cell["n"]) for cell in cells}
    return {
        "name": "ssl-book",
        "source": SOURCE,
        "data": ", ".join(sizes),
        "n": ", ".join(sizes.values()),
        "settings": {
            **{name: method.settings for name, method in methods.items()},
            "graph": "KnnGraph(), but for PoissonClassifier, Mbed and ManifoldClassifier, which "
            "make their own",
            "texts": "neighbours by angle in that graph, cosine kernel",
            "splits": f"the published ones, {N_SPLITS} for each number of labels",
        },
        "seeds": "random_state is the number of the split for Mbed and ManifoldClassifier, 0 for "
        "the others.",
        "remarks": _remarks(),
        "seconds": seconds_of(cells),
        **circumstances(),
        "errors": cells,
        "published": [
            {"method": row.method, "standing": row.standing, "labels": labels, "errors": printed}
            for row in ROWS.values()
            for labels, errors in row.errors.items()
            for printed in (dict(zip(SETS, errors, strict=True)),)
        ],
    }


def _remarks() -> list[str]:
    return [
        "The book's rows are quoted from memory: no copy of it and no other text that prints the "
        "table could be opened. They are marked so below, and a difference to them is no more "
        "certain than they are. The row of 1-NN is confirmed by the files: the method has no "
        "setting, and on the published splits it gives the remembered numbers again in the six "
        "sets that are not texts; on Text it is within 0.4 points.",
        LEFT_OUT,
        "How the book chose the settings of its methods is not at hand. Ours are as the settings "
        "above say; nothing was chosen by an unlabelled row's class.",
        f"{FRONT_DOOR} and the Laplacian machines came by their defaults with these sets among "
        "those that were looked at, so their rows are not those of unseen data.",
        f"Methods with fewer than {N_SPLITS} splits ran on the first {FEW_SPLITS}, to keep the "
        "table within twelve minutes on one core; the book's means are over all.",
        "SecStr (83,679 rows) is left out: no printed row of it was at hand to compare with.",
        "Seconds are of the fits, without reading the data and building the shared graph.",
    ]


def benchmark_table(*, quick: bool = False, journal: Path | None = None) -> Reproduction:
    """Reproduce the benchmark of the SSL book with the methods that we have.

    - `journal`: a file of single results that the run reads first and adds to, so that it can be
      stopped and gone on with; None starts afresh and writes none.
    """
    methods = methods_of(quick=quick)
    trials = list(trials_of(methods, quick=quick))
    load = partial(book_problem, quick=quick)
    cells = cells_of(run_trials(trials, methods, Journal.at(journal), load), methods)
    record = book_record(cells, methods)
    body = [
        "Errors on the unlabelled rows in percent, mean and standard deviation over the splits; "
        "the book's rows in italics, † where quoted from memory.",
        "",
    ]
    for labels in sorted({cell["labels"] for cell in cells}):
        chosen = [cell for cell in cells if cell["labels"] == labels]
        body += [f"## {labels} labels", "", *error_lines(chosen), ""]
        body += ["Ours minus the book's, in points:", "", *difference_lines(chosen), ""]
    body += ["## Findings", "", *finding_lines(cells)]
    table = page(f"ssl-book: {SOURCE}", record, body)
    return Reproduction(draw_errors(cells), record, table)
