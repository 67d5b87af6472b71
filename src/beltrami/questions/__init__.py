"""Which rows to label next: a graph and what is known of its rows enter, questions leave."""

from beltrami.questions.choice import STRATEGIES, choose_questions
from beltrami.questions.model import Question

__all__ = ["STRATEGIES", "Question", "choose_questions"]
