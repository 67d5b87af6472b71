"""Laplacian kernel machines: least squares, support vectors, and their tuning."""
