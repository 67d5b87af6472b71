"""Linear systems with graph Laplacians: one door, `solve`, and a module per part."""

from beltrami.solvers.linear.systems import solve

__all__ = ["solve"]
