"""Eigenvectors of graph Laplacians: one door, `eigenbasis`, and a module per method."""

from beltrami.solvers.eigen.basis import eigenbasis

__all__ = ["eigenbasis"]
