"""Which rows to label next: a graph and what is known of its rows enter, questions leave."""

from beltrami.learners.questions.choice import STRATEGIES, choose_questions
from beltrami.learners.questions.model import Question

__all__ = ["STRATEGIES", "Question", "choose_questions"]
