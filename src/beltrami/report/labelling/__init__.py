"""One call: a table with a few labels in; every row labelled, a summary and a page out."""

from beltrami.report.labelling.intake import Intake, take_in
from beltrami.report.labelling.one_call import label, labelled
from beltrami.report.labelling.result import Labelling

__all__ = ["Intake", "Labelling", "label", "labelled", "take_in"]
