"""Doors to other tools: the result of a project leaves, labels that people gave elsewhere enter."""

from beltrami.doors.forms import FORMS, Form, find_form, read_answers
from beltrami.doors.outcome import Outcome, outcome_of
from beltrami.doors.taking import Taken, take_answers

__all__ = [
    "FORMS",
    "Form",
    "Outcome",
    "Taken",
    "find_form",
    "outcome_of",
    "read_answers",
    "take_answers",
]
