"""One call: a table with a few labels in; every row labelled, a summary and a page out."""

from beltrami.labelling.intake import Intake, take_in
from beltrami.labelling.one_call import label, labelled
from beltrami.labelling.result import Labelling

__all__ = ["Intake", "Labelling", "label", "labelled", "take_in"]
