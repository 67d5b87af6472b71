"""Nearest labels along the graph."""
