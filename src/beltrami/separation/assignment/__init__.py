"""Points to clusters at least cost, with bounds on the sizes: one door, `assign`."""

from beltrami.separation.assignment.model import Assignment, SizeBounds
from beltrami.separation.assignment.sizes import size_bounds
from beltrami.separation.assignment.transport import assign, assign_reference

__all__ = ["Assignment", "SizeBounds", "assign", "assign_reference", "size_bounds"]
