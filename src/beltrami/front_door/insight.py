"""What other rooms ask of a learner beside its attributes: a learner enters, plain answers leave.

They are functions, because each name of a class is a promise to its users.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from beltrami.core.types import FloatVector, IndexVector
from beltrami.front_door.deciding.judgement import Judgement
from beltrami.questions import Question


def judgement_of(learner: Any) -> Judgement:
    """Return how the candidates of a fitted learner were judged."""
    judgement: Judgement = learner._answer.judgement
    return judgement


def given_rows(learner: Any) -> IndexVector:
    """Return the rows whose labels a fitted learner was given."""
    rows: IndexVector = learner._labeled.rows
    return rows


def note_asked(learner: Any, rows: IndexVector) -> None:
    """Tell a fitted learner which rows were asked for elsewhere, so that its report says so."""
    learner._asked = np.union1d(learner._asked, rows)
    learner.report_ = learner._report()


def questions_of(learner: Any, n: int, strategy: str, masses: FloatVector) -> tuple[Question, ...]:
    """Return what to ask where every row of a fitted learner stands for several, itself among them.

    What the questions say of numbers of rows is about all of these.
    """
    questions: tuple[Question, ...] = learner._questions(n, strategy, None, masses)
    return questions


def count_pieces(learner: Any) -> int:
    """Return how many pieces the rows of a started learner fall into, but for added bridges."""
    return int(learner._piece.max(initial=-1)) + 1


def on_trial(learner: Any) -> AbstractContextManager[None]:
    """Return a context in which a learner may learn otherwise; it is then as it was before."""
    context: AbstractContextManager[None] = learner._on_trial()
    return context


def count_changes(learner: Any, rows: Sequence[int], label: Any, weight: float) -> int:
    """Return how many other rows a fitted learner would answer otherwise, were these labelled so.

    The learner is left as it was.
    """
    names = learner.classes_.tolist()
    before = learner.label_distributions_.argmax(axis=1)
    with on_trial(learner):
        learner.update(rows, [label] * len(rows), [weight] * len(rows))
        after = learner.label_distributions_.argmax(axis=1)
        place = {name: k for k, name in enumerate(learner.classes_.tolist())}
    moved = np.array([place.get(name, -1) for name in names])[before] != after
    moved[list(rows)] = False
    return int(moved.sum())
