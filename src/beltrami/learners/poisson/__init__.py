"""Poisson learning: labels as sources and sinks on a graph."""
