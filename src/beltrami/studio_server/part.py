"""Some rows that stand for more: a folder of labelled partitions enters, what to open leaves."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from beltrami.front_door.classifier import ManifoldClassifier
from beltrami.labelling.intake import Intake
from beltrami.labelling.main_job import make_learner
from beltrami.labelling.options import LearningOptions
from beltrami.partitions.answers.learned import learner_of
from beltrami.partitions.people.answered import Answered
from beltrami.partitions.representing.representatives import Representatives
from beltrami.project.opening import project_beside
from beltrami.tables import TableOptions


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The representatives of labelled partitions, as a studio opens them.

    Attributes
    ----------
    source : str
        Their file.
    table : TableOptions
        How it is read: they are compared by the columns of the job.
    learning : LearningOptions
        How they learn, as in the job.
    project : Path
        Where labels are kept.
    about : str
        What people are told: that these are some of all rows, and how their labels reach all.
    chosen : Representatives
        What they were in the job.
    """

    source: str
    table: TableOptions
    learning: LearningOptions
    project: Path
    about: str
    chosen: Representatives

    def make(self, intake: Intake) -> ManifoldClassifier:
        """Return the learner of the job; that of a table where people compare other columns."""
        if intake.has_embeddings:
            return learner_of(self.chosen, self.learning)
        return make_learner(intake, self.learning)

    @classmethod
    def of(cls, folder: Answered, project: Path | str | None) -> "Part":
        """Return the part of a folder; its project lies beside it unless another is named."""
        place = project_beside(folder.out) if project is None else Path(project)
        folder.table()
        command = f"{folder.command} --project {shlex.quote(os.path.relpath(place))} -o NEW"
        about = f"{folder.words()}. Labels you give here are used for all rows by: {command}"
        return cls(
            str(folder.path),
            folder.table_options(),
            folder.learning,
            place,
            about[0].upper() + about[1:],
            folder.chosen,
        )
