"""Linear systems with graph Laplacians: one door, `solve`, and a module per part."""

from beltrami.solvers.linear.prepared import PreparedSystem
from beltrami.solvers.linear.systems import prepare_system, solve

__all__ = ["PreparedSystem", "prepare_system", "solve"]
