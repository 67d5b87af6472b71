"""What leaves a project: every row with its label, who gave it, how sure we are, what it holds."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import BoolVector, FloatMatrix
from beltrami.doors.answers import as_text
from beltrami.front_door.insight import judgement_of
from beltrami.labelling.bare import bare_columns, can_learn
from beltrami.labelling.intake import Intake
from beltrami.labelling.main_job import label_rows
from beltrami.labelling.options import LearningOptions
from beltrami.labelling.result import Labelling
from beltrami.labelling.showing.own_columns import PICTURE, own_columns
from beltrami.tables.model import is_list
from beltrami.tables.own_results import SOURCES, Source

GIVEN = SOURCES[Source.GIVEN]
"""What the column `source` says of labels that people gave."""

_BLOCK_ROWS = 4096


@dataclass(frozen=True, slots=True)
class Item:
    """A row, for tools in which people look at rows one by one.

    Attributes
    ----------
    id : str
        What it is called.
    text : str
        Its texts, one below the other; "" for none.
    picture : str
        Path of its picture, seen from the file that is written; "" for none.
    cells : dict of str to object
        Its other columns, but for vectors.
    label : str or None
        The class that a person gave.
    user, how, at : str or None
        Who gave it, by what means, and when.
    guess : str or None
        The class that we would say where nobody did; None where no label reaches.
    confidence : float
        How sure that is.
    source : str
        As in the table of labels.
    """

    id: str
    text: str
    picture: str
    cells: dict[str, Any]
    label: str | None
    user: str | None
    how: str | None
    at: str | None
    guess: str | None
    confidence: float
    source: str


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The result of a project.

    Attributes
    ----------
    intake : Intake
        The data, with the labels of the project.
    columns : dict of str to ndarray of shape (n,)
        The table of labels, as `Labelling.columns` has it.
    facts : dict of str to str
        What it takes to do it again.
    classes : tuple of str
        What rows can be.
    probabilities : ndarray of shape (n, k)
        Of the classes; for held-out rows what all labels but their own say.
    is_held_out : ndarray of shape (n,)
        Which rows with a label these are.
    """

    intake: Intake
    columns: dict[str, NDArray[Any]]
    facts: dict[str, str]
    classes: tuple[str, ...]
    probabilities: FloatMatrix
    is_held_out: BoolVector

    @property
    def ids(self) -> list[str]:
        """What rows are called, as texts."""
        return [as_text(one) for one in self.intake.ids.tolist()]

    @property
    def counts(self) -> dict[str, int]:
        """Count of rows: all, labelled by people, and by us."""
        source = self.columns["source"]
        n_given = int((source == GIVEN).sum())
        n_ours = int((source == SOURCES[Source.LABELLED]).sum())
        return {"rows": len(source), "given": n_given, "answered": n_ours}

    @property
    def model(self) -> str:
        """What our answers are called in other tools."""
        from beltrami import __version__

        return f"beltrami {__version__}"

    def codes_of(self, name: str) -> NDArray[np.int64]:
        """Return a column of classes as their places in `classes`; -1 for gaps."""
        place = {value: code for code, value in enumerate(self.classes)}
        values = (place.get(value, -1) for value in self.columns[name].tolist())
        return np.fromiter(values, dtype=np.int64, count=len(self.columns[name]))

    def items(self, target: Path) -> Iterator[Item]:
        """Return the rows one by one; their cells are read in blocks."""
        ids, columns, own = self.ids, self.columns, self._shown_columns(target)
        texts = [name for name in self.intake.roles.text if name in own]
        for start in range(0, len(ids), _BLOCK_ROWS):
            block = {
                name: values.slice(start, _BLOCK_ROWS).to_pylist() for name, values in own.items()
            }
            for place in range(min(_BLOCK_ROWS, len(ids) - start)):
                row = start + place
                cells = {name: values[place] for name, values in block.items()}
                parts = [as_text(cells.pop(name)) for name in texts]
                is_given = columns["source"][row] == GIVEN
                yield Item(
                    ids[row],
                    "\n".join(part for part in parts if part.strip()),
                    as_text(cells.pop(PICTURE)) if self._has_pictures else "",
                    cells,
                    columns["label"][row] if is_given else None,
                    self._origin("annotator", row),
                    self._origin("how", row),
                    self._origin("updated_at", row),
                    None if is_given else columns["guess"][row],
                    float(columns["confidence"][row]),
                    columns["source"][row],
                )

    @property
    def _has_pictures(self) -> bool:
        return self.intake.table.pictures is not None

    def _origin(self, name: str, row: int) -> str | None:
        origin = self.intake.origins.get(name)
        return None if origin is None else origin[row]

    def _shown_columns(self, target: Path) -> dict[str, Any]:
        """Return the user's columns that a person looks at, none of them copied."""
        table, roles = self.intake.table, self.intake.roles
        vectors = [one.name for one in table.columns.schema if is_list(one.type)]
        return own_columns(table, (), target, hidden={roles.id, roles.label, *vectors})


def outcome_of(intake: Intake, options: LearningOptions) -> Outcome:
    """Learn from the labels of a project; those of fewer than two classes leave alone."""
    if can_learn(intake):
        return learned_outcome(label_rows(intake, options))
    return bare_outcome(intake)


def learned_outcome(labelling: Labelling) -> Outcome:
    """Return what was learned from the labels of a project."""
    learner = labelling.learner
    judgement = judgement_of(learner)
    probabilities = np.array(learner.label_distributions_, dtype=np.float64)
    is_held_out = np.zeros(len(probabilities), dtype=bool)
    probabilities[judgement.judged.rows] = judgement.held_out
    is_held_out[judgement.judged.rows] = True
    return Outcome(
        labelling.intake,
        labelling.columns,
        labelling.facts,
        tuple(map(str, learner.classes_.tolist())),
        probabilities,
        is_held_out,
    )


def bare_outcome(intake: Intake) -> Outcome:
    """Return the labels that people gave, and nothing learned from them."""
    classes = tuple(sorted(set(intake.labels[intake.is_given].tolist())))
    n_rows = len(intake.ids)
    nothing = np.full((n_rows, len(classes)), 1 / max(len(classes), 1))
    no_row = np.zeros(n_rows, dtype=bool)
    return Outcome(intake, bare_columns(intake), {}, classes, nothing, no_row)
