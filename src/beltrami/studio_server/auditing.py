"""The audit at the desk: the labels of the learner enter; draws, cards and certificates leave.

A certificate is worked out only when every row of the last round has an answer, and of the labels
that the round was drawn from; before that nothing here says how many answers agree.
"""

import secrets
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from beltrami.front_door.acceptance import accepted_under
from beltrami.front_door.insight import given_rows
from beltrami.project import Project
from beltrami.project.record.audits import Audits
from beltrami.project.record.events import Event
from beltrami.review.proof import STALE, USUAL_TARGET, Proof, is_stale, prove, usual_target
from beltrami.review.trail import Trail, answers_to_prove
from beltrami.studio_server.board import Board
from beltrami.studio_server.learner.learning import Learning
from beltrami.tables.own_results import Source

_RISKS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5)
"""Risks at which accepted rows are counted."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What is known of the accepted labels.

    Attributes
    ----------
    n_accepted : int
        Labels of ours that are accepted.
    expected : float or None
        Our estimate of the share that is right.
    curve : tuple of (float, int)
        Risks, and how many labels each would accept.
    proof : Proof or None
        None while a round is open, or where there is none of these labels.
    stale : str
        Why earlier answers prove nothing of these labels; "" where they do.
    target : float
        What an audit of these labels is to prove.
    n_answers : int or None
        Answers that prove it from the beginning, if all are right; None if none would.
    """

    n_accepted: int = 0
    expected: float | None = None
    curve: tuple[tuple[float, int], ...] = ()
    proof: Proof | None = None
    stale: str = ""
    target: float = USUAL_TARGET
    n_answers: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What was found of some labels and rounds."""

    accepted: dict[int, str]
    trail: Trail
    look: Look


class Auditing:
    """Audits of the labels of a learner at work.

    Parameters
    ----------
    project : Project
        Where rounds and answers are kept.
    learning : Learning
        Whose labels are checked.
    board : Board
        The questions that wait, which rows of an audit leave.

    Attributes
    ----------
    draw_seed : callable
        Returns the seed of a draw, which nobody must know before.
    """

    def __init__(self, project: Project, learning: Learning, board: Board) -> None:
        self.draw_seed: Callable[[], int] = partial(secrets.randbits, 63)
        self._project, self._learning, self._board = project, learning, board
        self._labels: tuple[tuple[Any, Any], dict[int, str]] | None = None
        self._curve: tuple[Any, tuple[tuple[float, int], ...]] | None = None
        self._known: _Known | None = None

    @property
    def audits(self) -> Audits:
        """The rounds so far."""
        return self._project.state.audits

    def card(self, user_place: int) -> int | None:
        """Return a row to be looked at blindly; people side by side get others."""
        left = [row for row in self.audits.left if row < self._project.n_rows]
        return left[user_place % len(left)] if left else None

    def look(self) -> "Future[Look]":
        """Return what is known of the accepted labels, once they are judged."""
        return self._learning.do_when_settled(self._look)

    def draw(self, user: str) -> "Future[Event]":
        """Draw a round from the labels as a fresh fit would give them."""
        return self._learning.do(lambda: self._draw(user))

    def _draw(self, user: str) -> Event:
        self._learning.settle()
        accepted = self._accepted() if self._learning.has_learned else {}
        risk = self._project.state.risk
        event = self._project.draw_audit(user, accepted, risk, self.draw_seed())
        self._board.close(self.audits.open_rows)
        return event

    def _look(self) -> Look:
        """Return what is known, which is worked out once for the same labels and rounds."""
        learning, trail = self._learning, self.audits.trail
        if not learning.has_learned:
            return Look(stale=STALE if trail.rounds else "")
        accepted, answers, risk = self._accepted(), learning.answers, learning.learner.risk
        known = self._known
        if known is not None and known.accepted is accepted and known.trail == trail:
            return known.look
        assert answers is not None
        is_old = is_stale(trail, accepted)
        look = Look(
            len(accepted),
            answers.expected if accepted else None,
            self._count_by_risk(),
            proof=None if is_old else prove(trail, accepted, risk),
            stale=STALE if is_old else "",
            target=usual_target(risk),
            n_answers=answers_to_prove(len(accepted), usual_target(risk)) if accepted else None,
        )
        self._known = _Known(accepted, trail, look)
        return look

    def _accepted(self) -> dict[int, str]:
        """Return the accepted labels that no person gave, by row; one object while they are."""
        learner, answers = self._learning.learner, self._learning.answers
        arrays = learner.label_distributions_, learner.accepted_
        if self._labels is not None and all(map(_is_same, self._labels[0], arrays)):
            return self._labels[1]
        assert answers is not None
        rows = np.flatnonzero((answers.source & 3) == Source.LABELLED)
        names = np.array([str(name) for name in learner.classes_], dtype=object)
        labels = names[arrays[0][rows].argmax(axis=1)]
        accepted = dict(zip(rows.tolist(), labels.tolist(), strict=True))
        self._labels = arrays, accepted
        return accepted

    def _count_by_risk(self) -> tuple[tuple[float, int], ...]:
        """Return how many labels some risks would accept."""
        learner = self._learning.learner
        if self._curve is None or self._curve[0] is not learner.label_distributions_:
            is_ours = np.ones(self._project.n_rows, dtype=bool)
            is_ours[given_rows(learner)] = False
            is_empty = self._project.data.features.is_empty
            if is_empty is not None:
                is_ours &= ~is_empty
            counts = (int((accepted_under(learner, risk) & is_ours).sum()) for risk in _RISKS)
            curve = tuple(zip(_RISKS, counts, strict=True))
            self._curve = learner.label_distributions_, curve
        return self._curve[1]


def _is_same(one: Any, other: Any) -> bool:
    return one is other
