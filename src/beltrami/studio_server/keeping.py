"""Where labels are kept: beside a file, where a person says, or until the end of this process."""

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beltrami.labelling.options import LearningOptions
from beltrami.project import Project, open_project
from beltrami.tables import TableOptions


@dataclass(frozen=True, slots=True)
class Kept:
    """A project, and how long it lasts.

    Attributes
    ----------
    project : Project
        Open.
    folder : str or None
        What is removed at the end; None where the labels stay.
    """

    project: Project
    folder: str | None

    def end(self) -> None:
        """Close the project, and remove what was not meant to stay."""
        self.project.close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def keep_labels(
    source: Any,
    table: TableOptions,
    learning: LearningOptions,
    project: Path | str | None,
    user: str,
) -> Kept:
    """Open the project of some data; that of data in memory is removed at the end."""
    folder = None
    if project is None and not isinstance(source, str | os.PathLike):
        folder = tempfile.mkdtemp(prefix="beltrami-")
        project = Path(folder) / "studio.beltrami"
    try:
        opened = open_project(source, table, project, user)
        kept = Kept(opened, folder)
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    try:
        if learning.risk is not None and not any(one.kind == "risk" for one in opened.events):
            opened.set_risk(user, learning.risk)
    except BaseException:
        kept.end()
        raise
    return kept


def labels_by_id(project: Project) -> dict[Any, str]:
    """Return the labels that were given, by the ids of their rows, in the order of the rows."""
    ids, state = project.data.ids, project.snapshot()
    return {ids[row]: one.label for row, one in sorted(state.labels.items())}
