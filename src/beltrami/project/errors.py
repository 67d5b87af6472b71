"""What can go wrong with a project, one class for each that a caller treats in its own way."""

from beltrami.core.errors import BeltramiError, InvalidInputError


class ProjectError(BeltramiError):
    """A project cannot be opened, or something in it is not as it must be."""


class ProjectInUseError(ProjectError):
    """Another process writes the project."""


class NotSavedError(ProjectError):
    """An event could not be written; what was there before is whole."""


class ClassExistsError(InvalidInputError):
    """A class of that name is there already, and nobody has said that the two are one."""
