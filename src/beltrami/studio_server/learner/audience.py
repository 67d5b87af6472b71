"""Who is told what the learner does."""

from typing import Protocol

from beltrami.core.telling.progress import ProgressEvent
from beltrami.core.types import FloatMatrix
from beltrami.questions import Question
from beltrami.studio_server.answers import Answers
from beltrami.tables import TableOptions


class Audience(Protocol):
    """Who is told what the learner does; called in its thread."""

    def show_places(self, positions: FloatMatrix) -> None:
        """Show where the rows lie."""

    def show_answers(self, before: Answers | None, answers: Answers) -> None:
        """Show what is known of the rows now."""

    def show_questions(self, questions: tuple[Question, ...]) -> None:
        """Show what to ask next."""

    def show_progress(self, event: ProgressEvent) -> None:
        """Show how far a long piece of work is."""

    def show_word(self, text: str) -> None:
        """Show a sentence that a person must read."""

    def take_roles_back(self, options: TableOptions, why: str) -> None:
        """Read the table as before: rows cannot be compared as it was asked."""

    def rows_not_to_ask(self) -> set[int]:
        """Return rows that are no questions: nobody can tell them, or somebody looks at them."""
