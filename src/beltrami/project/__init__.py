"""A project: one file of events in which the labels that people give are kept, and what follows."""

from beltrami.project.errors import (
    ClassExistsError,
    NotSavedError,
    ProjectError,
    ProjectInUseError,
)
from beltrami.project.opening import data_of, open_project, project_beside
from beltrami.project.project import Project
from beltrami.project.record.events import Event
from beltrami.project.record.state import AREA_WEIGHT, State

__all__ = [
    "AREA_WEIGHT",
    "ClassExistsError",
    "Event",
    "NotSavedError",
    "Project",
    "ProjectError",
    "ProjectInUseError",
    "State",
    "data_of",
    "open_project",
    "project_beside",
]
