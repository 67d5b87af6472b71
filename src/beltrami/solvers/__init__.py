"""Eigenvectors of operators and linear systems with them, each with its certificate."""
