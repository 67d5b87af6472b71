"""The main job: a table with a few labels in; every row labelled, a summary and a page out."""

from beltrami.labelling.intake import Intake, take_in
from beltrami.labelling.main_job import label, label_rows
from beltrami.labelling.options import LearningOptions
from beltrami.labelling.result import Labelling

__all__ = ["Intake", "Labelling", "LearningOptions", "label", "label_rows", "take_in"]
