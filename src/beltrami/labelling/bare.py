"""A result in which nothing was learned: the labels that people gave, and no other.

With labels of fewer than two classes there is nothing to tell apart; what people gave is theirs all
the same, and leaves by the command as by the studio.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.files import require_no_input
from beltrami.labelling.intake import Intake
from beltrami.labelling.result import columns_beside
from beltrami.tables import write_table
from beltrami.tables.own_results import SOURCES, Source


def can_learn(intake: Intake) -> bool:
    """Say whether labels of two classes are there."""
    return len(set(intake.labels[intake.is_given].tolist())) > 1


def bare_columns(intake: Intake) -> dict[str, NDArray[Any]]:
    """Return a result in which nothing was learned: the labels that people gave, and no other."""
    n, nothing = len(intake.ids), np.full(len(intake.ids), None, dtype=object)
    source = np.where(intake.is_given, SOURCES[Source.GIVEN], SOURCES[Source.UNREACHED])
    return {
        "id": intake.ids,
        "label": intake.labels,
        "source": source.astype(object),
        "confidence": intake.is_given.astype(np.float64),
        "guess": intake.labels,
        "second_label": nothing,
        "margin": np.zeros(n),
        "reached": intake.is_given,
        "ask_rank": nothing,
        **intake.origins,
    }


def write_bare(intake: Intake, path: Path, *, with_data: bool = False) -> Path:
    """Write the labels that people gave, as `Labelling.write` writes a whole result."""
    require_no_input(path, intake.files)
    columns = bare_columns(intake)
    if with_data:
        columns = columns | columns_beside(intake, columns, path)
    write_table(path, columns, {})
    return path


def bare_counts(intake: Intake) -> dict[str, int]:
    """Count rows as `Labelling.counts` does."""
    n, n_given = len(intake.ids), int(intake.is_given.sum())
    none = {"labelled": 0, "abstained": 0}
    return {"rows": n, "given": n_given, **none, "unreached": n - n_given}


def bare_sentence(intake: Intake) -> str:
    """Say that nothing was learned, and what is written."""
    n_given = int(intake.is_given.sum())
    if not n_given:
        return "Nobody has given a label yet, so nothing is learned and no row has one."
    given = "the 1 label that people gave is"
    if n_given > 1:
        given = f"the {n_given:,} labels that people gave are"
    return (
        "There are labels of one class only, and 2 are needed to tell them apart, so nothing is "
        f"learned: {given} written, and no other."
    )
